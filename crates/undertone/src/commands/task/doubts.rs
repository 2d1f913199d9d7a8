//! What speaks against a task about whole records that may be run all the same.

use crate::digits::all_digits;
use std::io::Write;
use undertone_learn::online::{Steps, expected_curvature};
use undertone_privacy::Guarantee;
use undertone_privacy::gradient::Weight;
use undertone_report::{LearnerWords, OnlineWords, Task};

/// Promises beyond these say little.
const MUCH_EPSILON: f64 = 8.0;
const MUCH_MU: f64 = 3.0;
const MUCH_DELTA: f64 = 1e-3;
/// Reports at a point as old as may be should do no harm by the time that so many times as many are in.
const LONG: u64 = 1000;

/// A sentence for each; none about labels.
pub(super) fn about(task: &Task) -> Vec<String> {
    let Some(record) = &task.record else { return Vec::new() };
    let mut doubts = promises(task);
    if record.weights == Weight::Clip.name() {
        doubts.push(
            "clipping is biased: its factor depends on what is explained, so that the coefficients come out wrong however many \
             report; square and linear are not"
                .into(),
        );
    }
    if let Some(LearnerWords::Online(words)) = task.collection.as_ref().map(|collection| collection.learner) {
        doubts.extend(steps(task, words));
    }
    doubts
}

/// Tells them on the standard error. Should that be closed, whoever reads the document can ask again.
pub(super) fn warn(doubts: &[String]) {
    for doubt in doubts {
        drop(writeln!(std::io::stderr(), "warning: {doubt}"));
    }
}

/// Levels that protect little.
fn promises(task: &Task) -> Vec<String> {
    let tiers = task.collection.as_ref().map(|collection| &collection.tiers[..]).unwrap_or_default();
    let mut doubts = Vec::new();
    for &level in tiers {
        let much = match task.promise_at(level) {
            Ok(Guarantee::Pure(_) | Guarantee::Approximate(..)) => ("ε", MUCH_EPSILON),
            Ok(Guarantee::Gaussian(_)) => ("μ", MUCH_MU),
            // No task promises ρ, and what is no promise is refused elsewhere.
            Ok(Guarantee::Concentrated(_)) | Err(_) => continue,
        };
        let (letter, most) = much;
        if level > most {
            let level = all_digits(level);
            doubts.push(format!("{letter} = {level} protects a record little; {most} is much already"));
        }
    }
    if let Some(delta) = task.mechanism.delta.filter(|delta| *delta >= MUCH_DELTA) {
        doubts.push(format!(
            "δ = {} is no small chance: with it a mechanism may give a record away altogether; take far less than one over the \
             number of people",
            all_digits(delta)
        ));
    }
    doubts
}

/// The first report from which on points as old as may be do no harm, where columns are standardised; none if there is none.
pub(super) fn steady_from(task: &Task, words: OnlineWords) -> Option<u64> {
    let steps = Steps::new(words.eta, words.alpha, words.offset).ok()?;
    steps.steady_from(words.stale, expected_curvature(&task.record_model().ok()?))
}

fn steps(task: &Task, words: OnlineWords) -> Vec<String> {
    let mut doubts = Vec::new();
    if words.alpha >= 1.0 {
        doubts.push(
            "α = 1: unless η is above one over twice the least curvature, the start is never forgotten, and there are no \
             intervals"
                .into(),
        );
    }
    if words.alpha <= 0.0 {
        doubts.push("α = 0: steps that never fall leave noise that never falls".into());
    }
    let steady = steady_from(task, words);
    if steady.is_none_or(|first| first > LONG * words.stale) {
        let when = steady.map_or("ever".into(), |first| format!("before report {first}"));
        doubts.push(format!(
            "points {} reports old may make the descent swing, and not settle {when}; a smaller --eta or --stale, or a larger \
             --offset, prevents that",
            words.stale
        ));
    }
    doubts
}
