//! What privatizing a table costs, beside copying it in the same run.
//!
//! `cargo bench -p undertone --bench privatize -- [ROWS]`, a hundred million rows unless said otherwise
//!
//! A copy decodes every column of a file and encodes it again, in one thread, with the settings that the program itself
//! writes with. Two files are copied: the table with its labels, and the reports that were made of it, which have the
//! columns that privatizing has to write. The program runs twice: bound to one core, which needs `taskset`, and free to use
//! a second one.

#[path = "../src/reports/settings.rs"]
mod settings;

use arrow_array::{ArrayRef, Float32Array, Int32Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
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

/// Decodes and encodes every column, and gives the seconds that took.
fn copy(from: &Path, to: &Path) -> f64 {
    let start = Instant::now();
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(from).expect("it is there")).expect("Parquet");
    let settings = settings::writer_properties(reader.schema()).expect("a schema that Parquet has").build();
    let file = File::create(to).expect("the temporary folder can be written");
    let mut writer =
        ArrowWriter::try_new(file, reader.schema().clone(), Some(settings)).expect("the same schema");
    for batch in reader.with_batch_size(BATCH).build().expect("Parquet") {
        writer.write(&batch.expect("whole pages")).expect("room on the disk");
    }
    writer.close().expect("room on the disk");
    start.elapsed().as_secs_f64()
}

/// The most memory that a process had, in megabytes, as long as it can be asked.
fn peak_memory(child: &Child) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<f64>().ok()? / 1024.0)
}

/// Runs the program, on the first core alone if so asked, and gives its seconds and its peak memory.
fn privatize(table: &Path, reports: &Path, mechanism: &str, one_core: bool) -> (f64, f64) {
    let program = env!("CARGO_BIN_EXE_undertone");
    let mut command = Command::new(if one_core { "taskset" } else { program });
    if one_core {
        command.args(["-c", "0", program]);
    }
    let start = Instant::now();
    let mut child = command
        .args(["privatize", "--label", "label", "--epsilon", "1", "--classes", "0,1,2,3,4,5,6,7,8,9"])
        .args(["--mechanism", mechanism, "--force", "--output"])
        .args([reports, table])
        .stdout(Stdio::null())
        .spawn()
        .expect("the program is built, and taskset is there");
    let mut memory = 0f64;
    let status = loop {
        memory = memory.max(peak_memory(&child).unwrap_or(0.0));
        if let Some(status) = child.try_wait().expect("our own process") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success(), "privatize failed");
    (start.elapsed().as_secs_f64(), memory)
}

/// Two lines, for one core and for more: `rows` labels, so many columns of floats beside them, one mechanism.
fn compare(folder: &Path, rows: usize, floats: usize, mechanism: &str) {
    let [table, reports, copied] =
        ["table", "reports", "copy"].map(|name| folder.join(format!("{name}.parquet")));
    make_table(&table, rows, floats);
    let (mut tables, mut same) = (f64::INFINITY, f64::INFINITY);
    let (mut ours, mut memory) = ([f64::INFINITY; 2], [0f64; 2]);
    for _ in 0..ROUNDS {
        tables = tables.min(copy(&table, &copied));
        for (run, one_core) in [true, false].into_iter().enumerate() {
            let (seconds, peak) = privatize(&table, &reports, mechanism, one_core);
            (ours[run], memory[run]) = (ours[run].min(seconds), memory[run].max(peak));
        }
        same = same.min(copy(&reports, &copied));
    }
    let rate = |seconds: f64| rows as f64 / seconds / 1e6;
    for (run, cores) in ["one", "free"].into_iter().enumerate() {
        println!(
            "{rows:>11}{floats:>8}  {mechanism:<10}{cores:<6}{:>10.1}{:>12.1}{:>8.2}{:>14.1}{:>8.2}{:>10.0}",
            rate(ours[run]),
            rate(tables),
            tables / ours[run],
            rate(same),
            same / ours[run],
            memory[run],
        );
    }
}

fn main() {
    let rows = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(100_000_000);
    let folder = std::env::temp_dir().join(format!("undertone-bench-privatize-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    println!("K = {CLASSES}, ε = 1. Rates in millions of rows a second, the best of {ROUNDS} rounds.\n");
    println!(
        "{:>11}{:>8}  {:<10}{:<6}{:>10}{:>12}{:>8}{:>14}{:>8}{:>10}",
        "rows",
        "floats",
        "mechanism",
        "cores",
        "privatize",
        "copy table",
        "ratio",
        "copy reports",
        "ratio",
        "peak MB"
    );
    for floats in [0, 4] {
        for mechanism in ["rr", "subset"] {
            compare(&folder, rows / 10, floats, mechanism);
            compare(&folder, rows, floats, mechanism);
        }
    }
    fs::remove_dir_all(folder).expect("our own folder");
}
