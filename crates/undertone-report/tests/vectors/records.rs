//! What a device computes of a whole record before anything is random: the bytes of the point, the ball of all gradients at it,
//! and the integers of a gradient; and the codewords of a seed.

use super::tasks::{named, of_classes, of_records};
use super::{RefusedBytes, RefusedDocument, hex, unhex};
use serde::{Deserialize, Serialize};
use undertone_privacy::vector::{CodebookReport, VectorMechanism};
use undertone_report::{BallWords, LossWords, Point, Task};

/// The file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Records {
    about: String,
    points: Vec<PointCase>,
    codewords: Vec<Codeword>,
}

/// A point of a task, and what is made of records there.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PointCase {
    about: String,
    task_canonical: String,
    version: u64,
    parameters: Vec<f64>,
    bytes: String,
    /// Of the ball of all gradients at this point
    centre: Vec<f64>,
    radius: f64,
    gradients: Vec<GradientCase>,
    refused: Vec<RefusedBytes>,
}

/// A record with its constant first, and the integers of its gradient, seen from the centre.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GradientCase {
    about: String,
    x: Vec<f64>,
    /// What is no number is null
    y: Option<f64>,
    steps: Vec<i32>,
}

/// A codeword of the first tier of the task.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Codeword {
    task_canonical: String,
    /// In hexadecimal
    seed: String,
    index: u16,
    vector: Vec<f64>,
    /// The gradient that a report of it stands for, seen from the centre, at a point with the ball of the task
    estimate: Vec<f64>,
}

fn point_case(
    about: &str,
    task: &Task,
    parameters: Vec<f64>,
    records: &[(&str, Vec<f64>, f64)],
) -> PointCase {
    let model = task.record_model().unwrap();
    let point = Point { version: 258, parameters };
    let bytes = point.to_bytes(task.id());
    let around = model.ball_at(&point.parameters).unwrap();
    let gradient = |(about, x, y): &(&str, Vec<f64>, f64)| GradientCase {
        about: (*about).into(),
        x: x.clone(),
        y: y.is_finite().then_some(*y),
        steps: model.vector_at(&point.parameters, x, *y, &around).unwrap().steps().to_vec(),
    };
    let refused = |about: &str, bytes: &[u8], reason: &str| RefusedBytes {
        about: about.into(),
        bytes: hex(bytes),
        reason: reason.into(),
    };
    let mut elsewhere = bytes.clone();
    elsewhere[0] ^= 1;
    PointCase {
        about: about.into(),
        task_canonical: task.to_json(),
        version: point.version,
        bytes: hex(&bytes),
        centre: around.centre.clone(),
        radius: around.ball.radius(),
        gradients: records.iter().map(gradient).collect(),
        refused: vec![
            refused("A byte too few", &bytes[..bytes.len() - 1], "truncated"),
            refused("A parameter too many", &[&bytes[..], &[0; 8]].concat(), "trailing-bytes"),
            refused("Another task", &elsewhere, "other-task"),
        ],
        parameters: point.parameters,
    }
}

/// The same with these weights and classes, and the noise that follows.
fn classes(weights: &str, classes: &[&str]) -> Task {
    let mut task = of_classes();
    task.classes = named(classes);
    let record = task.record.as_mut().unwrap();
    record.weights = weights.into();
    record.loss = if classes.len() == 2 { LossWords::Logistic } else { LossWords::Multinomial };
    task.stating_its_noise().unwrap()
}

fn codeword(task: &Task, seed: u128, index: u16) -> Codeword {
    let mechanism = task.vector_mechanism(task.mechanism.level()).unwrap();
    let VectorMechanism::Codebook(codebook) = mechanism else { panic!("{mechanism:?}") };
    let report = CodebookReport { seed, index };
    Codeword {
        task_canonical: task.to_json(),
        seed: hex(&seed.to_be_bytes()),
        index,
        vector: codebook.codeword(&report),
        estimate: mechanism.estimate(&undertone_privacy::vector::VectorReport::Codeword(report)).unwrap(),
    }
}

type Change = fn(&mut BallWords);

/// Documents that state other noise than follows from them.
pub(crate) fn stated_otherwise() -> Vec<RefusedDocument> {
    let changes: [(&str, Change); 5] = [
        ("Another centre than that of its gradients", |ball| ball.centre = 0.0),
        ("A ball that is smaller by its last bit", |ball| ball.radius = ball.radius.next_down()),
        ("A coarser grid", |ball| ball.steps /= 2),
        ("Less noise in the second tier", |ball| ball.noise[1] -= 1.0),
        ("The noise of one tier only", |ball| ball.noise.truncate(1)),
    ];
    let refused = |(about, change): (&str, Change)| {
        let mut task = of_records();
        change(&mut task.record.as_mut().unwrap().ball);
        RefusedDocument { about: about.into(), json: task.to_json(), says: "follows from the task".into() }
    };
    changes.map(refused).into()
}

pub(crate) fn records() -> Records {
    // A constant, a number, two towns and a mark of empty cells
    let (near, far) = (vec![1.0, 0.25, 1.0, 0.0, 0.0], vec![1.0, -3.0, 0.0, 0.0, 1.0]);
    let (two, three) = (["no", "yes"], ["a", "b", "c"]);
    let labelled = |labels: &[f64]| -> Vec<(&str, Vec<f64>, f64)> {
        let mut cases: Vec<_> =
            labels.iter().map(|&y| ("A record within the radius", near.clone(), y)).collect();
        cases.push(("One that is weighted", far.clone(), 1.0));
        cases.push(("A label that there is not is the centre", near.clone(), 0.5));
        cases.push(("No number either", near.clone(), f64::NAN));
        cases
    };
    let steep = vec![20.0, -35.5, 0.125, 7.0, -100.0];
    let flat: Vec<f64> = (0..10).map(|j| f64::from(j) / 8.0 - 0.5).collect();
    let points = vec![
        point_case(
            "Huber, linear weights",
            &of_records(),
            vec![0.5, -0.25, 0.0, 1.0, 0.0, 2.0],
            &[
                ("A small residual", near.clone(), 0.75),
                ("A residual that is cut", near.clone(), 1e9),
                ("The same on the other side, of a record that is weighted", far.clone(), -1e9),
                ("No number is the centre", near.clone(), f64::NAN),
            ],
        ),
        point_case(
            "Logistic, square weights, at zero",
            &classes("square", &two),
            vec![0.0; 5],
            &labelled(&[0.0, 1.0]),
        ),
        point_case(
            "Logistic, square weights, at a steep point",
            &classes("square", &two),
            steep.clone(),
            &labelled(&[0.0, 1.0]),
        ),
        point_case("Logistic, linear weights", &classes("linear", &two), steep, &labelled(&[0.0, 1.0])),
        point_case(
            "Three classes, linear weights",
            &classes("linear", &three),
            flat.clone(),
            &labelled(&[0.0, 1.0, 2.0]),
        ),
        point_case("Three classes, clipped", &classes("clip", &three), flat, &labelled(&[0.0, 1.0, 2.0])),
    ];
    let seed = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;
    let (five, ten) = (classes("linear", &two), classes("linear", &three));
    let codewords =
        [(&five, 0, 0), (&five, seed, 0), (&five, seed, 1), (&five, u128::MAX, 254), (&ten, seed, 255)];
    let codewords = codewords.map(|(task, seed, index)| codeword(task, seed, index)).into();
    let about = "What is made of whole records before anything is random, and the codewords of a seed";
    Records { about: about.into(), points, codewords }
}

/// Reads what `file` says, and computes the same.
pub(crate) fn check(file: &Records) {
    for case in &file.points {
        let task = Task::from_json(&case.task_canonical).unwrap();
        let model = task.record_model().unwrap();
        let read = |bytes: &str| Point::from_bytes(&unhex(bytes), task.id(), model.parameters());
        let point = Point { version: case.version, parameters: case.parameters.clone() };
        assert_eq!(read(&case.bytes).unwrap(), point, "{}", case.about);
        let around = model.ball_at(&point.parameters).unwrap();
        assert_eq!((&around.centre, around.ball.radius()), (&case.centre, case.radius), "{}", case.about);
        for gradient in &case.gradients {
            let y = gradient.y.unwrap_or(f64::NAN);
            let vector = model.vector_at(&point.parameters, &gradient.x, y, &around).unwrap();
            assert_eq!(vector.steps(), gradient.steps, "{}: {}", case.about, gradient.about);
        }
        for refused in &case.refused {
            assert_eq!(read(&refused.bytes).unwrap_err().reason(), refused.reason, "{}", refused.about);
        }
    }
    for case in &file.codewords {
        let task = Task::from_json(&case.task_canonical).unwrap();
        let seed = u128::from_str_radix(&case.seed, 16).unwrap();
        assert_eq!(&codeword(&task, seed, case.index), case);
        let length: f64 = case.vector.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-12, "{length}");
    }
}
