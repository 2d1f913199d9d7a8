//! How often sets and intervals hold the truth.
//!
//! The sum of a report's unbiased vector over a set is one on average if the set holds the label and zero if not. Reports about numbers
//! say how large the squared error is on average, and by Chebyshev's inequality an interval that reaches r to each side holds the number
//! of at least 1 - E(y - η)²/r² of people; those by bins say how many at least are inside.

use crate::evaluation_report::{MeasuredCoverage, Size};
use crate::people::Origin;
use undertone_learn::evaluation::{Figure, mean};
use undertone_learn::nonparametric::{BinReports, Coverage, Intervals, PredictionSets};
use undertone_learn::{Examples, LearnError, Model};
use undertone_report::NumberWords;

/// Of sets of classes.
pub(super) struct HeldClasses {
    sets: Option<PredictionSets>,
    classes: usize,
    /// Whether each person's label is in its set, unbiased
    held: Vec<f64>,
    members: u64,
}

/// Of intervals about numbers.
pub(super) struct HeldNumbers {
    intervals: Option<Intervals>,
    number: NumberWords,
    /// Whether numbers are seen as they are
    certain: bool,
    /// If people reported by bins
    bins: Option<BinReports>,
    held: Vec<f64>,
    width: f64,
    rows: u64,
}

impl HeldClasses {
    pub(super) fn new(model: &Model) -> Self {
        let sets = match model.coverage {
            Some(Coverage::Sets(sets)) => Some(sets),
            _ => None,
        };
        Self { sets, classes: model.classes.len(), held: Vec::new(), members: 0 }
    }

    pub(super) fn observe(&mut self, block: &Examples, probabilities: &[f32]) {
        let Some(sets) = self.sets else { return };
        for (vector, p) in block.unbiased.iter().zip(probabilities.chunks_exact(self.classes)) {
            let set = sets.set(p);
            self.members += set.len() as u64;
            self.held.push(set.into_iter().map(|class| f64::from(vector.at(class))).sum());
        }
    }

    pub(super) fn measured(&self) -> Option<MeasuredCoverage> {
        let size = Size::Classes(self.members as f64 / self.held.len().max(1) as f64);
        let (promised, held) = (self.sets?.coverage(), mean(&self.held));
        Some(MeasuredCoverage { promised, held, at_least: false, size })
    }
}

impl HeldNumbers {
    pub(super) fn new(model: &Model, number: NumberWords, people: &Origin) -> anyhow::Result<Self> {
        let intervals = match model.coverage {
            Some(Coverage::Intervals(intervals)) => Some(intervals),
            _ => None,
        };
        let (certain, bins) = (people.tasks().is_empty(), people.bin_reports()?);
        Ok(Self { intervals, number, certain, bins, held: Vec::new(), width: 0.0, rows: 0 })
    }

    pub(super) fn observe(&mut self, block: &Examples, guesses: &[f64]) -> Result<(), LearnError> {
        let Some(intervals) = self.intervals else { return Ok(()) };
        let NumberWords { low, high } = self.number;
        for (&guess, number) in guesses.iter().zip(block.numbers.values()) {
            let (from, to) = intervals.about(guess, (low, high));
            self.width += to - from;
            self.rows += 1;
            if self.certain {
                // Numbers beyond the bounds count as the bound, as devices and curators clip them.
                let number = number.clamp(low, high);
                self.held.push(f64::from(u8::from((from..=to).contains(&number))));
            } else if let Some(bins) = &mut self.bins {
                bins.observe(guess, *number)?;
            }
        }
        Ok(())
    }

    pub(super) fn measured(&self, mse: Figure) -> Option<MeasuredCoverage> {
        let intervals = self.intervals?;
        let square = intervals.half_width().powi(2);
        let held = if self.certain {
            mean(&self.held)
        } else if let Some(bins) = &self.bins {
            let outside = bins.outside(intervals.half_width());
            Figure { value: 1.0 - outside.value, ..outside }
        } else {
            Figure { value: 1.0 - mse.value / square, standard_error: mse.standard_error / square }
        };
        let size = Size::Width(self.width / self.rows.max(1) as f64);
        Some(MeasuredCoverage { promised: intervals.coverage(), held, at_least: !self.certain, size })
    }
}
