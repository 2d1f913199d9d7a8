//! Files of reports, written and read.

use super::{Answers, Form, LabelLists, Layout, Marks, ReportsFile, ReportsWriter};
use crate::tables::column_kind;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, FieldRef};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undertone_learn::labels::{Channel, LabelVectors};
use undertone_learn::numbers::{NumberChannel, NumberValues};
use undertone_report::{
    ColumnKind, FeatureColumn, MechanismWords, NumberWords, PriorWords, TASK_VERSION, Task,
};

/// An empty folder for the test of this name.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("undertone-reports-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

fn task(kind: &str, epsilon: f64) -> Task {
    let prior =
        (kind == "rr-prior").then(|| PriorWords::Model { sha256: "00".into(), temperature: Some(1.0) });
    Task {
        version: TASK_VERSION,
        label: "income".into(),
        classes: ["a", "b", "c", "d", "e"].map(String::from).to_vec(),
        mechanism: MechanismWords {
            kind: kind.into(),
            epsilon: Some(epsilon),
            delta: None,
            mu: None,
            set_size: None,
            top: None,
            prior,
        },
        features: vec![
            FeatureColumn { name: "age".into(), kind: ColumnKind::Number },
            FeatureColumn { name: "town".into(), kind: ColumnKind::Words },
        ],
        collection: None,
        number: None,
        record: None,
        survey: None,
    }
}

fn fields() -> Vec<FieldRef> {
    let field = |name, data_type| Arc::new(Field::new(name, data_type, true));
    vec![field("age", DataType::Float64), field("town", DataType::Utf8)]
}

fn lists(rows: &[Vec<u32>]) -> LabelLists {
    let mut lists = LabelLists::new();
    for row in rows {
        lists.push_with(|members| members.extend(row));
    }
    lists
}

fn answers(task: &Task, rows: &[Vec<u32>]) -> Answers {
    match Layout::of(task).unwrap().form {
        Form::Number => Answers::Numbers(rows.concat()),
        Form::Mask => Answers::Masks(
            rows.iter().map(|row| row.iter().fold(0, |mask, label| mask | 1 << label)).collect(),
        ),
        Form::List => Answers::Lists(lists(rows)),
        Form::Integer => Answers::Integers(rows.concat().into_iter().map(i64::from).collect()),
        Form::Words => unreachable!("no task here is a survey"),
    }
}

/// Writes these reports, in two writes, beside ages that count the rows from zero.
fn write(path: &Path, task: &Task, reports: &[Vec<u32>], among: Option<&[Vec<u32>]>) {
    let mut writer = ReportsWriter::create(path, false, task, &fields(), &Marks::default()).unwrap();
    let half = reports.len() / 2;
    for range in [0..half, half..reports.len()] {
        let ages: ArrayRef = Arc::new(range.clone().map(|row| Some(row as f64)).collect::<Float64Array>());
        let towns: ArrayRef = Arc::new(range.clone().map(|_| None::<&str>).collect::<StringArray>());
        let among = among.map(|among| lists(&among[range.clone()]));
        writer.write(vec![ages, towns], answers(task, &reports[range]), among).unwrap();
    }
    writer.finish().unwrap();
}

/// Reads everything: ages, reports and what they were chosen among.
fn read(file: &ReportsFile) -> (Vec<f64>, Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let (mut ages, mut reports, mut among) = (Vec::new(), Vec::new(), Vec::new());
    for block in file.blocks() {
        let block = block.unwrap();
        ages.extend(block.features().column(0).as_primitive::<Float64Type>().values());
        reports.extend((0..block.len()).map(|row| block.members(row).to_vec()));
        among.extend((0..block.len()).map(|row| block.among(row).to_vec()));
    }
    (ages, reports, among)
}

fn refused(path: &Path) -> String {
    format!("{:#}", ReportsFile::open(path).unwrap_err())
}

/// Decodes everything and gives the first error.
fn decoding_error(file: &ReportsFile) -> String {
    let channel = Channel::of(file.task()).unwrap();
    let (mut unbiased, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
    for block in file.blocks() {
        unbiased.clear();
        likelihood.clear();
        if let Err(error) = block.unwrap().decode(&channel, &mut unbiased, &mut likelihood) {
            return error.to_string();
        }
    }
    panic!("everything was decoded");
}

#[test]
fn reports_about_numbers_are_read_back_and_a_row_that_nobody_says_is_named() {
    let folder = folder("numbers");
    let path = folder.join("reports.parquet");
    let mut task = task("one-bit", 1.0);
    (task.classes, task.number) = (Vec::new(), Some(NumberWords { low: 0.0, high: 10.0 }));
    let mut said: Vec<Vec<u32>> = (0..20_000).map(|row| vec![u32::from(row % 3 == 0)]).collect();
    write(&path, &task, &said, None);
    let file = ReportsFile::open(&path).unwrap();
    let (channel, mut values) = (NumberChannel::of(&task).unwrap(), NumberValues::new());
    for block in file.blocks() {
        block.unwrap().decode_numbers(&channel, &mut values).unwrap();
    }
    assert!(values.values().iter().zip(&said).all(|(z, said)| (*z > 5.0) == (said[0] == 1)));
    assert_eq!(values.len(), 20_000);
    said[12_344][0] = 2;
    let bad = folder.join("bad.parquet");
    write(&bad, &task, &said, None);
    let file = ReportsFile::open(&bad).unwrap();
    let errors = file.blocks().filter_map(|block| block.unwrap().decode_numbers(&channel, &mut values).err());
    let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
    assert!(errors.len() == 1 && errors[0].contains("report 12345: it says 2"), "{errors:?}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn reports_of_every_layout_are_read_back_as_often_as_one_likes() {
    let folder = folder("round-trip");
    let n = 20_000;
    let single: Vec<Vec<u32>> = (0..n).map(|row| vec![row % 5]).collect();
    let any: Vec<Vec<u32>> =
        (0..n).map(|row| (0..5).filter(|label| row >> label & 1 == 1).collect()).collect();
    let among: Vec<Vec<u32>> = (0..n).map(|row| (row % 5..5).collect()).collect();
    for (kind, classes, form, reports, among) in [
        ("rr", 5, Form::Number, &single, None),
        ("bits", 5, Form::Mask, &any, None),
        ("bits", 64, Form::Mask, &any, None),
        ("bits", 65, Form::List, &any, None),
        ("rr-prior", 5, Form::Number, &single, Some(&among)),
    ] {
        let path = folder.join(format!("{kind}-{classes}.parquet"));
        let classes = (0..classes).map(|class| class.to_string()).collect();
        let task = Task { classes, ..task(kind, 1.0) };
        assert_eq!(Layout::of(&task).unwrap().form, form);
        write(&path, &task, reports, among.map(Vec::as_slice));
        let file = ReportsFile::open(&path).unwrap();
        assert_eq!((file.task(), file.rows()), (&task, u64::from(n)));
        assert_eq!(file.marks(), [Marks::default()]);
        for _pass in 0..2 {
            let (ages, read, chosen_among) = read(&file);
            assert_eq!(ages, (0..n).map(f64::from).collect::<Vec<_>>());
            assert_eq!(&read, reports, "{kind}");
            assert!(among.is_none_or(|among| among == &chosen_among), "{kind}");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_directory_is_read_in_the_order_of_its_names_and_says_which_report_is_wrong() {
    let folder = folder("directory");
    let task = task("rr", 1.0);
    let mut reports = vec![vec![1]; 10_000];
    write(&folder.join("b.parquet"), &task, &reports, None);
    write(&folder.join("a.parquet"), &task, &[vec![0]], None);
    fs::write(folder.join("notes.txt"), "not for us").unwrap();
    fs::write(folder.join(".c.parquet"), "being written").unwrap();
    let file = ReportsFile::open(&folder).unwrap();
    assert_eq!(file.rows(), 10_001);
    let (_, read, _) = read(&file);
    assert_eq!((&read[0], &read[1]), (&vec![0], &vec![1]));
    // The row is that of its file, beyond the first block
    reports[9_000] = vec![5];
    write(&folder.join("c.parquet"), &task, &reports, None);
    let error = decoding_error(&ReportsFile::open(&folder).unwrap());
    assert!(error.ends_with("c.parquet: report 9001: it names label 5, the task has 5 classes"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn labels_to_choose_among_that_are_no_choice_are_refused_with_their_row() {
    let folder = folder("among");
    for (name, report, among, message) in [
        ("outside", vec![3], vec![0, 1], "report 2: it names label 3, which is not among those asked about"),
        ("empty", vec![3], vec![], "report 2: "),
        ("unknown", vec![3], vec![3, 9], "report 2: "),
    ] {
        let path = folder.join(format!("{name}.parquet"));
        write(&path, &task("rr-prior", 1.0), &[vec![1], report], Some(&[vec![0, 1], among]));
        let error = decoding_error(&ReportsFile::open(&path).unwrap());
        assert!(error.contains(message), "{error}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn two_tasks_in_one_directory_are_refused_with_what_differs() {
    for (name, change, message) in [
        ("epsilon", (|task| task.mechanism.epsilon = Some(2.0)) as fn(&mut Task), "epsilon is 1.0 in "),
        ("classes", |task| task.classes.push("f".into()), "there are "),
        ("kind", |task| task.mechanism.kind = "subset".into(), "the mechanism is \"rr\" in "),
        ("label", |task| task.label = "wealth".into(), "the label is \"income\" in "),
    ] {
        let folder = folder(name);
        let (first, mut other) = (task("rr", 1.0), task("rr", 1.0));
        change(&mut other);
        let reports = if other.mechanism.kind == "rr" { vec![1] } else { vec![1, 2] };
        write(&folder.join("first.parquet"), &first, &[vec![1]], None);
        write(&folder.join("other.parquet"), &other, &[reports], None);
        let error = refused(&folder);
        for part in ["two tasks in one directory", message, "first.parquet and", "other.parquet"] {
            assert!(error.contains(part), "{error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}

/// A Parquet file of other people's making.
fn foreign(path: &Path, batch: &RecordBatch, entries: &[(&str, String)]) {
    let entries =
        entries.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
    let settings = WriterProperties::builder().set_key_value_metadata(Some(entries)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(settings)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// One row of the public columns, with this column of reports.
fn batch(report: ArrayRef) -> RecordBatch {
    let ages: ArrayRef = Arc::new(Float64Array::from(vec![30.0]));
    let towns: ArrayRef = Arc::new(StringArray::from(vec!["Ely"]));
    RecordBatch::try_from_iter([("age", ages), ("town", towns), ("report", report)]).unwrap()
}

#[test]
fn what_holds_no_reports_is_refused() {
    let folder = folder("refused");
    let path = folder.join("x.parquet");
    assert!(refused(&path).contains("cannot be read"));
    assert!(refused(&folder).contains("there are no *.parquet files"));
    fs::write(&path, "").unwrap();
    assert!(refused(&path).contains("x.parquet: this is not a Parquet file"));
    let task = task("rr", 1.0);
    let report: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
    let (document, id) = (task.to_json(), task.id().to_string());
    let entries =
        |document: &str| [("undertone.task", document.to_owned()), ("undertone.task_id", id.clone())];
    foreign(&path, &batch(report.clone()), &[]);
    assert!(refused(&path).contains("there is no task"));
    foreign(&path, &batch(report.clone()), &entries(&document));
    assert_eq!(ReportsFile::open(&path).unwrap().rows(), 1);
    foreign(&path, &batch(report.clone()), &entries(&document.replace("\"epsilon\":1.0", "\"epsilon\":8.0")));
    assert!(refused(&path).contains("was changed: its id is"), "{}", refused(&path));
    foreign(&path, &batch(report.clone()), &entries(&document)[..1]);
    assert!(refused(&path).contains("the id in the file is missing"));
    foreign(&path, &batch(report.clone()), &entries("{}"));
    assert!(refused(&path).contains("not a task document"));
    foreign(&path, &batch(report.clone()).slice(0, 0), &entries(&document));
    assert!(refused(&path).contains("there are no reports"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn columns_that_are_not_those_of_the_task_are_refused_by_name() {
    let folder = folder("columns");
    let path = folder.join("x.parquet");
    let task = task("rr", 1.0);
    let entries = [("undertone.task", task.to_json()), ("undertone.task_id", task.id().to_string())];
    let report: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
    let refused_for = |batch: &RecordBatch| {
        foreign(&path, batch, &entries);
        refused(&path)
    };
    let error = refused_for(&batch(Arc::new(Float64Array::from(vec![1.0]))));
    assert!(
        error.contains("column `report` has the type Float64, reports of this task have UInt32"),
        "{error}"
    );
    assert!(refused_for(&batch(report.clone()).project(&[0, 1]).unwrap()).contains("no column `report`"));
    assert!(refused_for(&batch(report.clone()).project(&[1, 2]).unwrap()).contains("no column `age`"));
    let ages: ArrayRef = Arc::new(StringArray::from(vec!["thirty"]));
    let words =
        RecordBatch::try_from_iter([("age", ages.clone()), ("town", ages), ("report", report)]).unwrap();
    assert!(refused_for(&words).contains("column `age` holds Words, the task says Number"));
    foreign(&path, &batch(Arc::new(UInt32Array::from(vec![None::<u32>]))), &entries);
    let error = ReportsFile::open(&path).unwrap().blocks().next().unwrap().unwrap_err();
    assert!(format!("{error:#}").contains("row 1: `report` is missing"), "{error:#}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_public_column_is_of_a_kind_that_can_be_learnt_from_and_has_a_name_of_its_own() {
    let kind = |data_type| column_kind(&Field::new("x", data_type, true));
    let pixels = DataType::FixedSizeList(Arc::new(Field::new("item", DataType::UInt8, false)), 784);
    assert_eq!(kind(pixels).unwrap(), ColumnKind::Vector(784));
    assert_eq!(kind(DataType::Int64).unwrap(), ColumnKind::Number);
    let categories = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    assert_eq!(kind(categories).unwrap(), ColumnKind::Words);
    assert!(kind(DataType::Date32).unwrap_err().to_string().contains("column `x`: Date32 is neither"));
    let folder = folder("names");
    let taken = [Arc::new(Field::new("report", DataType::Int8, true))];
    let created =
        ReportsWriter::create(&folder.join("x"), false, &task("rr", 1.0), &taken, &Marks::default());
    assert!(created.err().unwrap().to_string().contains("a public column is named `report`"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    fs::remove_dir_all(folder).unwrap();
}
