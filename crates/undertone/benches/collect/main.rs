//! What the collector stores in a second, beside appending the same bytes to a file and syncing as often.
//!
//! `cargo bench -p undertone --bench collect -- [MILLIONS] [SCRATCH]`: the memory is looked at while so many millions of
//! reports come in, 5 unless said otherwise; everything is written below the temporary folder unless said otherwise
//!
//! The collector is the program itself, in a process of its own; the senders are threads of this one, on the same
//! processors. Each has a connection and sends batches of 100 binary reports, every report with an id of its own. What is
//! counted has been checked, deduplicated and synced: the senders wait for the answer and read it.
//!
//! The yardstick appends the very bytes of the log to a plain file, in as many pieces as the collector made commits, with a
//! sync after each. It waits for the disk and hardly for a processor, so on a machine that is busy otherwise the ratio is
//! unjust; the microseconds of the processor are right there, too.

mod collector;
mod load;
mod reports;
mod yardstick;

use collector::{Collector, processor_seconds};
use load::{Load, Timed};
use reports::Batches;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Reports of a round
const ROUND: u64 = 2_000_000;
const ROUNDS: usize = 2;
/// The more of them, the larger the commits
const SENDERS: [usize; 5] = [2, 4, 8, 16, MOST_SENDERS];
const MOST_SENDERS: usize = 64;
/// How long the half load lasts
const HALF: Duration = Duration::from_secs(10);
/// How often the memory is looked at
const LOOKS: u64 = 10;

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}

/// Rounds at full load, each in a folder of its own and followed by its yardstick; then half of the best for a while.
fn rates(scratch: &Path, columns: bool) {
    let batches = Batches::new(scratch, columns);
    println!("\nK = 5, {}: {} bytes a report; load average {}", batches.about, batches.bytes, load_average());
    println!(
        "senders   reports/s   per commit   p50 ms   p99 ms   µs collector   µs senders   not learnt yet   file/s     ratio"
    );
    let rounds = SENDERS.iter().flat_map(|&senders| std::iter::repeat_n(senders, ROUNDS));
    let best = rounds.map(|senders| round(scratch, &batches, senders)).fold(0.0, f64::max);
    let collector = Collector::start(scratch, &batches.task_file);
    let half = Load::new(&collector, &batches, MOST_SENDERS).at_a_rate(best / 2.0, HALF);
    println!(
        "{MOST_SENDERS:>7} {:>11.0}, half of the best: acknowledged within {:.2} ms in the median, {:.2} ms at 99 %, \
         {:.1} ms at most; {} not learnt yet",
        best / 2.0,
        half.wait(0.5),
        half.wait(0.99),
        half.wait(1.0),
        collector.figure("learner_lag_reports"),
    );
}

/// One round: its reports a second.
fn round(scratch: &Path, batches: &Batches, senders: usize) -> f64 {
    let collector = Collector::start(scratch, &batches.task_file);
    let (collecting, sending) = (collector.processor_seconds(), processor_seconds("self"));
    let timed = Load::new(&collector, batches, senders).as_fast_as_possible(ROUND);
    let collecting = (collector.processor_seconds() - collecting) * 1e6 / ROUND as f64;
    let sending = (processor_seconds("self") - sending) * 1e6 / ROUND as f64;
    let (commits, behind) = (collector.figure("log_commits_total"), collector.figure("learner_lag_reports"));
    let log = collector.log();
    drop(collector);
    let rate = |time: Duration| ROUND as f64 / time.as_secs_f64();
    let (ours, plain) = (rate(timed.elapsed), rate(yardstick::append(&log, commits, scratch)));
    println!(
        "{senders:>7} {ours:>11.0} {:>12.0} {:>8.2} {:>8.2} {collecting:>14.2} {sending:>12.2} {behind:>16} {plain:>8.0} {:>9.2}",
        ROUND as f64 / commits as f64,
        timed.wait(0.5),
        timed.wait(0.99),
        ours / plain,
    );
    ours
}

/// What the collector has in memory while reports come in as fast as they can, and how far the learner falls behind.
fn memory(scratch: &Path, millions: u64) {
    let batches = Batches::new(scratch, true);
    let collector = Collector::start(scratch, &batches.task_file);
    let load = Load::new(&collector, &batches, MOST_SENDERS);
    println!("\n{}; load average {}", batches.about, load_average());
    println!("    reports    memory MB    reports/s   not learnt yet");
    println!("{:>11} {:>12.1}", 0, collector.resident_megabytes());
    for look in 1..=LOOKS {
        let Timed { elapsed, .. } = load.as_fast_as_possible(millions * 1_000_000 / LOOKS);
        println!(
            "{:>11} {:>12.1} {:>12.0} {:>16}",
            millions * 1_000_000 / LOOKS * look,
            collector.resident_megabytes(),
            (millions * 1_000_000 / LOOKS) as f64 / elapsed.as_secs_f64(),
            collector.figure("learner_lag_reports"),
        );
    }
    let began = Instant::now();
    while collector.figure("learner_lag_reports") > 0 {
        std::thread::sleep(Duration::from_millis(50));
    }
    println!("everything was learnt from {:.1} s later", began.elapsed().as_secs_f64());
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let millions = words.first().map_or(5, |word| word.parse().expect("a number of millions"));
    let scratch = words.get(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let scratch = scratch.join(format!("undertone-bench-collect-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("the folder can be written");
    rates(&scratch, false);
    rates(&scratch, true);
    memory(&scratch, millions);
    std::fs::remove_dir_all(&scratch).expect("our own folder");
}
