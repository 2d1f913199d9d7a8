//! Ridge regression, with the penalty chosen by what was kept aside.
//!
//! People fall into eight parts by the public hash of their row number. For each λ a line is fitted to seven parts and judged by the
//! eighth, in turn, with the debiased squared error. The sums of each part are all that is needed, so one pass over the reports is enough
//! and memory grows with the square of the features, not with the people. Of all λ the one with the least error is taken; the
//! largest that is not clearly worse, as is often advised, was worse on houses, diamonds and insurance at every ε from 1/2 to 4, by the best mechanism. The line
//! that is kept is fitted to everybody.

use super::{LinearNumber, NormalEquations};
use crate::evaluation::{Figure, NumberEvaluation, NumberFigures, mean};
use crate::split::{Purpose, place};
use crate::{LearnError, Regressor, Source};
use undertone_privacy::number::Bounds;

/// Parts, of which each is kept aside once.
pub const FOLDS: usize = 8;

/// λ from 10⁻⁶ to 10², by factors of √10: features are of the order of one.
const LADDER: std::ops::RangeInclusive<i32> = -12..=4;

/// What was fitted, and how it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct RidgeFit {
    /// Of everybody
    pub model: LinearNumber,
    /// λ
    pub l2: f64,
    /// Each λ with its debiased mean squared error on those kept aside
    pub tried: Vec<(f64, Figure)>,
    /// How lines fitted to the others do on those kept aside
    pub judged: NumberFigures,
}

/// The part of a row.
fn part_of(row: u64) -> usize {
    // ⌊8·u⌋ for u on [0, 1)
    (place(row, Purpose::HeldOut) * FOLDS as f64) as usize
}

/// The sums of everybody.
fn sums(
    source: &mut dyn Source,
    features: usize,
    bounds: Bounds,
) -> Result<Vec<NormalEquations>, LearnError> {
    let nobody = NormalEquations::new(features, bounds.value_of(bounds.middle()))?;
    let (mut parts, mut row) = (vec![nobody; FOLDS], 0);
    source.pass(&mut |block| {
        for (features, number) in block.rows.iter().zip(block.numbers.iter()) {
            parts[part_of(row)].observe(features, number);
            row += 1;
        }
        Ok(())
    })?;
    Ok(parts)
}

fn together(parts: &[NormalEquations]) -> NormalEquations {
    let mut all = parts[0].clone();
    parts[1..].iter().for_each(|part| all.add(part));
    all
}

/// The line for a given λ.
pub fn fit_ridge(
    source: &mut dyn Source,
    features: usize,
    bounds: Bounds,
    l2: f64,
) -> Result<LinearNumber, LearnError> {
    together(&sums(source, features, bounds)?).solve(l2)
}

/// The line for the λ that does best on those kept aside; `hidden` is what the mechanism hides of its variance.
pub fn ridge_choosing_l2(
    source: &mut dyn Source,
    features: usize,
    bounds: Bounds,
    hidden: f64,
) -> Result<RidgeFit, LearnError> {
    let parts = sums(source, features, bounds)?;
    let all = together(&parts);
    if all.count() == 0 {
        return Err(LearnError::NoReports);
    }
    if parts.iter().any(|part| part.count() == 0) {
        return Err(LearnError::TooFewReports);
    }
    let others: Vec<NormalEquations> = parts.iter().map(|part| all.without(part)).collect();
    let candidates = LADDER.map(|step| Candidate::new(10f64.powf(f64::from(step) / 2.0), &parts, &others));
    let candidates = candidates.collect::<Result<Vec<_>, LearnError>>()?;
    let Candidate { l2, models, .. } = best(&candidates).ok_or(LearnError::Diverged)?;
    let judged = judge(source, models, bounds, hidden)?;
    let tried = candidates.iter().map(|candidate| (candidate.l2, mean(&candidate.errors))).collect();
    Ok(RidgeFit { model: all.solve(*l2)?, l2: *l2, tried, judged })
}

/// What one λ makes of the parts.
struct Candidate {
    l2: f64,
    /// Fitted without each part
    models: Vec<LinearNumber>,
    /// The debiased mean squared error of each on the part that it was fitted without
    errors: Vec<f64>,
}

impl Candidate {
    fn new(l2: f64, parts: &[NormalEquations], others: &[NormalEquations]) -> Result<Self, LearnError> {
        let models = others.iter().map(|rest| rest.solve(l2)).collect::<Result<Vec<_>, LearnError>>()?;
        let errors = parts.iter().zip(&models).map(|(part, model)| part.error_of(model)).collect();
        Ok(Self { l2, models, errors })
    }
}

/// The one with the least error.
fn best(candidates: &[Candidate]) -> Option<&Candidate> {
    let error = |candidate: &&Candidate| mean(&candidate.errors).value;
    candidates.iter().min_by(|a, b| error(a).total_cmp(&error(b)))
}

/// Everybody's figures, each by the line that was fitted without them.
fn judge(
    source: &mut dyn Source,
    models: &[LinearNumber],
    bounds: Bounds,
    hidden: f64,
) -> Result<NumberFigures, LearnError> {
    let (mut evaluation, mut row) = (NumberEvaluation::new(bounds, hidden), 0);
    source.pass(&mut |block| {
        let predictions = models.iter().map(|model| model.predict(&block.rows)).collect::<Vec<_>>();
        for (place, number) in block.numbers.iter().enumerate() {
            let guess = predictions[part_of(row)][place].clamp(bounds.low(), bounds.high());
            evaluation.observe(guess, number);
            row += 1;
        }
        Ok(())
    })?;
    evaluation.figures()
}
