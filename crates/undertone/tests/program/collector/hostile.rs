//! What strangers send, and what operators configure.

use super::{Folder, NURSERY, reports};
use crate::run::{json, refused};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use undertone_report::{ReportFormat, ReportId, batch};

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
    assert_eq!(refused, ["duplicate", "other-task", "truncated", "unknown-version"]);
    // Below the minimum nothing is shown.
    assert_eq!(
        (&status["shown"], &status["shares"], &status["model"]),
        (&false.into(), &Value::Null, &Value::Null)
    );
    assert_eq!(collector.problem("GET", "/v1/shares", "", b""), (409, "too-few-reports".into()));
    assert_eq!(collector.problem("GET", "/v1/model", "", b""), (409, "too-few-reports".into()));
}

#[test]
fn strangers_are_told_little_and_get_no_memory() {
    let folder = Folder::new("strangers", "--learner shares-only");
    folder.configure("[limits]\npatience = 2\n");
    let collector = folder.serve();
    // What a stranger says is not said back at length.
    let format = ReportFormat::new(&folder.task()).unwrap();
    let text = format.to_json(&format.decode(&reports(&folder.task(), 0..1)[0]).unwrap()).unwrap();
    let mut long: Value = serde_json::from_str(&text).unwrap();
    long["labels"] = serde_json::json!(["x".repeat(100_000)]);
    let kind = "Content-Type: application/json\r\n";
    let (status, _, body) = collector.ask("POST", "/v1/reports", kind, long.to_string().as_bytes());
    assert!(status == 422 && body.len() < 2000, "{status}: {} bytes", body.len());
    // Nobody waits for the body of somebody who may not ask.
    let mut stream = TcpStream::connect(collector.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = "POST /v1/operate/admission HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 401");
    // Whoever does not take what they asked for loses the connection: enough answers fill every buffer in between.
    let mut stream = TcpStream::connect(collector.address()).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
    let cut = (0..1_000_000).find(|_| stream.write_all(request).is_err());
    assert!(cut.is_some(), "a million requests were taken from somebody who reads no answer");
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
    assert!(folder.kept("closed").exists(), "of this task, and of no other in the same directory");
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
    let (kind, long) = ("Content-Type: application/json\r\n", format!("[{}7]", "7,".repeat(10_000)));
    assert_eq!(collector.problem("POST", "/v1/batches", kind, long.as_bytes()), (422, "long-batch".into()));
    assert_eq!(collector.problem("POST", "/v1/batches", kind, b"{}"), (422, "no-json".into()));
    for (reason, count) in [("too-large", 1), ("too-slow", 1), ("long-batch", 1), ("no-json", 1)] {
        assert_eq!(collector.refused_for(reason), count, "{reason}");
    }
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
