//! Whole records: what a hostile collector learns of one, which is nothing beyond the promise, and what a device remembers.

use std::fs;
use std::path::PathBuf;
use undertone_audit::{at_least, at_most};
use undertone_device::{Device, DeviceError, Record, RecordQuestion};
use undertone_privacy::accounting::normal::quantile;
use undertone_privacy::vector::{Codebook, VectorMechanism, VectorReport};
use undertone_privacy::{Epsilon, Guarantee, Mu, PrivacyError, Randomizer};
use undertone_report::{
    BallWords, CategoryWords, Cell, Collection, ColumnKind, EncodingWords, FeatureColumn, HuberWords,
    LearnerWords, LossWords, MechanismWords, OnlineWords, Point, RecordWords, ResponseWords, Stretch,
    TASK_VERSION, Task,
};

const NOW: u64 = 1_800_000_123;

/// The folder of a test, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("undertone-records-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn ledger(&self) -> PathBuf {
        self.0.join("ledger")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mu(value: f64) -> Guarantee {
    Guarantee::Gaussian(Mu::new(value).unwrap())
}

fn epsilon(value: f64) -> Guarantee {
    Guarantee::Pure(Epsilon::new(value).unwrap())
}

/// One of many regressions on a number and a town, Gaussian with tiers of μ = 1 and μ = 1/2: θ has five parameters.
fn regression(number: u32) -> Task {
    let age = Stretch::Standard { mean: 40.0, scale: 0.1, missing: false };
    let towns = CategoryWords::Values {
        values: ["Ulm", "Bonn"].map(String::from).to_vec(),
        other: false,
        missing: false,
    };
    Task {
        version: TASK_VERSION,
        label: "income".into(),
        classes: vec![],
        mechanism: MechanismWords { kind: "gdp".into(), mu: Some(1.0), ..MechanismWords::default() },
        features: vec![
            FeatureColumn { name: "age".into(), kind: ColumnKind::Number },
            FeatureColumn { name: "town".into(), kind: ColumnKind::Words },
        ],
        collection: Some(Collection {
            name: format!("Question {number}"),
            min_reports: 10,
            opens: 1_800_000_000,
            closes: 1_800_003_600,
            time_precision: 60,
            expiry_age: 600,
            clock_skew: 60,
            learner: LearnerWords::Online(OnlineWords {
                eta: 0.5,
                alpha: 0.6,
                offset: 0,
                burn_in: 0,
                stale: 100,
                curvature: None,
                decay: None,
                two_chains: false,
            }),
            encoding: vec![EncodingWords::Number(age), EncodingWords::Category(towns)],
            tiers: vec![1.0, 0.5],
            admission: false,
        }),
        number: None,
        record: Some(RecordWords {
            loss: LossWords::Huber(HuberWords { cut: 1.345, least_scale: 0.1, most_scale: 20.0 }),
            weights: "square".into(),
            radius: std::f64::consts::SQRT_2,
            bound: 10.0,
            response: Some(ResponseWords { mean: 100.0, scale: 0.01 }),
            ball: BallWords::default(),
            shares: None,
            functionals: Vec::new(),
        }),
        survey: None,
    }
    .stating_its_noise()
    .unwrap()
}

/// The same columns and so many classes, with codewords, in three tiers of ε.
fn classification(classes: usize) -> Task {
    let mut task = regression(0);
    task.classes = ["a", "b", "c", "d"][..classes].iter().map(|&class| class.to_owned()).collect();
    task.mechanism =
        MechanismWords { kind: "codebook".into(), epsilon: Some(1.0), ..MechanismWords::default() };
    task.collection.as_mut().unwrap().tiers = vec![1.0, 0.1, 8.0];
    let record = task.record.as_mut().unwrap();
    record.loss = if classes == 2 { LossWords::Logistic } else { LossWords::Multinomial };
    record.response = None;
    task.stating_its_noise().unwrap()
}

fn tasks() -> Vec<Task> {
    let mut laplace = classification(2);
    laplace.mechanism.kind = "laplace".into();
    laplace.record.as_mut().unwrap().weights = "linear".into();
    let mut analytic = classification(3);
    (analytic.mechanism.kind, analytic.mechanism.delta) = ("gaussian".into(), Some(1e-6));
    analytic.record.as_mut().unwrap().weights = "clip".into();
    let [laplace, analytic] = [laplace, analytic].map(|task| task.stating_its_noise().unwrap());
    vec![regression(0), classification(2), classification(4), laplace, analytic]
}

fn person(age: f64, town: &str, response: f64) -> Record {
    Record { features: vec![Cell::Number(age), Cell::Words(town.into())], response }
}

/// A point where gradients of the task may be taken.
fn start(task: &Task) -> Point {
    Point { version: 3, parameters: task.record_model().unwrap().start() }
}

fn seeded(seed: u64) -> rand_chacha::ChaCha12Rng {
    rand_core::SeedableRng::seed_from_u64(seed)
}

/// Somebody's answer to a task, with fixed coins.
fn answer(question: &RecordQuestion, point: &Point, record: &Record, tier: u8) -> Vec<u8> {
    question.answer(point, record, tier, NOW, &mut seeded(7)).unwrap()
}

#[test]
fn a_report_is_what_the_task_asks_for() {
    let folder = Folder::new("report");
    let mut device = Device::open(&folder.ledger(), mu(2.0)).unwrap();
    let (task, point) = (regression(0), start(&regression(0)));
    let prepared = device.answer_record(&task, &point, &person(50.0, "Ulm", 300.0), 1, NOW).unwrap();
    let question = RecordQuestion::new(&task).unwrap();
    let report = question.format().decode(prepared.bytes()).unwrap();
    assert_eq!((report.time, report.tier), (NOW / 60, 1));
    // Nothing of the record but its gradient
    assert!(report.features.is_empty() && report.members.is_empty() && report.among.is_empty());
    let gradient = report.gradient.unwrap();
    assert_eq!(gradient.version, 3);
    assert!(matches!(gradient.said, VectorReport::Steps(steps) if steps.len() == 5));
    assert_eq!(prepared.id().unwrap(), report.id);
    assert_eq!(device.ledger().spent(), Some(mu(0.5)));
}

#[test]
fn a_point_that_no_honest_collector_sends_is_refused_before_the_record_is_looked_at() {
    let folder = Folder::new("points");
    let mut device = Device::open(&folder.ledger(), mu(1.0)).unwrap();
    let before = fs::read(folder.ledger()).unwrap();
    // Whoever looks at this record finds a wrong number of cells, and says so.
    let untouched = Record { features: vec![], response: 0.0 };
    let task = regression(0);
    let at = |parameters: &[f64]| Point { version: 0, parameters: parameters.to_vec() };
    let first = |value: f64| at(&[value, 0.0, 0.0, 0.0, 1.0]);
    let scale = |value: f64| at(&[0.0, 0.0, 0.0, 0.0, value]);
    for (point, says) in [
        (first(f64::NAN), "NaN"),
        (first(f64::INFINITY), "inf"),
        (first(f64::NEG_INFINITY), "-inf"),
        (first(1e300), "1e300"),
        (first(-10.000_000_000_000_002), "-10.00"),
        (scale(f64::NAN), "NaN"),
        (scale(f64::INFINITY), "inf"),
        (scale(0.0), "scale of the model"),
        (scale(-1.0), "-1"),
        (scale(0.099_999_999), "0.09999"),
        (scale(20.1), "20.1"),
        (at(&[]), "0"),
        (at(&[0.0, 0.0, 0.0, 1.0]), "4"),
        (at(&[0.0; 6]), "6"),
    ] {
        let error = device.answer_record(&task, &point, &untouched, 0, NOW).unwrap_err();
        assert!(matches!(error, DeviceError::Privacy(_)), "{point:?}: {error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    assert_eq!((device.ledger().spent(), fs::read(folder.ledger()).unwrap()), (None, before));
    // At an honest point this very record is looked at.
    let error = device.answer_record(&task, &scale(1.0), &untouched, 0, NOW).unwrap_err();
    assert!(error.to_string().contains("0 cells"), "{error}");
    assert_eq!(device.ledger().spent(), None);
}

#[test]
fn a_task_that_no_device_should_answer_is_refused_and_costs_nothing() {
    let folder = Folder::new("tasks");
    let mut device = Device::open(&folder.ledger(), mu(1.0)).unwrap();
    let before = fs::read(folder.ledger()).unwrap();
    let untouched = Record { features: vec![], response: 0.0 };
    let changed = |change: &dyn Fn(&mut Task)| {
        let mut task = regression(0);
        change(&mut task);
        task
    };
    let promising = |level: f64| {
        changed(&|task| {
            task.mechanism.mu = Some(level);
            task.collection.as_mut().unwrap().tiers = vec![level];
        })
    };
    let words = |change: &dyn Fn(&mut RecordWords)| changed(&|task| change(task.record.as_mut().unwrap()));
    let huber = |cut, least_scale, most_scale| {
        words(&|record| record.loss = LossWords::Huber(HuberWords { cut, least_scale, most_scale }))
    };
    let mut refused = Vec::new();
    for level in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        refused.push(promising(level));
    }
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7, 0.5] {
        refused.push(words(&|record| record.radius = radius));
    }
    for bound in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7] {
        refused.push(words(&|record| record.bound = bound));
    }
    for scale in [0.0, f64::NAN, f64::INFINITY] {
        let response = Some(ResponseWords { mean: 0.0, scale });
        refused.push(words(&|record| record.response = response));
    }
    refused.extend([
        huber(0.0, 0.1, 20.0),
        huber(f64::NAN, 0.1, 20.0),
        huber(1.345, 0.0, 20.0),
        huber(1.345, -1.0, 20.0),
        huber(1.345, 2.0, 1.0),
        huber(1.345, 0.1, f64::INFINITY),
        words(&|record| record.weights = "none".into()),
        words(&|record| record.loss = LossWords::Logistic),
        changed(&|task| task.collection = None),
        changed(&|task| task.record = None),
        changed(&|task| task.mechanism.epsilon = Some(1.0)),
        changed(&|task| task.mechanism.mu = None),
        changed(&|task| task.mechanism.delta = Some(1e-6)),
        // The tiers of a document and its level belong together.
        changed(&|task| task.mechanism.mu = Some(3.0)),
    ]);
    // In floats, or made for labels, or of another currency, or none at all
    for kind in ["privunit", "duchi", "l2-laplace", "rr", "codebook", "laplace", "gaussian", "none", ""] {
        refused.push(changed(&|task| task.mechanism.kind = kind.into()));
    }
    let free = words(&|record| record.response = None);
    assert!(RecordQuestion::new(&free).is_ok(), "a response may stay as it is");
    for task in refused {
        let point = Point { version: 0, parameters: vec![0.0, 0.0, 0.0, 0.0, 1.0] };
        let error = device.answer_record(&task, &point, &untouched, 0, NOW).unwrap_err();
        assert!(matches!(error, DeviceError::Task(_)), "{task:?}: {error}");
        // Each is refused for what it is, also if it states what follows from it.
        assert!(!error.to_string().contains("follows from the task"), "{task:?}: {error}");
    }
    // An honest document may still ask for more than a person gives.
    let point = start(&regression(0));
    let error = device
        .answer_record(&promising(1e6).stating_its_noise().unwrap(), &point, &untouched, 0, NOW)
        .unwrap_err();
    assert!(matches!(error, DeviceError::Privacy(PrivacyError::OverBudget { .. })), "{error}");
    for (tier, now, says) in
        [(2, NOW, "tier is 2"), (0, 1_799_999_999, "1799999999"), (0, 1_800_003_600, "3600")]
    {
        let error = device.answer_record(&regression(0), &point, &untouched, tier, now).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    assert_eq!((device.ledger().spent(), fs::read(folder.ledger()).unwrap()), (None, before));
}

#[test]
fn a_document_that_states_other_noise_than_follows_from_it_is_refused_by_one_bit() {
    let folder = Folder::new("stated");
    let mut device = Device::open(&folder.ledger(), mu(9.0)).unwrap();
    for task in tasks() {
        let ball = &task.record.as_ref().unwrap().ball;
        let numbers = [ball.centre, ball.radius].into_iter().chain(ball.noise.iter().copied());
        let (numbers, point) = (numbers.collect::<Vec<_>>(), start(&task));
        let other = |change: &dyn Fn(&mut BallWords)| {
            let mut other = task.clone();
            change(&mut other.record.as_mut().unwrap().ball);
            other
        };
        let mut refused = Vec::new();
        for (place, number) in numbers.iter().enumerate() {
            for bit in [0, 1, 30, 51, 52, 63] {
                let changed = f64::from_bits(number.to_bits() ^ 1 << bit);
                refused.push(other(&|ball| match place {
                    0 => ball.centre = changed,
                    1 => ball.radius = changed,
                    _ => ball.noise[place - 2] = changed,
                }));
            }
        }
        for bit in 0..32 {
            refused.push(other(&|ball| ball.steps ^= 1 << bit));
        }
        refused.push(other(&|ball| ball.noise.push(1.0)));
        refused.push(other(&|ball| ball.noise.truncate(ball.noise.len() - 1)));
        refused.push(other(&|ball| *ball = BallWords::default()));
        for other in refused {
            let error = device.answer_record(&other, &point, &person(50.0, "Ulm", 1.0), 0, NOW).unwrap_err();
            assert!(error.to_string().contains("follows from the task"), "{error}");
        }
        assert_eq!(device.ledger().spent(), None);
        // A document without it is none.
        let json = task.to_json();
        let ball = serde_json::to_string(&task.record.as_ref().unwrap().ball).unwrap();
        let without = json.replace(&format!(r#","ball":{ball}"#), "");
        assert_ne!(without, json);
        assert!(Task::from_json(&without).unwrap_err().to_string().contains("ball"));
    }
}

#[test]
fn a_delta_that_is_none_is_refused() {
    let mut task = classification(2);
    task.mechanism.kind = "gaussian".into();
    let question = |delta: f64| {
        let mut task = task.clone();
        task.mechanism.delta = Some(delta);
        // What is no promise has no noise to state.
        RecordQuestion::new(&task.clone().stating_its_noise().unwrap_or(task))
    };
    assert!(question(1e-6).is_ok());
    for delta in [0.0, -1e-6, 1.0, 1.5, f64::NAN, f64::INFINITY] {
        let error = question(delta).unwrap_err().to_string();
        assert!(error.contains(&delta.to_string()), "{delta}: {error}");
    }
}

#[test]
fn a_question_about_labels_is_none_about_records_and_the_other_way_round() {
    let folder = Folder::new("kinds");
    let mut device = Device::open(&folder.ledger(), epsilon(9.0)).unwrap();
    let label = undertone_privacy::label::Label(0);
    let cells = vec![Cell::Number(1.0), Cell::Words("Ulm".into())];
    assert!(device.answer(&classification(2), cells, label, 0, NOW).is_err());
    assert_eq!(device.ledger().spent(), None);
}

#[test]
fn a_record_that_is_none_is_answered_like_any_other_that_is_none() {
    for task in tasks() {
        let question = RecordQuestion::new(&task).unwrap();
        let classes = task.classes.len() as f64;
        let good = if classes == 0.0 { 250.0 } else { 1.0 };
        let broken = |cell| Record { features: vec![cell, Cell::Words("Ulm".into())], response: good };
        let mut none = vec![
            person(f64::NAN, "Ulm", good),
            person(f64::INFINITY, "Bonn", good),
            person(f64::NEG_INFINITY, "Rome", good),
            person(1e200, "Ulm", good),
            person(41.0, "Ulm", f64::NAN),
            person(20.0, "Bonn", f64::INFINITY),
            person(1e308, "", f64::NEG_INFINITY),
            broken(Cell::Words("forty".into())),
            broken(Cell::Words("40".into())),
            broken(Cell::Vector(vec![40.0])),
        ];
        if classes > 0.0 {
            none.extend([classes, -1.0, 0.5, 1e300].map(|label| person(41.0, "Ulm", label)));
        }
        for tier in 0..task.collection.as_ref().unwrap().tiers.len() as u8 {
            let first = answer(&question, &start(&task), &none[0], tier);
            for record in &none {
                assert_eq!(answer(&question, &start(&task), record, tier), first, "{record:?}");
            }
            // What is a record is told from them by these coins, or the test above says nothing; and it is as long.
            let other = answer(&question, &start(&task), &person(70.0, "Bonn", good), tier);
            assert_eq!(other.len(), first.len());
            assert!(other != first || task.mechanism.kind == "codebook");
        }
    }
}

#[test]
fn every_report_of_a_task_has_the_same_length_whatever_the_record_and_the_tier() {
    for task in tasks() {
        let question = RecordQuestion::new(&task).unwrap();
        let mut rng = seeded(1);
        let mut lengths = Vec::new();
        for record in [
            person(40.0, "Ulm", 0.0),
            person(-1e9, "Bonn", 1.0),
            person(f64::NAN, "a town of a very long name that is none of those", 1.0),
            person(3.0, "", 1e12),
            Record { features: vec![Cell::Missing, Cell::Missing], response: f64::NAN },
        ] {
            for tier in 0..task.collection.as_ref().unwrap().tiers.len() as u8 {
                for version in [0, 1 << 40, 1 << 53] {
                    let point = Point { version, ..start(&task) };
                    lengths.push(question.answer(&point, &record, tier, NOW, &mut rng).unwrap().len());
                }
            }
        }
        lengths.dedup();
        assert_eq!(lengths.len(), 1, "{}: {lengths:?}", task.mechanism.kind);
    }
}

#[test]
fn the_same_question_gets_the_same_bytes_whatever_is_true_now_and_wherever_the_learner_stands() {
    let folder = Folder::new("memory");
    let task = regression(0);
    let mut device = Device::open(&folder.ledger(), mu(1.0)).unwrap();
    let first = device.answer_record(&task, &start(&task), &person(50.0, "Ulm", 300.0), 0, NOW).unwrap();
    let elsewhere = Point { version: 900, parameters: vec![1.0, 2.0, 3.0, -4.0, 5.0] };
    let nonsense = Point { version: u64::MAX, parameters: vec![f64::NAN] };
    for _ in 0..2 {
        for point in [&start(&task), &elsewhere, &nonsense] {
            let again = device.answer_record(&task, point, &person(20.0, "Bonn", -9.0), 1, NOW + 60).unwrap();
            assert_eq!(again, first);
        }
        assert_eq!(device.ledger().spent(), Some(mu(1.0)));
        drop(device);
        device = Device::open(&folder.ledger(), mu(1.0)).unwrap();
    }
}

#[test]
fn answers_are_charged_at_their_tier_as_the_root_of_squares_until_the_budget_is_used_up() {
    let folder = Folder::new("budget");
    let cap = mu(1.5);
    let mut device = Device::open(&folder.ledger(), cap).unwrap();
    let ask = |device: &mut Device, number: u32, tier: u8| {
        let task = regression(number);
        device.answer_record(&task, &start(&task), &person(50.0, "Ulm", 300.0), tier, NOW)
    };
    let spent = |device: &Device| match device.ledger().spent() {
        Some(Guarantee::Gaussian(mu)) => mu.get().powi(2),
        other => panic!("{other:?}"),
    };
    // 1² + 1² + ½² = 1.5²
    for (number, tier, square) in [(0, 0, 1.0), (1, 0, 2.0), (2, 1, 2.25)] {
        ask(&mut device, number, tier).unwrap();
        assert!((spent(&device) - square).abs() < 1e-12, "{}", spent(&device));
    }
    let before = fs::read(folder.ledger()).unwrap();
    for tier in [0, 1] {
        let refused = ask(&mut device, 3, tier).unwrap_err();
        assert!(matches!(refused, DeviceError::Privacy(PrivacyError::OverBudget { .. })), "{refused}");
    }
    assert_eq!(fs::read(folder.ledger()).unwrap(), before);
    drop(device);
    let mut device = Device::open(&folder.ledger(), cap).unwrap();
    assert!((spent(&device) - 2.25).abs() < 1e-12);
    assert!(ask(&mut device, 3, 1).is_err() && ask(&mut device, 1, 0).is_ok());
    // A codebook's ε is charged under a cap in μ, but no Gaussian fits into a cap in ε.
    let other = Folder::new("currency");
    let mut device = Device::open(&other.ledger(), epsilon(100.0)).unwrap();
    assert!(ask(&mut device, 0, 1).is_err());
    assert_eq!(device.ledger().spent(), None);
    let task = classification(2);
    device.answer_record(&task, &start(&task), &person(50.0, "Ulm", 1.0), 1, NOW).unwrap();
    assert_eq!(device.ledger().spent(), Some(epsilon(0.1)));
}

#[test]
fn an_unreadable_ledger_says_nothing_about_records_either() {
    let folder = Folder::new("damaged");
    let task = regression(0);
    let mut device = Device::open(&folder.ledger(), mu(1.0)).unwrap();
    device.answer_record(&task, &start(&task), &person(50.0, "Ulm", 300.0), 0, NOW).unwrap();
    drop(device);
    let whole = fs::read(folder.ledger()).unwrap();
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 1 << (place % 8);
        fs::write(folder.ledger(), changed).unwrap();
        let opened = Device::open(&folder.ledger(), mu(1.0));
        assert!(matches!(opened, Err(DeviceError::Damaged { .. })), "byte {place}");
    }
    fs::remove_file(folder.ledger()).unwrap();
    assert!(matches!(Device::open(&folder.ledger(), mu(1.0)), Err(DeviceError::Gone { .. })));
}

/// One of two records with |x| = R, whose residuals are cut off at c on either side: no two gradients are farther apart.
fn extreme(sign: f64) -> Record {
    person(50.0, "Rome", sign * 1e9)
}

/// A point, two records whose gradients there are nearly as far apart as any two, and which coordinates of the first one's
/// gradient are the smaller.
struct Extremes {
    point: Point,
    records: [Record; 2],
    /// x of each
    covariates: [[f64; 4]; 2],
    smaller: [usize; 2],
}

impl Extremes {
    fn at_start(task: &Task) -> Self {
        let pair = if task.classes.is_empty() {
            [1.0, -1.0].map(extreme)
        } else {
            [1.0, 0.0].map(|label| person(50.0, "Rome", label))
        };
        // The gradient of the first is along (-1, -1, 0, …).
        let covariates = [[1.0, 1.0, 0.0, 0.0]; 2];
        Self { point: start(task), records: pair, covariates, smaller: [0, 1] }
    }

    /// Of the logistic loss with square weights, at a θ that is crafted: as steep as its bound allows. There the ball is nearly
    /// twice that of the start, and its centre elsewhere.
    ///
    /// x = (1, ±0.3, 1, 0) lies on the two sides of θ = (0, 10, 0, 0) and has the wrong label: ∂ = ∓w·σ(3)·(1, ±0.3, 1, 0) with
    /// w = 2/2.09, which are 2.578 apart; the ball has a diameter of 2.667.
    fn at_a_steep_point(task: &Task) -> Self {
        let point = Point { version: 3, parameters: vec![0.0, 10.0, 0.0, 0.0] };
        let model = task.record_model().unwrap();
        let (here, there) =
            (model.ball_at(&point.parameters).unwrap(), model.ball_at(&model.start()).unwrap());
        assert!(here.ball.radius() > 1.8 * there.ball.radius() && here.ball.radius() < model.radius());
        assert!(here.centre[1] > 0.2 && there.centre == [0.0; 4]);
        Self {
            point,
            records: [person(37.0, "Ulm", 1.0), person(43.0, "Ulm", 0.0)],
            covariates: [[1.0, -0.3, 1.0, 0.0], [1.0, 0.3, 1.0, 0.0]],
            smaller: [0, 2],
        }
    }
}

/// How often the estimate of an answer leans towards the first of two extreme records, if it is about the one or the other.
fn leaning(task: &Task, extremes: &Extremes, trials: u32) -> [u64; 2] {
    let mechanism = task.vector_mechanism(task.mechanism.level()).unwrap();
    let [one, other] = extremes.smaller;
    answering(task, extremes, trials, |said| {
        let estimate = mechanism.estimate(said).unwrap();
        estimate[one] + estimate[other] < 0.0
    })
}

/// How often a codeword is among the likelier ones for the first of two extreme records and among the others for the second:
/// nothing tells them apart better.
fn likelier(task: &Task, codebook: Codebook, extremes: &Extremes, trials: u32) -> [u64; 2] {
    let question = RecordQuestion::new(task).unwrap();
    let around = question.model().ball_at(&extremes.point.parameters).unwrap();
    let vectors = [0, 1].map(|which| {
        let (x, y) = (&extremes.covariates[which], extremes.records[which].response);
        question.model().vector_at(&extremes.point.parameters, x, y, &around).unwrap()
    });
    answering(task, extremes, trials, |said| {
        let VectorReport::Codeword(word) = said else { panic!("{said:?} is no codeword") };
        let [ours, theirs] = vectors.each_ref().map(|vector| codebook.ln_likelihood(word, vector));
        ours > theirs
    })
}

/// How often something is true of what a device says, if it is about the first of two extreme records or the second.
fn answering(
    task: &Task,
    extremes: &Extremes,
    trials: u32,
    holds: impl Fn(&VectorReport) -> bool,
) -> [u64; 2] {
    let question = RecordQuestion::new(task).unwrap();
    [0, 1].map(|which| {
        let mut rng = seeded(11 + which);
        let leans = |_: &u32| {
            let record = &extremes.records[which as usize];
            let bytes = question.answer(&extremes.point, record, 0, NOW, &mut rng).unwrap();
            holds(&question.format().decode(&bytes).unwrap().gradient.unwrap().said)
        };
        (0..trials).filter(leans).count() as u64
    })
}

/// Wrong once in so many audits.
const ALPHA: f64 = 1e-7;

/// The same task under Gaussian noise of one μ.
fn gaussian(mut task: Task, level: f64) -> Task {
    task.mechanism = MechanismWords { kind: "gdp".into(), mu: Some(level), ..MechanismWords::default() };
    task.collection.as_mut().unwrap().tiers = vec![level];
    task.stating_its_noise().unwrap()
}

#[test]
fn two_extreme_records_are_told_apart_by_gaussian_noise_as_well_as_promised_and_no_better() {
    let trials = 150_000;
    let at_start = |task: Task| (Extremes::at_start(&task), task);
    let steep = gaussian(classification(2), 1.0);
    // At the steep point the two are 0.967 of the diameter apart.
    for ((extremes, task), share) in [
        (at_start(gaussian(regression(0), 0.5)), 1.0),
        (at_start(gaussian(regression(0), 1.0)), 1.0),
        (at_start(gaussian(regression(0), 2.0)), 1.0),
        ((Extremes::at_a_steep_point(&steep), steep), 0.967),
    ] {
        let level = task.mechanism.level();
        // P(E | a) ≤ Φ(Φ⁻¹(P(E | b)) + μ) for every event E
        let [ours, theirs] = leaning(&task, &extremes, trials);
        let n = u64::from(trials);
        let proved = quantile(at_least(ours, n, ALPHA)) - quantile(at_most(theirs, n, ALPHA));
        assert!(proved <= level, "μ = {level} is claimed, and at least {proved} is true");
        assert!(proved > share * level - 0.05, "{proved} of {level}: this audit would not notice much");
    }
}

#[test]
fn two_extreme_records_are_told_apart_under_a_pure_promise_no_better_than_promised() {
    let (trials, level) = (60_000, 0.5);
    // What is proved of the codebook is ε less the width of a bound of 60,000 trials. Laplace noise is for gradients that differ
    // in every coordinate, which these do in two of four; and where a sum leans to is not all there is to know of it.
    for (kind, least) in [("codebook", 0.8), ("laplace", 0.2)] {
        let mut task = classification(2);
        task.mechanism.kind = kind.into();
        task.mechanism.epsilon = Some(level);
        task.collection.as_mut().unwrap().tiers = vec![level];
        let task = task.stating_its_noise().unwrap();
        for extremes in [Extremes::at_start(&task), Extremes::at_a_steep_point(&task)] {
            // P(E | a) ≤ e^ε·P(E | b)
            let [ours, theirs] = match task.vector_mechanism(level).unwrap() {
                VectorMechanism::Codebook(codebook) => likelier(&task, codebook, &extremes, trials),
                _ => leaning(&task, &extremes, trials),
            };
            let n = u64::from(trials);
            let proved = (at_least(ours, n, ALPHA) / at_most(theirs, n, ALPHA)).ln();
            assert!(proved <= level, "{kind}: ε = {level} is claimed, and at least {proved} is true");
            assert!(proved > least * level, "{kind}: {proved} of {level}: this audit would not notice much");
        }
    }
}
