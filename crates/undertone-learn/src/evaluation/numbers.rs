//! How good predictions of numbers are, from reports alone.
//!
//! A person reports z with E\[z | y\] = y and v with E\[v | y\] = Var(z | y). With f the prediction and c the middle of the bounds,
//!
//! > e = (f - z)² - v, u = z - c, s = u² - v
//!
//! are unbiased for (f - y)², y - c and (y - c)². The figures are functions of their means ē, ū, s̄: rmse = √ē, and r² = 1 - ē/V with
//! V = s̄ - ū² + v̄/n, the variance of the numbers, ū² being too large by v̄/n on average. Standard errors are those of the linear parts of these functions.
//!
//! A mechanism that hides up to h of its variance makes e and s too large by the same amount, between 0 and h: then the root of the mean
//! square is at most √ē and at least √(ē - h), and r² at least 1 - ē/V. What is explained, V - ē, is unbiased all the same.

use super::figure::{Figure, Moments};
use crate::LearnError;
use serde::{Deserialize, Serialize};
use undertone_privacy::number::Bounds;

/// Equal parts of the bounds in which predictions are compared with numbers.
const PARTS: usize = 10;

/// Everything that is added up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberEvaluation {
    low: f64,
    high: f64,
    /// h
    hidden: f64,
    /// Of e, u and s
    terms: Joint,
    bias: Moments,
    /// Of predictions, and of z, in each part of the bounds
    parts: Vec<(Moments, Moments)>,
}

/// What an evaluation of numbers says.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberFigures {
    /// How many people reported
    pub rows: u64,
    /// The mean squared error
    pub mse: Figure,
    /// Its root
    pub rmse: Ranged,
    /// The share of the numbers' variance that is explained
    pub r2: Ranged,
    /// How much smaller the mean squared error is than that of the numbers' mean
    pub explained: Figure,
    /// The mean of the numbers
    pub mean: Figure,
    /// The mean of what is predicted beyond them
    pub bias: Figure,
    /// What the mechanism hides: if above zero, `mse` and `rmse` are the most they can be, and `r2` the least
    pub hidden: f64,
    /// Predictions against numbers
    pub calibration: Vec<NumberBin>,
}

/// A figure with an interval that need not be even about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ranged {
    /// The estimate
    pub value: f64,
    /// By the linear part of its function
    pub standard_error: f64,
    /// Of the 95 % interval, which covers whatever is hidden
    pub low: f64,
    /// Its upper end
    pub high: f64,
}

/// People whose predictions are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberBin {
    /// How many
    pub rows: u64,
    /// What is predicted on average
    pub predicted: f64,
    /// The mean of their numbers
    pub mean: Figure,
}

impl NumberEvaluation {
    /// Nobody yet.
    pub fn new(bounds: Bounds, hidden: f64) -> Self {
        let parts = vec![(Moments::default(), Moments::default()); PARTS];
        let (low, high) = (bounds.low(), bounds.high());
        Self { low, high, hidden, terms: Joint::default(), bias: Moments::default(), parts }
    }

    /// One more person: what is predicted, and z and v of the report.
    pub fn observe(&mut self, guess: f64, (value, variance): (f64, f64)) {
        let (error, u) = (guess - value, value - self.centre());
        self.terms.add([error * error - variance, u, u * u - variance]);
        self.bias.add(error);
        let share = (guess - self.low) / (self.high - self.low) * PARTS as f64;
        let (predicted, found) = &mut self.parts[(share as usize).min(PARTS - 1)];
        predicted.add(guess);
        found.add(value);
    }

    fn centre(&self) -> f64 {
        0.5 * self.low + 0.5 * self.high
    }

    /// How many so far.
    pub fn rows(&self) -> u64 {
        self.terms.count
    }

    /// What it all says.
    pub fn figures(&self) -> Result<NumberFigures, LearnError> {
        if self.rows() == 0 {
            return Err(LearnError::NoReports);
        }
        let [e, u, s] = self.terms.mean;
        let mse = self.terms.figure([1.0, 0.0, 0.0], e);
        let around = self.terms.figure([0.0, 1.0, 0.0], u);
        let n = self.rows() as f64;
        // v̄ is the mean of u² without that of s.
        let noise = self.terms.spread[1][1] / n + u * u - s;
        let variance = s - u * u + noise / n;
        // d(1 - e/V) = -de/V + e/V²·(ds - 2u·du)
        let slope = e / (variance * variance);
        let r2 = self.terms.figure([-1.0 / variance, -2.0 * u * slope, slope], 1.0 - e / variance);
        let bins = self.parts.iter().filter(|(predicted, _)| predicted.count > 0);
        Ok(NumberFigures {
            rows: self.rows(),
            mse,
            rmse: root(mse, self.hidden),
            r2: self.share(r2, e, variance),
            explained: self.terms.figure([-1.0, -2.0 * u, 1.0], variance - e),
            mean: Figure { value: self.centre() + u, ..around },
            bias: self.bias.figure(),
            hidden: self.hidden,
            calibration: bins
                .map(|(predicted, found)| NumberBin {
                    rows: predicted.count,
                    predicted: predicted.mean,
                    mean: found.figure(),
                })
                .collect(),
        })
    }

    /// r² with its interval, in which what is hidden may be anything.
    fn share(&self, r2: Figure, error: f64, variance: f64) -> Ranged {
        let (low, high) = r2.interval();
        let most = if self.hidden > 0.0 {
            let (error, variance) = (error - self.hidden, variance - self.hidden);
            if error > 0.0 && variance > error { 1.0 - error / variance + r2.margin() } else { 1.0 }
        } else {
            high
        };
        Ranged {
            value: r2.value,
            standard_error: r2.standard_error,
            low,
            high: most.max(high).min(1.0).max(low),
        }
    }
}

/// √mse: half of its relative error, and the root of its interval. Below zero the root is zero.
fn root(mse: Figure, hidden: f64) -> Ranged {
    let value = mse.value.max(0.0).sqrt();
    let (low, high) = mse.interval();
    Ranged {
        value,
        standard_error: mse.standard_error / (2.0 * value),
        low: (low - hidden).max(0.0).sqrt(),
        high: high.max(0.0).sqrt(),
    }
}

/// Count, means and summed products of deviations of three terms at once, after Welford.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Joint {
    count: u64,
    mean: [f64; 3],
    spread: [[f64; 3]; 3],
}

impl Joint {
    fn add(&mut self, terms: [f64; 3]) {
        self.count += 1;
        let before = [0, 1, 2].map(|i| terms[i] - self.mean[i]);
        for (mean, off) in self.mean.iter_mut().zip(before) {
            *mean += off / self.count as f64;
        }
        for (i, row) in self.spread.iter_mut().enumerate() {
            for (j, sum) in row.iter_mut().enumerate() {
                *sum += before[i] * (terms[j] - self.mean[j]);
            }
        }
    }

    /// A figure that is `value`, and moves by g with the means: its variance is gᵀΣg/n.
    fn figure(&self, g: [f64; 3], value: f64) -> Figure {
        let n = self.count as f64;
        let mut sum = 0.0;
        for (row, a) in self.spread.iter().zip(g) {
            sum += a * row.iter().zip(g).map(|(spread, b)| spread * b).sum::<f64>();
        }
        let standard_error = if n < 2.0 { f64::NAN } else { (sum.max(0.0) / ((n - 1.0) * n)).sqrt() };
        Figure { value, standard_error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::{NumberChannel, NumberValues};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::Epsilon;
    use undertone_privacy::number::{NumberKind, NumberMechanism};

    #[test]
    fn known_numbers_have_the_figures_worked_by_hand() {
        let mut evaluation = NumberEvaluation::new(Bounds::new(0.0, 10.0).unwrap(), 0.0);
        // errors 1, -1, 2, 0: mse 6/4; numbers 1, 3, 4, 8: mean 4, variance 26/4
        for (guess, number) in [(2.0, 1.0), (2.0, 3.0), (6.0, 4.0), (8.0, 8.0)] {
            evaluation.observe(guess, (number, 0.0));
        }
        let figures = evaluation.figures().unwrap();
        assert!(
            (figures.mse.value - 1.5).abs() < 1e-12 && (figures.rmse.value - 1.5f64.sqrt()).abs() < 1e-12
        );
        assert!((figures.mean.value - 4.0).abs() < 1e-12 && (figures.bias.value - 0.5).abs() < 1e-12);
        let variance = 26.0 / 4.0;
        assert!((figures.r2.value - (1.0 - 1.5 / variance)).abs() < 1e-12, "{figures:?}");
        assert!((figures.explained.value - (variance - 1.5)).abs() < 1e-12);
        assert_eq!(figures.calibration.iter().map(|bin| bin.rows).collect::<Vec<_>>(), [2, 1, 1]);
        assert!(NumberEvaluation::new(Bounds::new(0.0, 1.0).unwrap(), 0.0).figures().is_err());
    }

    /// The figures of numbers spread evenly over \[0, 1\] and the prediction 0.2 + 0.6·y.
    fn figures(kind: NumberKind, epsilon: f64, seed: u64) -> NumberFigures {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let mechanism = NumberMechanism::new(kind, bounds, Epsilon::new(epsilon).unwrap()).unwrap();
        let channel = NumberChannel::of_mechanism(mechanism);
        let (mut rng, mut values) = (ChaCha12Rng::seed_from_u64(seed), NumberValues::new());
        let mut evaluation = NumberEvaluation::new(bounds, channel.hidden());
        let people = 4000;
        for person in 0..people {
            let y = (f64::from(person) + 0.5) / f64::from(people);
            values.clear();
            let report = mechanism.report(&bounds.place(y).unwrap(), &mut rng).unwrap();
            channel.push(report, &mut values).unwrap();
            evaluation.observe(0.2 + 0.6 * y, values.iter().next().unwrap());
        }
        evaluation.figures().unwrap()
    }

    #[test]
    fn intervals_from_reports_cover_what_is_true_and_miss_it_as_seldom_as_they_say() {
        // (0.2 - 0.4x)² has the mean 0.04 - 0.08 + 0.16/3 over [0, 1]; the variance of x is 1/12
        let (mse, r2) = (0.04f64 / 3.0, 1.0 - 0.16);
        for kind in NumberKind::ALL {
            let runs = 60;
            let (mut covered, mut shares) = (0, 0);
            for seed in 0..runs {
                let figures = figures(kind, 2.0, seed);
                let (rmse, explained) = (figures.rmse, figures.explained);
                covered += u32::from(rmse.low <= mse.sqrt() && mse.sqrt() <= rmse.high);
                assert!(
                    (explained.value - (1.0 / 12.0 - mse)).abs() < 5.0 * explained.standard_error,
                    "{kind}"
                );
                let hidden = figures.hidden;
                assert!(hidden > 0.0 || (figures.mse.value - mse).abs() < 5.0 * figures.mse.standard_error);
                shares += u32::from(figures.r2.low <= r2 && r2 <= figures.r2.high);
            }
            // 60 trials at 95 %: fewer than 49 have a probability below 10⁻⁴
            assert!(covered >= 49 && shares >= 49, "{kind}: {covered}, {shares} of {runs}");
        }
    }

    #[test]
    fn one_bit_says_the_most_that_the_error_can_be() {
        let figures = figures(NumberKind::OneBit, 4.0, 1);
        // Half the width is 1/2, and hides 1/4; of x on [0, 1] 1/4 - 1/12 of it is really hidden.
        assert!((figures.hidden - 0.25).abs() < 1e-12);
        let excess = figures.mse.value - 0.04 / 3.0;
        assert!((excess - (0.25 - 1.0 / 12.0)).abs() < 5.0 * figures.mse.standard_error, "{excess}");
        assert!(
            figures.rmse.low < (0.04f64 / 3.0).sqrt() && figures.r2.value < 0.84 && figures.r2.high > 0.84
        );
    }
}
