//! Adding up answers so that neither the order nor the place matters, to the last bit.
//!
//! An answer is rounded to 2^-24 of the scale of answers, and integers are added: sums of floats would depend on their order.
//! The rounding is invisible below 10^14 answers. An answer beyond 2^12 scales, which no mechanism here gives once in a
//! lifetime, counts as that: squares are then below 2^72, and 2^54 of them fit.

use super::{Mean, Means};
use crate::LearnError;
use serde::{Deserialize, Serialize};
use undertone_privacy::Unbiased;
use undertone_privacy::number::GridNumber;

/// Steps in a scale.
const STEPS: f64 = 16_777_216.0;
/// Scales beyond which no answer counts.
const FARTHEST: f64 = 4096.0;

/// The answers about a family of statistics so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    scale: f64,
    cells: Vec<Cell>,
}

/// The answers about one statistic, in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cell {
    answers: u64,
    sum: i128,
    squares: i128,
}

impl Tally {
    /// Before any answer about so many `statistics`; an answer is about as large as `scale`, such as the standard deviation
    /// of one.
    pub fn new(statistics: usize, scale: f64) -> Result<Self, LearnError> {
        if !(scale.is_normal() && scale > 0.0) {
            let (what, expected) = ("the scale of answers", "positive and finite");
            return Err(LearnError::Parameter { what, value: scale, expected });
        }
        Ok(Self { scale, cells: vec![Cell::default(); statistics] })
    }

    /// How many statistics there are.
    pub fn statistics(&self) -> usize {
        self.cells.len()
    }

    /// How many answers there are, about all of them.
    pub fn answers(&self) -> u64 {
        self.cells.iter().map(|cell| cell.answers).sum()
    }

    /// Takes in an unbiased answer about a statistic.
    pub fn observe(&mut self, statistic: u32, answer: f64) -> Result<(), LearnError> {
        if answer.is_nan() {
            return Err(LearnError::Parameter { what: "an answer", value: answer, expected: "a number" });
        }
        let statistics = self.cells.len();
        let Some(cell) = self.cells.get_mut(statistic as usize) else {
            return Err(LearnError::UnknownStatistic { statistic, statistics });
        };
        let steps = ((answer / self.scale).clamp(-FARTHEST, FARTHEST) * STEPS).round() as i128;
        cell.answers += 1;
        cell.sum += steps;
        cell.squares += steps * steps;
        Ok(())
    }

    /// Takes in a report of a mechanism about a statistic.
    pub fn observe_report<M: Unbiased<Input = GridNumber>>(
        &mut self,
        statistic: u32,
        mechanism: &M,
        report: &M::Report,
    ) -> Result<(), LearnError> {
        self.observe(statistic, mechanism.estimate(report)[0])
    }

    /// Leaves `self` as if it had also observed everything that `other` did.
    pub fn merge(&mut self, other: &Self) -> Result<(), LearnError> {
        if self.scale.to_bits() != other.scale.to_bits() || self.cells.len() != other.cells.len() {
            return Err(LearnError::OtherFamily { statistics: self.cells.len(), others: other.cells.len() });
        }
        for (cell, other) in self.cells.iter_mut().zip(&other.cells) {
            cell.answers += other.answers;
            cell.sum += other.sum;
            cell.squares += other.squares;
        }
        Ok(())
    }

    /// The means, each answer counted with a variance of `worst`, that of any person's answer at most
    /// ([`worst_answer_variance`](super::worst_answer_variance)).
    pub fn means_at_worst(&self, worst: f64) -> Means {
        self.means(|_| worst)
    }

    /// The means with the variance that the answers have, mechanism and people together, started from that of one more
    /// answer: with Q the sum of squared deviations and E\[Q\] = (n-1)·σ²,
    ///
    /// > σ̂² = (Q + worst)/n,   E\[σ̂²\] - σ² = (worst - σ²)/n ≥ 0
    ///
    /// so that it is not too small on average, nor zero where a few bits happen to agree.
    pub fn means_as_spread(&self, worst: f64) -> Means {
        self.means(|cell| (self.deviations(cell) + worst) / cell.answers as f64)
    }

    fn means(&self, variance_of_one: impl Fn(&Cell) -> f64) -> Means {
        let mean = |cell: &Cell| {
            let n = cell.answers as f64;
            let value = cell.sum as f64 / n * (self.scale / STEPS);
            (cell.answers > 0).then(|| Mean {
                value,
                variance: variance_of_one(cell) / n,
                answers: cell.answers,
            })
        };
        Means::new(self.cells.iter().map(mean).collect())
    }

    /// Q = Σ(z - z̄)². The quotients by n are short where the integers may be too long to multiply.
    fn deviations(&self, cell: &Cell) -> f64 {
        let n = cell.answers as f64;
        let (mean, square) = (cell.sum as f64 / n, cell.squares as f64 / n);
        let step = self.scale / STEPS;
        n * (square - mean * mean).max(0.0) * step * step
    }
}
