//! What is released of true labels, and how.

use super::CuratorWords;
use crate::commands::train::{coverage, domain};
use crate::exit::Usage;
use anyhow::{Context, anyhow};
use rand_chacha::ChaCha12Rng;
use undertone_learn::nonparametric::central::{
    ClassRelease, Clipping, Design, FullNumbers, Learnt, PublicGrid, calibrate_intervals, calibrate_sets,
    enough_for_numbers, release_classes, release_numbers,
};
use undertone_learn::nonparametric::{CellModel, Coverage, NonparametricModel, Output, TrustModel, rates};
use undertone_learn::{Examples, LearnError};
use undertone_privacy::Epsilon;
use undertone_privacy::number::Bounds;
use undertone_report::NumberWords;

/// A model and how it was released.
pub(super) struct Released {
    pub(super) model: CellModel,
    pub(super) method: &'static str,
    pub(super) coverage: Option<Coverage>,
    pub(super) clipped: u64,
    /// If cells of private features are too many for the people: as public as the domain and the number of people
    pub(super) thin: Option<Thin>,
}

/// More cells than people can speak for.
#[derive(Clone, Copy)]
pub(super) struct Thin {
    pub(super) people: u64,
    pub(super) cells: u32,
    pub(super) least: f64,
}

impl Thin {
    fn of(design: &Design, grid: &PublicGrid, people: u64) -> Option<Self> {
        let (cells, least) = (grid.cells(), design.least());
        ((people as f64) < least * f64::from(cells)).then_some(Self { people, cells, least })
    }
}

/// Everything that decides about a release but for the people.
pub(super) struct Release<'a> {
    pub(super) trust: TrustModel,
    pub(super) epsilon: Epsilon,
    pub(super) learnt: Learnt,
    pub(super) number: Option<NumberWords>,
    pub(super) words: &'a CuratorWords,
    pub(super) coverage: Option<f64>,
}

impl Release<'_> {
    fn design(&self) -> Design {
        Design { learnt: self.learnt, epsilon: self.epsilon, width: self.words.width }
    }

    pub(super) fn classes(&self, people: &Examples, rng: &mut ChaCha12Rng) -> anyhow::Result<Released> {
        let (labels, rows, epsilon) = (labels(people), &people.rows, self.epsilon);
        let Learnt::Classes(classes) = self.learnt else { return Err(anyhow!("a number has no classes")) };
        let design = self.design();
        let mut thin = None;
        let (model, method) = if self.trust == TrustModel::FullCentral {
            let grid = design.grid(domain::axes(&self.words.domain)?, people.len() as u64).map_err(usage)?;
            thin = Thin::of(&design, &grid, people.len() as u64);
            (grid.release_classes(rows, &labels, classes, false, epsilon, rng)?, "votes of all cells")
        } else {
            let cells = design.cells(rows).map_err(usage)?;
            // Sets need probabilities, which the counts have.
            let (how, method) = match self.coverage {
                None => (ClassRelease::Class, "exponential mechanism"),
                Some(_) => (ClassRelease::Counts, "noisy counts"),
            };
            (release_classes(cells, rows, &labels, classes, how, epsilon, rng)?, method)
        };
        Ok(Released { model, method, coverage: None, clipped: 0, thin })
    }

    pub(super) fn numbers(&self, people: &Examples, rng: &mut ChaCha12Rng) -> anyhow::Result<Released> {
        let (numbers, rows, epsilon) = (people.numbers.values(), &people.rows, self.epsilon);
        let heavy = self.words.order.zip(self.words.moment);
        let number = self.number.context("classes have no bounds")?;
        let design = self.design();
        let mut thin = None;
        let ((model, clipped), method) = if self.trust == TrustModel::FullCentral {
            let n = people.len() as u64;
            let grid = design.grid(domain::axes(&self.words.domain)?, n).map_err(usage)?;
            thin = Thin::of(&design, &grid, n);
            let bounds = match heavy {
                Some((order, moment)) => {
                    let each = (n as f64 / f64::from(grid.cells())).max(1.0);
                    let clip = rates::central_clip(order, moment, each, epsilon.get());
                    Bounds::new(-clip, clip)?
                }
                None => number.bounds()?,
            };
            let how = FullNumbers::TwoSided;
            (grid.release_numbers(rows, numbers, bounds, how, epsilon, rng)?, "two-sided sums of all cells")
        } else {
            let clipping = match heavy {
                Some((order, bound)) => Clipping::Moment { order, bound },
                None => Clipping::Bounds(number.bounds()?),
            };
            let cells = design.cells(rows).map_err(usage)?;
            let least = enough_for_numbers(epsilon);
            (release_numbers(cells, rows, numbers, clipping, least, epsilon, rng)?, "noisy sums")
        };
        Ok(Released { model, method, coverage: None, clipped, thin })
    }

    /// On people whom the model was not learnt from, so that it costs no more than ε in all.
    pub(super) fn calibrate(
        &self,
        model: &CellModel,
        aside: &Examples,
        share: f64,
        rng: &mut ChaCha12Rng,
    ) -> anyhow::Result<Coverage> {
        let (model, levels) = (NonparametricModel::Cells(model.clone()), (1.0 - share, coverage::DELTA));
        Ok(match model.output() {
            Output::Classes(_) => Coverage::Sets(calibrate_sets(
                &model,
                &aside.rows,
                &labels(aside),
                levels,
                self.epsilon,
                rng,
            )?),
            Output::Number { low, high } => Coverage::Intervals(calibrate_intervals(
                &model,
                &aside.rows,
                aside.numbers.values(),
                Bounds::new(low, high)?,
                levels,
                self.epsilon,
                rng,
            )?),
        })
    }
}

/// True labels of people whose labels are known.
fn labels(people: &Examples) -> Vec<u32> {
    people.unbiased.iter().map(|vector| vector.entries[0].0).collect()
}

/// A parameter that somebody has typed.
fn usage(error: LearnError) -> anyhow::Error {
    match error {
        LearnError::Parameter { .. } => Usage::new(error).into(),
        error => error.into(),
    }
}
