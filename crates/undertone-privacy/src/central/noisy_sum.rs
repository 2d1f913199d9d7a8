//! The sum of the numbers of one cell, with discrete Laplace noise.
//!
//! > Σ index + Z, P(Z = z) ∝ exp(-|z|·ε/2^20), each index in 0..=2^20 on the public grid
//!
//! **Privacy.** A change of one label moves the sum by the whole grid at most, whatever the bounds are, so the loss is at most ε.
//! How many people the cell holds is public here. In the units of labels in [-T, T] and divided by n it is the mean with noise of
//! scale 2T/(n·ε); eq. 23 of *On Theoretical Limits of Learning with Label Differential Privacy* prints 2/(n·ε), which keeps a
//! promise of T·ε only.

use crate::exact::{DiscreteLaplace, Scale};
use crate::number::{Bounds, GridNumber};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// As many people as sums in 64 bits have room for.
const MOST_PEOPLE: usize = 1 << 40;

/// A sum of bounded numbers to which a label change does the width of the bounds of harm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoisySum {
    epsilon: Epsilon,
    bounds: Bounds,
    noise: DiscreteLaplace,
}

impl NoisySum {
    /// Under a promise of `epsilon` for the change of one label.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        let scale = Scale::at_least(f64::from(bounds.steps()) / epsilon.get())?;
        Ok(Self { epsilon, bounds, noise: DiscreteLaplace::new(scale) })
    }

    /// Where the numbers lie.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The noise, in steps of the grid.
    pub fn noise(&self) -> DiscreteLaplace {
        self.noise
    }

    /// The sum that a report stands for, of so many people, in the units of the bounds.
    pub fn decode(&self, report: i64, people: u64) -> f64 {
        let width = self.bounds.high() - self.bounds.low();
        people as f64 * self.bounds.low() + report as f64 / f64::from(self.bounds.steps()) * width
    }
}

impl Randomizer for NoisySum {
    type Input = Vec<GridNumber>;
    type Report = i64;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, numbers: &Vec<GridNumber>, rng: &mut impl CryptoRng) -> Result<i64, PrivacyError> {
        if numbers.len() > MOST_PEOPLE {
            return Err(PrivacyError::Count { value: numbers.len() as u64 });
        }
        Ok(total(numbers).saturating_add(self.noise.sample(rng)))
    }

    fn ln_likelihood(&self, report: &i64, numbers: &Vec<GridNumber>) -> f64 {
        self.noise.ln_pmf(report.saturating_sub(total(numbers)))
    }
}

impl Unbiased for NoisySum {
    /// How far the numbers lie above the lower bound, in all: a report does not say how many there are.
    fn truth(&self, numbers: &Vec<GridNumber>) -> Vec<f64> {
        Vec::from([self.decode(total(numbers), 0)])
    }

    fn estimate(&self, report: &i64) -> Vec<f64> {
        Vec::from([self.decode(*report, 0)])
    }

    fn variance(&self, _: &Vec<GridNumber>) -> f64 {
        let step = (self.bounds.high() - self.bounds.low()) / f64::from(self.bounds.steps());
        self.noise.variance() * step * step
    }
}

/// Σ index.
fn total(numbers: &[GridNumber]) -> i64 {
    numbers.iter().map(|number| i64::from(number.index())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn of(bound: f64, epsilon: f64) -> NoisySum {
        NoisySum::new(Bounds::new(-bound, bound).unwrap(), Epsilon::new(epsilon).unwrap()).unwrap()
    }

    fn numbers(sum: &NoisySum, values: &[f64]) -> Vec<GridNumber> {
        values.iter().map(|&value| sum.bounds().place(value).unwrap()).collect()
    }

    #[test]
    fn one_label_from_end_to_end_costs_the_promise_and_no_more() {
        for (bound, epsilon) in [(5.0, 1.0), (0.1, 0.25), (1.0, 4.0)] {
            let sum = of(bound, epsilon);
            let before = numbers(&sum, &[0.0, bound, -bound]);
            let after = numbers(&sum, &[0.0, bound, bound]);
            let loss = [-1 << 30, 0, 1 << 20, 1 << 30].map(|report| {
                (sum.ln_likelihood(&report, &before) - sum.ln_likelihood(&report, &after)).abs()
            });
            let most = loss.into_iter().fold(0.0, f64::max);
            assert!(most <= epsilon * (1.0 + 1e-12) && most > epsilon * (1.0 - 1e-9), "{most}");
        }
    }

    #[test]
    fn sums_are_right_on_average_and_scatter_as_stated() {
        let sum = of(2.0, 1.0);
        let input = numbers(&sum, &[0.5, -1.0, 2.0, 7.0]);
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let n = 20_000;
        let draws: Vec<f64> =
            (0..n).map(|_| sum.decode(sum.randomize(&input, &mut rng).unwrap(), 4)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = sum.variance(&input);
        // scale 4/ε: 2·16
        assert!((variance - 32.0).abs() < 1e-3);
        assert!((mean - 3.5).abs() < 5.0 * (variance / f64::from(n)).sqrt(), "{mean}");
        let spread = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        // the fourth moment of Laplace noise is 24·scale⁴ = 6·variance²
        assert!((spread / variance - 1.0).abs() < 5.0 * (5.0 / f64::from(n)).sqrt(), "{spread}");
    }
}
