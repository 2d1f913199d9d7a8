//! The tasks of the vectors.

use undertone_report::{
    BallWords, CategoryWords, Collection, ColumnKind, EncodingWords, FeatureColumn, HuberWords, LearnerWords,
    LossWords, MechanismWords, NumberWords, OnlineWords, PriorWords, RecordWords, ResponseWords, Stretch,
    SurveyWords, TASK_VERSION, Task, TextWords,
};

/// A task with these classes and columns, open for a day in 2027.
pub(crate) fn task(
    kind: &str,
    tiers: &[f64],
    classes: Vec<String>,
    columns: &[(&str, ColumnKind, EncodingWords)],
) -> Task {
    Task {
        version: TASK_VERSION,
        label: "income".into(),
        classes,
        mechanism: MechanismWords {
            kind: kind.into(),
            epsilon: Some(tiers[0]),
            delta: None,
            mu: None,
            set_size: None,
            top: None,
            prior: None,
        },
        features: columns.iter().map(|&(name, kind, _)| FeatureColumn { name: name.into(), kind }).collect(),
        collection: Some(Collection {
            name: "Incomes of a town".into(),
            min_reports: 100,
            opens: 1_800_000_000,
            closes: 1_800_086_400,
            time_precision: 3600,
            expiry_age: 7200,
            clock_skew: 60,
            learner: if columns.is_empty() { LearnerWords::SharesOnly } else { LearnerWords::Softmax },
            encoding: columns.iter().map(|(_, _, words)| words.clone()).collect(),
            tiers: tiers.to_vec(),
            admission: false,
        }),
        number: None,
        record: None,
        survey: None,
    }
}

pub(crate) fn named(classes: &[&str]) -> Vec<String> {
    classes.iter().map(|&class| class.into()).collect()
}

pub(crate) fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|place| format!("c{place}")).collect()
}

/// A column of each kind.
pub(crate) fn columns() -> Vec<(&'static str, ColumnKind, EncodingWords)> {
    let stretch = Stretch::Range { low: 0.0, high: 100.0, missing: true };
    let towns = CategoryWords::Values { values: named(&["Ulm", "Bonn"]), other: true, missing: false };
    let photo = Stretch::Standard { mean: 0.0, scale: 1.0 / 255.0, missing: false };
    vec![
        ("age", ColumnKind::Number, EncodingWords::Number(stretch)),
        ("town", ColumnKind::Words, EncodingWords::Category(towns)),
        ("note", ColumnKind::Words, EncodingWords::Text(TextWords { buckets: 1024 })),
        ("photo", ColumnKind::Vector(3), EncodingWords::Vector(photo)),
    ]
}

/// Randomized response with priors in three public columns.
pub(crate) fn with_priors() -> Task {
    let prior = |name| {
        let stretch = Stretch::Range { low: 0.0, high: 1.0, missing: false };
        (name, ColumnKind::Number, EncodingWords::Number(stretch))
    };
    let columns = ["prior of a", "prior of b", "prior of c"].map(prior);
    let mut task = task("rr-prior", &[1.0], named(&["a", "b", "c"]), &columns);
    let names = columns.map(|(name, ..)| name.to_owned());
    task.mechanism.prior = Some(PriorWords::Columns(names.to_vec()));
    task
}

/// A number from 0 to 50 000, randomized by the kind, in two tiers.
pub(crate) fn of_numbers(kind: &str) -> Task {
    let mut task = task(kind, &[1.0, 4.0], Vec::new(), &columns()[..1]);
    task.number = Some(NumberWords { low: 0.0, high: 50_000.0 });
    task.collection.as_mut().unwrap().learner = LearnerWords::Linear;
    task
}

/// Whole records of a number and a town, whose gradient gets Gaussian noise, in two tiers.
pub(crate) fn of_records() -> Task {
    let stretch = Stretch::Standard { mean: 41.5, scale: 0.0722, missing: false };
    let towns = CategoryWords::Values { values: named(&["Ulm", "Bonn"]), other: false, missing: true };
    let columns = [
        ("age", ColumnKind::Number, EncodingWords::Number(stretch)),
        ("town", ColumnKind::Words, EncodingWords::Category(towns)),
    ];
    let mut task = task("gdp", &[1.0, 0.5], Vec::new(), &columns);
    (task.mechanism.epsilon, task.mechanism.mu) = (None, Some(1.0));
    let huber = HuberWords { cut: 1.345, least_scale: 0.1, most_scale: 20.0 };
    task.record = Some(RecordWords {
        loss: LossWords::Huber(huber),
        weights: "linear".into(),
        radius: 1.5,
        bound: 100.0,
        response: Some(ResponseWords { mean: 16500.0, scale: 0.00025 }),
        ball: BallWords::default(),
        shares: Some(vec![0.75, 0.25]),
        functionals: Vec::new(),
    });
    let online = OnlineWords {
        eta: 0.5,
        alpha: 0.6,
        offset: 100,
        burn_in: 1000,
        stale: 256,
        curvature: Some(0.05),
        decay: None,
        two_chains: false,
    };
    task.collection.as_mut().unwrap().learner = LearnerWords::Online(online);
    task.stating_its_noise().unwrap()
}

/// The same with two classes and codewords.
pub(crate) fn of_classes() -> Task {
    let mut task = of_records();
    task.classes = named(&["no", "yes"]);
    task.mechanism =
        MechanismWords { kind: "codebook".into(), epsilon: Some(2.0), ..MechanismWords::default() };
    task.collection.as_mut().unwrap().tiers = vec![2.0];
    let record = task.record.as_mut().unwrap();
    (record.loss, record.response, record.shares) = (LossWords::Logistic, None, None);
    task.stating_its_noise().unwrap()
}

/// Randomized response among three of five classes.
pub(crate) fn with_top() -> Task {
    let mut task = task("rr-top-k", &[1.0], named(&["a", "b", "c", "d", "e"]), &[]);
    task.mechanism.top = Some(vec![0, 2, 4]);
    task
}

/// Numbers with and without an exponent, and characters that are escaped or might be.
pub(crate) fn with_rare_spellings() -> Task {
    let standard = |mean, scale| Stretch::Standard { mean, scale, missing: false };
    let range = |low, high| Stretch::Range { low, high, missing: false };
    let columns = [
        ("1e-6", standard(-1.5e-300, 1e-6)),
        ("1e-5", standard(-0.0, 1e-5)),
        ("1e16", range(9_999_999_999_999_998.0, 1e16)),
        ("1e22", range(-123_456_789.125, 1.234_567_890_123_456_8e22)),
        ("5e-324", standard(5e-324, 0.1 + 0.2)),
    ]
    .map(|(name, stretch)| (name, ColumnKind::Number, EncodingWords::Number(stretch)));
    let classes = ["\u{8}\t\n\u{c}\r", "\u{0}\u{b}\u{1f}", "\u{7f}\u{80}", "\"\\/'", "é\u{2028}😀"];
    task("rr", &[1e-6, 20.0], named(&classes), &columns)
}

/// A survey over three categories, or over one of them and a label.
pub(crate) fn survey(words: SurveyWords, kind: &str, epsilon: f64) -> Task {
    let category = |values: &[&str]| {
        let values = CategoryWords::Values { values: named(values), other: false, missing: false };
        EncodingWords::Category(values)
    };
    let columns = [
        ("left", ColumnKind::Words, category(&["a", "b"])),
        ("middle", ColumnKind::Words, category(&["x", "y", "z"])),
        ("right", ColumnKind::Words, category(&["p", "q"])),
    ];
    let explains = words.explains();
    let classes = if explains { named(&["no", "yes"]) } else { Vec::new() };
    let mut task = task(kind, &[epsilon], classes, &columns);
    if !explains {
        task.label.clear();
    }
    if let Some(collection) = &mut task.collection {
        collection.learner = LearnerWords::Later;
    }
    task.survey = Some(words);
    task
}
