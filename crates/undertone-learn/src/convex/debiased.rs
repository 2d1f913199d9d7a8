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

use crate::LearnError;
use undertone_privacy::Epsilon;

/// The debiased loss of answers among k labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DebiasedLoss {
    asked: u32,
    epsilon: Epsilon,
}

impl DebiasedLoss {
    /// For randomized response among `asked` = k ≥ 1 labels.
    pub fn new(asked: u32, epsilon: Epsilon) -> Result<Self, LearnError> {
        if asked == 0 {
            let what = "the number of labels that are asked about";
            return Err(LearnError::Parameter { what, value: 0.0, expected: "at least one" });
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

    /// How far the mean of n ≥ 1 debiased losses in \[0, 1\] can be from the risk, but for a probability of 0 < `beta` < 1;
    /// `miss` is P(y ∉ Y_k).
    pub fn deviation(&self, n: u64, beta: f64, miss: f64) -> Result<f64, LearnError> {
        let refuse = |what, value, expected| Err(LearnError::Parameter { what, value, expected });
        if n == 0 {
            return refuse("the number of losses", 0.0, "at least one");
        }
        if !(beta > 0.0 && beta < 1.0) {
            return refuse("beta", beta, "between 0 and 1");
        }
        if !(0.0..=1.0).contains(&miss) {
            return refuse("the share of missed labels", miss, "from 0 to 1");
        }
        Ok(self.factor() * ((2.0 / beta).ln() / (2.0 * n as f64)).sqrt() + miss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_labels() -> DebiasedLoss {
        DebiasedLoss::new(2, Epsilon::new(3f64.ln()).unwrap()).unwrap()
    }

    #[test]
    fn the_missed_share_is_added_once_and_is_not_multiplied() {
        // F = (3 + 4 - 3)/(3 - 1) = 2, and β = 2·e^-2 makes the root √(2/(2·100)) = 1/10
        let beta = 2.0 * f64::exp(-2.0);
        for (miss, expected) in [(0.0, 0.2), (0.25, 0.45), (1.0, 1.2)] {
            let found = two_labels().deviation(100, beta, miss).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
    }

    #[test]
    fn what_is_no_probability_or_no_number_of_people_or_labels_is_refused() {
        let refused = |n, beta, miss| two_labels().deviation(n, beta, miss).unwrap_err().to_string();
        for beta in [0.0, -0.1, 1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert!(refused(10, beta, 0.0).starts_with(&format!("beta is {beta}")));
        }
        for miss in [-0.1, 1.1, f64::NAN] {
            assert!(refused(10, 0.1, miss).starts_with(&format!("the share of missed labels is {miss}")));
        }
        assert_eq!(refused(0, 0.1, 0.0), "the number of losses is 0, but has to be at least one");
        let error = DebiasedLoss::new(0, Epsilon::new(1.0).unwrap()).unwrap_err().to_string();
        assert_eq!(error, "the number of labels that are asked about is 0, but has to be at least one");
    }
}
