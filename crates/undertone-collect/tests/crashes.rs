//! A process is killed at random moments while many threads submit: nothing acknowledged is lost, nothing counted twice.
//!
//! The test runs itself again as the process to be killed (`a_collector_to_be_killed`). `UNDERTONE_KILLS` says how often;
//! 20 times unless said otherwise. `UNDERTONE_SCRATCH` says in which folder; unless said otherwise one in memory, if there
//! is such a thing, since a process that is killed leaves there what it leaves on a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use undertone_collect::{
    Busy, CommitOptions, GroupCommit, Log, LogError, Outcome, SegmentLog, SegmentOptions, Submission,
};

const TASK: [u8; 32] = [3; 32];
const THREADS: u64 = 8;
/// New reports of a batch
const BATCH: u64 = 20;

/// Small enough that segments and shelves change all the time.
const OPTIONS: SegmentOptions =
    SegmentOptions { segment_bytes: 200_000, units_per_generation: 1, front: 300, filter_bytes: 1 << 14 };

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let memory = Some(PathBuf::from("/dev/shm")).filter(|memory| memory.is_dir());
        let folder = std::env::var_os("UNDERTONE_SCRATCH").map(PathBuf::from).or(memory);
        let folder = folder.unwrap_or_else(std::env::temp_dir);
        let path = folder.join(format!("undertone-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The report with a marker: its body is the marker, so that one that is counted twice is seen to be.
fn report(marker: u64) -> Submission {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&marker.to_le_bytes());
    Submission { id, time: marker % 3, admission: None, body: marker.to_le_bytes().to_vec(), latest: None }
}

fn markers(log: &SegmentLog) -> Vec<u64> {
    let marker = |body: Vec<u8>| u64::from_le_bytes(body.try_into().unwrap());
    log.read(0).unwrap().map(|stored| marker(stored.unwrap().body)).collect()
}

fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).stdin(Stdio::null());
    command
}

/// Not a test by itself: it is what the others start, and told by the environment what to do.
#[test]
fn a_collector_to_be_killed() {
    let Some(folder) = std::env::var_os("UNDERTONE_COLLECTOR") else { return };
    let start: u64 = std::env::var("UNDERTONE_START").unwrap().parse().unwrap();
    let log = SegmentLog::open(Path::new(&folder), TASK, OPTIONS).unwrap();
    println!("open");
    let commit = GroupCommit::start(log, CommitOptions::default()).unwrap();
    // Some that were in flight at the kill, which may or may not be there
    let next = AtomicU64::new(start.saturating_sub(THREADS * BATCH * 2));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let (commit, next) = (&commit, &next);
            scope.spawn(move || {
                loop {
                    // And half as many that were sent before, by another thread or before the kill
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    let old = (0..BATCH / 2).map(|i| splitmix(first + i) % (first + 1));
                    let batch: Vec<u64> = (first..first + BATCH).chain(old).collect();
                    let (tell, told) = mpsc::channel();
                    let reports = batch.iter().map(|&marker| report(marker)).collect();
                    match commit.submit(reports, 0, move |result| tell.send(result).unwrap()) {
                        Ok(()) => {}
                        Err(Busy::Full(_)) => continue,
                        Err(error) => panic!("{error}"),
                    }
                    match told.recv().unwrap() {
                        Ok(outcomes) => acknowledge(&batch, &outcomes),
                        Err(error) => return println!("stopped {error}"),
                    }
                }
            });
        }
    });
}

/// One write for a line: a kill leaves whole lines.
fn acknowledge(batch: &[u64], outcomes: &[Outcome]) {
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Accepted(_) | Outcome::Duplicate)));
    let words: Vec<String> = batch.iter().map(ToString::to_string).collect();
    std::io::stdout().write_all(format!("stored {}\n", words.join(" ")).as_bytes()).unwrap();
}

#[test]
fn nothing_acknowledged_is_lost_or_counted_twice_however_often_the_process_is_killed() {
    let kills: u64 = std::env::var("UNDERTONE_KILLS").map_or(20, |kills| kills.parse().unwrap());
    let scratch = Scratch::new("kills");
    let mut acknowledged = BTreeSet::new();
    let mut prefix: Vec<u64> = Vec::new();
    for kill in 0..kills {
        let start = acknowledged.last().copied().unwrap_or(0);
        let mut child = this_test("a_collector_to_be_killed")
            .env("UNDERTONE_COLLECTOR", &scratch.0)
            .env("UNDERTONE_START", start.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        // At a moment that the child cannot know: some while after it has begun to acknowledge, or to open.
        let patience = Duration::from_micros(splitmix(kill) % 60_000);
        let (opened, open) = mpsc::channel();
        let reading = std::thread::spawn(move || {
            let mut stored = Vec::new();
            for line in lines.lines().map(Result::unwrap) {
                if line.ends_with("open") {
                    let _ = opened.send(());
                } else if let Some(words) = line.strip_prefix("stored ") {
                    stored.extend(words.split(' ').map(|word| word.parse::<u64>().unwrap()));
                } else {
                    assert!(!line.contains("stopped"), "{line}");
                }
            }
            stored
        });
        if kill % 5 > 0 {
            open.recv().unwrap();
        }
        std::thread::sleep(patience);
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged.extend(reading.join().unwrap());

        if kill % 4 == 3 || kill + 1 == kills {
            let log = SegmentLog::open(&scratch.0, TASK, OPTIONS).unwrap();
            let found = markers(&log);
            let mut times = BTreeMap::new();
            for &marker in &found {
                *times.entry(marker).or_insert(0) += 1;
            }
            assert!(times.values().all(|&times| times == 1), "counted twice after {kill} kills");
            let lost: Vec<&u64> = acknowledged.iter().filter(|marker| !times.contains_key(marker)).collect();
            assert!(lost.is_empty(), "lost after {kill} kills: {lost:?}");
            assert!(found.starts_with(&prefix), "what was read before has changed");
            prefix = found;
        }
    }
    assert!(acknowledged.len() as u64 > kills, "{} acknowledged: there was no load", acknowledged.len());
    println!("{kills} kills, {} acknowledged, {} in the log", acknowledged.len(), prefix.len());
}

/// A public hash: moments differ from kill to kill and are the same in every run.
fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn a_full_disk_stops_the_log_with_a_clear_error_and_what_was_acknowledged_is_there() {
    let scratch = Scratch::new("full");
    // No file may be larger than this many blocks of 512 bytes; the signal about it is ignored, so that writes fail.
    let script = "ulimit -f 40; trap '' XFSZ; exec \"$0\" a_log_on_a_small_disk --exact --nocapture";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("UNDERTONE_COLLECTOR", &scratch.0)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let stored: u64 = text.lines().find_map(|line| line.rsplit_once("stored ")).unwrap().1.parse().unwrap();
    assert!(stored > 50, "{text}");
    let mut log = SegmentLog::open(&scratch.0, TASK, SegmentOptions::default()).unwrap();
    let found = markers(&log);
    assert!(found.len() as u64 >= stored && found.iter().copied().eq(0..found.len() as u64), "{found:?}");
    // With room again, whoever was not acknowledged tries again.
    let again: Vec<Submission> = (0..stored + 10).map(report).collect();
    log.append(&again, 0).unwrap();
    assert!(markers(&log).into_iter().eq(0..stored + 10));
}

/// Not a test by itself: appends until the disk is full.
#[test]
fn a_log_on_a_small_disk() {
    let Some(folder) = std::env::var_os("UNDERTONE_COLLECTOR") else { return };
    // One segment that would be larger than the disk
    let options = SegmentOptions { filter_bytes: 1 << 10, ..SegmentOptions::default() };
    let mut log = SegmentLog::open(Path::new(&folder), TASK, options).unwrap();
    let error = loop {
        let next = log.len();
        match log.append(&[report(next)], 0) {
            Ok(outcomes) => assert_eq!(outcomes, [Outcome::Accepted(next)]),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LogError::Io { .. }), "{error}");
    assert!(error.to_string().contains(".log: "), "{error}");
    assert!(matches!(log.append(&[report(1)], 0), Err(LogError::Stopped { .. })));
    println!("stored {}", log.len());
}
