//! The service is killed at random moments while many send: nothing acknowledged is lost, nothing is counted twice, and what
//! is learnt is what a collector that nobody killed learns from the same log.
//!
//! `UNDERTONE_KILLS` says how often; 5 times unless said otherwise.

use super::{Collector, Folder, unchunked, under_load};
use crate::run::{command, json};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use undertone_report::{CategoryWords, Cell, EncodingWords, Report, ReportFormat, ReportId, Task, batch};

const SENDERS: usize = 4;
/// New reports of a batch
const BATCH: u32 = 20;
/// Reports of a batch that were acknowledged before
const OLD: u32 = 5;
/// Batches that are acknowledged before four of five ends, so that five kills meet 560 new reports at least
const LOAD: u32 = 7;

/// Makes the reports: each has its marker in the id and again in its first public column.
struct Devices {
    task: Task,
    format: ReportFormat,
    time: u64,
}

impl Devices {
    fn new(task: Task) -> Self {
        let format = ReportFormat::new(&task).unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        Self { time: format.collection().unit_of(now), format, task }
    }

    /// The same bytes whenever it is asked for.
    fn report(&self, marker: u32) -> Vec<u8> {
        let mut id = [7; 16];
        id[..4].copy_from_slice(&marker.to_be_bytes());
        let choose = |place: u64, among: usize| splitmix(u64::from(marker) << 8 | place) as usize % among;
        let cell = |(place, encoding): (u64, &EncodingWords)| match encoding {
            EncodingWords::Category(CategoryWords::Values { values, .. }) if place > 0 => {
                Cell::Words(values[choose(place, values.len())].clone())
            }
            _ => Cell::Words(marker.to_string()),
        };
        let features = (0..).zip(&self.format.collection().encoding).map(cell).collect();
        let label = choose(99, self.task.classes.len()) as u32;
        let report = Report {
            id: ReportId(id),
            time: self.time,
            tier: 0,
            features,
            members: vec![label],
            among: vec![],
            number: None,
            gradient: None,
            survey: None,
        };
        self.format.encode(&report).unwrap()
    }

    fn batch(&self, markers: &[u32]) -> Vec<u8> {
        batch::join(markers.iter().map(|&marker| self.report(marker)))
    }

    /// The marker of a report of the log.
    fn marker(&self, report: &[u8]) -> u32 {
        let Report { id, features, .. } = self.format.decode(report).unwrap();
        let marker = u32::from_be_bytes(id.0[..4].try_into().unwrap());
        assert_eq!(features[0], Cell::Words(marker.to_string()), "parts of two reports");
        marker
    }
}

/// What the senders know.
#[derive(Default)]
struct Known {
    /// No marker from here on was ever sent
    next: u32,
    acknowledged: BTreeSet<u32>,
    /// Sent, and nobody knows what became of them
    open: Vec<Vec<u32>>,
}

impl Known {
    /// Sends while the collector runs, which it does for less than a quarter of a second after so many batches.
    fn send_until_its_end(
        &mut self,
        collector: Collector,
        batches: u32,
        moment: u64,
        devices: &Devices,
        end: impl FnOnce(Collector),
    ) {
        let (address, acknowledged) = (collector.address().to_owned(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            let sending = scope.spawn(|| self.send(&address, devices, &acknowledged));
            under_load(&acknowledged, batches, || sending.is_finished());
            std::thread::sleep(Duration::from_micros(moment % 250_000));
            end(collector);
            sending.join().unwrap();
        });
    }

    /// Sends from several threads until nobody answers, first what is open, then what is new, and counts the batches that are
    /// acknowledged.
    fn send(&mut self, address: &str, devices: &Devices, batches: &AtomicU32) {
        let next = AtomicU32::new(self.next);
        let mut open = std::mem::take(&mut self.open);
        let shares: Vec<Vec<Vec<u32>>> =
            (0..SENDERS).map(|sender| open.drain(..open.len() / (SENDERS - sender)).collect()).collect();
        let ends: Vec<(Vec<u32>, Vec<Vec<u32>>)> = std::thread::scope(|scope| {
            let run = |mut open: Vec<Vec<u32>>| {
                let mut acknowledged = Vec::new();
                loop {
                    let batch = open.pop().unwrap_or_else(|| some(next.fetch_add(BATCH, Ordering::Relaxed)));
                    if !is_acknowledged(address, devices, &batch) {
                        open.push(batch);
                        return (acknowledged, open);
                    }
                    acknowledged.extend(batch);
                    batches.fetch_add(1, Ordering::Relaxed);
                }
            };
            let running: Vec<_> = shares.into_iter().map(|share| scope.spawn(move || run(share))).collect();
            running.into_iter().map(|sender| sender.join().unwrap()).collect()
        });
        for (acknowledged, open) in ends {
            self.acknowledged.extend(acknowledged);
            self.open.extend(open);
        }
        self.next = next.into_inner();
    }

    fn send_what_is_open(&mut self, address: &str, devices: &Devices) {
        for batch in std::mem::take(&mut self.open) {
            assert!(is_acknowledged(address, devices, &batch));
            self.acknowledged.extend(batch);
        }
    }
}

/// A batch of new markers, and of some that were sent before by whoever it was.
fn some(first: u32) -> Vec<u32> {
    let old = (0..OLD).filter(|_| first > 0).map(|place| splitmix(u64::from(first + place)) as u32 % first);
    let mut markers: Vec<u32> = (first..first + BATCH).chain(old).collect();
    markers.sort_unstable();
    markers.dedup();
    markers
}

/// Sends a batch. What is answered is that all of it is stored, or nothing because the collector has gone.
fn is_acknowledged(address: &str, devices: &Devices, markers: &[u32]) -> bool {
    let Some(receipt) = post(address, &devices.batch(markers)) else { return false };
    let count = |name: &str| receipt[name].as_u64().unwrap();
    assert_eq!(count("accepted") + count("duplicates"), markers.len() as u64, "{receipt}");
    true
}

fn post(address: &str, body: &[u8]) -> Option<Value> {
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    let head = format!(
        "POST /v1/batches HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let split = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    serde_json::from_slice(&answer[split + 4..]).ok()
}

/// A public hash: moments differ from kill to kill and are the same in every run.
fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The reports of the log, as whoever may operate is given them.
fn exported(collector: &Collector, bearer: &str) -> Vec<Vec<u8>> {
    let (status, _, body) = collector.ask("GET", "/v1/reports", bearer, b"");
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    batch::split(&unchunked(&body)).unwrap().into_iter().map(<[u8]>::to_vec).collect()
}

/// The model of everything that is stored.
fn model(collector: &Collector, bearer: &str) -> Vec<u8> {
    let began = Instant::now();
    while figure(collector, "learner_lag_reports") > 0 {
        assert!(began.elapsed() < Duration::from_mins(1), "nothing is learnt");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (status, _, model) = collector.ask("GET", "/v1/model", bearer, b"");
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&model));
    model
}

fn figure(collector: &Collector, name: &str) -> u64 {
    let text = String::from_utf8(collector.ask("GET", "/metrics", "", b"").2).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("undertone_{name} ")));
    line.unwrap().parse().unwrap()
}

/// A collector that was never killed, and has nothing of another but its log.
fn learnt_anew(folder: &Folder) -> Vec<u8> {
    let fresh = Folder::new("kills-anew", "");
    fs::copy(folder.path("task.toml"), fresh.path("task.toml")).unwrap();
    let log = log_of(folder);
    fs::create_dir_all(log_of(&fresh)).unwrap();
    for file in fs::read_dir(log).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|end| end == "log") {
            fs::copy(&file, log_of(&fresh).join(file.file_name().unwrap())).unwrap();
        }
    }
    model(&fresh.serve(), "")
}

fn log_of(folder: &Folder) -> PathBuf {
    Path::new(&folder.path("data")).join(folder.task().id().to_string()).join("log")
}

#[test]
fn nothing_acknowledged_is_lost_or_doubled_or_learnt_otherwise_however_often_the_collector_is_killed() {
    let kills: u64 = std::env::var("UNDERTONE_KILLS").map_or(5, |kills| kills.parse().unwrap());
    let folder = Folder::new("kills", "--mechanism rr --learner softmax");
    let token = json("token --role operate");
    let bearer = format!("Authorization: Bearer {}\r\n", token["token"].as_str().unwrap());
    // Segments of a few commits, so that kills also meet the beginning of one
    folder.configure(&format!(
        "[limits]\nrate = 1e9\nburst = 1e9\nsegment = 2000000\n[[tokens]]\nrole = \"operate\"\nsha256 = {}\n",
        token["sha256"]
    ));
    let (devices, mut known) = (Devices::new(folder.task()), Known::default());
    for kill in 0..kills {
        // One in five comes at any moment, be it before the first batch.
        let (moment, load) = (splitmix(kill), if kill % 5 == 2 { 0 } else { LOAD });
        if kill % 5 == 4 {
            // In the middle of a start
            let words = format!("serve --config-file {}", folder.path("collector.toml"));
            let mut starting = command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(moment % 400_000));
            starting.kill().unwrap();
            starting.wait().unwrap();
            continue;
        }
        // Now and then it ends in good order before, and leaves a snapshot behind, from which the next start goes on.
        if kill % 5 == 1 {
            let collector = folder.serve();
            known.send_until_its_end(collector, load, moment >> 32, &devices, Collector::stop);
        }
        let collector = folder.serve();
        if kill % 10 == 3 {
            assert_eq!(model(&collector, &bearer), learnt_anew(&folder), "after {kill} kills");
        }
        known.send_until_its_end(collector, load, moment, &devices, Collector::kill);
    }
    let collector = folder.serve();
    known.send_what_is_open(collector.address(), &devices);
    let mut times = BTreeMap::new();
    for report in exported(&collector, &bearer) {
        *times.entry(devices.marker(&report)).or_insert(0) += 1;
    }
    assert!(times.values().all(|&times| times == 1), "counted twice");
    let lost: Vec<&u32> = known.acknowledged.iter().filter(|marker| !times.contains_key(marker)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert_eq!(
        times.len(),
        known.acknowledged.len(),
        "stored though nobody was told, even when it was sent again"
    );
    assert!(times.len() as u64 > 100 * kills, "{} reports: there was no load", times.len());
    assert_eq!(model(&collector, &bearer), learnt_anew(&folder));
    println!("{kills} kills, {} reports, each acknowledged and counted once", times.len());
}
