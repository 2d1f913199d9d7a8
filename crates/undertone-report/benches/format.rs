//! What reading and writing a report costs, beside copying its bytes in the same run.
//!
//! `cargo bench -p undertone-report --bench format`

use std::hint::black_box;
use std::time::Instant;
use undertone_report::{
    CategoryWords, Cell, Collection, ColumnKind, EncodingWords, FeatureColumn, LearnerWords, MechanismWords,
    Report, ReportFormat, ReportId, TASK_VERSION, Task, batch,
};

const REPORTS: usize = 20_000;
const ROUNDS: usize = 15;

/// The least of several timings of `work`, in nanoseconds for each report.
fn nanoseconds(mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e9 / REPORTS as f64
    };
    (0..ROUNDS).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

/// Eight categories, five classes.
fn task() -> Task {
    let values = ["usual", "pretentious", "great_pret"].map(String::from).to_vec();
    let words = EncodingWords::Category(CategoryWords::Values { values, other: true, missing: true });
    Task {
        version: TASK_VERSION,
        label: "recommendation".into(),
        classes: ["a", "b", "c", "d", "e"].map(String::from).to_vec(),
        mechanism: MechanismWords {
            kind: "rr".into(),
            epsilon: Some(1.0),
            delta: None,
            mu: None,
            set_size: None,
            top: None,
            prior: None,
        },
        features: (0..8)
            .map(|place| FeatureColumn { name: format!("column {place}"), kind: ColumnKind::Words })
            .collect(),
        collection: Some(Collection {
            name: "Nursery".into(),
            min_reports: 100,
            opens: 1_800_000_000,
            closes: 1_800_086_400,
            time_precision: 60,
            expiry_age: 3600,
            clock_skew: 60,
            learner: LearnerWords::Softmax,
            encoding: vec![words; 8],
            tiers: vec![1.0],
            admission: false,
        }),
        number: None,
        record: None,
        survey: None,
    }
}

fn main() {
    let format = ReportFormat::new(&task()).expect("a task");
    let report = |number: usize| Report {
        id: ReportId((number as u128).to_be_bytes()),
        time: 30_000_000,
        tier: 0,
        features: (0..8)
            .map(|place| Cell::Words(["usual", "pretentious", "great_pret"][(number + place) % 3].into()))
            .collect(),
        members: vec![number as u32 % 5],
        among: vec![],
        number: None,
        gradient: None,
        survey: None,
    };
    let reports: Vec<Report> = (0..REPORTS).map(report).collect();
    let bytes: Vec<Vec<u8>> = reports.iter().map(|report| format.encode(report).expect("valid")).collect();
    let texts: Vec<String> = reports.iter().map(|report| format.to_json(report).expect("valid")).collect();
    let joined = batch::join(&bytes);
    let copy = nanoseconds(|| bytes.iter().for_each(|bytes| drop(black_box(bytes.clone()))));
    println!("{} bytes a report, 8 categories, 5 classes", bytes[0].len());
    println!("copying its bytes  {copy:8.1} ns");
    let show = |what: &str, time: f64| println!("{what:18} {time:8.1} ns, {:5.1} times copying", time / copy);
    show("check", nanoseconds(|| bytes.iter().for_each(|bytes| drop(black_box(format.check(bytes))))));
    show("decode", nanoseconds(|| bytes.iter().for_each(|bytes| drop(black_box(format.decode(bytes))))));
    let mut place = Report::default();
    let again = || bytes.iter().for_each(|bytes| drop(black_box(format.decode_into(bytes, &mut place))));
    show("decode, in place", nanoseconds(again));
    show("encode", nanoseconds(|| reports.iter().for_each(|report| drop(black_box(format.encode(report))))));
    show("split a batch", nanoseconds(|| drop(black_box(batch::split(&joined)))));
    show("read JSON", nanoseconds(|| texts.iter().for_each(|text| drop(black_box(format.from_json(text))))));
    show(
        "write JSON",
        nanoseconds(|| reports.iter().for_each(|report| drop(black_box(format.to_json(report))))),
    );
}
