//! The debiased loss of answers among k likely labels (Ghazi et al., eq. 17).
//!
//! > ℓ̃(r) = \[(1 + (k-1)·t)·ℓ(r) - t·Σ_{Y_k} ℓ\]/m = Σ_k a_k·ℓ_k
//!
//! Its mean over the answers r is ℓ(y) for y ∈ Y_k and the mean of ℓ over Y_k otherwise. If ℓ is L-Lipschitz, or has values
//! in an interval of width one, ℓ̃ is F·L-Lipschitz, or has values in an interval of width F, where
//!
//! > F = Σ_k |a_k| = (1 + (2k-3)·t)/m = (e^ε + 2k - 3)/(e^ε - 1)
//!
//! Theorem 17 and Lemma 21 of the supplement take the width of ℓ̃ for one. With the right width the mean of n debiased
//! losses of a fixed f is, with probability 1 - β, within
//!
//! > F·√(ln(2/β)/(2n)) + P(y ∉ Y_k)
//!
//! of its risk (Hoeffding); the term without F is exceeded more often than not at ε = 1/2.

use super::positive;
use crate::LearnError;
use undertone_privacy::{Epsilon, PrivacyError};

/// The debiased loss of answers among k labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DebiasedLoss {
    asked: u32,
    epsilon: Epsilon,
}

impl DebiasedLoss {
    /// For randomized response among `asked` = k ≥ 1 labels.
    pub fn new(asked: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        if asked == 0 {
            return Err(PrivacyError::TopSize { size: 0, labels: u32::MAX });
        }
        Ok(Self { asked, epsilon })
    }

    /// ℓ̃ of the answer, given the loss of the label that was answered and the sum of the losses of all k.
    pub fn value(&self, answered: f64, sum: f64) -> f64 {
        if self.asked == 1 {
            return answered;
        }
        let (t, m) = (self.epsilon.t(), self.epsilon.m());
        ((1.0 + f64::from(self.asked - 1) * t) * answered - t * sum) / m
    }

    /// F, by which ℓ̃ is steeper and wider than ℓ. The supplement's Lemma 19 has the larger (1 + k·p)/(1 - k·p).
    pub fn factor(&self) -> f64 {
        if self.asked == 1 {
            return 1.0;
        }
        (1.0 + (2.0 * f64::from(self.asked) - 3.0) * self.epsilon.t()) / self.epsilon.m()
    }

    /// How far the mean of n debiased losses in \[0, 1\] can be from the risk, but for a probability of `beta`.
    pub fn deviation(&self, n: u64, beta: f64, miss: f64) -> Result<f64, LearnError> {
        positive("beta", beta)?;
        Ok(self.factor() * ((2.0 / beta).ln() / (2.0 * n as f64)).sqrt() + miss)
    }
}
