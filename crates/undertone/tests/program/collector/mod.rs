//! `serve` and `send`: the collector as devices, operators and strangers meet it.

mod crashes;
mod devices;
mod disks;
mod hostile;
mod impostor;
mod kills;
mod memory;
mod numbers;
#[cfg(feature = "postgres")]
mod postgres;
mod records;
mod sealing;
mod story;
mod tls;

use crate::run::{command, json, undertone};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use undertone_privacy::Epsilon;
use undertone_report::{Cell, Report, ReportFormat, ReportId, Task, batch};

const NURSERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/nursery.csv.gz");
const CLASSES: &str = "not_recom,recommend,very_recom,priority,spec_prior";

/// A folder with a task, in which collectors keep what they have.
struct Folder {
    path: PathBuf,
    /// The header of whoever may operate, if anybody may
    bearer: String,
    /// That token's place in a configuration
    token: String,
}

impl Folder {
    fn new(name: &str, options: &str) -> Self {
        let folder = Self::empty(name);
        let made = undertone(&format!(
            "task new {NURSERY} --label nursery --classes {CLASSES} --epsilon 1 --min-reports 100 {options} -o {}",
            folder.path("task.toml")
        ));
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        folder
    }

    fn empty(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("undertone-{}-collector-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self { path, bearer: String::new(), token: String::new() }
    }

    /// With a token for whoever runs it.
    fn operated(mut self) -> Self {
        let made = json("token --role operate");
        self.bearer = format!("Authorization: Bearer {}\r\n", made["token"].as_str().unwrap());
        self.token = format!("[[tokens]]\nrole = \"operate\"\nsha256 = {}\n", made["sha256"]);
        self
    }

    fn path(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    fn task(&self) -> Task {
        Task::from_toml(&fs::read_to_string(self.path("task.toml")).unwrap()).unwrap()
    }

    /// What the collector keeps about the task, under this name.
    fn kept(&self, name: &str) -> PathBuf {
        self.path.join("data").join(self.task().id().to_string()).join(name)
    }

    /// A configuration with these lines in it.
    fn configure(&self, lines: &str) {
        let text = format!(
            "task = {:?}\ndirectory = {:?}\nlisten = \"127.0.0.1:0\"\n{lines}\n{}",
            self.path("task.toml"),
            self.path("data"),
            self.token
        );
        fs::write(self.path("collector.toml"), text).unwrap();
    }

    /// The words that start a collector.
    fn words(&self) -> String {
        if !self.path.join("collector.toml").exists() {
            self.configure("");
        }
        format!("serve --config-file {}", self.path("collector.toml"))
    }

    fn serve(&self) -> Collector {
        self.start(command(&self.words()))
    }

    fn start(&self, command: Command) -> Collector {
        Collector::start(command, &self.bearer)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A collector of our own, ended with the test.
struct Collector {
    process: Child,
    url: String,
    bearer: String,
    /// What it has written to the standard error
    messages: Arc<Mutex<String>>,
}

impl Collector {
    fn start(mut command: Command, bearer: &str) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let messages: Arc<Mutex<String>> = Arc::default();
        let (errors, theirs) = (process.stderr.take().unwrap(), Arc::clone(&messages));
        let listening = thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                theirs.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        if url.is_empty() {
            listening.join().unwrap();
            panic!("{command:?}: {}", messages.lock().unwrap());
        }
        Self { process, url: url.trim().to_owned(), bearer: bearer.to_owned(), messages }
    }

    fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Status, headers and body of an answer.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let (length, bearer) = (body.len(), &self.bearer);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n{bearer}{headers}\r\n"
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
        self.until(|| {
            let (_, status) = self.get("/v1/status");
            if status["reports"] == reports { Ok(status) } else { Err(status.to_string()) }
        })
    }

    /// Waits until the collector has said this on the standard error.
    fn said(&self, words: &str) -> String {
        self.until(|| {
            let messages = self.messages.lock().unwrap().clone();
            if messages.contains(words) { Ok(messages) } else { Err(messages) }
        })
    }

    /// Asks again and again, for half a minute.
    #[track_caller]
    fn until<T>(&self, ask: impl Fn() -> Result<T, String>) -> T {
        let began = Instant::now();
        loop {
            match ask() {
                Ok(answer) => return answer,
                Err(instead) => assert!(began.elapsed() < Duration::from_secs(30), "{}: {instead}", self.url),
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The log, as whoever may operate is given it.
    fn export(&self) -> Vec<Vec<u8>> {
        let (status, _, body) = self.ask("GET", "/v1/reports", "", b"");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        // It has no length, so it comes in chunks.
        let reports = unchunked(&body);
        batch::split(&reports).unwrap().into_iter().map(<[u8]>::to_vec).collect()
    }

    /// Has everything written that is stored so far.
    fn seal(&self) -> Value {
        let (status, _, body) = self.ask("POST", "/v1/operate/seal", "", b"");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap()
    }

    /// Waits until so many reports are in files, without asking for it.
    fn sealed(&self, reports: u64) {
        self.until(|| {
            let metrics = String::from_utf8(self.ask("GET", "/metrics", "", b"").2).unwrap();
            let line = format!("undertone_log_sealed_reports {reports}\n");
            if metrics.contains(&line) { Ok(()) } else { Err(metrics) }
        });
    }

    fn model(&self) -> Vec<u8> {
        let (status, _, body) = self.ask("GET", "/v1/model", "", b"");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        body
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

/// Waits until senders have counted so many acknowledgements: by the clock alone, a slow disk may not have given any.
#[track_caller]
fn under_load(acknowledged: &AtomicU32, least: u32, is_over: impl Fn() -> bool) {
    let began = Instant::now();
    loop {
        let so_far = acknowledged.load(Ordering::Relaxed);
        if so_far >= least {
            return;
        }
        assert!(!is_over(), "nobody sends any more, after {so_far} of {least} acknowledgements");
        assert!(began.elapsed() < Duration::from_mins(2), "{so_far} of {least} acknowledgements in time");
        thread::sleep(Duration::from_millis(1));
    }
}

/// What a body in chunks holds.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let line = body.windows(2).position(|two| two == b"\r\n").unwrap();
        let length = usize::from_str_radix(std::str::from_utf8(&body[..line]).unwrap(), 16).unwrap();
        if length == 0 {
            return whole;
        }
        whole.extend_from_slice(&body[line + 2..line + 2 + length]);
        body = &body[line + 2 + length + 2..];
    }
}

/// Valid reports, each with its own number for an id.
fn reports(task: &Task, numbers: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    reports_of(task, 0, numbers)
}

/// The same, of people who have chosen this tier.
fn reports_of(task: &Task, tier: u8, numbers: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    let format = ReportFormat::new(task).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let epsilon = Epsilon::new(format.collection().tiers[usize::from(tier)]).unwrap();
    let set_size = task.mechanism_at(epsilon).unwrap().set_size().unwrap();
    let members = (0..set_size).collect::<Vec<u32>>();
    let report = |number: u32| {
        let mut id = [7; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        let time = format.collection().unit_of(now);
        let features = task.features.iter().map(|_| Cell::Missing).collect();
        let members = members.clone();
        format
            .encode(&Report {
                id: ReportId(id),
                time,
                tier,
                features,
                members,
                among: vec![],
                number: None,
                gradient: None,
                survey: None,
            })
            .unwrap()
    };
    numbers.map(report).collect()
}

/// The number that a report has for an id.
fn number_of(format: &ReportFormat, report: &[u8]) -> u32 {
    u32::from_be_bytes(format.decode(report).unwrap().id.0[..4].try_into().unwrap())
}
