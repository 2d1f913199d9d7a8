//! Section 6: insurance charges and their thirds, on people who do not exist.

mod claims;
mod pictures;

use super::extent::{DECAYS, fraction};
use super::run::{Laboratory, gaussian, noise_name, weights};
use super::section::Section;
use serde::Serialize;
use undertone_learn::evaluation::{Figure, mean};
use undertone_learn::online::Steps;
use undertone_learn::online_study::insurance::{Coding, Outcome, Study, StudySetting, Task};
use undertone_privacy::gradient::Weight;

/// η of the insurance study, as published.
const ETA: f64 = 0.5;
/// People after which models are judged, in full.
const MARKS: [u64; 10] =
    [10_000, 20_000, 40_000, 80_000, 130_000, 200_000, 320_000, 480_000, 640_000, 800_000];
/// What came of one setting after a number of people.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Row {
    pub(super) task: &'static str,
    pub(super) coding: &'static str,
    pub(super) weights: &'static str,
    pub(super) mechanism: String,
    pub(super) alpha: f64,
    pub(super) estimator: &'static str,
    pub(super) people: u64,
    /// Mean squared error of (charges - 16500)/4000, or cross-entropy of thirds
    pub(super) loss: f64,
    pub(super) loss_error: f64,
    /// How often the third is right
    pub(super) accuracy: Option<f64>,
    pub(super) accuracy_error: Option<f64>,
}

/// The tasks by their names.
const TASKS: [(Task, &str); 2] = [(Task::Charges, "charges"), (Task::Thirds, "thirds")];
/// How the data are coded and weighted: as published, or ours.
const WAYS: [(Coding, Weight, &str); 2] =
    [(Coding::Paper, Weight::Square, "paper"), (Coding::Centred, Weight::Linear, "centred")];
const ESTIMATORS: [&str; 2] = ["LDP-SGD", "LDP-ASGD"];

/// Runs the section.
pub(super) fn run(laboratory: &Laboratory) -> anyhow::Result<(Section, Vec<Row>)> {
    let extent = laboratory.extent;
    let (train, test) = extent.insured;
    let marks = MARKS.map(|mark| mark * train / 800_000);
    let mut rows = Vec::new();
    for (task, name) in TASKS {
        for (coding, weight, coding_name) in WAYS {
            let study = Study::new(task, coding, train, test, laboratory.seed);
            let settings = DECAYS.iter().flat_map(|&alpha| extent.budgets.iter().map(move |&mu| (alpha, mu)));
            for (alpha, mu) in settings {
                let (noise, steps) = (gaussian(mu)?, Steps::new(ETA, alpha, 0)?);
                let mechanism = noise_name(&noise);
                let place = fraction(alpha);
                laboratory
                    .bar
                    .set_message(format!("Insurance: {name}, {coding_name}, {mechanism}, α = {place}"));
                let setting = StudySetting { weighting: weights(weight)?, noise, steps };
                let progress = |people| laboratory.bar.inc(people);
                let seed = laboratory.next_seed();
                let outcomes = study.run(setting, &marks, extent.orders, seed, &progress)?;
                let weights = weight.name();
                let what =
                    Row { task: name, coding: coding_name, weights, mechanism, alpha, ..Row::default() };
                rows.extend(rows_of(&outcomes, &marks, task, &what));
            }
        }
    }
    let section = Section {
        title: "Section 6: insurance charges, Figures 7 to 9".to_owned(),
        about: format!(
            "{train} people who do not exist in {} orders, {test} others to judge by, η = {ETA}, start uniform on (0, 1)^p. The \
original data are not here: what follows is about the stand-in that `undertone simulate insurance` writes. Coding `paper` with \
weights R²/|x|² is as published; `centred` has every column centred and scaled by public constants, and weights R/|x|.",
            extent.orders
        ),
        claims: claims::of(&rows),
        pictures: pictures::of(&rows)?,
        points: Vec::new(),
    };
    Ok((section, rows))
}

/// The means over all orders, of each estimator after each number of people.
fn rows_of(outcomes: &[Vec<Outcome>], marks: &[u64], task: Task, what: &Row) -> Vec<Row> {
    let mut rows = Vec::new();
    for (place, &people) in marks.iter().enumerate() {
        for (which, estimator) in ESTIMATORS.into_iter().enumerate() {
            let of = |number: fn(&Outcome) -> [f64; 2]| -> Figure {
                mean(&outcomes.iter().map(|order| number(&order[place])[which]).collect::<Vec<_>>())
            };
            let (loss, accuracy) = (of(|outcome| outcome.loss), of(|outcome| outcome.accuracy));
            let classes = task == Task::Thirds;
            rows.push(Row {
                estimator,
                people,
                loss: loss.value,
                loss_error: loss.standard_error,
                accuracy: classes.then_some(accuracy.value),
                accuracy_error: classes.then_some(accuracy.standard_error),
                ..what.clone()
            });
        }
    }
    rows
}

/// The rows of one setting, people rising.
fn along<'a>(
    rows: &'a [Row],
    task: &str,
    coding: &str,
    mechanism: &str,
    alpha: f64,
    estimator: &str,
) -> Vec<&'a Row> {
    let same = |row: &&Row| {
        row.task == task
            && row.coding == coding
            && row.mechanism == mechanism
            && row.alpha.total_cmp(&alpha).is_eq()
            && row.estimator == estimator
    };
    rows.iter().filter(same).collect()
}

/// The mechanisms that were run, each once.
fn mechanisms(rows: &[Row]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.mechanism.as_str()) {
            names.push(&row.mechanism);
        }
    }
    names
}
