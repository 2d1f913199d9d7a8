//! A log in PostgreSQL, which several collectors share.

#[path = "../../../../undertone-collect/tests/postgres/server.rs"]
mod server;

use super::records::People;
use super::{Collector, Folder, NURSERY, number_of, reports};
use crate::run::{command, json, refused};
use serde_json::Value;
use server::Server;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use undertone_report::{ReportFormat, batch};

const STORE: &str = "[store]\nkind = \"postgres\"\n";
const PASSWORD: &str = "nobody-may-read-this";

impl Folder {
    /// Another folder for the same task.
    fn beside(&self, name: &str) -> Self {
        let folder = Self::empty(name);
        fs::copy(self.path("task.toml"), folder.path("task.toml")).unwrap();
        folder
    }

    /// A collector with its log on a server.
    fn serve_from(&self, server: &Server) -> Collector {
        self.configure(STORE);
        let mut command = command(&self.words());
        command.env("UNDERTONE_DATABASE", format!("{} password={PASSWORD}", server.settings()));
        self.start(command)
    }
}

/// Reports as devices make them.
fn nursery(folder: &Folder) -> Vec<Vec<u8>> {
    let collector = folder.serve();
    json(&format!("send {NURSERY} --to {}", collector.url));
    collector.export()
}

/// Sends a batch, unless the collector has gone.
fn send_some(address: &str, reports: &[Vec<u8>]) -> Option<Value> {
    let mut stream = TcpStream::connect(address).ok()?;
    // One that is there and says nothing has gone, too.
    stream.set_read_timeout(Some(Duration::from_mins(2))).ok()?;
    let body = batch::join(reports);
    let head = format!(
        "POST /v1/batches HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let split = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    serde_json::from_slice(&answer[split + 4..]).ok()
}

/// Sends batches until all are acknowledged or the collector has gone, and says how many were new.
fn send_all<'a>(address: &str, batches: impl Iterator<Item = &'a [Vec<u8>]>) -> Option<u64> {
    let mut accepted = 0;
    for batch in batches {
        accepted += send_some(address, batch)?["accepted"].as_u64()?;
    }
    Some(accepted)
}

#[test]
fn two_collectors_on_one_database_count_each_report_once_and_learn_what_a_single_one_would() {
    let Some(server) = Server::shared() else { return };
    let first = Folder::new("shared-1", "--learner softmax").operated();
    let second = first.beside("shared-2").operated();
    let reports = nursery(&first.beside("shared-source").operated());
    let (one, two) = (first.serve_from(&server), second.serve_from(&server));
    // The same reports to both, from either end, while the first is killed.
    std::thread::scope(|scope| {
        let (address, reports) = (one.address().to_owned(), &reports);
        let forwards = scope.spawn(move || send_all(&address, reports.chunks(100)));
        let backwards = scope.spawn(|| send_all(two.address(), reports.chunks(100).rev()));
        two.until(|| match two.get("/v1/status").1["reports"].as_u64() {
            Some(2000..) => Ok(()),
            reports => {
                let sender = if backwards.is_finished() { "has given up" } else { "goes on" };
                Err(format!("reports: {reports:?}, fewer than 2000, and who sends {sender}"))
            }
        });
        one.kill();
        forwards.join().unwrap();
        assert!(backwards.join().unwrap().is_some(), "the other goes on");
    });
    let one = first.serve_from(&server);
    assert_eq!(send_all(one.address(), reports.chunks(77)), Some(0), "all are there");
    one.settled(12_960);
    two.settled(12_960);
    assert_eq!(one.model(), two.model());
    let log = one.export();
    assert_eq!(log, two.export());
    assert_eq!(log.iter().collect::<BTreeSet<_>>(), reports.iter().collect::<BTreeSet<_>>());

    let single = first.beside("shared-single").operated();
    let single = single.serve();
    assert_eq!(send_all(single.address(), log.chunks(500)), Some(12_960));
    single.settled(12_960);
    assert_eq!(single.export(), log);
    assert!(single.model() == one.model(), "the same log gives the same model, to the last bit");
    one.kill();
    let one = first.serve_from(&server);
    one.settled(12_960);
    assert!(single.model() == one.model(), "and so it does after a kill");
}

#[test]
fn each_collector_writes_the_same_parquet() {
    let Some(server) = Server::shared() else { return };
    let first = Folder::new("parquet-1", "--learner shares-only").operated();
    let second = first.beside("parquet-2").operated();
    let (one, two) = (first.serve_from(&server), second.serve_from(&server));
    one.post_batch(&reports(&first.task(), 0..150));
    assert_eq!(one.seal()["reports"], 150);
    two.post_batch(&reports(&first.task(), 100..200));
    assert_eq!(two.seal()["reports"], 200);
    assert_eq!(one.seal()["reports"], 200);
    // A segment that has been open for a million reports less one is closed by the next, and nobody has to ask.
    let task = first.task().id();
    server.sql(&format!(
        "update undertone_logs set segment = segment - 1048575 where task = decode('{task}', 'hex')"
    ));
    two.post_batch(&reports(&first.task(), 200..210));
    one.sealed(210);
    // Nobody has sent it anything since, and it has learnt from what the other was sent.
    one.settled(210);
    two.sealed(210);
    for first_position in [0, 150, 200] {
        let name = format!("{first_position:020}.parquet");
        let bytes = |folder: &Folder| fs::read(folder.kept("reports").join(&name)).unwrap();
        assert_eq!(bytes(&first), bytes(&second), "{name}");
    }
    let trained = json(&format!(
        "train {} --model softmax --l2 1e-3 --epochs 1 -o {}",
        second.kept("reports").display(),
        second.path("model.json")
    ));
    assert_eq!(trained["reports"], 210);
}

#[test]
fn a_database_that_is_gone_is_said_and_the_collector_goes_on_when_it_is_back() {
    let Some(server) = Server::start() else { return };
    let folder = Folder::new("gone", "--learner shares-only").operated();
    let (collector, task) = (folder.serve_from(&server), folder.task());
    collector.post_batch(&reports(&task, 0..100));
    server.crash();
    let more = undertone_report::batch::join(reports(&task, 50..150));
    assert_eq!(collector.problem("POST", "/v1/batches", "", &more), (503, "log-failed".into()));
    assert_eq!(collector.problem("GET", "/healthz", "", b""), (503, "unhealthy".into()));
    collector.said("learning waits");
    server.go();
    // A balancer asks this before it sends anything.
    collector.until(|| match collector.ask("GET", "/healthz", "", b"").0 {
        200 => Ok(()),
        status => Err(status.to_string()),
    });
    let receipt = collector.post_batch(&reports(&task, 50..150));
    assert_eq!((&receipt["accepted"], &receipt["duplicates"]), (&50.into(), &50.into()));
    collector.settled(150);
    assert_eq!(collector.ask("GET", "/healthz", "", b"").0, 200);
    let format = ReportFormat::new(&task).unwrap();
    let numbers: Vec<u32> = collector.export().iter().map(|report| number_of(&format, report)).collect();
    assert_eq!(numbers, (0..150).collect::<Vec<u32>>());
    let messages = collector.messages.lock().unwrap().clone();
    assert!(!messages.contains(PASSWORD), "{messages}");
    collector.stop();
    server.crash();
    folder.configure(STORE);
    let mut again = command(&folder.words());
    again.env("UNDERTONE_DATABASE", format!("{} password={PASSWORD}", server.settings()));
    let errors = String::from_utf8(again.output().unwrap().stderr).unwrap();
    assert!(errors.contains("the database that UNDERTONE_DATABASE names"), "{errors}");
    assert!(!errors.contains(PASSWORD), "{errors}");
}

#[test]
fn a_database_that_nobody_names_is_asked_for() {
    let folder = Folder::new("nameless", "--learner shares-only");
    folder.configure(STORE);
    refused(&folder.words(), 1, "UNDERTONE_DATABASE");
    folder.configure("[store]\nkind = \"oracle\"\n");
    refused(&folder.words(), 1, "oracle");
}

#[test]
fn two_collectors_on_one_database_stand_at_the_same_point() {
    let Some(server) = Server::shared() else { return };
    let first = Folder::of_records("records-1", "--mu 1 --stale 50 --min-reports 10");
    let second = first.beside("records-2");
    let (one, two) = (first.serve_from(&server), second.serve_from(&server));
    let mut people = People::new(&first.task(), 1);
    // Each point from the one, each report to the other, and now and then the other way round. Neither waits until the other
    // has heard of what it was sent.
    for number in 0..60 {
        let (from, to) = if number % 3 == 0 { (&two, &one) } else { (&one, &two) };
        people.send(from, to, number);
    }
    one.settled(60);
    two.settled(60);
    assert_eq!(one.point(), two.point());
    assert_eq!(one.estimate(), two.estimate());
    // So does a third, which was not there.
    let third = first.beside("records-3");
    let third = third.serve_from(&server);
    assert_eq!((third.point(), third.estimate()), (one.point(), one.estimate()));
}
