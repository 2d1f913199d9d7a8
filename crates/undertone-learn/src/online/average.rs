//! The mean of iterates, kept as a mean.
//!
//! > θ̄_k = θ̄_{k-1} + (s+1)/(k+s)·(θ_i - θ̄_{k-1}),   k = i - n₀
//!
//! s = 0 is the mean of Polyak and Ruppert over what came after the burn-in n₀. s > 0 weighs θ_k about like k^s and forgets the
//! start sooner (Shamir, Zhang, 2013). A running sum would lose digits. A mean of points of a convex set lies in it.

use crate::LearnError;
use serde::{Deserialize, Serialize};

/// θ̄ after k iterates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Average {
    /// s
    decay: f64,
    /// k
    count: u64,
    mean: Vec<f64>,
}

impl Average {
    pub(super) fn new(parameters: usize, decay: f64) -> Result<Self, LearnError> {
        if !(0.0..=100.0).contains(&decay) {
            let (what, expected) = ("the decay of the average", "from 0 to 100");
            return Err(LearnError::Parameter { what, value: decay, expected });
        }
        Ok(Self { decay, count: 0, mean: vec![0.0; parameters] })
    }

    pub(super) fn observe(&mut self, point: &[f64]) {
        self.count += 1;
        let weight = (self.decay + 1.0) / (self.count as f64 + self.decay);
        for (mean, value) in self.mean.iter_mut().zip(point) {
            *mean += weight * (value - *mean);
        }
    }

    /// θ̄; none before the first iterate.
    pub(super) fn mean(&self) -> Option<&[f64]> {
        (self.count > 0).then_some(&self.mean)
    }

    pub(super) fn is_of(&self, parameters: usize) -> bool {
        self.mean.len() == parameters && self.mean.iter().all(|mean| mean.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn average(decay: f64, values: &[f64]) -> f64 {
        let mut average = Average::new(1, decay).unwrap();
        assert!(average.mean().is_none());
        for value in values {
            average.observe(&[*value]);
        }
        average.mean().unwrap()[0]
    }

    #[test]
    fn no_decay_is_the_mean_and_three_weighs_like_binomials() {
        let values = [5.0, 1.0, -2.0, 7.0];
        assert!((average(0.0, &values) - 11.0 / 4.0).abs() < 1e-14);
        // With s = 3 the weight of θ_k is C(k+2, 3): 1, 4, 10, 20.
        let expected = (5.0 + 4.0 - 20.0 + 140.0) / 35.0;
        assert!((average(3.0, &values) - expected).abs() < 1e-14);
    }

    #[test]
    fn a_large_constant_stays_what_it_is() {
        assert!((average(0.0, &[1e15 + 1.0; 1000]) - (1e15 + 1.0)).abs() < 1e-9);
        assert!(Average::new(1, -1.0).is_err() && Average::new(1, f64::NAN).is_err());
    }
}
