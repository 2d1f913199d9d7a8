//! Closed segments as Parquet.

use super::{Folder, NURSERY, reports, reports_of};
use crate::run::{command, json, refused};
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMillisecondType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use undertone_collect::{Log, SegmentLog, SegmentOptions, Submission};
use undertone_report::{ReportFormat, Task};

/// Segments of some 1500 reports.
const SMALL: &str = "[limits]\nsegment = 200000\n";

/// The bytes of the files of a folder, by their names.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let file =
        |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
    fs::read_dir(folder).unwrap().map(|entry| file(entry.unwrap())).collect()
}

/// Id and time of every row of the Parquet files of a folder, in their order.
fn rows(folder: &Path) -> Vec<([u8; 16], i64)> {
    let mut rows = Vec::new();
    for name in files(folder).keys().filter(|name| name.ends_with(".parquet")) {
        let file = File::open(folder.join(name)).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let ids = batch.column_by_name("report_id").unwrap().as_fixed_size_binary();
            let times = batch.column_by_name("report_time").unwrap();
            let times = times.as_primitive::<TimestampMillisecondType>();
            rows.extend(
                (0..batch.num_rows()).map(|row| (ids.value(row).try_into().unwrap(), times.value(row))),
            );
        }
    }
    rows
}

/// The same of the log.
fn logged(task: &Task, log: &[Vec<u8>]) -> Vec<([u8; 16], i64)> {
    let format = ReportFormat::new(task).unwrap();
    let precision = format.collection().time_precision;
    let row = |report: &Vec<u8>| {
        let report = format.decode(report).unwrap();
        (report.id.0, (report.time * precision * 1000) as i64)
    };
    log.iter().map(row).collect()
}

#[test]
fn everything_that_is_stored_can_be_learnt_from_while_the_collector_runs() {
    let folder = Folder::new("sealed", "--learner shares-only").operated();
    folder.configure(SMALL);
    let mut collector = folder.serve();
    assert_eq!(collector.problem("POST", "/v1/operate/seal", "", b""), (409, "too-few-reports".into()));
    json(&format!("send {NURSERY} --to {} --seed 3", collector.url));
    let sealed = collector.seal();
    let reports_folder = folder.kept("reports");
    assert_eq!(sealed["reports"], 12_960);
    assert_eq!(sealed["folders"], serde_json::json!([reports_folder.display().to_string()]));
    assert!(files(&reports_folder).len() > 3, "segments were closed on the way as well");
    assert_eq!(rows(&reports_folder), logged(&folder.task(), &collector.export()));
    let model = folder.path("model.json");
    let trained = json(&format!("train {} --model softmax --l2 1e-4 -o {model}", reports_folder.display()));
    assert_eq!(trained["reports"], 12_960);
    let judged = json(&format!("evaluate {model} {NURSERY} --label nursery"));
    // Many passes at ε = 1 come to 0.87; what one pass comes to, and what chance would, is far below.
    assert!(judged["accuracy"].as_f64().unwrap() > 0.8, "{}", judged["accuracy"]);
    let unbiased = json(&format!("evaluate {model} {}", reports_folder.display()));
    assert_eq!(unbiased["rows"], 12_960);
    // With nothing new there is nothing to write.
    let before = files(&reports_folder);
    assert_eq!(collector.seal(), sealed);
    assert_eq!(files(&reports_folder), before);
    collector.bearer.clear();
    assert_eq!(collector.problem("POST", "/v1/operate/seal", "", b"").0, 401);
}

#[test]
fn files_that_are_made_again_have_the_same_bytes_and_leftovers_are_cleared_away() {
    let folder = Folder::new("resealed", "--learner shares-only").operated();
    folder.configure(SMALL);
    let collector = folder.serve();
    json(&format!("send {NURSERY} --to {}", collector.url));
    collector.seal();
    collector.kill();
    let sealed = folder.kept("reports");
    let before = files(&sealed);
    let names: Vec<&String> = before.keys().collect();
    fs::remove_file(sealed.join(names[1])).unwrap();
    fs::remove_file(sealed.join(names[names.len() - 1])).unwrap();
    fs::write(sealed.join(format!(".{}.1", names[1])), "half a file").unwrap();
    fs::write(folder.kept(".learner.snapshot.1"), "half a snapshot").unwrap();
    // Of a log that was longer once
    fs::write(sealed.join("00000000000000099999.parquet"), "kept").unwrap();
    fs::write(sealed.join("99999.parquet"), "not ours").unwrap();
    let collector = folder.serve();
    collector.sealed(12_960);
    let mut after = files(&sealed);
    assert_eq!(after.remove("99999.parquet").unwrap(), b"not ours");
    fs::remove_file(sealed.join("99999.parquet")).unwrap();
    assert_eq!(after.remove("00000000000000099999.parquet.stale").unwrap(), b"kept");
    assert_eq!(after, before);
    assert!(!folder.kept(".learner.snapshot.1").exists());
    // What comes later goes on where they end.
    collector.post_batch(&reports(&folder.task(), 0..10));
    assert_eq!(collector.seal()["reports"], 12_970);
    assert!(files(&sealed).contains_key("00000000000000012960.parquet"));
    assert_eq!(rows(&sealed), logged(&folder.task(), &collector.export()));
}

#[test]
fn a_collector_that_is_killed_while_it_seals_leaves_neither_a_gap_nor_a_repetition() {
    let folder = Folder::new("kills-sealing", "--learner shares-only --tiers 1,0.5").operated();
    folder.configure("[limits]\nsegment = 20000\n");
    let collector = folder.serve();
    json(&format!("send {NURSERY} --to {}", collector.url));
    collector.kill();
    for wait in [3, 11, 27, 48, 80, 120] {
        let collector = folder.serve();
        let sending = format!("send {NURSERY} --to {} --tier {}", collector.url, wait % 2);
        let mut sender = command(&sending).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100 + wait));
        collector.kill();
        sender.kill().unwrap();
        sender.wait().unwrap();
    }
    let collector = folder.serve();
    json(&format!("send {NURSERY} --to {} --tier 1", collector.url));
    let sealed = collector.seal();
    let log = logged(&folder.task(), &collector.export());
    assert_eq!(sealed["reports"], log.len());
    let folders: Vec<PathBuf> =
        sealed["folders"].as_array().unwrap().iter().map(|folder| folder.as_str().unwrap().into()).collect();
    assert_eq!(folders, [folder.kept("reports/epsilon-1"), folder.kept("reports/epsilon-0.5")]);
    let mut all: Vec<([u8; 16], i64)> = folders.iter().flat_map(|folder| rows(folder)).collect();
    let mut expected = log;
    all.sort_unstable();
    expected.sort_unstable();
    assert!(all == expected, "{} rows of {} reports", all.len(), expected.len());
    // Each ε has a task of its own, by which its reports are understood.
    let shown: Vec<Value> = folders
        .iter()
        .zip(["1", "2"])
        .map(|(sealed, name)| {
            let model = folder.path(&format!("model-{name}.json"));
            json(&format!("train {} --model softmax --l2 1e-3 --epochs 1 -o {model}", sealed.display()))
        })
        .collect();
    let counts: Vec<u64> = shown.iter().map(|shown| shown["reports"].as_u64().unwrap()).collect();
    assert_eq!(counts.iter().sum::<u64>(), expected.len() as u64);
    assert_eq!(counts, folders.iter().map(|folder| rows(folder).len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_segment_of_which_one_file_is_missing_is_completed() {
    let folder = Folder::new("half-sealed", "--learner shares-only --tiers 1,0.5").operated();
    let (collector, task) = (folder.serve(), folder.task());
    for first in [0, 1000] {
        collector.post_batch(&reports_of(&task, 0, first..first + 100));
        collector.post_batch(&reports_of(&task, 1, first + 100..first + 130));
        collector.seal();
    }
    // Nobody has chosen the other ε: its file has no rows.
    collector.post_batch(&reports_of(&task, 1, 2000..2010));
    collector.seal();
    collector.kill();
    let folders = [folder.kept("reports/epsilon-1"), folder.kept("reports/epsilon-0.5")];
    let before = folders.each_ref().map(|folder| files(folder));
    assert_eq!(before.each_ref().map(BTreeMap::len), [3, 3]);
    // One in the middle, and one as if it had been killed between the two files of the last segment
    fs::remove_file(folders[0].join("00000000000000000130.parquet")).unwrap();
    fs::remove_file(folders[1].join("00000000000000000260.parquet")).unwrap();
    let collector = folder.serve();
    collector.sealed(270);
    assert_eq!(folders.each_ref().map(|folder| files(folder)), before);
    assert_eq!(folders.each_ref().map(|folder| rows(folder).len()), [200, 70]);
}

#[test]
fn what_was_derived_from_another_log_of_the_same_length_is_not_taken_for_this_ones() {
    let folder = Folder::new("other-log", "--learner shares-only").operated();
    let (collector, task) = (folder.serve(), folder.task());
    collector.post_batch(&reports(&task, 0..100));
    collector.seal();
    collector.stop();
    let before = files(&folder.kept("reports"));
    // Another log takes its place, as another database would.
    fs::remove_dir_all(folder.kept("log")).unwrap();
    let format = ReportFormat::new(&task).unwrap();
    let submission = |body: Vec<u8>| {
        let report = format.decode(&body).unwrap();
        Submission { id: report.id.0, time: report.time, admission: None, body, latest: None }
    };
    let batch: Vec<Submission> = reports(&task, 1000..1100).into_iter().map(submission).collect();
    let mut log =
        SegmentLog::open(&folder.kept("log"), *task.id().as_bytes(), SegmentOptions::default()).unwrap();
    log.append(&batch, 0).unwrap();
    assert_eq!(log.close_segment().unwrap(), 100);
    drop(log);
    let collector = folder.serve();
    collector.said("a snapshot that does not fit is removed");
    collector.settled(100);
    collector.sealed(100);
    assert_eq!(rows(&folder.kept("reports")), logged(&task, &collector.export()));
    let after = files(&folder.kept("reports"));
    assert_eq!(after.len(), 2);
    assert_eq!(after["00000000000000000000.parquet.stale"], before["00000000000000000000.parquet"]);
}

#[test]
fn a_public_column_named_as_one_of_ours_is_refused_at_the_start() {
    let folder = Folder::new("taken", "--learner shares-only");
    let text = fs::read_to_string(folder.path("task.toml")).unwrap();
    fs::write(folder.path("task.toml"), text.replace("\"parents\"", "\"report_id\"")).unwrap();
    refused(&folder.words(), 1, "a public column is named `report_id`");
}

#[test]
fn what_is_in_the_way_of_a_file_is_said_and_reports_are_still_taken() {
    let folder = Folder::new("unsealed", "--learner shares-only").operated();
    let (collector, task) = (folder.serve(), folder.task());
    collector.post_batch(&reports(&task, 0..100));
    let obstacle = folder.kept("reports/00000000000000000000.parquet");
    fs::create_dir(&obstacle).unwrap();
    let (status, _, body) = collector.ask("POST", "/v1/operate/seal", "", b"");
    let problem: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, 500);
    assert!(
        problem["detail"].as_str().unwrap().contains("00000000000000000000.parquet is a directory"),
        "{problem}"
    );
    collector.said("closed segments are not written as Parquet");
    assert_eq!(collector.post_batch(&reports(&task, 100..110))["accepted"], 10);
    fs::remove_dir(&obstacle).unwrap();
    assert_eq!(collector.seal()["reports"], 110);
    assert_eq!(rows(&folder.kept("reports")).len(), 110);
}
