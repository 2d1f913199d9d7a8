//! Gradients that the collector takes in a second, each at a point that its device has fetched, and what limits them.
//!
//! `cargo bench -p undertone --bench gradients -- [REPORTS] [SCRATCH]`: so many reports in each round, 40 000 unless said
//! otherwise; everything is written below the temporary folder unless said otherwise
//!
//! The collector is the program itself, in a process of its own; 64 devices are threads of this one, on the same
//! processors, each with a connection. A regression on five numbers has p = 7 parameters. What is counted is durable, and the
//! devices compute their gradients and the exact Gaussian noise themselves.
//!
//! Each round leaves out one thing more: first every device fetches the point before it answers; then one does for all;
//! then a hundred reports come in one request, which no device would send, but a proxy may. What the parts cost alone follows:
//! a report on a device, a report in the learner, and the syncs of the log as a plain file has them.

#[path = "../collect/collector.rs"]
#[expect(dead_code, reason = "here nobody asks for memory")]
mod collector;
mod devices;
#[path = "../collect/yardstick.rs"]
mod yardstick;

use collector::{Collector, processor_seconds};
use devices::{Crowd, Devices, Outcomes, Pace};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use undertone_learn::live::LiveRecords;
use undertone_report::{Report, ReportFormat, Task};

const DEVICES: usize = 64;
const BAR: f64 = 5000.0;

/// A task whose points may be so many reports old.
fn task(scratch: &Path, stale: u32) -> (PathBuf, Task) {
    let file = scratch.join("task.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args(["task", "record", "--label", "y=0,1", "--mu", "1", "--stale", &stale.to_string()]);
    for name in ["a", "b", "c", "d", "e"] {
        command.args(["--number", &format!("{name}=0,1")]);
    }
    command.args(["--force", "-o"]).arg(&file);
    assert!(command.output().expect("the program is built").status.success(), "no task");
    let text = std::fs::read_to_string(&file).expect("it was written");
    (file, Task::from_toml(&text).expect("a task"))
}

/// One round: its accepted reports a second.
fn round(scratch: &Path, name: &str, stale: u32, pace: Pace, reports: u64) -> f64 {
    let (file, task) = task(scratch, stale);
    let collector = Collector::start(scratch, &file);
    let devices = Devices::new(&task, collector.address, DEVICES);
    let (collecting, sending, began) =
        (collector.processor_seconds(), processor_seconds("self"), Instant::now());
    let Outcomes { accepted, stale, mut waits } = devices.send(reports, pace);
    let seconds = began.elapsed().as_secs_f64();
    let per = |processor: f64| processor * 1e6 / accepted as f64;
    let collecting = per(collector.processor_seconds() - collecting);
    let sending = per(processor_seconds("self") - sending);
    let (commits, behind) = (collector.figure("log_commits_total"), collector.figure("learner_lag_reports"));
    let log = collector.log();
    drop(collector);
    let syncs = yardstick::append(&log, commits, scratch).as_secs_f64();
    waits.sort_unstable();
    let wait = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let rate = accepted as f64 / seconds;
    println!(
        "{name:<28} {rate:>9.0} {stale:>7} {:>11.1} {:>8.2} {:>8.2} {collecting:>13.0} {sending:>11.0} {:>7.0} % {behind:>8}",
        accepted as f64 / commits as f64,
        wait(0.5),
        wait(0.99),
        100.0 * syncs / seconds,
    );
    rate
}

/// What the parts take, each on one processor with nothing beside it.
fn alone(scratch: &Path) {
    let (_, task) = task(scratch, 256);
    let (format, count) = (ReportFormat::new(&task).expect("a task"), 20_000);
    let mut live = LiveRecords::new(&task).expect("a task about records");
    let mut crowd = Crowd::new(&task, 1);
    let (mut device, mut learner) = (0.0, 0.0);
    let mut report = Report::default();
    for version in 0..count {
        let began = Instant::now();
        let bytes = crowd.answer(version, live.point());
        device += began.elapsed().as_secs_f64();
        let began = Instant::now();
        format.decode_into(&bytes, &mut report).expect("our own report");
        live.observe(std::slice::from_ref(&report)).expect("our own report");
        learner += began.elapsed().as_secs_f64();
    }
    let each = |seconds: f64| seconds * 1e6 / count as f64;
    println!("\nalone: {:.1} µs a report on a device, {:.1} µs in the learner", each(device), each(learner));
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let reports = words.first().map_or(40_000, |word| word.parse().expect("a number of reports"));
    let scratch = words.get(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let scratch = scratch.join(format!("undertone-bench-gradients-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("the folder can be written");
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{DEVICES} devices, p = 7; load average {}", load.split_whitespace().next().unwrap_or("?"));
    println!(
        "                             accepted/s   stale  per commit   p50 ms   p99 ms  µs collector  µs devices     syncs  not learnt"
    );
    let interactive = round(&scratch, "a point each, stale 256", 256, Pace::PointEach, reports);
    round(&scratch, "a point each, stale 4096", 4096, Pace::PointEach, reports);
    round(&scratch, "one point for all", 4096, Pace::SharedPoint, reports);
    round(&scratch, "one point, batches of 100", 65_536, Pace::Batches, 4 * reports);
    alone(&scratch);
    println!("\nthe interactive protocol reaches {:.2} of the bar of {BAR} a second", interactive / BAR);
    std::fs::remove_dir_all(&scratch).expect("our own folder");
}
