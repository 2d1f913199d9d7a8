//! The test vectors in `testdata/wire`, which other languages use too: they are what this code makes, and this code reads
//! them all. To write them anew: `UNDERTONE_WRITE_VECTORS=1 cargo test -p undertone-report --test vectors`.

mod cases;
mod records;
mod tasks;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use undertone_privacy::vector::{CodebookReport, VectorReport};
use undertone_report::{Cell, GradientReport, Report, ReportFormat, Task, TaskId, batch};

/// A file: a task, reports that answer it, and what is refused.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    about: String,
    /// The canonical bytes, as text
    task_canonical: String,
    task_id: String,
    task_toml: String,
    reports: Vec<Valid>,
    refused_bytes: Vec<RefusedBytes>,
    refused_json: Vec<RefusedJson>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Valid {
    about: String,
    fields: Fields,
    bytes: String,
    json: String,
}

/// A report as plain JSON, cells and labels by their places.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    id: String,
    time: u64,
    tier: u8,
    features: Vec<Value>,
    members: Vec<u32>,
    among: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gradient: Option<GradientFields>,
    /// The number of a question, and the words of the answer
    #[serde(default, skip_serializing_if = "Option::is_none")]
    survey: Option<(u64, Vec<i64>)>,
}

/// A gradient: the version of its point, and integers or a codeword.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GradientFields {
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<i64>>,
    /// The seed in hexadecimal, and the place
    #[serde(default, skip_serializing_if = "Option::is_none")]
    codeword: Option<(String, u16)>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusedBytes {
    about: String,
    bytes: String,
    reason: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusedJson {
    about: String,
    json: String,
    reason: String,
}

/// Another file: batches, good and bad, and what is in them.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Batches {
    about: String,
    batches: Vec<Batch>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch {
    about: String,
    bytes: String,
    /// What is in it, or why it is refused
    outcome: Outcome,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Reports(Vec<String>),
    Refused(String),
}

/// The last file: documents that are no task.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Documents {
    about: String,
    refused: Vec<RefusedDocument>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusedDocument {
    about: String,
    json: String,
    /// A part of the message of this implementation
    says: String,
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wire"))
}

fn read<T: for<'a> Deserialize<'a>>(name: &str) -> T {
    let text = fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|place| u8::from_str_radix(&text[place..place + 2], 16).unwrap()).collect()
}

fn fields_of(report: &Report) -> Fields {
    let cell = |cell: &Cell| match cell {
        Cell::Missing => Value::Null,
        Cell::Number(x) => Value::from(*x),
        Cell::Words(words) => Value::from(words.clone()),
        Cell::Vector(values) => values.iter().map(|&x| f64::from(x)).collect(),
    };
    Fields {
        id: report.id.to_string(),
        time: report.time,
        tier: report.tier,
        features: report.features.iter().map(cell).collect(),
        members: report.members.clone(),
        among: report.among.clone(),
        number: report.number,
        gradient: report.gradient.as_ref().map(gradient_fields),
        survey: report.survey.as_ref().map(|said| (said.question, said.words.clone())),
    }
}

fn gradient_fields(gradient: &GradientReport) -> GradientFields {
    let (steps, codeword) = match &gradient.said {
        VectorReport::Steps(steps) => (Some(steps.clone()), None),
        VectorReport::Codeword(said) => (None, Some((hex(&said.seed.to_be_bytes()), said.index))),
    };
    GradientFields { version: gradient.version, steps, codeword }
}

fn gradient_of(fields: &GradientFields) -> GradientReport {
    let codeword = |(seed, index): &(String, u16)| {
        let seed = u128::from_str_radix(seed, 16).unwrap();
        VectorReport::Codeword(CodebookReport { seed, index: *index })
    };
    let steps = fields.steps.clone().map(VectorReport::Steps);
    let said = steps.or(fields.codeword.as_ref().map(codeword)).unwrap();
    GradientReport { version: fields.version, said }
}

fn report_of(fields: &Fields) -> Report {
    let cell = |value: &Value| match value {
        Value::Null => Cell::Missing,
        Value::Number(x) => Cell::Number(x.as_f64().unwrap()),
        Value::String(words) => Cell::Words(words.clone()),
        Value::Array(values) => Cell::Vector(values.iter().map(|x| x.as_f64().unwrap() as f32).collect()),
        other => panic!("{other} is no cell"),
    };
    Report {
        id: fields.id.parse().unwrap(),
        time: fields.time,
        tier: fields.tier,
        features: fields.features.iter().map(cell).collect(),
        members: fields.members.clone(),
        among: fields.among.clone(),
        number: fields.number,
        gradient: fields.gradient.as_ref().map(gradient_of),
        survey: fields
            .survey
            .clone()
            .map(|(question, words)| undertone_privacy::survey::SurveyReport { question, words }),
    }
}

/// All files as this code makes them.
fn made() -> Vec<(String, String)> {
    let text = |value: &Value| serde_json::to_string_pretty(value).unwrap() + "\n";
    let mut files: Vec<(String, String)> = cases::all()
        .into_iter()
        .map(|(name, vectors)| (format!("{name}.json"), text(&serde_json::to_value(vectors).unwrap())))
        .collect();
    files.push(("batches.json".into(), text(&serde_json::to_value(cases::batches()).unwrap())));
    files.push(("documents.json".into(), text(&serde_json::to_value(cases::documents()).unwrap())));
    files.push(("records.json".into(), text(&serde_json::to_value(records::records()).unwrap())));
    files
}

#[test]
fn the_files_are_what_this_code_makes() {
    let files = made();
    if std::env::var_os("UNDERTONE_WRITE_VECTORS").is_some() {
        fs::create_dir_all(folder()).unwrap();
        for (name, text) in &files {
            fs::write(folder().join(name), text).unwrap();
        }
    }
    for (name, text) in &files {
        let found = fs::read_to_string(folder().join(name)).unwrap_or_default();
        assert!(
            found == *text,
            "{name} is not what this code makes; the head of this file says how to renew it"
        );
    }
    let mut found: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut known: Vec<String> = files.into_iter().map(|(name, _)| name).collect();
    found.sort();
    known.sort();
    assert_eq!(found, known);
}

#[test]
fn every_report_reads_and_writes_as_the_files_say() {
    for (name, _) in cases::all() {
        let vectors: Vectors = read(&format!("{name}.json"));
        let task = Task::from_json(&vectors.task_canonical).unwrap();
        assert_eq!(task.to_json(), vectors.task_canonical, "{name}");
        assert_eq!(task.id(), vectors.task_id.parse::<TaskId>().unwrap(), "{name}");
        assert_eq!(Task::from_toml(&vectors.task_toml).unwrap(), task, "{name}");
        let format = ReportFormat::new(&task).unwrap();
        assert!(!vectors.reports.is_empty() && !vectors.refused_bytes.is_empty(), "{name}");
        for valid in vectors.reports {
            let (report, bytes) = (report_of(&valid.fields), unhex(&valid.bytes));
            assert_eq!(format.decode(&bytes).unwrap(), report, "{name}: {}", valid.about);
            assert_eq!(format.encode(&report).unwrap(), bytes, "{name}: {}", valid.about);
            assert_eq!(format.from_json(&valid.json).unwrap(), report, "{name}: {}", valid.about);
            assert_eq!(format.to_json(&report).unwrap(), valid.json, "{name}: {}", valid.about);
        }
        for refused in vectors.refused_bytes {
            let error = format.decode(&unhex(&refused.bytes)).unwrap_err();
            assert_eq!(error.reason(), refused.reason, "{name}: {}: {error}", refused.about);
            assert_eq!(format.check(&unhex(&refused.bytes)), Err(error), "{name}: {}", refused.about);
        }
        for refused in vectors.refused_json {
            let error = format.from_json(&refused.json).unwrap_err();
            assert_eq!(error.reason(), refused.reason, "{name}: {}: {error}", refused.about);
        }
    }
}

#[test]
fn every_batch_splits_as_the_file_says() {
    let file: Batches = read("batches.json");
    for case in file.batches {
        let bytes = unhex(&case.bytes);
        let outcome = match batch::split(&bytes) {
            Ok(reports) => Outcome::Reports(reports.into_iter().map(hex).collect()),
            Err(error) => Outcome::Refused(error.reason().into()),
        };
        assert_eq!(outcome, case.outcome, "{}", case.about);
    }
}

#[test]
fn every_gradient_and_every_codeword_is_what_the_file_says() {
    records::check(&read("records.json"));
}

#[test]
fn every_bad_document_is_refused_as_the_file_says() {
    let file: Documents = read("documents.json");
    for refused in file.refused {
        let error = Task::from_json(&refused.json).unwrap_err().to_string();
        assert!(error.contains(&refused.says), "{}: {error}", refused.about);
    }
}

#[test]
fn every_reason_that_bytes_can_be_refused_for_is_in_the_files() {
    let of_vectors = |(_, vectors): (&str, Vectors)| {
        let bytes = vectors.refused_bytes.into_iter().map(|refused| refused.reason);
        bytes.chain(vectors.refused_json.into_iter().map(|refused| refused.reason)).collect::<Vec<_>>()
    };
    let there: Vec<String> = cases::all().into_iter().flat_map(of_vectors).collect();
    // Two depend on a clock and one on a log, two would make files of a megabyte, and no bytes have too few cells.
    let elsewhere =
        ["too-old", "from-the-future", "future-version", "too-long", "words-too-long", "wrong-columns"];
    let missing: Vec<&&str> = undertone_report::ReportError::REASONS
        .iter()
        .filter(|reason| !elsewhere.contains(reason))
        .filter(|reason| !there.iter().any(|there| there == *reason))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_reason_is_in_the_description_of_the_format() {
    let page = include_str!("../../../../docs/wire-format.md");
    for reason in undertone_report::ReportError::REASONS {
        assert!(page.contains(&format!("`{reason}`")), "{reason}");
    }
}
