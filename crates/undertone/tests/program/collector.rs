//! `serve` and `send`: the collector as devices, operators and strangers meet it.

mod kills;
mod memory;

use crate::run::{command, json, refused, undertone};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use undertone_report::{Cell, Report, ReportFormat, ReportId, Task, batch};

const NURSERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/nursery.csv.gz");
const CLASSES: &str = "not_recom,recommend,very_recom,priority,spec_prior";

/// A folder with a task, in which collectors keep what they have.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, options: &str) -> Self {
        let folder =
            Self(std::env::temp_dir().join(format!("undertone-{}-collector-{name}", std::process::id())));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir(&folder.0).unwrap();
        let made = undertone(&format!(
            "task new {NURSERY} --label nursery --classes {CLASSES} --epsilon 1 --min-reports 100 {options} -o {}",
            folder.path("task.toml")
        ));
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn task(&self) -> Task {
        Task::from_toml(&fs::read_to_string(self.path("task.toml")).unwrap()).unwrap()
    }

    /// A configuration with these lines in it.
    fn configure(&self, lines: &str) {
        let text = format!(
            "task = {:?}\ndirectory = {:?}\nlisten = \"127.0.0.1:0\"\n{lines}",
            self.path("task.toml"),
            self.path("data")
        );
        fs::write(self.path("collector.toml"), text).unwrap();
    }

    fn serve(&self) -> Collector {
        if !self.0.join("collector.toml").exists() {
            self.configure("");
        }
        Collector::start(&format!("serve --config-file {}", self.path("collector.toml")))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A collector of our own, ended with the test.
struct Collector {
    process: Child,
    url: String,
}

impl Collector {
    fn start(words: &str) -> Self {
        let mut process = command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        if url.is_empty() {
            let mut errors = String::new();
            process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            panic!("{words}: {errors}");
        }
        Self { process, url: url.trim().to_owned() }
    }

    fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Status, headers and body of an answer.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let split = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..split].to_vec()).unwrap();
        (head.split_whitespace().nth(1).unwrap().parse().unwrap(), head, answer[split + 4..].to_vec())
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let (status, _, body) = self.ask("GET", path, "", b"");
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    fn post_batch(&self, reports: &[Vec<u8>]) -> Value {
        let (status, _, body) = self.ask("POST", "/v1/batches", "", &batch::join(reports));
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap()
    }

    /// The name of the problem that this answer is.
    fn problem(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String) {
        let (status, head, body) = self.ask(method, path, headers, body);
        assert!(head.to_lowercase().contains("application/problem+json"), "{head}");
        let problem: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem["status"], status);
        let kind = problem["type"].as_str().unwrap();
        (status, kind.strip_prefix("urn:undertone:problem:").unwrap().to_owned())
    }

    /// What is learnt once everything that is stored was learnt from.
    fn settled(&self, reports: u64) -> Value {
        let began = Instant::now();
        loop {
            let (_, status) = self.get("/v1/status");
            if status["reports"] == reports {
                return status;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{status}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Ends it politely.
    fn stop(mut self) {
        assert!(Command::new("kill").arg(self.process.id().to_string()).status().unwrap().success());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Valid reports, each with its own number for an id.
fn reports(task: &Task, numbers: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    let format = ReportFormat::new(task).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let members = (0..task.mechanism().unwrap().set_size().unwrap()).collect::<Vec<u32>>();
    let report = |number: u32| {
        let mut id = [7; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        let time = format.collection().unit_of(now);
        let features = task.features.iter().map(|_| Cell::Missing).collect();
        let members = members.clone();
        format.encode(&Report { id: ReportId(id), time, tier: 0, features, members, among: vec![] }).unwrap()
    };
    numbers.map(report).collect()
}

#[test]
fn a_table_is_sent_stored_learnt_from_and_shown() {
    let folder = Folder::new("story", "--learner softmax");
    let collector = folder.serve();
    assert_eq!(collector.get("/v1/shares").0, 409);
    let sent = json(&format!("send {NURSERY} --to {} --seed 1 --batch 200", collector.url));
    assert_eq!((&sent["accepted"], &sent["duplicates"]), (&12_960.into(), &0.into()));
    let status = collector.settled(12_960);
    assert_eq!((&status["shown"], &status["audit"]["verdict"]), (&true.into(), &"kept".into()));
    // A third of the families are not recommended, and the interval is 95 %: 5σ is 2.6 times as wide.
    let (_, shares) = collector.get("/v1/shares");
    let share = &shares["shares"][0];
    let (estimate, high) = (share["estimate"].as_f64().unwrap(), share["high"].as_f64().unwrap());
    assert!((estimate - 1.0 / 3.0).abs() < 2.6 * (high - estimate), "{share}");
    let (code, model) = collector.get("/v1/model");
    assert_eq!((code, &model["training"]["reports"]), (200, &12_960.into()));
    let model_file = folder.path("model.json");
    fs::write(&model_file, model.to_string()).unwrap();
    let evaluation = json(&format!("evaluate {model_file} {NURSERY} --label nursery"));
    // One pass at ε = 1 comes to 0.74, with a standard deviation of 0.03 over the coins; the largest class has a third.
    assert!(evaluation["accuracy"].as_f64().unwrap() > 0.59, "{}", evaluation["accuracy"]);
    assert!(collector.get("/openapi.json").1["paths"]["/v1/batches"]["post"].is_object());
    let (status, head, page) = collector.ask("GET", "/", "", b"");
    assert!(status == 200 && head.contains("content-security-policy") && page.starts_with(b"<!"));
}

#[test]
fn what_was_learnt_survives_kills_to_the_last_bit() {
    let folder = Folder::new("recovery", "--learner softmax");
    let collector = folder.serve();
    json(&format!("send {NURSERY} --to {} --seed 2", collector.url));
    collector.settled(12_960);
    let before = collector.ask("GET", "/v1/model", "", b"").2;
    collector.kill();
    let collector = folder.serve();
    collector.settled(12_960);
    assert_eq!(collector.ask("GET", "/v1/model", "", b"").2, before);
    // The same devices again: nothing is counted twice.
    let again = json(&format!("send {NURSERY} --to {} --seed 2", collector.url));
    assert_eq!(again["accepted"].as_u64().unwrap() + again["duplicates"].as_u64().unwrap(), 12_960);
}

#[test]
fn duplicates_are_counted_once_and_what_is_no_report_is_refused_with_its_reason() {
    let folder = Folder::new("refusals", "--learner shares-only");
    let collector = folder.serve();
    let reports = reports(&folder.task(), 0..10);
    let mut mixed = reports.clone();
    mixed.push(reports[3].clone());
    mixed.push(b"nonsense".to_vec());
    let mut other = reports[0].clone();
    other[5] ^= 1;
    mixed.push(other);
    let receipt = collector.post_batch(&mixed);
    assert_eq!((&receipt["accepted"], &receipt["duplicates"]), (&10.into(), &1.into()));
    let reasons: Vec<_> =
        receipt["refused"].as_array().unwrap().iter().map(|one| (&one["index"], &one["reason"])).collect();
    assert_eq!(reasons, [(&11.into(), &"unknown-version".into()), (&12.into(), &"other-task".into())]);
    // One report, as bytes and as JSON
    assert_eq!(collector.ask("POST", "/v1/reports", "", &reports[4]).0, 200);
    let format = ReportFormat::new(&folder.task()).unwrap();
    let mut fresh = format.decode(&reports[0]).unwrap();
    fresh.id = ReportId([9; 16]);
    let text = format.to_json(&fresh).unwrap();
    let kind = "Content-Type: application/json\r\n";
    assert_eq!(collector.ask("POST", "/v1/reports", kind, text.as_bytes()).0, 201);
    assert_eq!(collector.ask("POST", "/v1/reports", "", &format.encode(&fresh).unwrap()).0, 200);
    assert_eq!(collector.problem("POST", "/v1/reports", "", b"nonsense"), (422, "unknown-version".into()));
    assert_eq!(collector.problem("POST", "/v1/batches", "", b"\0\0\0\x09short"), (422, "truncated".into()));
    assert_eq!(collector.problem("GET", "/v1/nothing", "", b"").0, 404);
    let status = collector.settled(11);
    let refused: Vec<&str> =
        status["refusals"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(refused, ["duplicate", "other-task", "unknown-version"]);
    // Below the minimum nothing is shown.
    assert_eq!(
        (&status["shown"], &status["shares"], &status["model"]),
        (&false.into(), &Value::Null, &Value::Null)
    );
    assert_eq!(collector.problem("GET", "/v1/shares", "", b""), (409, "too-few-reports".into()));
    assert_eq!(collector.problem("GET", "/v1/model", "", b""), (409, "too-few-reports".into()));
}

#[test]
fn tokens_open_what_they_are_for() {
    let folder = Folder::new("tokens", "--learner shares-only --admission");
    let made = ["submit", "read", "operate"].map(|role| json(&format!("token --role {role}")));
    let hashes = made
        .iter()
        .map(|token| format!("[[tokens]]\nrole = {}\nsha256 = {}\n", token["role"], token["sha256"]));
    folder.configure(&hashes.collect::<String>());
    let collector = folder.serve();
    let bearer =
        |place: usize| format!("Authorization: Bearer {}\r\n", made[place]["token"].as_str().unwrap());
    let reports = reports(&folder.task(), 0..6);
    for (method, path, role) in [
        ("POST", "/v1/batches", 0),
        ("GET", "/v1/status", 1),
        ("GET", "/v1/events", 1),
        ("GET", "/v1/shares", 1),
        ("GET", "/v1/reports", 2),
        ("POST", "/v1/operate/close", 2),
    ] {
        for (place, headers) in (0..3).map(|place| (place, bearer(place))).chain([(9, String::new())]) {
            // Whoever operates may read.
            if place != role && !(place == 2 && role == 1) {
                assert_eq!(collector.problem(method, path, &headers, b"").0, 401, "{method} {path} {place}");
            }
        }
    }
    let send = |admission: &str, some: &[Vec<u8>]| {
        let headers = format!("{}{admission}", bearer(0));
        let (status, _, body) = collector.ask("POST", "/v1/batches", &headers, &batch::join(some));
        (status, serde_json::from_slice::<Value>(&body).unwrap())
    };
    assert_eq!(send("", &reports[..1]).1["refused"][0]["reason"], "admission-needed");
    assert_eq!(send("undertone-admission: 00\r\n", &reports[..1]).0, 422);
    let wanted = format!("{}Content-Type: application/json\r\n", bearer(2));
    let (_, _, body) = collector.ask("POST", "/v1/operate/admission", &wanted, br#"{"count": 1, "cap": 4}"#);
    let token = serde_json::from_slice::<Value>(&body).unwrap()["tokens"][0].as_str().unwrap().to_owned();
    let admission = format!("undertone-admission: {token}\r\n");
    let (_, receipt) = send(&admission, &reports);
    assert_eq!((&receipt["accepted"], receipt["refused"].as_array().unwrap().len()), (&4.into(), 2));
    assert_eq!(receipt["refused"][0]["reason"], "admission-spent");
    // A retry of what was stored is told the truth, though the token is spent.
    assert_eq!(send(&admission, &reports[..4]).1["duplicates"], 4);
    assert_eq!(collector.ask("POST", "/v1/operate/close", &bearer(2), b"").0, 200);
    assert_eq!(send(&admission, &reports[5..]).1["refused"][0]["reason"], "closed");
    assert_eq!(collector.ask("GET", "/v1/status", &bearer(2), b"").0, 200);
}

#[test]
fn strangers_with_bad_manners_harm_nobody() {
    let folder = Folder::new("manners", "--learner shares-only");
    folder.configure("[limits]\nbody = 65536\npatience = 1\nconnections = 4\n");
    let collector = folder.serve();
    let answers = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(collector.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
    };
    assert!(answers(b"\x16\x03\x01 this is not HTTP\r\n\r\n").contains("400"));
    assert!(
        answers(b"POST /v1/batches HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n").contains("413")
    );
    // A head that never ends, and a body that does not come
    assert!(!answers(b"GET /v1/status HTTP/1.1\r\nHost: x\r\n").contains("200"));
    assert!(
        answers(b"POST /v1/batches HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc").contains("408")
    );
    // More connections than there is room for wait, and are served when the idle ones are ended.
    let idle: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(collector.address()).unwrap()).collect();
    assert_eq!(collector.get("/v1/status").0, 200);
    drop(idle);
    assert_eq!(collector.post_batch(&reports(&folder.task(), 0..3))["accepted"], 3);
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = Folder::new("config", "--learner shares-only");
    refused("serve", 2, "--task or --config-file");
    refused(&format!("serve --task {NURSERY}"), 1, "nursery.csv.gz");
    folder.configure("[limits]\nbody = 0\n");
    refused(&format!("serve --config-file {}", folder.path("collector.toml")), 1, "limits.body is 0");
    folder.configure("colour = \"blue\"\n");
    refused(&format!("serve --config-file {}", folder.path("collector.toml")), 1, "colour");
    folder.configure("");
    let running = folder.serve();
    refused(&format!("serve --config-file {}", folder.path("collector.toml")), 1, "open");
    running.kill();
    refused(&format!("send {NURSERY} --to ftp://x"), 1, "neither http:// nor https://");
}
