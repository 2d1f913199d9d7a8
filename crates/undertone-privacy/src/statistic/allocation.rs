//! Who is asked about which statistic: a public draw with integer weights, hence an exact one.
//!
//! With probability π_j for statistic j, its mean over n people has a variance of V_j/(n·π_j), V_j being that of one
//! answer. An answer made of several means, Σ_j c_j·mean_j, has the least variance if
//!
//! > π_j ∝ |c_j|·√V_j,   for then Σ_j c_j²·V_j/(n·π_j) = (Σ_j |c_j|·√V_j)²/n  (Cauchy–Schwarz)

use crate::PrivacyError;
use crate::exact::uniform_below;
use alloc::vec::Vec;
use rand_core::Rng;

/// Integer weights of statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The sum of the weights up to and including each statistic
    cumulative: Vec<u64>,
}

impl Allocation {
    /// The most statistics, and the largest weight of each: their sum stays below 2^56.
    const MOST: usize = 1 << 24;

    /// Of one statistic after the other. A weight of zero is never drawn, but one has to be.
    pub fn new(weights: &[u32]) -> Result<Self, PrivacyError> {
        if weights.is_empty() || weights.len() > Self::MOST {
            return Err(PrivacyError::Dimension { dimension: weights.len(), least: 1, most: Self::MOST });
        }
        let mut sum = 0;
        let cumulative: Vec<u64> = weights
            .iter()
            .map(|&weight| {
                sum += u64::from(weight);
                sum
            })
            .collect();
        if sum == 0 {
            return Err(PrivacyError::Parameter { what: "the sum of the weights", value: 0.0 });
        }
        Ok(Self { cumulative })
    }

    /// Weights in proportion to `sizes`, which are finite and not negative, the largest of them 2^20: rounding leaves each
    /// within a millionth of the largest. What is not zero keeps a weight of at least one.
    pub fn proportional(sizes: &[f64]) -> Result<Self, PrivacyError> {
        if let Some(&value) = sizes.iter().find(|size| !(size.is_finite() && **size >= 0.0)) {
            return Err(PrivacyError::Parameter { what: "the weight of a statistic", value });
        }
        let largest = sizes.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let weight = |size: &f64| {
            let weight = libm::round(size / largest * f64::from(1u32 << 20)) as u32;
            weight.max(u32::from(*size > 0.0))
        };
        Self::new(&sizes.iter().map(weight).collect::<Vec<_>>())
    }

    /// How many statistics there are.
    pub fn statistics(&self) -> usize {
        self.cumulative.len()
    }

    /// The weight of a statistic.
    pub fn weight(&self, statistic: usize) -> u32 {
        let before = statistic.checked_sub(1).map_or(0, |previous| self.cumulative[previous]);
        (self.cumulative[statistic] - before) as u32
    }

    /// π_j, the share of the people who are asked about a statistic.
    pub fn share(&self, statistic: usize) -> f64 {
        f64::from(self.weight(statistic)) / self.total() as f64
    }

    /// A person's statistic, for whoever assigns them: it needs no secrecy, and does not depend on the record.
    pub fn draw(&self, rng: &mut impl Rng) -> u32 {
        let place = uniform_below(self.total(), rng);
        self.cumulative.partition_point(|&sum| sum <= place) as u32
    }

    fn total(&self) -> u64 {
        // `new` refuses an empty list.
        self.cumulative[self.cumulative.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn statistics_are_drawn_as_often_as_their_weights_say_and_those_without_never() {
        let allocation = Allocation::new(&[0, 3, 1, 0, 4, 0]).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let n = 80_000u32;
        let mut seen = [0u32; 6];
        for _ in 0..n {
            seen[allocation.draw(&mut rng) as usize] += 1;
        }
        for (j, &count) in seen.iter().enumerate() {
            let p = [0.0, 0.375, 0.125, 0.0, 0.5, 0.0][j];
            assert!((allocation.share(j) - p).abs() < 1e-15);
            let sigma = (f64::from(n) * p * (1.0 - p)).sqrt();
            assert!((f64::from(count) - f64::from(n) * p).abs() <= 5.0 * sigma);
        }
    }

    #[test]
    fn sizes_become_weights_in_proportion() {
        let allocation = Allocation::proportional(&[2.0, 1.0, 0.0, 1e-30]).unwrap();
        let weights: Vec<u32> = (0..4).map(|j| allocation.weight(j)).collect();
        assert_eq!(weights, [1 << 20, 1 << 19, 0, 1]);
    }

    #[test]
    fn weights_that_nobody_could_be_asked_by_are_refused() {
        assert!(Allocation::new(&[]).is_err() && Allocation::new(&[0, 0]).is_err());
        for size in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(Allocation::proportional(&[1.0, size]).is_err());
        }
        assert!(Allocation::proportional(&[0.0]).is_err());
    }
}
