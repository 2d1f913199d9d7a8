//! Ridge regression, with the penalty chosen by what was kept aside.
//!
//! People fall into eight parts by the public hash of their row number. For each λ a line is fitted to seven parts and judged by the
//! eighth, in turn, with the debiased squared error. The sums of each part are all that is needed, so one pass over the reports is enough
//! and memory grows with the square of the features, not with the people. Of all λ the one with the least error is taken; the
//! largest that is not clearly worse, as is often advised, was worse on houses, diamonds and insurance at every ε from 1/2 to 4, by the best mechanism. The line
//! that is kept is fitted to everybody. Of more than 2048 features, people are kept instead of their sums ([`wide`](super::wide)).

use super::wide::Wide;
use super::{LinearNumber, MOST_FEATURES, NormalEquations};
use crate::evaluation::{Figure, NumberEvaluation, NumberFigures, mean};
use crate::features::Rows;
use crate::split::{Purpose, place};
use crate::{Examples, LearnError, Regressor, Source};
use undertone_privacy::number::Bounds;

/// Parts, of which each is kept aside once.
pub const FOLDS: usize = 8;

/// λ from 10⁻⁶ to 10², by factors of √10: features are of the order of one.
const LADDER: std::ops::RangeInclusive<i32> = -12..=4;

/// People who are shown at a time.
const BLOCK: usize = 4096;

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
pub(super) fn part_of(row: u64) -> usize {
    // ⌊8·u⌋ for u on [0, 1)
    (place(row, Purpose::HeldOut) * FOLDS as f64) as usize
}

/// What lines are fitted to: the sums of each part, or people.
enum Equations {
    Sums(Vec<NormalEquations>),
    People(Wide),
}

impl Equations {
    /// Of everybody.
    fn of(source: &mut dyn Source, features: usize, bounds: Bounds) -> Result<Self, LearnError> {
        let centre = bounds.value_of(bounds.middle());
        if features > MOST_FEATURES {
            return Wide::gather(source, features, centre).map(Self::People);
        }
        let (mut parts, mut row) = (vec![NormalEquations::new(features, centre)?; FOLDS], 0);
        source.pass(&mut |block| {
            for (features, number) in block.rows.iter().zip(block.numbers.iter()) {
                parts[part_of(row)].observe(features, number);
                row += 1;
            }
            Ok(())
        })?;
        Ok(Self::Sums(parts))
    }

    /// How many people each part has.
    fn counts(&self) -> Vec<u64> {
        match self {
            Self::Sums(parts) => parts.iter().map(NormalEquations::count).collect(),
            Self::People(people) => people.counts().map(|count| count as u64).to_vec(),
        }
    }

    /// The line of everybody.
    fn solve(&self, l2: f64) -> Result<LinearNumber, LearnError> {
        match self {
            Self::Sums(parts) => together(parts).solve(l2),
            Self::People(people) => people.solve(l2),
        }
    }

    /// What each λ makes of the parts.
    fn candidates(&self) -> Result<Vec<Candidate>, LearnError> {
        let counts = self.counts();
        if counts.iter().all(|count| *count == 0) {
            return Err(LearnError::NoReports);
        }
        if counts.contains(&0) {
            return Err(LearnError::TooFewForPenalty);
        }
        let parts = match self {
            Self::Sums(parts) => parts,
            Self::People(people) => return people.candidates(),
        };
        let all = together(parts);
        let others: Vec<NormalEquations> = parts.iter().map(|part| all.without(part)).collect();
        LADDER.map(|step| Candidate::new(10f64.powf(f64::from(step) / 2.0), parts, &others)).collect()
    }
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
    Equations::of(source, features, bounds)?.solve(l2)
}

/// The line for the λ that does best on those kept aside; `hidden` is what the mechanism hides of its variance.
pub fn ridge_choosing_l2(
    source: &mut dyn Source,
    features: usize,
    bounds: Bounds,
    hidden: f64,
) -> Result<RidgeFit, LearnError> {
    let equations = Equations::of(source, features, bounds)?;
    let candidates = equations.candidates()?;
    let Candidate { l2, models, .. } = best(&candidates).ok_or(LearnError::Diverged)?;
    let judged = judge(source, models, bounds, hidden)?;
    let tried = candidates.iter().map(|candidate| (candidate.l2, mean(&candidate.errors))).collect();
    Ok(RidgeFit { model: equations.solve(*l2)?, l2: *l2, tried, judged })
}

/// A line, and what lines say about people to whom they were not fitted.
pub(crate) struct CrossFit {
    /// Of everybody
    pub(crate) model: LinearNumber,
    /// For each person, by the line without their part
    pub(crate) without: Vec<f64>,
}

/// The line for the best λ, as [`ridge_choosing_l2`] has it.
pub(crate) fn cross_fit(rows: &Rows, values: &[f64], bounds: Bounds) -> Result<CrossFit, LearnError> {
    let equations = Equations::of(&mut Blocks { rows, values }, rows.width(), bounds)?;
    let candidates = equations.candidates()?;
    let Candidate { l2, models, .. } = best(&candidates).ok_or(LearnError::Diverged)?;
    let without = (0u64..).zip(rows.iter()).map(|(person, row)| models[part_of(person)].at(row)).collect();
    Ok(CrossFit { model: equations.solve(*l2)?, without })
}

/// People in memory, so many at a time.
struct Blocks<'a> {
    rows: &'a Rows,
    values: &'a [f64],
}

impl Source for Blocks<'_> {
    fn pass(&mut self, visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>) -> Result<(), LearnError> {
        let mut block = Examples::new(Rows::new(self.rows.dense_width(), self.rows.sparse_width()));
        for (start, values) in (0..).step_by(BLOCK).zip(self.values.chunks(BLOCK)) {
            block.clear();
            for (row, &value) in (start..).zip(values) {
                block.rows.push(self.rows.get(row));
                block.numbers.push(value, 0.0);
            }
            visit(&block)?;
        }
        Ok(())
    }
}

/// What one λ makes of the parts.
pub(super) struct Candidate {
    pub(super) l2: f64,
    /// Fitted without each part
    pub(super) models: Vec<LinearNumber>,
    /// The debiased mean squared error of each on the part that it was fitted without
    pub(super) errors: Vec<f64>,
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
