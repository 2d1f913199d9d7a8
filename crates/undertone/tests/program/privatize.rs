//! `privatize`.

use crate::run::{close, json, refused, text, undertone};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt8Array,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of its own for each test, removed when the test has passed.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("undertone-privatize-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A table with this column `y`, and the columns `row`, which counts from zero, and `town`.
    fn table(&self, name: &str, labels: ArrayRef) -> String {
        let rows: ArrayRef =
            Arc::new((0..labels.len()).map(|row| Some(row as f64)).collect::<Float64Array>());
        let towns: ArrayRef = Arc::new(
            (0..labels.len()).map(|row| ["Ely", "Bath"].get(row % 3).copied()).collect::<StringArray>(),
        );
        let batch = RecordBatch::try_from_iter([("row", rows), ("y", labels), ("town", towns)]).unwrap();
        let path = self.path(name);
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path
    }

    fn words_table(&self, rows: usize) -> String {
        self.table("table.parquet", words(rows))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

const CLASSES: [&str; 4] = ["low", "middle", "high", "none"];

fn words(rows: usize) -> ArrayRef {
    Arc::new((0..rows).map(|row| Some(CLASSES[row % 4])).collect::<StringArray>())
}

/// All rows of a file, as one batch, and an entry of its metadata.
fn read(path: &str, key: &str) -> (RecordBatch, Option<String>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let entries = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
    let entry = entries.into_iter().find(|entry| entry.key == key).and_then(|entry| entry.value);
    let rows = reader.metadata().file_metadata().num_rows() as usize;
    (reader.with_batch_size(rows).build().unwrap().next().unwrap().unwrap(), entry)
}

/// The labels of each report of a file.
fn reports(path: &str) -> Vec<Vec<u32>> {
    let (batch, _) = read(path, "");
    let column = batch.column_by_name("report").unwrap();
    if let Some(lists) = column.as_list_opt::<i32>() {
        return lists
            .iter()
            .map(|list| list.unwrap().as_primitive::<UInt32Type>().values().to_vec())
            .collect();
    }
    if let Some(masks) = column.as_primitive_opt::<UInt64Type>() {
        let bits = |mask: u64| (0..64).filter(|bit| mask >> bit & 1 == 1).collect();
        return masks.values().iter().map(|&mask| bits(mask)).collect();
    }
    column.as_primitive::<UInt32Type>().values().iter().map(|&label| vec![label]).collect()
}

#[test]
fn a_table_becomes_reports_with_the_task_inside_and_without_the_labels() {
    let folder = Folder::new("story");
    let (table, output) = (folder.words_table(1000), folder.path("reports.parquet"));
    let summary = json(&format!(
        "privatize {table} --label y --epsilon 0.5 --classes low,middle,high,none -o {output}"
    ));
    assert_eq!(
        (&summary["rows"], &summary["mechanism"], &summary["set_size"]),
        (&1000.into(), &"subset".into(), &2.into())
    );
    assert_eq!(summary["columns"], serde_json::json!(["row", "town"]));
    assert_eq!(summary["classes"], serde_json::json!(CLASSES));
    assert_eq!((&summary["simulation"], &summary["classes_from_labels"]), (&false.into(), &false.into()));
    assert_eq!(summary["bytes"].as_u64().unwrap(), fs::metadata(&output).unwrap().len());
    close(&summary["realised_epsilon"], 0.5, 1e-9);
    let (batch, task) = read(&output, "undertone.task");
    let task: serde_json::Value = serde_json::from_str(&task.unwrap()).unwrap();
    assert_eq!((&task["label"], &task["mechanism"]["kind"]), (&"y".into(), &"subset".into()));
    assert_eq!(task["mechanism"]["epsilon"], 0.5);
    assert_eq!(read(&output, "undertone.task_id").1.unwrap(), summary["task_id"].as_str().unwrap());
    let names: Vec<&String> = batch.schema_ref().fields().iter().map(|field| field.name()).collect();
    assert_eq!(names, ["row", "town", "report"]);
    let original = read(&table, "").0;
    for name in ["row", "town"] {
        assert_eq!(batch.column_by_name(name), original.column_by_name(name));
    }
    let reports = reports(&output);
    assert!(
        reports.len() == 1000 && reports.iter().all(|set| set.len() == 2 && set[0] < set[1] && set[1] < 4)
    );
    assert_eq!(folder.names(), ["reports.parquet", "table.parquet"]);
}

#[test]
fn the_truth_is_reported_as_often_as_the_mechanism_says() {
    let folder = Folder::new("law");
    let (table, output) = (folder.words_table(40_000), folder.path("reports.parquet"));
    for (mechanism, p) in
        [("rr", 1f64.exp() / (1f64.exp() + 3.0)), ("subset --set-size 2", 2.0 / (2.0 + 2.0 / 1f64.exp()))]
    {
        json(&format!(
            "privatize {table} --label y --epsilon 1 --mechanism {mechanism} --classes low,middle,high,none -o {output} --force --seed 1"
        ));
        let reports = reports(&output);
        let truths = (0..).zip(&reports).filter(|(row, set)| set.contains(&(row % 4))).count();
        let deviation = (p * (1.0 - p) / 40_000.0).sqrt();
        assert!((truths as f64 / 40_000.0 - p).abs() < 5.0 * deviation, "{mechanism}: {truths} for {p}");
    }
}

#[test]
fn labels_may_be_numbers_words_truth_values_or_entries_of_a_dictionary() {
    let folder = Folder::new("types");
    let bit = |row: usize| row.is_multiple_of(3);
    let rows = || 0..50_000usize;
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    // A value that is no class but that no row has either
    dictionary.append_value("unused");
    rows().for_each(|row| dictionary.append_value(if bit(row) { "1" } else { "0" }));
    let dictionary = dictionary.finish().slice(1, 50_000);
    let columns: [(&str, &str, ArrayRef); 6] = [
        (
            "words",
            "0,1",
            Arc::new(rows().map(|row| Some(if bit(row) { "1" } else { "0" })).collect::<StringArray>()),
        ),
        ("bytes", "0,1", Arc::new(rows().map(|row| Some(u8::from(bit(row)))).collect::<UInt8Array>())),
        (
            "far",
            "-5,9000000000",
            Arc::new(
                rows().map(|row| Some(if bit(row) { 9_000_000_000 } else { -5 })).collect::<Int64Array>(),
            ),
        ),
        (
            "floats",
            "0,1",
            Arc::new(rows().map(|row| Some(f64::from(u8::from(bit(row))))).collect::<Float64Array>()),
        ),
        ("bools", "false,true", Arc::new(rows().map(|row| Some(bit(row))).collect::<BooleanArray>())),
        ("dictionary", "0,1", Arc::new(dictionary)),
    ];
    let mut first = None;
    for (name, classes, labels) in columns {
        let (table, output) = (folder.table(name, labels), folder.path("reports.parquet"));
        let words = format!("privatize {table} --label y --epsilon 1 -o {output} --force --seed 5");
        json(&format!("{words} --classes={classes}"));
        let reports = reports(&output);
        assert_eq!(first.get_or_insert_with(|| reports.clone()), &reports, "{name}");
        if name != "dictionary" {
            // Found in the labels, numbers by their size
            assert_eq!(
                json(&words)["classes"],
                serde_json::json!(classes.split(',').collect::<Vec<_>>()),
                "{name}"
            );
        }
    }
}

#[test]
fn classes_that_are_taken_from_the_labels_are_warned_about() {
    let folder = Folder::new("classes");
    let labels: ArrayRef = Arc::new(Int64Array::from(vec![10, 9, 100, 9, 10]));
    let (table, output) = (folder.table("table.parquet", labels), folder.path("reports.parquet"));
    let run = undertone(&format!("privatize {table} --label y --epsilon 1 -o {output} --json"));
    let summary: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(summary["classes"], serde_json::json!(["9", "10", "100"]));
    assert_eq!(summary["classes_from_labels"], true);
    let warning = String::from_utf8(run.stderr).unwrap();
    assert!(
        warning.contains("the set of classes was taken from the private labels; name them with --classes")
    );
    let classes = folder.path("classes.txt");
    fs::write(&classes, "9\r\n10\r\n100\r\n").unwrap();
    let run = undertone(&format!(
        "privatize {table} --label y --epsilon 1 -o {output} --force --classes {classes}"
    ));
    assert!(run.status.success() && run.stderr.is_empty());
}

#[test]
fn the_parts_of_a_table_share_its_rows() {
    let folder = Folder::new("parts");
    let (table, output) = (folder.words_table(20_000), folder.path("reports.parquet"));
    let mut all = Vec::new();
    for part in 1..=3 {
        let words = format!(
            "privatize {table} --label y --epsilon 1 --classes low,middle,high,none -o {output} --force --part {part}/3"
        );
        let rows = json(&words)["rows"].as_u64().unwrap();
        let (batch, _) = read(&output, "");
        assert_eq!(batch.num_rows() as u64, rows);
        all.extend_from_slice(batch.column_by_name("row").unwrap().as_primitive::<Float64Type>().values());
        // At ε = 50 a report is the truth, so that each row still has its own.
        json(&words.replace("--epsilon 1", "--epsilon 50 --mechanism rr"));
        let (batch, _) = read(&output, "");
        let rows = batch.column_by_name("row").unwrap().as_primitive::<Float64Type>().values();
        let said = batch.column_by_name("report").unwrap().as_primitive::<UInt32Type>().values();
        assert!(rows.iter().zip(said).all(|(row, said)| *row as u32 % 4 == *said));
    }
    all.sort_by(f64::total_cmp);
    assert_eq!(all, (0..20_000).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn a_seed_repeats_a_simulation_and_is_never_silent() {
    let folder = Folder::new("seed");
    let (table, output) = (folder.words_table(300), folder.path("reports.parquet"));
    let words =
        format!("privatize {table} --label y --epsilon 1 --classes low,middle,high,none -o {output} --force");
    let run = |more: &str| {
        let said = text(&format!("{words} {more}"));
        (said, reports(&output), read(&output, "undertone.simulation").1)
    };
    let (said, first, mark) = run("--seed 1");
    assert!(said.contains("SIMULATION ONLY") && mark.is_some());
    assert_eq!(run("--seed 1").1, first);
    assert_ne!(run("--seed 2").1, first);
    let (said, system, mark) = run("");
    assert!(!said.contains("SIMULATION") && mark.is_none());
    assert_ne!(run("").1, system);
    let errors = String::from_utf8(undertone(&format!("{words} --seed 1 --json")).stderr).unwrap();
    assert!(errors.contains("SIMULATION ONLY"));
}

#[test]
fn options_choose_columns_and_mechanism() {
    let folder = Folder::new("options");
    let (table, output) = (folder.words_table(500), folder.path("reports.parquet"));
    let words =
        format!("privatize {table} --label y --epsilon 1 --classes low,middle,high,none -o {output} --force");
    assert_eq!(json(&format!("{words} --drop town,row"))["columns"], serde_json::json!([]));
    assert_eq!(read(&output, "").0.num_columns(), 1);
    let top = json(&format!("{words} --top high,low"));
    assert_eq!(top["mechanism"], "rr-top-k");
    assert!(reports(&output).iter().all(|set| set == &[0] || set == &[2]));
    assert_eq!(json(&format!("{words} --set-size 3"))["set_size"], 3);
    assert!(reports(&output).iter().all(|set| set.len() == 3));
    assert_eq!(json(&format!("{words} --mechanism bits"))["set_size"], serde_json::Value::Null);
    let lengths: Vec<usize> = reports(&output).iter().map(Vec::len).collect();
    assert!(lengths.contains(&0) && lengths.contains(&2));
    let said = text(&words);
    for part in [
        "500 reports about `y`",
        "ε = 1, realised 0.99",
        "4: low, middle, high, none",
        "2: row, town",
        "task ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn what_cannot_be_done_is_said_with_its_row_and_leaves_nothing() {
    let folder = Folder::new("refused");
    let table = folder.words_table(40_000);
    let output = folder.path("reports.parquet");
    let mut wrong: Vec<Option<&str>> = (0..40_000).map(|row| Some(CLASSES[row % 4])).collect();
    wrong[39_999] = Some("huge");
    let unknown = folder.table("unknown", Arc::new(StringArray::from(wrong.clone())));
    wrong[39_999] = None;
    let missing = folder.table("missing", Arc::new(StringArray::from(wrong.clone())));
    wrong[39_999] = Some("");
    let blank = folder.table("blank", Arc::new(StringArray::from(wrong)));
    let fraction = folder.table("fraction", Arc::new(Float64Array::from(vec![1.0, 2.0, 2.5])));
    let number = folder.table("number", Arc::new(Int64Array::from(vec![0, 1, 2])));
    let not_a_number = folder.table("nan", Arc::new(Float64Array::from(vec![1.0, f64::NAN])));
    let alike = folder.table("alike", Arc::new(Int64Array::from(vec![7, 7])));
    let empty = folder.table("empty", Arc::new(Int64Array::from(Vec::<i64>::new())));
    let before = folder.names();
    let four = "--classes low,middle,high,none";
    for (table, words, code, message) in [
        (
            &unknown,
            four,
            1,
            "row 40000: label `huge` is not among the 4 classes `low`, `middle`, `high`, `none`",
        ),
        (&missing, four, 1, "row 40000: the label is missing"),
        (&missing, "", 1, "row 40000: the label is missing"),
        (&blank, four, 1, "row 40000: the label is missing"),
        (&blank, "", 1, "row 40000: the label is missing"),
        (&fraction, "--classes 1,2", 1, "row 3: label 2.5 is not a whole number"),
        (&fraction, "", 1, "row 3: label 2.5 is not a whole number"),
        (&not_a_number, "--classes 1,2", 1, "row 2, column `y`: NaN is not a finite number"),
        (&number, "--classes 0,1", 1, "row 3: label `2` is not among the 2 classes `0`, `1`"),
        (&alike, "", 1, "every `y` is `7`"),
        (&empty, "", 1, "there are no rows"),
        (&empty, "--classes 0,1", 1, "there are no rows"),
        (&table, "--classes low,low,high", 2, "--classes names `low` twice"),
        (&table, "--classes low,,high", 2, "class 2 of --classes is empty"),
        (&table, "--classes low", 2, "neither a file nor a list"),
        (&table, "--classes low,middle,high,none --top low,tall", 2, "--top names `tall`, which is no class"),
        (&table, "--classes low,middle,high,none --top low,low", 2, "label 0 is named twice"),
        (&table, "--classes low,middle,high,none --set-size 4", 2, "sets of 4 among 4 labels"),
        (&table, "--classes low,middle,high,none --mechanism rr --set-size 2", 2, "no use for a set size"),
        (&table, "--classes low,middle,high,none --mechanism rr-top-k", 2, "rr-top-k needs --top"),
        (&table, "--classes low,middle,high,none --mechanism rr-prior", 2, "rr-prior needs --prior"),
        (&table, "--classes low,middle,high,none --drop street", 2, "--drop: there is no column `street`"),
        (&table, "--classes low,middle,high,none --drop y", 2, "--drop names `y`, which is the label"),
        (&table, "--classes low,middle,high,none --part 4/3", 2, "part 4 of 3 does not exist"),
    ] {
        refused(&format!("privatize {table} --label y --epsilon 1 -o {output} {words}"), code, message);
        assert_eq!(folder.names(), before, "{words}");
    }
    refused(
        &format!("privatize {table} --label z --epsilon 1 -o {output}"),
        2,
        "no column `z`; there are `row`, `y`, `town`",
    );
    refused(&format!("privatize {table} --label y --epsilon 0 -o {output}"), 2, "epsilon is 0");
    refused(&format!("privatize {output} --label y --epsilon 1 -o {output}"), 1, "cannot be opened");
    refused(
        &format!("privatize {table} --label y --epsilon 1 -o {table} --force"),
        2,
        "is read, so it cannot be written",
    );
    let folder_itself = folder.path("");
    refused(
        &format!("privatize {table} --label y --epsilon 1 {four} -o {folder_itself} --force"),
        1,
        "is a directory",
    );
    assert_eq!(folder.names(), before);
    fs::write(&output, "precious").unwrap();
    refused(
        &format!("privatize {table} --label y --epsilon 1 {four} -o {output}"),
        1,
        "exists; --force replaces it",
    );
    refused(&format!("privatize {unknown} --label y --epsilon 1 {four} -o {output} --force"), 1, "`huge`");
    assert_eq!(fs::read_to_string(Path::new(&output)).unwrap(), "precious");
}
