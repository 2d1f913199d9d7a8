//! What a model promises beside its predictions: sets of classes, or intervals of numbers, that hold the truth as often as said.
//!
//! Reports about numbers do not say how often |y - η| is small, but they do say how large its square is on average: the mean of
//! (η - z)² less the variance of z given y is unbiased for the squared error. By Chebyshev's inequality
//!
//! > P(|y - η| > r) ≤ E(y - η)²/r² = α at r = √(E(y - η)²/α)
//!
//! for the error's upper confidence limit. Such intervals are wide, √10 errors to each side for nine in ten, and hold more often
//! than is promised. For one bit there is nothing better: its chance is a linear function of y, so that all laws of y with the same
//! mean make the same reports, and among them is the one for which Chebyshev's inequality is an equation. Three bins and more say how
//! often errors are large ([`BinReports`]), and limits of what they say hold whatever the law. Of other reports the error's limit is
//! **approximate**, as terms may be as large as they like: that of the normal law where there are [`MANY`] of them, and Cantelli's
//! inequality where there are fewer, with the standard error that the terms themselves have.
//!
//! Who sees residuals takes a quantile of them: a curator a noisy one ([`central::calibrate_intervals`](super::central::calibrate_intervals)),
//! and whoever has true numbers the very one ([`Intervals::by_residuals`]).

use super::{BinReports, PredictionSets};
use crate::LearnError;
use crate::evaluation::Figure;
use serde::{Deserialize, Serialize};

/// From so many reports on, their mean is normal enough: the skewness of a mean falls with √n.
pub const MANY: u64 = 1000;

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
    /// From the mean squared error on so many people whom the model has not seen, all numbers within a range of `width`.
    ///
    /// Its upper limit is exceeded with a probability of about δ (`reach`): more often where few errors are much larger than all others.
    pub fn by_error(
        mse: Figure,
        people: u64,
        width: f64,
        alpha: f64,
        delta: f64,
    ) -> Result<Self, LearnError> {
        check(alpha, delta)?;
        let most = mse.value + mse.standard_error * reach(people, delta);
        // An estimate below zero says no more than that the error is small.
        let half_width = (most.max(0.0) / alpha).sqrt().min(width);
        if half_width.is_nan() {
            Err(LearnError::TooFewReports)
        } else {
            Ok(Self { half_width, alpha, delta })
        }
    }

    /// Of people who reported by bins: by what bins say about squares or about intervals, whichever is narrower, each at half of δ.
    pub fn by_bins(reports: &BinReports, alpha: f64, delta: f64) -> Result<Self, LearnError> {
        check(alpha, delta)?;
        if reports.is_empty() {
            return Err(LearnError::TooFewReports);
        }
        Ok(Self { half_width: reports.half_width(alpha, delta), alpha, delta })
    }

    /// From residuals |y - η| of people whom the model has not seen: the least of them, r, that is large enough.
    ///
    /// With C the share of people whose residual is at most the k-th of n, P(C < 1-α) ≤ P(Bin(n, 1-α) ≥ k), whatever the law of
    /// the residuals; k is the first at which that is at most δ. With too few people for it, the interval reaches everything.
    pub fn by_residuals(
        mut residuals: Vec<f64>,
        width: f64,
        alpha: f64,
        delta: f64,
    ) -> Result<Self, LearnError> {
        check(alpha, delta)?;
        residuals.sort_by(f64::total_cmp);
        let n = residuals.len();
        // P(Bin ≥ k), from k = n + 1 downwards
        let (mut k, mut tail) = (n + 1, 0.0);
        while k > 0 {
            tail += binomial(n, k - 1, 1.0 - alpha);
            if tail > delta {
                break;
            }
            k -= 1;
        }
        let half_width = k.checked_sub(1).and_then(|place| residuals.get(place)).copied();
        Ok(Self { half_width: half_width.unwrap_or(width).min(width), alpha, delta })
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

/// By how many standard errors a mean of so many reports is too small, but with a probability of δ: of a normal law by its quantile z,
/// P(Z > z) = δ, and of any law with this standard error s by Cantelli's inequality, P(Z > t·s) ≤ 1/(1 + t²). That s is estimated is
/// left out of account.
fn reach(people: u64, delta: f64) -> f64 {
    if people >= MANY { normal_quantile(delta) } else { (1.0 / delta - 1.0).sqrt() }
}

/// z with P(Z > z) = δ for a normal Z, to the last digits, from above.
fn normal_quantile(delta: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..100 {
        let z = 0.5 * (low + high);
        if 0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2) > delta { low = z } else { high = z }
    }
    high
}

/// P(Bin(n, p) = k), 0 < p < 1.
fn binomial(n: usize, k: usize, p: f64) -> f64 {
    let ln_factorial = |k: usize| libm::lgamma(k as f64 + 1.0);
    let ways = ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    (ways + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p()).exp()
}

/// α and δ are probabilities, and neither is certain.
pub(super) fn check(alpha: f64, delta: f64) -> Result<(), LearnError> {
    check_probability("α", alpha)?;
    check_probability("δ", delta)
}

pub(super) fn check_probability(what: &'static str, value: f64) -> Result<(), LearnError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(LearnError::Parameter { what, value, expected: "above 0 and below 1" })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;
    use crate::nonparametric::tests::unit;
    use crate::numbers::{NumberChannel, NumberValues};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::Epsilon;
    use undertone_privacy::number::{Bounds, NumberMechanism};

    #[test]
    fn an_error_of_one_reaches_three_to_each_side_for_eight_in_nine() {
        let certain = Figure { value: 1.0, standard_error: 0.0 };
        let intervals = Intervals::by_error(certain, MANY, 100.0, 1.0 / 9.0, 0.05).unwrap();
        assert!((intervals.half_width() - 3.0).abs() < 1e-12);
        assert_eq!(intervals.about(1.0, (0.0, 3.5)), (0.0, 3.5));
        // Nothing beyond the range, nothing below zero, no doubt that makes them shorter
        let below = Figure { value: -1.0, standard_error: 0.0 };
        assert!(Intervals::by_error(below, MANY, 100.0, 0.1, 0.05).unwrap().half_width().abs() < 1e-12);
        assert!(Intervals::by_error(certain, MANY, 2.0, 0.1, 0.05).unwrap().half_width() <= 2.0);
        let doubtful = Figure { standard_error: 0.5, ..certain };
        let [many, few] = [MANY, MANY - 1]
            .map(|n| Intervals::by_error(doubtful, n, 100.0, 1.0 / 9.0, 0.05).unwrap().half_width());
        // One, and half of 1.644854 or of √19, times nine
        let expected = [1.644_853_627, 19f64.sqrt()].map(|reach| 3.0 * (1.0 + 0.5 * reach).sqrt());
        assert!((many - expected[0]).abs() < 1e-8 && (few - expected[1]).abs() < 1e-8, "{many} {few}");
        for (alpha, delta) in [(0.0, 0.1), (1.0, 0.1), (f64::NAN, 0.1), (0.1, 1.0)] {
            assert!(Intervals::by_error(certain, MANY, 1.0, alpha, delta).is_err());
        }
    }

    #[test]
    fn of_fifty_nine_residuals_the_largest_holds_nineteen_in_twenty() {
        // 0.95^59 = 0.0485 ≤ 0.05 < 0.95^58
        let residuals = |n: u16| (1..=n).rev().map(f64::from).collect();
        let half_width = |n| Intervals::by_residuals(residuals(n), 100.0, 0.05, 0.05).unwrap().half_width();
        assert_eq!([58, 59].map(half_width), [100.0, 59.0]);
        assert_eq!(Intervals::by_residuals(Vec::new(), 7.0, 0.1, 0.05).unwrap().half_width(), 7.0);
        assert!(Intervals::by_residuals(Vec::new(), 7.0, 0.0, 0.05).is_err());
    }

    #[test]
    fn residuals_hold_as_often_as_promised_but_once_in_twenty() {
        // Of residuals that are exponential, r holds 1 - e^-r.
        let (n, runs, mut rng) = (400, 2000, ChaCha12Rng::seed_from_u64(5));
        let held = (0..runs).map(|_| {
            let residuals = (0..n).map(|_| -(1.0 - unit(&mut rng)).ln()).collect();
            1.0 - (-Intervals::by_residuals(residuals, 100.0, 0.1, 0.05).unwrap().half_width()).exp()
        });
        let held: Vec<f64> = held.collect();
        let failed = held.iter().filter(|&&held| held < 0.9).count() as f64 / f64::from(runs);
        // P(Bin(400, 0.9) ≥ k) jumps by a hundredth or two at these k.
        assert!((0.02..0.05 + 5.0 * (0.05f64 * 0.95 / f64::from(runs)).sqrt()).contains(&failed), "{failed}");
        let mean = crate::evaluation::mean(&held).value;
        assert!((0.915..0.935).contains(&mean), "{mean}");
    }

    #[test]
    fn reports_say_how_far_intervals_reach_but_once_in_twenty() {
        // Numbers that lie evenly on [-1/2, 1/2], predicted to be zero: the squared error is 1/12.
        let bounds = Bounds::new(-1.0, 1.0).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(6);
        for (epsilon, people, runs) in [(2.0, 2000, 300), (4.0, 2000, 300), (4.0, 100, 1000)] {
            let mechanism = NumberMechanism::best(bounds, Epsilon::new(epsilon).unwrap()).unwrap();
            let channel = NumberChannel::of_mechanism(mechanism);
            let truth = (10.0f64 / 12.0).sqrt();
            let mut failed = 0;
            for _ in 0..runs {
                let mut values = NumberValues::new();
                for _ in 0..people {
                    let place = bounds.place(unit(&mut rng) - 0.5).unwrap();
                    channel.push(mechanism.report(&place, &mut rng).unwrap(), &mut values).unwrap();
                }
                let errors: Vec<f64> = values.iter().map(|(z, v)| z * z - v).collect();
                let mse = crate::evaluation::mean(&errors);
                let intervals = Intervals::by_error(mse, people, 2.0, 0.1, 0.05).unwrap();
                failed += u32::from(intervals.half_width() < truth);
            }
            let share = f64::from(failed) / f64::from(runs);
            let most = 0.05 + 5.0 * (0.05f64 * 0.95 / f64::from(runs)).sqrt();
            // Few reports are trusted less; a mechanism that hides something says too much, never too little.
            assert!(share < if people < MANY { 0.02 } else { most }, "ε = {epsilon}, {people}: {share}");
            assert!(people < MANY || channel.hidden() > 0.0 || share > 0.005, "ε = {epsilon}: {share}");
        }
    }
}
