//! What privatizing a table costs, beside copying it in the same run.
//!
//! `cargo bench -p undertone --bench privatize -- [ROWS]`, a hundred million rows unless said otherwise
//!
//! A copy decodes every column of a file and encodes it again, in one thread. Three copies are made: of the table with its
//! labels as the writer does it unasked, of the same with the settings that the program writes with, and of the reports,
//! which have the columns that privatizing has to write.
//!
//! The program encodes in a thread of its own. The ratio of the processor's time is what it would reach in one thread, and
//! is also right on a machine that is busy otherwise.

#[path = "../src/reports/settings.rs"]
mod settings;

use arrow_array::{ArrayRef, Float32Array, Int32Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const BATCH: usize = 1 << 14;
const CLASSES: u32 = 10;
const ROUNDS: usize = 2;

/// Writes `rows` labels beside so many columns of floats, as any other tool would: with the writer's own settings.
fn make_table(path: &Path, rows: usize, floats: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut writer: Option<ArrowWriter<File>> = None;
    for start in (0..rows).step_by(BATCH) {
        let count = BATCH.min(rows - start);
        let labels: Int32Array = (0..count).map(|_| Some((rng.next_u32() % CLASSES) as i32)).collect();
        let mut columns = vec![("label".to_owned(), Arc::new(labels) as ArrayRef)];
        for column in 0..floats {
            let values: Float32Array = (0..count).map(|_| Some((rng.next_u32() >> 8) as f32)).collect();
            columns.push((format!("x{column}"), Arc::new(values)));
        }
        let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
        let writer = writer.get_or_insert_with(|| {
            let file = File::create(path).expect("the temporary folder can be written");
            ArrowWriter::try_new(file, batch.schema(), None).expect("a schema that Parquet has")
        });
        writer.write(&batch).expect("room on the disk");
    }
    writer.expect("at least one row").close().expect("room on the disk");
}

/// What a piece of work took.
#[derive(Clone, Copy)]
struct Cost {
    /// Seconds on the wall
    seconds: f64,
    /// Seconds of the processor, in all threads
    processor: f64,
}

impl Cost {
    const INFINITE: Self = Self { seconds: f64::INFINITY, processor: f64::INFINITY };

    fn least(self, other: Self) -> Self {
        Self { seconds: self.seconds.min(other.seconds), processor: self.processor.min(other.processor) }
    }
}

/// The seconds that all threads of a process have run: user and system time, in hundredths.
fn processor_time(process: &str) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in brackets, may contain spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?) / 100.0)
}

/// The most memory that a process had, in megabytes.
fn peak_memory(process: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<f64>().ok()? / 1024.0)
}

/// Decodes and encodes every column, with the program's settings if so asked.
fn copy(from: &Path, to: &Path, our_settings: bool) -> Cost {
    let (start, before) = (Instant::now(), processor_time("self").unwrap_or(f64::NAN));
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(from).expect("it is there")).expect("Parquet");
    let settings = our_settings
        .then(|| settings::writer_properties(reader.schema()).expect("a schema that Parquet has").build());
    let file = File::create(to).expect("the temporary folder can be written");
    let mut writer = ArrowWriter::try_new(file, reader.schema().clone(), settings).expect("the same schema");
    for batch in reader.with_batch_size(BATCH).build().expect("Parquet") {
        writer.write(&batch.expect("whole pages")).expect("room on the disk");
    }
    writer.close().expect("room on the disk");
    let processor = processor_time("self").unwrap_or(f64::NAN) - before;
    Cost { seconds: start.elapsed().as_secs_f64(), processor }
}

/// Runs the program, and gives what it took and its peak memory.
fn privatize(table: &Path, reports: &Path, mechanism: &str) -> (Cost, f64) {
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["privatize", "--label", "label", "--epsilon", "1", "--classes", "0,1,2,3,4,5,6,7,8,9"])
        .args(["--mechanism", mechanism, "--force", "--output"])
        .args([reports, table])
        .stdout(Stdio::null())
        .spawn()
        .expect("the program is built");
    let process = child.id().to_string();
    let (mut memory, mut processor) = (0f64, 0f64);
    let status = loop {
        memory = memory.max(peak_memory(&process).unwrap_or(0.0));
        processor = processor.max(processor_time(&process).unwrap_or(f64::NAN));
        if let Some(status) = child.try_wait().expect("our own process") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success(), "privatize failed");
    (Cost { seconds: start.elapsed().as_secs_f64(), processor }, memory)
}

/// `rows` labels, so many columns of floats beside them, one mechanism.
fn compare(folder: &Path, rows: usize, floats: usize, mechanism: &str) {
    let [table, reports, copied] =
        ["table", "reports", "copy"].map(|name| folder.join(format!("{name}.parquet")));
    make_table(&table, rows, floats);
    let (mut ours, mut memory, mut copies) = (Cost::INFINITE, 0f64, [Cost::INFINITE; 3]);
    for _ in 0..ROUNDS {
        let (cost, peak) = privatize(&table, &reports, mechanism);
        (ours, memory) = (ours.least(cost), memory.max(peak));
        for (least, (file, our_settings)) in
            copies.iter_mut().zip([(&table, false), (&table, true), (&reports, true)])
        {
            *least = least.least(copy(file, &copied, our_settings));
        }
    }
    let print = |what: &str, cost: Cost, ratios: String| {
        let (rate, processor) = (rows as f64 / cost.seconds / 1e6, cost.processor / rows as f64 * 1e9);
        println!("  {what:<32}{rate:>12.1}{processor:>12.1}{ratios}");
    };
    println!("\n{rows} rows, {floats} columns of floats, {mechanism}");
    print("privatize", ours, format!("{:>36}", format!("at most {memory:.0} MB")));
    for (what, cost) in
        ["copy the table", "copy the table, our settings", "copy the reports"].iter().zip(copies)
    {
        let (wall, processor) = (cost.seconds / ours.seconds, cost.processor / ours.processor);
        print(what, cost, format!("{wall:>18.2}{processor:>18.2}"));
    }
}

fn main() {
    let rows = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(100_000_000);
    let folder = std::env::temp_dir().join(format!("undertone-bench-privatize-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    println!(
        "K = {CLASSES}, ε = 1. The best of {ROUNDS} rounds; ratios are the speed of privatizing to that of copying."
    );
    println!("  {:<32}{:>12}{:>12}{:>18}{:>18}", "", "10^6 rows/s", "CPU ns/row", "ratio", "one thread");
    for floats in [0, 4] {
        for mechanism in ["rr", "subset"] {
            compare(&folder, rows / 10, floats, mechanism);
            compare(&folder, rows, floats, mechanism);
        }
    }
    fs::remove_dir_all(folder).expect("our own folder");
}
