//! Disks that are full, slow or damaged, and clocks that go back.

use super::{Collector, Folder, number_of, reports};
use crate::run::refused;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use undertone_collect::{Log, SegmentLog, SegmentOptions};
use undertone_report::{ReportFormat, batch};

#[test]
fn a_full_disk_is_said_and_costs_nothing_that_was_acknowledged() {
    let folder = Folder::new("full", "--learner shares-only");
    let task = folder.task();
    // No file gets beyond 64 KiB. What the system says then is what it says of a disk without room, once the signal that
    // comes with it is ignored.
    let (program, words) = (env!("CARGO_BIN_EXE_undertone"), folder.words());
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("trap '' XFSZ; ulimit -f 128; exec {program} {words}")]);
    let collector = folder.start(limited);
    let mut acknowledged = 0;
    let problem: Value = loop {
        let some = reports(&task, acknowledged..acknowledged + 50);
        let (status, _, body) = collector.ask("POST", "/v1/batches", "", &batch::join(&some));
        if status != 200 {
            assert_eq!(status, 503);
            break serde_json::from_slice(&body).unwrap();
        }
        acknowledged += 50;
        assert!(acknowledged < 100_000, "the limit is none");
    };
    assert!(acknowledged > 0);
    assert_eq!(problem["type"], "urn:undertone:problem:log-failed");
    // Why is said to who runs it, and to nobody else.
    let detail = problem["detail"].as_str().unwrap();
    assert!(!detail.contains(".log"), "{detail}");
    collector.said(".log: File too large");
    // It stays so until somebody has made room and starts it again; what is there can be read.
    let more = batch::join(reports(&task, 100_000..100_001));
    assert_eq!(collector.problem("POST", "/v1/batches", "", &more), (503, "log-failed".into()));
    assert_eq!(collector.problem("GET", "/healthz", "", b""), (503, "unhealthy".into()));
    collector.settled(u64::from(acknowledged));
    collector.stop();

    let collector = folder.serve();
    let receipt = collector.post_batch(&reports(&task, 0..acknowledged + 50));
    let count = |key: &str| receipt[key].as_u64().unwrap();
    // Those that were refused may be there or not; those that were acknowledged are.
    assert!(count("duplicates") >= u64::from(acknowledged), "{receipt}");
    assert_eq!(count("accepted") + count("duplicates"), u64::from(acknowledged) + 50, "{receipt}");
    collector.settled(u64::from(acknowledged) + 50);
    assert_eq!(collector.ask("GET", "/healthz", "", b"").0, 200);
}

#[test]
fn a_slow_disk_turns_senders_away_and_loses_nothing() {
    let folder = Folder::new("slow", "--learner shares-only").operated();
    // Each commit takes a third of a second, and two batches may wait for it.
    folder.configure("[limits]\nwaiting = 100\nwindow = 300\n");
    let (collector, task, together) = (folder.serve(), folder.task(), Barrier::new(8));
    let busy: u32 = thread::scope(|scope| {
        let sender = |place: u32| {
            let (collector, task, together) = (&collector, &task, &together);
            move || {
                let body = batch::join(reports(task, place * 50..place * 50 + 50));
                together.wait();
                for busy in 0.. {
                    let (status, head, answer) = collector.ask("POST", "/v1/batches", "", &body);
                    let answer: Value = serde_json::from_slice(&answer).unwrap();
                    if status == 200 {
                        assert_eq!(answer["accepted"], 50);
                        return busy;
                    }
                    assert_eq!((status, &answer["type"]), (503, &"urn:undertone:problem:busy".into()));
                    assert!(head.to_lowercase().contains("retry-after: 1"), "{head}");
                    assert!(busy < 1000);
                    thread::sleep(Duration::from_millis(50));
                }
                unreachable!("it was tried a thousand times")
            }
        };
        let senders: Vec<_> = (0..8).map(|place| scope.spawn(sender(place))).collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).sum()
    });
    assert!(busy > 0, "somebody was turned away");
    let format = ReportFormat::new(&task).unwrap();
    let stored: Vec<u32> = collector.export().iter().map(|report| number_of(&format, report)).collect();
    assert_eq!(stored.len(), 400, "nothing is there twice");
    assert_eq!(stored.into_iter().collect::<BTreeSet<u32>>(), (0..400).collect());
}

/// A collector that was told a hundred reports in two commits.
fn with_a_hundred(folder: &Folder) -> Collector {
    let collector = folder.serve();
    for numbers in [0..60, 60..100] {
        assert_eq!(
            collector.post_batch(&reports(&folder.task(), numbers.clone()))["accepted"],
            numbers.len()
        );
    }
    collector
}

fn segment(folder: &Folder) -> PathBuf {
    folder.kept("log").join("00000000000000000000.log")
}

/// Where the last byte is that is not zero: in the last frame, which is followed by zeros.
fn last_byte(folder: &Folder) -> u64 {
    fs::read(segment(folder)).unwrap().iter().rposition(|&byte| byte != 0).unwrap() as u64
}

fn flip(segment: &Path, place: u64) {
    let file = OpenOptions::new().read(true).write(true).open(segment).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, place).unwrap();
    file.write_all_at(&[byte[0] ^ 4], place).unwrap();
}

#[test]
fn a_snapshot_that_cannot_be_written_is_no_reason_to_learn_nothing_and_is_said_at_the_end() {
    let folder = Folder::new("unkept", "--learner shares-only");
    with_a_hundred(&folder).kill();
    fs::create_dir(folder.kept("learner.snapshot")).unwrap();
    let mut collector = folder.serve();
    assert_eq!(collector.post_batch(&reports(&folder.task(), 100..110))["accepted"], 10);
    collector.settled(110);
    assert!(Command::new("kill").arg(collector.process.id().to_string()).status().unwrap().success());
    assert_eq!(collector.process.wait().unwrap().code(), Some(1));
    collector.said("learner.snapshot is a directory");
    fs::remove_dir(folder.kept("learner.snapshot")).unwrap();
    folder.serve().settled(110);
}

#[test]
fn what_was_being_written_at_a_crash_is_cut_off_and_said() {
    let folder = Folder::new("torn", "--learner shares-only");
    let task = folder.task();
    with_a_hundred(&folder).kill();
    let file = OpenOptions::new().write(true).open(segment(&folder)).unwrap();
    let end = last_byte(&folder) + 16;
    file.write_all_at(b"the beginning of a frame", end).unwrap();
    let collector = folder.serve();
    let messages = collector.said("had not been acknowledged");
    assert!(messages.contains(".torn"), "{messages}");
    collector.settled(100);
    assert_eq!(collector.post_batch(&reports(&task, 0..101))["duplicates"], 100);
    collector.kill();
    let torn = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "torn");
    assert_eq!(fs::read_dir(folder.kept("log")).unwrap().map(Result::unwrap).filter(torn).count(), 1);
    // A bit of the very last frame cannot be told from half a frame: it is cut off, said and kept, and the rest is there.
    flip(&segment(&folder), last_byte(&folder));
    let collector = folder.serve();
    collector.said("had not been acknowledged");
    collector.settled(100);
    assert_eq!(collector.post_batch(&reports(&task, 0..101))["accepted"], 1);
    collector.settled(101);
}

#[test]
fn damage_to_what_was_acknowledged_is_refused_with_its_place() {
    let folder = Folder::new("damaged", "--learner shares-only");
    with_a_hundred(&folder).kill();
    // The first frame begins behind the head of the segment, and another follows it.
    flip(&segment(&folder), 200);
    refused(
        &folder.words(),
        1,
        "00000000000000000000.log: damaged at byte 68: a frame whose checksum is wrong",
    );
    flip(&segment(&folder), 200);
    let collector = folder.serve();
    collector.settled(100);
    collector.stop();
    // After a good end not even the last frame may be missing.
    let (whole, end) = (fs::read(segment(&folder)).unwrap(), last_byte(&folder));
    fs::write(segment(&folder), &whole[..end as usize - 10]).unwrap();
    refused(&folder.words(), 1, "00000000000000000000.log: damaged at byte");
    fs::write(segment(&folder), &whole[..68]).unwrap();
    refused(&folder.words(), 1, "the log was closed with 100 reports and now ends after 0");
    fs::write(segment(&folder), whole).unwrap();
    folder.serve().settled(100);
}

#[test]
fn a_damaged_log_that_is_cut_as_the_manual_says_goes_on_before_the_damage() {
    let folder = Folder::new("cut", "--learner shares-only").operated();
    let (collector, task) = (folder.serve(), folder.task());
    for numbers in [0..100, 100..150, 150..160] {
        collector.post_batch(&reports(&task, numbers));
        collector.seal();
    }
    collector.stop();
    let (log, aside) = (folder.kept("log"), folder.path.join("aside"));
    flip(&log.join("00000000000000000100.log"), 200);
    refused(&folder.words(), 1, "00000000000000000100.log: damaged at byte 68");
    fs::create_dir(&aside).unwrap();
    for name in
        ["00000000000000000100.log", "00000000000000000150.log", "00000000000000000160.log", "seen/clean"]
    {
        fs::rename(log.join(name), aside.join(name.replace('/', "-"))).unwrap();
    }
    let collector = folder.serve();
    collector.settled(100);
    assert_eq!(collector.post_batch(&reports(&task, 50..200))["accepted"], 100);
    assert_eq!(collector.seal()["reports"], 200);
    let mut sealed: Vec<String> = fs::read_dir(folder.kept("reports"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    sealed.sort();
    // The first segment was open again and has got more reports, so its file is another.
    let names = ["000.parquet", "000.parquet.stale", "100.parquet.stale", "150.parquet.stale"];
    assert_eq!(sealed, names.map(|name| format!("00000000000000000{name}")));
}

#[test]
fn a_clock_that_was_ahead_and_goes_back_opens_no_door() {
    let folder = Folder::new("clock", "--learner shares-only");
    let task = folder.task();
    with_a_hundred(&folder).stop();
    // What a collector leaves behind whose clock was ten days ahead at its last commit
    let collection = task.collection.as_ref().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let ahead = collection.horizon(now + 10 * 86_400);
    let options = SegmentOptions::default();
    let mut log = SegmentLog::open(&folder.kept("log"), *task.id().as_bytes(), options).unwrap();
    log.append(&[], ahead).unwrap();
    drop(log);
    // The ids of the past are forgotten, so nothing of the past is taken, neither old nor new, and all is well otherwise.
    for start in 0..2 {
        let collector = folder.serve();
        let receipt = collector.post_batch(&reports(&task, 50..150));
        assert_eq!((&receipt["accepted"], &receipt["duplicates"]), (&0.into(), &0.into()), "{start}");
        let refused = receipt["refused"].as_array().unwrap();
        assert_eq!(refused.len(), 100);
        assert!(refused.iter().all(|one| one["reason"] == "too-old"), "{receipt}");
        collector.settled(100);
        assert_eq!(collector.ask("GET", "/healthz", "", b"").0, 200);
    }
}
