//! What the means of cosines say about a function of people's records.

use super::Query;
use crate::LearnError;
use crate::means::Means;
use undertone_privacy::statistic::CosineBasis;

/// The mean of a function over people, with what is known about its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// As estimated
    pub value: f64,
    /// Of noise, and of who was asked about what
    pub standard_error: f64,
    /// The value is off by at most this on average: what the basis leaves out, and functions that nobody answered about
    pub missed: f64,
}

impl Answer {
    /// From `value` - missed - z·standard error to the same above: at z = 1.96 it holds the truth nineteen times out of twenty
    /// or more.
    pub fn interval(&self, z: f64) -> (f64, f64) {
        let reach = self.missed + z * self.standard_error;
        (self.value - reach, self.value + reach)
    }
}

/// A collection about cosines, ready for any query.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothAnswers {
    basis: CosineBasis,
    means: Means,
}

impl SmoothAnswers {
    /// From the means of the functions of `basis`, which lie in [-1, 1].
    pub fn new(basis: CosineBasis, means: Means) -> Result<Self, LearnError> {
        let functions = basis.functions() as usize;
        if means.len() == functions {
            Ok(Self { basis, means })
        } else {
            Err(LearnError::OtherFamily { statistics: functions, others: means.len() })
        }
    }

    /// The basis.
    pub fn basis(&self) -> &CosineBasis {
        &self.basis
    }

    /// The mean of a query over people.
    pub fn answer(&self, query: &Query) -> Result<Answer, LearnError> {
        let axes = self.basis.axes();
        if query.axes() != axes {
            return Err(LearnError::Columns { found: query.axes(), expected: axes });
        }
        let coefficients = query.coefficients(self.basis.degrees());
        let sum = self.means.combine(coefficients[1..].iter().copied());
        // |φ| ≤ 1: a function that nobody answered about is off by at most its coefficient.
        let missed = query.missed(self.basis.degrees() as usize) + sum.unanswered;
        Ok(Answer { value: coefficients[0] + sum.value, standard_error: sum.variance.sqrt(), missed })
    }

    /// The mean of a Gaussian kernel over people.
    pub fn kernel(&self, centre: &[f64], bandwidths: &[f64]) -> Result<Answer, LearnError> {
        self.answer(&Query::kernel(self.basis.bounds(), centre, bandwidths)?)
    }

    /// The density of people at a place, smoothed by a Gaussian kernel.
    pub fn density(&self, place: &[f64], bandwidths: &[f64]) -> Result<Answer, LearnError> {
        self.answer(&Query::density(self.basis.bounds(), place, bandwidths)?)
    }

    /// The density along one axis, at `count` places from end to end, from a basis of that axis alone: a curve with its band.
    pub fn density_curve(&self, bandwidth: f64, count: usize) -> Result<Vec<(f64, Answer)>, LearnError> {
        let [bounds] = self.basis.bounds() else {
            return Err(LearnError::Columns { found: 1, expected: self.basis.axes() });
        };
        let last = count.max(2) - 1;
        let place = |i: usize| {
            let share = i as f64 / last as f64;
            bounds.low() * (1.0 - share) + bounds.high() * share
        };
        (0..=last).map(place).map(|x| Ok((x, self.density(&[x], &[bandwidth])?))).collect()
    }
}
