//! A task to test with, and a report that answers it.

use crate::{
    CategoryWords, Cell, Collection, ColumnKind, CopyWords, CosineWords, EncodingWords, FeatureColumn,
    GridLoss, LearnerWords, LossGridWords, MechanismWords, MomentWords, NumberWords, OrderWords, PriorWords,
    Report, ReportId, Stretch, SurveyWords, TASK_VERSION, Task, TermWords, TextWords, ViewWords,
};

/// A task with a column of each kind, five classes and two tiers.
pub(crate) fn task(kind: &str) -> Task {
    let columns = [
        ("age", ColumnKind::Number),
        ("town", ColumnKind::Words),
        ("note", ColumnKind::Words),
        ("photo", ColumnKind::Vector(2)),
    ];
    let priors =
        (kind == "rr-prior").then(|| PriorWords::Model { sha256: "00".repeat(32), temperature: Some(1.0) });
    Task {
        version: TASK_VERSION,
        label: "income".into(),
        classes: ["a", "b", "c", "d", "e"].map(String::from).to_vec(),
        mechanism: MechanismWords {
            kind: kind.into(),
            epsilon: Some(1.0),
            delta: None,
            mu: None,
            set_size: None,
            top: (kind == "rr-top-k").then(|| vec![0, 2, 4]),
            prior: priors,
        },
        features: columns.map(|(name, kind)| FeatureColumn { name: name.into(), kind }).to_vec(),
        number: None,
        record: None,
        survey: None,
        collection: Some(Collection {
            name: "Incomes".into(),
            min_reports: 100,
            opens: 1_800_000_000,
            closes: 1_800_086_400,
            time_precision: 3600,
            expiry_age: 7200,
            clock_skew: 60,
            learner: LearnerWords::Softmax,
            encoding: vec![
                EncodingWords::Number(Stretch::Range { low: 0.0, high: 100.0, missing: true }),
                EncodingWords::Category(CategoryWords::Values {
                    values: vec!["Ulm".into(), "Bonn".into()],
                    other: true,
                    missing: false,
                }),
                EncodingWords::Text(TextWords { buckets: 16 }),
                EncodingWords::Vector(Stretch::Standard { mean: 0.0, scale: 1.0 / 255.0, missing: false }),
            ],
            tiers: vec![1.0, 4.0],
            admission: false,
        }),
    }
}

/// The same columns, and a number as the label.
pub(crate) fn number_task(kind: &str) -> Task {
    let mut task =
        Task { classes: Vec::new(), number: Some(NumberWords { low: -1.5, high: 3.0 }), ..task(kind) };
    task.collection.as_mut().unwrap().learner = LearnerWords::Linear;
    task
}

/// A report that answers `task(kind)`, in the first tier.
pub(crate) fn report(kind: &str) -> Report {
    let members = match kind {
        "bits" | "bits-paper" | "unary" | "oue" => vec![0, 3, 4],
        "subset" | "subset-paper" => vec![4],
        _ => vec![2],
    };
    Report {
        id: ReportId(*b"0123456789abcdef"),
        time: 500_001,
        tier: 0,
        features: vec![
            Cell::Number(38.5),
            Cell::Words("Ulm".into()),
            Cell::Missing,
            Cell::Vector(vec![0.0, 255.0]),
        ],
        members,
        among: if kind == "rr-prior" { vec![1, 2] } else { vec![] },
        number: None,
        gradient: None,
        survey: None,
    }
}

/// A survey of each family: views, tables, parities, terms, cosines, losses, moments, copies.
pub(crate) fn survey_tasks() -> Vec<Task> {
    let category = |values: &[&str]| {
        EncodingWords::Category(CategoryWords::Values {
            values: values.iter().map(|&value| value.into()).collect(),
            other: false,
            missing: false,
        })
    };
    let number = || EncodingWords::Number(Stretch::Range { low: 0.0, high: 2.0, missing: false });
    let of = |survey: SurveyWords, kind: &str, encoding: [EncodingWords; 2]| {
        let mut task = task(kind);
        let column = |(name, words): (&str, &EncodingWords)| FeatureColumn {
            name: name.into(),
            kind: if matches!(words, EncodingWords::Number(_)) {
                ColumnKind::Number
            } else {
                ColumnKind::Words
            },
        };
        task.features = ["left", "right"].into_iter().zip(&encoding).map(column).collect();
        let collection = task.collection.as_mut().unwrap();
        (collection.encoding, collection.learner) = (encoding.to_vec(), LearnerWords::Later);
        task.classes = if survey.explains() { vec!["no".into(), "yes".into()] } else { Vec::new() };
        task.label = if survey.explains() { "income".into() } else { String::new() };
        task.survey = Some(survey);
        task
    };
    let categories = || [category(&["a", "b"]), category(&["x", "y", "z"])];
    let view = |columns: &[u32], weight| ViewWords { columns: columns.into(), weight };
    let order = OrderWords { order: 2 };
    let losses =
        LossGridWords { loss: GridLoss::Logistic, degree: 2, bound: 1.0, radius: 1.0, response: None };
    let mut tasks = vec![
        of(SurveyWords::Views(vec![view(&[0], 1), view(&[0, 1], 3)]), "best", categories()),
        of(SurveyWords::Tables(order), "published", categories()),
        of(SurveyWords::Parities(order), "best", categories()),
        of(SurveyWords::Terms(TermWords { degree: 2, order: 2, error: 0.05 }), "best", categories()),
        of(SurveyWords::Cosines(CosineWords { degrees: 3, weights: None }), "best", [number(), number()]),
        of(SurveyWords::Losses(losses), "gen-prot", [number(), category(&["p", "q"])]),
        of(
            SurveyWords::Moments(MomentWords { radius: 2.0, share: 0.4, response: None }),
            "codebook",
            [number(), number()],
        ),
        of(
            SurveyWords::Copies(CopyWords { radius: 2.0, inner: 2, blossom: false }),
            "gdp",
            [number(), number()],
        ),
    ];
    let copies = &mut tasks[7];
    (copies.mechanism.epsilon, copies.mechanism.mu) = (None, Some(1.0));
    tasks
}
