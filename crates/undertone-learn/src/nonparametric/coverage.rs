//! What a model promises beside its predictions: sets of classes, or intervals of numbers, that hold the truth as often as said.
//!
//! Reports about numbers do not say how often |y - η| is small, but they do say how large its square is on average: the mean of
//! (η - z)² less the variance of z given y is unbiased for the squared error. By Chebyshev's inequality
//!
//! > P(|y - η| > r) ≤ E(y - η)²/r² = α at r = √(E(y - η)²/α)
//!
//! for the error's upper confidence limit. Such intervals are wide, √10 errors to each side for nine in ten, and hold more often
//! than is promised; a curator, who sees residuals, releases a quantile of them instead
//! ([`central::calibrate_intervals`](super::central::calibrate_intervals)).

use super::PredictionSets;
use crate::LearnError;
use crate::evaluation::Figure;
use serde::{Deserialize, Serialize};

/// Sets or intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// Of classes
    Sets(PredictionSets),
    /// Of numbers
    Intervals(Intervals),
}

/// Intervals about predicted numbers, all of the same width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intervals {
    half_width: f64,
    alpha: f64,
    delta: f64,
}

impl Coverage {
    /// The share of people whose truth is to be held.
    pub fn promised(&self) -> f64 {
        match self {
            Self::Sets(sets) => sets.coverage(),
            Self::Intervals(intervals) => intervals.coverage(),
        }
    }

    /// Refuses what nothing has calibrated: it may come from a file.
    pub(crate) fn check(&self, of_number: bool) -> Result<(), LearnError> {
        let problem = match self {
            Self::Sets(sets) if !of_number && (0.0..=1.0).contains(&sets.threshold()) => return Ok(()),
            Self::Intervals(own) if of_number && own.half_width.is_finite() && own.half_width >= 0.0 => {
                return Ok(());
            }
            Self::Sets(_) => "its prediction sets are not those of classes",
            Self::Intervals(_) => "its intervals are not those of a number",
        };
        Err(LearnError::Model { problem: problem.into() })
    }
}

impl Intervals {
    /// From the mean squared error on people whom the model has not seen, all numbers within a range of `width`. The standard error stands
    /// for the spread of the mean as that of a normal law.
    ///
    /// Its upper limit is exceeded with a probability of δ at most: z ≤ √(2·ln(1/δ)) for the normal law.
    pub fn by_error(mse: Figure, width: f64, alpha: f64, delta: f64) -> Result<Self, LearnError> {
        check(alpha, delta)?;
        let most = mse.value + mse.standard_error * (2.0 * (1.0 / delta).ln()).sqrt();
        // An estimate below zero says no more than that the error is small.
        let half_width = (most.max(0.0) / alpha).sqrt().min(width);
        if half_width.is_nan() {
            Err(LearnError::TooFewReports)
        } else {
            Ok(Self { half_width, alpha, delta })
        }
    }

    /// Of a half width which somebody else has calibrated.
    pub(super) fn of(half_width: f64, alpha: f64, delta: f64) -> Self {
        Self { half_width, alpha, delta }
    }

    /// How far they reach to each side.
    pub fn half_width(&self) -> f64 {
        self.half_width
    }

    /// The share of people whose intervals are to hold their number, 1 - α.
    pub fn coverage(&self) -> f64 {
        1.0 - self.alpha
    }

    /// The interval about a prediction, within the bounds of the number.
    pub fn about(&self, guess: f64, (low, high): (f64, f64)) -> (f64, f64) {
        ((guess - self.half_width).max(low), (guess + self.half_width).min(high))
    }
}

/// α and δ are probabilities, and neither is certain.
pub(super) fn check(alpha: f64, delta: f64) -> Result<(), LearnError> {
    for (what, value) in [("α", alpha), ("δ", delta)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(LearnError::Parameter { what, value, expected: "above 0 and below 1" });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_one_reaches_three_to_each_side_for_eight_in_nine() {
        let certain = Figure { value: 1.0, standard_error: 0.0 };
        let intervals = Intervals::by_error(certain, 100.0, 1.0 / 9.0, 0.05).unwrap();
        assert!((intervals.half_width() - 3.0).abs() < 1e-12);
        assert_eq!(intervals.about(1.0, (0.0, 3.5)), (0.0, 3.5));
        // Nothing beyond the range, nothing below zero, no doubt that makes them shorter
        let below = Figure { value: -1.0, standard_error: 0.0 };
        assert!(Intervals::by_error(below, 100.0, 0.1, 0.05).unwrap().half_width().abs() < 1e-12);
        assert!(Intervals::by_error(certain, 2.0, 0.1, 0.05).unwrap().half_width() <= 2.0);
        let doubtful = Figure { standard_error: 0.5, ..certain };
        assert!(Intervals::by_error(doubtful, 100.0, 1.0 / 9.0, 0.05).unwrap().half_width() > 3.0);
        for (alpha, delta) in [(0.0, 0.1), (1.0, 0.1), (f64::NAN, 0.1), (0.1, 1.0)] {
            assert!(Intervals::by_error(certain, 1.0, alpha, delta).is_err());
        }
    }
}
