//! Reports as bytes and as JSON, and what is refused.

use super::*;
use crate::testing::{report, task};
use undertone_privacy::label::LabelKind;

fn format(kind: &str) -> ReportFormat {
    ReportFormat::new(&task(kind)).unwrap()
}

#[test]
fn every_mechanism_has_reports_that_read_back_as_themselves() {
    for kind in LabelKind::ALL.map(LabelKind::name) {
        let format = format(kind);
        let mut report = report(kind);
        if let Some(size) = task(kind).mechanism().ok().and_then(|mechanism| mechanism.set_size())
            && size > 1
        {
            report.members = (0..size).collect();
        }
        let bytes = format.encode(&report).unwrap();
        assert_eq!(format.decode(&bytes).unwrap(), report, "{kind}");
        let json = format.to_json(&report).unwrap();
        assert_eq!(format.from_json(&json).unwrap(), report, "{json}");
        assert_eq!(ReportFormat::peek(&bytes).unwrap(), (report.id, report.time));
        let header = Header { id: report.id, time: report.time, tier: report.tier, version: None };
        assert_eq!(format.check(&bytes).unwrap(), header);
    }
}

#[test]
fn a_report_may_hold_what_no_bytes_can_say_and_is_refused_then() {
    let format = format("rr");
    let refused = |change: fn(&mut Report)| {
        let mut report = report("rr");
        change(&mut report);
        let error = format.encode(&report).unwrap_err();
        assert_eq!(format.to_json(&report), Err(error.clone()));
        error.reason()
    };
    assert_eq!(refused(|report| report.features.truncate(3)), "wrong-columns");
    assert_eq!(refused(|report| report.features.push(Cell::Missing)), "wrong-columns");
    assert_eq!(refused(|report| report.features[0] = Cell::Number(f64::NAN)), "not-finite");
    assert_eq!(refused(|report| report.features[0] = Cell::Words("38".into())), "wrong-kind");
    assert_eq!(refused(|report| report.features[1] = Cell::Number(1.0)), "wrong-kind");
    assert_eq!(refused(|report| report.features[3] = Cell::Missing), "wrong-kind");
    assert_eq!(refused(|report| report.features[3] = Cell::Vector(vec![1.0])), "wrong-kind");
    assert_eq!(refused(|report| report.features[3] = Cell::Vector(vec![1.0, f32::INFINITY])), "not-finite");
    assert_eq!(refused(|report| report.features[1] = Cell::Words("x".repeat(65_536))), "words-too-long");
    assert_eq!(refused(|report| report.members = vec![5]), "unknown-label");
    assert_eq!(refused(|report| report.members = vec![]), "set-size");
    assert_eq!(refused(|report| report.members = vec![2, 1]), "labels-not-rising");
    assert_eq!(refused(|report| report.members = vec![1, 1]), "labels-not-rising");
    assert_eq!(refused(|report| report.among = vec![2]), "wrong-choice");
    assert_eq!(refused(|report| report.tier = 2), "unknown-tier");
    assert_eq!(refused(|report| report.time = 0), "outside-window");
}

#[test]
fn zeros_have_one_spelling() {
    let format = format("rr");
    let mut signed = report("rr");
    signed.features[0] = Cell::Number(-0.0);
    signed.features[3] = Cell::Vector(vec![-0.0, 0.0]);
    let mut plain = signed.clone();
    plain.features[0] = Cell::Number(0.0);
    plain.features[3] = Cell::Vector(vec![0.0, 0.0]);
    assert_eq!(format.encode(&signed), format.encode(&plain));
    assert_eq!(format.to_json(&signed), format.to_json(&plain));
    let json = format.to_json(&plain).unwrap().replace("0.0", "-0.0");
    let Cell::Number(read) = format.from_json(json).unwrap().features[0] else { panic!("a number") };
    assert!(read.is_sign_positive());
}

#[test]
fn no_report_is_longer_than_a_mebibyte() {
    let short = format("rr");
    let long = vec![0; MOST_BYTES + 1];
    assert_eq!(short.decode(&long).unwrap_err().reason(), "too-long");
    assert_eq!(short.from_json(vec![b' '; 8 * MOST_BYTES + 1]).unwrap_err().reason(), "too-long");

    let mut wide = task("rr");
    wide.features[3].kind = ColumnKind::Vector(MOST_BYTES as u32 / 4);
    let error = ReportFormat::new(&wide).unwrap_err();
    assert!(matches!(error, TaskError::LongReports { least, .. } if least > MOST_BYTES), "{error}");

    let mut widest = task("rr");
    let words = widest.collection.as_ref().unwrap().encoding[3].clone();
    for place in 0..4 {
        widest.features.push(FeatureColumn { name: place.to_string(), kind: ColumnKind::Vector(u32::MAX) });
        widest.collection.as_mut().unwrap().encoding.push(words.clone());
    }
    assert!(matches!(ReportFormat::new(&widest), Err(TaskError::LongReports { .. })));

    wide.features[3].kind = ColumnKind::Vector(MOST_BYTES as u32 / 4 - 100);
    let format = ReportFormat::new(&wide).unwrap();
    let mut report = report("rr");
    report.features[3] = Cell::Vector(vec![1.0; MOST_BYTES / 4 - 100]);
    let bytes = format.encode(&report).unwrap();
    assert_eq!(format.decode(&bytes).unwrap(), report);
    report.features[2] = Cell::Words("x".repeat(400));
    assert_eq!(format.encode(&report).unwrap_err().reason(), "too-long");
}

#[test]
fn the_size_of_an_answer_says_nothing_about_it() {
    for (kind, members) in [("bits", [&[][..], &[0], &[0, 1, 2, 3, 4]]), ("rr", [&[0][..], &[3], &[4]])] {
        let format = format(kind);
        let sizes = members.map(|members| {
            format.encode(&Report { members: members.to_vec(), ..report(kind) }).unwrap().len()
        });
        assert!(sizes.iter().all(|size| *size == sizes[0]), "{kind}: {sizes:?}");
    }
}

#[test]
fn a_task_without_collection_has_no_format() {
    let mut task = task("rr");
    task.collection = None;
    assert!(matches!(ReportFormat::new(&task), Err(TaskError::NoCollection)));
}
