//! Numbers on a device: clipped before they are randomized, answered once, refused where they are none.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_device::{Device, DeviceError, NumberQuestion, Question};
use undertone_privacy::number::{NumberKind, NumberRandomizer};
use undertone_privacy::{Epsilon, Guarantee, PrivacyError};
use undertone_report::{
    Cell, Collection, ColumnKind, EncodingWords, FeatureColumn, LearnerWords, MechanismWords, NumberWords,
    ReportFormat, Stretch, TASK_VERSION, Task,
};

const NOW: u64 = 1_800_000_123;

/// A number from 10 to 30, with tiers of ε = 2 and ε = 1/2.
fn task(kind: NumberKind) -> Task {
    let stretch = Stretch::Range { low: 0.0, high: 100.0, missing: false };
    Task {
        version: TASK_VERSION,
        label: "temperature".into(),
        classes: Vec::new(),
        number: Some(NumberWords { low: 10.0, high: 30.0 }),
        mechanism: MechanismWords {
            kind: kind.name().into(),
            epsilon: Some(2.0),
            ..MechanismWords::default()
        },
        features: vec![FeatureColumn { name: "age".into(), kind: ColumnKind::Number }],
        record: None,
        survey: None,
        collection: Some(Collection {
            name: "Temperatures".into(),
            min_reports: 10,
            opens: 1_800_000_000,
            closes: 1_800_003_600,
            time_precision: 60,
            expiry_age: 600,
            clock_skew: 60,
            learner: LearnerWords::Linear,
            encoding: vec![EncodingWords::Number(stretch)],
            tiers: vec![2.0, 0.5],
            admission: false,
        }),
    }
}

fn age() -> Vec<Cell> {
    vec![Cell::Number(40.0)]
}

#[test]
fn averages_of_answers_approach_the_number_and_those_of_outsiders_the_bound() {
    let (trials, mut rng) = (20_000, ChaCha12Rng::seed_from_u64(7));
    for kind in NumberKind::ALL {
        let task = task(kind);
        let (question, format) = (NumberQuestion::new(&task).unwrap(), ReportFormat::new(&task).unwrap());
        for (tier, epsilon) in [(0, 2.0), (1, 0.5)] {
            let mechanism = task.number_mechanism_at(Epsilon::new(epsilon).unwrap()).unwrap();
            for (number, clipped) in [(14.5, 14.5), (-1e9, 10.0), (f64::INFINITY, 30.0)] {
                let place = mechanism.bounds().place(number).unwrap();
                let mut sum = 0.0;
                for _ in 0..trials {
                    let bytes = question.answer(age(), number, tier, NOW, &mut rng).unwrap();
                    sum += mechanism.decode(format.decode(&bytes).unwrap().number.unwrap());
                }
                let sigma = (mechanism.variance_at(place) / f64::from(trials)).sqrt();
                // Half a step of the grid is 10⁻⁵.
                let off = (sum / f64::from(trials) - clipped).abs();
                assert!(off < 5.0 * sigma + 1e-5, "{kind} at ε = {epsilon}: {number} is {off} off");
            }
        }
    }
}

#[test]
fn every_answer_has_the_same_size_and_draws_as_much_whatever_the_number() {
    for kind in NumberKind::ALL {
        let question = NumberQuestion::new(&task(kind)).unwrap();
        let answers = [-1e300, 10.0, 17.3, 30.0, 1e300].map(|number| {
            let mut rng = ChaCha12Rng::seed_from_u64(3);
            let bytes = question.answer(age(), number, 1, NOW, &mut rng).unwrap();
            (bytes.len(), rng.get_word_pos())
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{kind}: {answers:?}");
    }
}

#[test]
fn a_number_is_answered_once_and_paid_for_once() {
    let folder = std::env::temp_dir().join(format!("undertone-device-{}-number", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let cap = Guarantee::Pure(Epsilon::new(2.0).unwrap());
    let mut device = Device::open(&folder.join("ledger"), cap).unwrap();
    let first = device.answer_number(&task(NumberKind::Laplace), age(), 20.0, 0, NOW).unwrap();
    let again = device.answer_number(&task(NumberKind::Laplace), age(), 25.0, 1, NOW + 60).unwrap();
    assert_eq!(first, again);
    assert_eq!(device.ledger().spent(), Some(cap));
    assert!(device.answer_number(&task(NumberKind::OneBit), age(), 20.0, 0, NOW).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_no_number_and_what_asks_for_something_else_is_refused() {
    let (task, mut rng) = (task(NumberKind::OneBit), ChaCha12Rng::seed_from_u64(1));
    let question = NumberQuestion::new(&task).unwrap();
    let before = rng.get_word_pos();
    let refused = question.answer(age(), f64::NAN, 0, NOW, &mut rng).unwrap_err();
    assert!(matches!(refused, DeviceError::Privacy(PrivacyError::NotANumber)), "{refused}");
    assert!(question.answer(age(), 20.0, 2, NOW, &mut rng).is_err());
    assert!(question.answer(Vec::new(), 20.0, 0, NOW, &mut rng).is_err());
    assert!(question.answer(age(), 20.0, 0, 0, &mut rng).is_err());
    assert_eq!(rng.get_word_pos(), before);
    assert!(Question::new(&task).is_err());
    let mut classes = task.clone();
    (classes.number, classes.classes) = (None, vec!["a".into(), "b".into()]);
    (classes.mechanism.kind, classes.collection.as_mut().unwrap().learner) =
        ("rr".into(), LearnerWords::Linear);
    assert!(Question::new(&classes).is_ok() && NumberQuestion::new(&classes).is_err());
}
