//! What it costs to count a report once and for good, beside appending the same bytes to a file and syncing as often.
//!
//! `cargo bench -p undertone-collect --bench append -- [REPORTS] [SCRATCH]`, five million reports unless said otherwise, in
//! a folder of the temporary one unless said otherwise
//!
//! Clients submit batches of 100 reports with bodies of 64 bytes and wait for the acknowledgement before the next. For
//! each setting, the yardstick then appends as many bytes in as many pieces to a plain file, with a sync after each.
//!
//! The time of the processor (all threads, clients included) is also right on a machine that is busy otherwise; there the
//! ratio is not, as the yardstick waits for the disk and hardly for a processor.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use undertone_collect::{
    CommitOptions, GroupCommit, Log, LogError, LogReader, Outcome, SegmentLog, SegmentOptions, Submission,
};

const BATCH: u64 = 100;
const BODY: usize = 64;
const TASK: [u8; 32] = [5; 32];

/// Counts the commits of a log.
struct Counted {
    log: SegmentLog,
    commits: Arc<AtomicU64>,
}

impl Log for Counted {
    fn append(&mut self, batch: &[Submission], horizon: u64) -> Result<Vec<Outcome>, LogError> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.log.append(batch, horizon)
    }

    fn close_segment(&mut self) -> Result<u64, LogError> {
        self.log.close_segment()
    }

    fn reader(&self) -> Arc<dyn LogReader> {
        self.log.reader()
    }
}

/// A public hash, so that ids look as random as those of devices.
fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn report(number: u64) -> Submission {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&splitmix(number).to_le_bytes());
    id[8..].copy_from_slice(&splitmix(!number).to_le_bytes());
    Submission { id, time: 1, admission: None, body: vec![number as u8; BODY], latest: None }
}

/// The seconds that all threads of this process have run: user and system time, in hundredths.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may contain spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn resident_megabytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB").trim();
    line.trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("the folder of the log").map(|entry| entry.expect("an entry").path());
    let mut logs: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "log")).collect();
    logs.sort_unstable();
    logs
}

fn bytes_on_disk(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.metadata().map_or(0, |metadata| metadata.blocks() * 512)).sum()
}

/// Clients that submit the reports of `numbers`, each waiting for its acknowledgements. One batch in 16 is sent twice.
fn load(commit: &GroupCommit, numbers: std::ops::Range<u64>, clients: u64) -> (Duration, Vec<Duration>) {
    let next = AtomicU64::new(numbers.start);
    let begun = Instant::now();
    let mut waits: Vec<Duration> = std::thread::scope(|scope| {
        let client = || {
            let (tell, told) = mpsc::channel();
            let mut waits = Vec::new();
            loop {
                let first = next.fetch_add(BATCH, Ordering::Relaxed);
                if first >= numbers.end {
                    return waits;
                }
                for repetition in 0..=u64::from(first.is_multiple_of(16 * BATCH)) {
                    let batch: Vec<Submission> = (first..first + BATCH).map(report).collect();
                    let (tell, submitted) = (tell.clone(), Instant::now());
                    let submission =
                        commit.submit(batch, 0, move |result| tell.send(result).expect("a client"));
                    submission.expect("a queue that is long enough");
                    let outcomes = told.recv().expect("an answer").expect("a disk that works");
                    waits.push(submitted.elapsed());
                    let new =
                        outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Accepted(_))).count();
                    assert_eq!(new as u64, BATCH * (1 - repetition));
                }
            }
        };
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    });
    let elapsed = begun.elapsed();
    waits.sort_unstable();
    (elapsed, waits)
}

/// Appends `bytes` in `pieces` to a new file, with a sync after each.
fn yardstick(path: &Path, bytes: u64, pieces: u64) -> Duration {
    let piece = vec![7; (bytes / pieces) as usize];
    let mut file = File::create(path).expect("the temporary folder can be written");
    let begun = Instant::now();
    for _ in 0..pieces {
        file.write_all(&piece).and_then(|()| file.sync_data()).expect("room on the disk");
    }
    let elapsed = begun.elapsed();
    fs::remove_file(path).expect("its own file");
    elapsed
}

fn start(folder: &Path, window: Duration) -> (GroupCommit, Arc<AtomicU64>) {
    let log = SegmentLog::open(folder, TASK, SegmentOptions::default()).expect("a log");
    let commits = Arc::new(AtomicU64::new(0));
    let counted = Counted { log, commits: Arc::clone(&commits) };
    let options = CommitOptions { window, ..CommitOptions::default() };
    (GroupCommit::start(counted, options).expect("a thread"), commits)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let reports: u64 = words.first().map_or(5_000_000, |word| word.parse().expect("a number of reports"));
    let scratch = words.get(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let scratch = scratch.join(format!("undertone-append-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("the temporary folder can be written");

    println!(
        "clients  window     reports/s   per commit   p50 ms   p99 ms   µs processor   file/s       ratio"
    );
    let share = 500_000.min(reports);
    for (clients, window) in [(1, 0), (4, 0), (16, 0), (16, 1), (64, 0), (64, 1)] {
        let folder = scratch.join("log");
        let (commit, commits) = start(&folder, Duration::from_millis(window));
        let share = if clients == 1 { share / 10 } else { share };
        let before = processor_seconds();
        let (elapsed, waits) = load(&commit, 0..share, clients);
        let processor = (processor_seconds() - before) * 1e6 / share as f64;
        drop(commit);
        let bytes: u64 =
            segments(&folder).iter().map(|path| path.metadata().map_or(0, |data| data.len())).sum();
        let commits = commits.load(Ordering::Relaxed);
        let plain = yardstick(&scratch.join("plain"), bytes, commits);
        let rate = |time: Duration| share as f64 / time.as_secs_f64();
        let wait = |share: f64| waits[(waits.len() as f64 * share) as usize].as_secs_f64() * 1e3;
        println!(
            "{clients:>7}  {window:>3} ms  {:>12.0} {:>12.0} {:>8.2} {:>8.2} {processor:>13.2} {:>12.0}  {:>6.2}",
            rate(elapsed),
            share as f64 / commits as f64,
            wait(0.5),
            wait(0.99),
            rate(plain),
            rate(elapsed) / rate(plain)
        );
        fs::remove_dir_all(&folder).expect("its own folder");
    }

    println!("\n   reports   memory MB     reports/s   p99 ms   log MB   ids MB");
    let folder = scratch.join("log");
    let (commit, _) = start(&folder, Duration::ZERO);
    let steps = 10;
    for step in 0..steps {
        let numbers = reports / BATCH * step / steps * BATCH..reports / BATCH * (step + 1) / steps * BATCH;
        let count = numbers.end - numbers.start;
        let (elapsed, waits) = load(&commit, numbers.clone(), 16);
        println!(
            "{:>10} {:>11.1} {:>13.0} {:>8.1} {:>8} {:>8}",
            numbers.end,
            resident_megabytes(),
            count as f64 / elapsed.as_secs_f64(),
            waits[waits.len() * 99 / 100].as_secs_f64() * 1e3,
            bytes_on_disk(&folder) >> 20,
            bytes_on_disk(&folder.join("seen")) >> 20,
        );
    }
    let timed = |what: &str, work: &mut dyn FnMut()| {
        let begun = Instant::now();
        work();
        println!("{what}: {:.1} s", begun.elapsed().as_secs_f64());
    };
    println!();
    let mut commit = Some(commit);
    timed("closing", &mut || drop(commit.take()));
    let open = || {
        let log = SegmentLog::open(&folder, TASK, SegmentOptions::default()).expect("a log");
        assert_eq!(log.len(), reports / BATCH * BATCH);
        log
    };
    let mut log = None;
    timed("opening after a good end", &mut || log = Some(open()));
    drop(log);
    fs::remove_dir_all(folder.join("seen")).expect("its own folder");
    let mut log = None;
    timed("opening after a crash", &mut || log = Some(open()));
    println!("memory then: {:.1} MB", resident_megabytes());
    let mut read = 0;
    timed("reading", &mut || read = log.as_ref().map_or(0, |log| log.read(0).expect("a log").count()));
    assert_eq!(read as u64, reports / BATCH * BATCH);
    drop(log);
    fs::remove_dir_all(&scratch).expect("its own folder");
}
