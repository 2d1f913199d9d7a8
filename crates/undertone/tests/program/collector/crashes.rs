//! What a collector remembers after it was killed.

use super::{Collector, Folder, NURSERY, number_of, reports, send_some};
use crate::run::json;
use std::fs;
use std::time::{Duration, Instant};
use undertone_report::ReportFormat;

#[test]
fn what_was_learnt_survives_kills_to_the_last_bit() {
    let folder = Folder::new("recovery", "--learner softmax");
    let collector = folder.serve();
    json(&format!("send {NURSERY} --to {} --seed 2", collector.url));
    collector.settled(12_960);
    let before = collector.model();
    collector.kill();
    let collector = folder.serve();
    collector.settled(12_960);
    assert_eq!(collector.model(), before);
    // The same devices again: nothing is counted twice.
    let again = json(&format!("send {NURSERY} --to {} --seed 2", collector.url));
    assert_eq!(again["accepted"].as_u64().unwrap() + again["duplicates"].as_u64().unwrap(), 12_960);
}

#[test]
fn nothing_acknowledged_is_lost_or_doubled_when_the_collector_is_killed_under_load() {
    let kills: u32 = std::env::var("UNDERTONE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(5);
    let folder = Folder::new("kills", "--learner shares-only");
    let task = folder.task();
    let (mut acknowledged, mut next, mut waits) = (Vec::new(), 0u32, 0u64);
    for _ in 0..kills {
        let collector = folder.serve();
        // What was not acknowledged before is sent again, with the same bytes.
        let first = next.saturating_sub(300);
        waits = waits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let deadline = Instant::now() + Duration::from_millis(20 + (waits >> 33) % 200);
        let address = collector.address().to_owned();
        let sender = std::thread::spawn({
            let task = task.clone();
            move || {
                let (mut done, mut number) = (Vec::new(), first);
                while let Some(answer) = send_some(&address, &reports(&task, number..number + 50)) {
                    assert_eq!(answer["refused"].as_array().map(Vec::len), Some(0), "{answer}");
                    done.extend(number..number + 50);
                    number += 50;
                }
                (done, number + 50)
            }
        });
        std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        collector.kill();
        let (done, reached) = sender.join().unwrap();
        acknowledged.extend(done);
        next = next.max(reached);
    }
    acknowledged.sort_unstable();
    acknowledged.dedup();
    assert!(!acknowledged.is_empty());
    let collector = folder.serve();
    let format = ReportFormat::new(&task).unwrap();
    let counts = exported(&collector, &folder, &format);
    assert!(counts.values().all(|&count| count == 1), "a report was counted twice");
    assert!(acknowledged.iter().all(|number| counts.contains_key(number)), "an acknowledged report is gone");
}

/// How often each number is in the log.
fn exported(
    collector: &Collector,
    folder: &Folder,
    format: &ReportFormat,
) -> std::collections::BTreeMap<u32, u32> {
    // The log, as whoever may operate sees it
    drop(collector.settled(collector.get("/v1/status").1["reports"].as_u64().unwrap()));
    let mut counts = std::collections::BTreeMap::new();
    let log = folder.kept("log");
    let copy = folder.path.join("copy");
    fs::create_dir(&copy).unwrap();
    for file in
        fs::read_dir(log).unwrap().map(Result::unwrap).filter(|file| file.file_type().unwrap().is_file())
    {
        fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let id = *folder.task().id().as_bytes();
    let log =
        undertone_collect::SegmentLog::open(&copy, id, undertone_collect::SegmentOptions::default()).unwrap();
    for stored in undertone_collect::Log::read(&log, 0).unwrap() {
        *counts.entry(number_of(format, &stored.unwrap().body)).or_default() += 1;
    }
    counts
}
