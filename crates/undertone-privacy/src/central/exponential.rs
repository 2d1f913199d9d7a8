//! The exponential mechanism over counts, sampled exactly.
//!
//! > P(j) ∝ exp(α·n_j), α = ε/2
//!
//! **Privacy.** A change of one label moves one count down and another up: the numerator changes by at most e^α
//! and the normaliser by at most e^α. A change of a whole record moves one count in each of two cells, which is
//! e^α for each: also ε, so that the ε/4 of *On Theoretical Limits of Learning with Label Differential Privacy*,
//! eq. 31, wastes half the budget.
//!
//! **As it runs.** Draw j evenly and accept it with probability exp(-α·(n* - n_j)), n* the largest count, by an
//! exact coin; α is a fraction rounded down. The running time depends on the counts, which the curator has anyway.
//!
//! McSherry, Talwar, *Mechanism design via differential privacy* (2007).

use crate::exact::{bernoulli_exp, uniform_below};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer};
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// Chooses an index with a large count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialMechanism {
    epsilon: Epsilon,
    /// α = numerator / 2^shift ≤ ε/2
    numerator: u64,
    shift: u32,
}

impl ExponentialMechanism {
    /// For counts of which a neighbouring data set moves one down and one up.
    pub fn new(epsilon: Epsilon) -> Self {
        let alpha = epsilon.get() / 2.0 * (1.0 - 8.0 * f64::EPSILON);
        // α·2^shift lies in [2^49, 2^50) for ε up to 2^51, so that a product with any count fits 128 bits.
        let (_, exponent) = libm::frexp(alpha);
        let shift = (50 - exponent).clamp(0, 62) as u32;
        let numerator = libm::floor(libm::ldexp(alpha, shift as i32)) as u64;
        Self { epsilon, numerator, shift }
    }

    /// α as the fraction that runs: a numerator over a power of two, at most ε/2.
    pub fn rate(&self) -> (u64, u32) {
        (self.numerator, self.shift)
    }

    /// α as a float.
    fn alpha(&self) -> f64 {
        libm::ldexp(self.numerator as f64, -(self.shift as i32))
    }
}

impl Randomizer for ExponentialMechanism {
    type Input = Vec<u64>;
    type Report = u32;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, counts: &Vec<u64>, rng: &mut impl CryptoRng) -> Result<u32, PrivacyError> {
        let most = *counts.iter().max().ok_or(PrivacyError::NoCounts)?;
        loop {
            let j = uniform_below(counts.len() as u64, rng);
            let behind = u128::from(most - counts[j as usize]);
            if bernoulli_exp(behind * u128::from(self.numerator), 1 << self.shift, rng) {
                return Ok(j as u32);
            }
        }
    }

    fn ln_likelihood(&self, &report: &u32, counts: &Vec<u64>) -> f64 {
        let (Some(&most), Some(&count)) = (counts.iter().max(), counts.get(report as usize)) else {
            return f64::NEG_INFINITY;
        };
        // Never exponentiate a raw count: e^(α·n) overflows at n·ε of 1400.
        let weight = |count: u64| -self.alpha() * (most - count) as f64;
        let sum: f64 = counts.iter().map(|&count| libm::exp(weight(count))).sum();
        weight(count) - libm::log(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn ten_eight_and_five_at_one_have_the_probabilities_worked_by_hand() {
        let mechanism = ExponentialMechanism::new(epsilon(1.0));
        let counts = Vec::from([10, 8, 5]);
        for (j, expected) in [(0, 0.689_672_086_1), (1, 0.253_716_181_6), (2, 0.056_611_732_2)] {
            assert!((mechanism.ln_likelihood(&j, &counts).exp() - expected).abs() < 1e-10);
        }
    }

    #[test]
    fn huge_counts_do_not_overflow() {
        let mechanism = ExponentialMechanism::new(epsilon(0.5));
        let counts = Vec::from([1_000_000, 999_990, 0]);
        assert!((mechanism.ln_likelihood(&0, &counts).exp() - 0.924_141_82).abs() < 1e-8);
        assert!(mechanism.ln_likelihood(&2, &counts) < -200_000.0);
    }

    #[test]
    fn a_quarter_of_epsilon_spends_only_half_of_it() {
        // All ways to move one record between the cells of two counts each, at α = ε/4
        let quarter = ExponentialMechanism::new(epsilon(0.5));
        let mut loss = 0.0f64;
        for n in 0..12u64 {
            let (before, after) = (Vec::from([n, 60]), Vec::from([n + 1, 60]));
            for j in 0..2 {
                let ratio = quarter.ln_likelihood(&j, &before) - quarter.ln_likelihood(&j, &after);
                loss = loss.max(2.0 * ratio.abs());
            }
        }
        assert!(loss <= 0.5 && loss > 0.45, "of a promise of 1, {loss} is spent");
    }

    #[test]
    fn no_counts_are_no_choice() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let mechanism = ExponentialMechanism::new(epsilon(1.0));
        assert_eq!(mechanism.randomize(&Vec::new(), &mut rng), Err(PrivacyError::NoCounts));
    }
}
