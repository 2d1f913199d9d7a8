//! A histogram with discrete Laplace noise, a fresh draw for every bin.
//!
//! > n_j + Z_j, P(Z_j = z) ∝ exp(-|z|·ε/2)
//!
//! **Privacy.** A change of one label moves two bins by one each, so the loss is at most 2·(ε/2).
//!
//! Algorithm 4 in the supplement of *Deep Learning with Label Differential Privacy* draws one noise for the whole
//! histogram; the differences of its bins are then the true ones.

use crate::exact::{DiscreteLaplace, Scale};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// A histogram to which a label change does two counts of harm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoisyHistogram {
    epsilon: Epsilon,
    noise: DiscreteLaplace,
}

impl NoisyHistogram {
    /// Under a promise of `epsilon` for the change of one label.
    pub fn new(epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Ok(Self { epsilon, noise: DiscreteLaplace::new(Scale::at_least(2.0 / epsilon.get())?) })
    }

    /// The noise of every bin.
    pub fn noise(&self) -> DiscreteLaplace {
        self.noise
    }
}

impl Randomizer for NoisyHistogram {
    type Input = Vec<u64>;
    type Report = Vec<i64>;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, counts: &Vec<u64>, rng: &mut impl CryptoRng) -> Result<Vec<i64>, PrivacyError> {
        if counts.is_empty() {
            return Err(PrivacyError::NoCounts);
        }
        if let Some(&value) = counts.iter().find(|&&count| count > 1 << 61) {
            return Err(PrivacyError::Count { value });
        }
        let mut noisy: Vec<i64> = counts.iter().map(|&count| count as i64).collect();
        self.noise.add_to(&mut noisy, rng);
        Ok(noisy)
    }

    fn ln_likelihood(&self, report: &Vec<i64>, counts: &Vec<u64>) -> f64 {
        if report.len() != counts.len() {
            return f64::NEG_INFINITY;
        }
        report.iter().zip(counts).map(|(&noisy, &count)| self.noise.ln_pmf(noisy - count as i64)).sum()
    }
}

impl Unbiased for NoisyHistogram {
    fn truth(&self, counts: &Vec<u64>) -> Vec<f64> {
        counts.iter().map(|&count| count as f64).collect()
    }

    fn estimate(&self, report: &Vec<i64>) -> Vec<f64> {
        report.iter().map(|&noisy| noisy as f64).collect()
    }

    fn variance(&self, counts: &Vec<u64>) -> f64 {
        counts.len() as f64 * self.noise.variance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn one_noise_for_all_bins_would_leave_their_differences_bare() {
        let histogram = NoisyHistogram::new(Epsilon::new(1.0).unwrap()).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let (before, after) = (Vec::from([5u64, 3]), Vec::from([4u64, 4]));
        // As printed: the difference of the bins is 2 for one input and 0 for its neighbour, whatever the noise.
        let printed = |counts: &[u64], noise: i64| (counts[0] as i64 + noise) - (counts[1] as i64 + noise);
        for _ in 0..100 {
            let noise = histogram.noise.sample(&mut rng);
            assert_eq!((printed(&before, noise), printed(&after, noise)), (2, 0));
        }
        // As it runs: both inputs can show either difference.
        let differences: Vec<i64> = (0..100)
            .map(|_| histogram.randomize(&before, &mut rng).map(|noisy| noisy[0] - noisy[1]).unwrap())
            .collect();
        assert!(differences.contains(&0) && differences.contains(&2) && differences.contains(&-2));
    }

    #[test]
    fn a_count_beyond_exact_arithmetic_is_refused() {
        let histogram = NoisyHistogram::new(Epsilon::new(1.0).unwrap()).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        assert_eq!(
            histogram.randomize(&Vec::from([u64::MAX]), &mut rng),
            Err(PrivacyError::Count { value: u64::MAX })
        );
        assert_eq!(histogram.randomize(&Vec::new(), &mut rng), Err(PrivacyError::NoCounts));
    }
}
