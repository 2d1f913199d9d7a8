//! Surveys as a device answers them: one question, once, whatever the record holds.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_device::{Device, Record, SurveyQuestion};
use undertone_privacy::{Epsilon, Guarantee};
use undertone_report::{
    CategoryWords, Cell, Collection, ColumnKind, EncodingWords, FeatureColumn, LearnerWords, MechanismWords,
    MomentWords, OrderWords, ReportFormat, Stretch, SurveyWords, TASK_VERSION, Task,
};

const NOW: u64 = 1_800_000_100;

fn task(survey: SurveyWords, kind: &str, encoding: Vec<EncodingWords>) -> Task {
    let of = |words: &EncodingWords| match words {
        EncodingWords::Number(_) => ColumnKind::Number,
        _ => ColumnKind::Words,
    };
    let names = (0..).map(|place| format!("column {place}"));
    let explains = survey.explains();
    Task {
        version: TASK_VERSION,
        label: if explains { "ill".into() } else { String::new() },
        classes: if explains { vec!["no".into(), "yes".into()] } else { Vec::new() },
        number: None,
        mechanism: MechanismWords { kind: kind.into(), epsilon: Some(1.0), ..MechanismWords::default() },
        features: names.zip(&encoding).map(|(name, words)| FeatureColumn { name, kind: of(words) }).collect(),
        record: None,
        survey: Some(survey),
        collection: Some(Collection {
            name: "A survey".into(),
            min_reports: 1,
            opens: 1_800_000_000,
            closes: 1_800_086_400,
            time_precision: 3600,
            expiry_age: 7200,
            clock_skew: 60,
            learner: LearnerWords::Later,
            encoding,
            tiers: vec![1.0],
            admission: false,
        }),
    }
}

fn categories() -> Task {
    let values = |values: &[&str], other, missing| {
        let values = values.iter().map(|&value| value.into()).collect();
        EncodingWords::Category(CategoryWords::Values { values, other, missing })
    };
    let encoding = vec![values(&["a", "b"], false, false), values(&["x", "y", "z"], true, true)];
    task(SurveyWords::Tables(OrderWords { order: 2 }), "best", encoding)
}

fn moments() -> Task {
    let number = EncodingWords::Number(Stretch::Range { low: 0.0, high: 10.0, missing: false });
    let words = MomentWords { radius: 2.0, share: 0.25, response: None };
    task(SurveyWords::Moments(words), "codebook", vec![number.clone(), number])
}

fn words(text: &str) -> Cell {
    Cell::Words(text.into())
}

#[test]
fn the_cell_of_a_record_is_said_more_often_than_any_other() {
    let question = SurveyQuestion::new(&categories()).unwrap();
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    // Of the second column's five levels, the fourth is any other value and the fifth an empty cell.
    for (cells, cell) in [
        (vec![words("b"), words("y")], 5 + 1),
        (vec![words("a"), words("nowhere")], 3),
        (vec![words("b"), Cell::Missing], 5 + 4),
        // What a category has no place for is its first value.
        (vec![words("nowhere"), words("x")], 0),
        (vec![Cell::Vector(vec![1.0]), words("z")], 2),
    ] {
        let record = Record { features: cells, response: 0.0 };
        let mut said = [0u32; 10];
        for _ in 0..4000 {
            let report = question.report(&record, 0, 500_000, &mut rng).unwrap().survey.unwrap();
            assert_eq!((report.question, report.words.len()), (0, 1));
            (0..10).filter(|label| report.words[0] >> label & 1 == 1).for_each(|label| said[label] += 1);
        }
        let most = (0..10).max_by_key(|&label| said[label]).unwrap();
        assert_eq!(most, cell, "{record:?}: {said:?}");
    }
}

#[test]
fn every_answer_to_a_question_has_the_same_length_whatever_the_record_holds() {
    for task in [categories(), moments()] {
        let question = SurveyQuestion::new(&task).unwrap();
        let format = ReportFormat::new(&task).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let mut lengths = std::collections::BTreeSet::new();
        for cells in [
            [words("a"), words("x")],
            [Cell::Number(f64::NAN), Cell::Number(f64::INFINITY)],
            [Cell::Missing, Cell::Vector(Vec::new())],
            [Cell::Number(1e300), Cell::Number(-1e300)],
        ] {
            for response in [0.0, 1.0, 17.0, f64::NAN] {
                let record = Record { features: cells.to_vec(), response };
                for _ in 0..20 {
                    let bytes = question.answer(&record, 0, NOW, &mut rng).unwrap();
                    lengths.insert(bytes.len());
                    assert!(format.decode(&bytes).unwrap().survey.is_some());
                }
            }
        }
        assert_eq!(lengths.len(), 1, "{lengths:?}");
    }
}

#[test]
fn a_device_pays_once_and_says_the_same_ever_after() {
    let folder = std::env::temp_dir().join(format!("undertone-survey-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ledger");
    let cap = Guarantee::Pure(Epsilon::new(1.5).unwrap());
    let record = Record { features: vec![Cell::Number(3.0), Cell::Number(4.0)], response: 1.0 };
    let mut device = Device::open(&path, cap).unwrap();
    let said = device.answer_survey(&moments(), &record, 0, NOW).unwrap();
    let other = Record { features: vec![Cell::Number(9.0), Cell::Number(0.0)], response: 0.0 };
    assert_eq!(device.answer_survey(&moments(), &other, 0, NOW).unwrap(), said);
    // Another survey costs another ε, for which there is no more room.
    let levels = Record { features: vec![words("a"), words("x")], response: 0.0 };
    assert!(device.answer_survey(&categories(), &levels, 0, NOW).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}
