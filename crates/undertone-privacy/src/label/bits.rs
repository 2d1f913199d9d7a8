//! Independent bits: each label is a member of the report or not, the true one with another probability.
//!
//! > P(k ∈ S) = p if k = y, else q, independently
//!
//! **Privacy.** Only the bits of two labels y and y' depend on which of them is true, so the likelihood ratio of
//! two inputs is at most p(1-q)/(q(1-p)). Four choices of (p, q) are offered, all with that ratio at e^ε.
//! Giving each *bit* a ratio of e^ε, as is easily done, would give the report one of e^(2ε).
//!
//! **As it runs.** The truth's bit is a coin; the others are drawn by the gaps between members ([`Gaps`]), with q
//! rounded up and p rounded down.

use super::{Covariance, Decoder, LabelRandomizer, LabelSet, Words, at_least_two};
use crate::exact::{Coin, Gaps, SetMemory};
use crate::integer_ratio::rounded_up;
use crate::{Epsilon, PrivacyError, ln_ratio};
use alloc::vec::Vec;
use rand_core::Rng;

/// Independent bits, one for each of K labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits {
    labels: u32,
    epsilon: Epsilon,
    truth: Coin,
    others: Gaps,
}

impl Bits {
    /// p = 1/2 and q = t/(1 + t), as published in *Convex Optimization with Local Label Differential Privacy*,
    /// eq. 1; also known as optimized unary encoding (Wang, Blocki, Li, Jha, *Locally differentially private
    /// protocols for frequency estimation*, 2017). The coin on the truth costs a full variance of one at any ε.
    pub fn as_published(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        at_least_two(labels)?;
        let others = Gaps::at_least(epsilon.t() / (1.0 + epsilon.t()));
        Self::informative(labels, epsilon, Coin::from_heads(1 << 63), others)
    }

    /// The (p, q) of least trace variance for this K: u = q/(1-q) and p = u/(u + t), with
    ///
    /// > u² = t·(1 + (K-1)·t) / (K - 1 + t)
    ///
    /// For K = 2 these are the symmetric bits, for K → ∞ the published ones.
    pub fn optimal(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        at_least_two(labels)?;
        let (k, t) = (f64::from(labels), epsilon.t());
        let u = libm::sqrt(t * (1.0 + (k - 1.0) * t) / (k - 1.0 + t));
        Self::with_other(labels, epsilon, u / (1.0 + u))
    }

    /// Symmetric bits, 1 - p = q = 1/(1 + e^(ε/2)): half of ε for each of the two bits in which inputs differ, as
    /// in *On Theoretical Limits of Learning with Label Differential Privacy*, eq. 11.
    pub fn symmetric(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        at_least_two(labels)?;
        let s = libm::exp(-epsilon.get() / 2.0);
        let others = Gaps::at_least(s / (1.0 + s));
        let truth = Coin::from_heads(others.ones().wrapping_neg());
        Self::informative(labels, epsilon, truth, others)
    }

    /// The bits with this q, rounded up, and the largest p that keeps the promise with the q that runs.
    fn with_other(labels: u32, epsilon: Epsilon, q: f64) -> Result<Self, PrivacyError> {
        let others = Gaps::at_least(q);
        // p/(1-p) = e^ε·q/(1-q), so 1 - p = t·(1-q)/(q + t·(1-q))
        let (q, scaled) = (others.probability(), epsilon.t() * others.complement());
        let (p, not_p) = (q / (q + scaled), scaled / (q + scaled));
        let truth = if p < 0.5 { Coin::at_most(p) } else { Coin::leaving_at_least(not_p) };
        Self::informative(labels, epsilon, truth, others)
    }

    /// Refuses an ε so small that rounding has left p = q.
    fn informative(labels: u32, epsilon: Epsilon, truth: Coin, others: Gaps) -> Result<Self, PrivacyError> {
        if truth.heads() <= others.ones() {
            return Err(PrivacyError::NoInformation { epsilon: epsilon.get() });
        }
        Ok(Self { labels, epsilon, truth, others })
    }

    /// p, 1-p, q, 1-q.
    fn probabilities(&self) -> (f64, f64, f64, f64) {
        (
            self.truth.probability(),
            self.truth.complement(),
            self.others.probability(),
            self.others.complement(),
        )
    }

    /// p - q, from the difference of the integers.
    fn gap(&self) -> f64 {
        libm::ldexp((self.truth.heads() - self.others.ones()) as f64, -64)
    }
}

impl LabelRandomizer for Bits {
    fn labels(&self) -> u32 {
        self.labels
    }

    fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    fn realised_epsilon(&self) -> f64 {
        // p/(1-p)·(1-q)/q in two ratios, whose products would not fit 128 bits
        let zeros = u128::from(self.others.ones().wrapping_neg());
        let truth = ln_ratio(self.truth.heads().into(), self.truth.tails());
        let other = ln_ratio(zeros, self.others.ones().into());
        let error = 4.0 * f64::EPSILON * (truth.abs() + other.abs());
        rounded_up(truth + other + error, self.epsilon)
    }

    fn draw(&self, truth: u32, _memory: &mut SetMemory, members: &mut Vec<u32>, rng: &mut impl Rng) {
        let start = members.len();
        let kept = self.truth.toss(rng);
        // Bits are drawn for all labels, and the one at the truth is dropped again …
        self.others.positions(self.labels, rng, |label| {
            members.push(label);
            members.truncate(members.len() - usize::from(label == truth));
        });
        // … then the truth, or nothing, is carried to its place past every member.
        let nothing = u32::from(!kept).wrapping_neg();
        let mut carried = truth | nothing;
        for member in &mut members[start..] {
            (*member, carried) = ((*member).min(carried), (*member).max(carried));
        }
        members.push(carried);
        members.truncate(members.len() - usize::from(!kept));
    }

    fn ln_probability(&self, report: &LabelSet, truth: u32) -> f64 {
        let members = report.members();
        if members.iter().any(|&member| member >= self.labels) {
            return f64::NEG_INFINITY;
        }
        let (p, not_p, q, not_q) = self.probabilities();
        let kept = report.contains(truth);
        let ones = members.len() as f64 - f64::from(u8::from(kept));
        let zeros = f64::from(self.labels - 1) - ones;
        libm::log(if kept { p } else { not_p }) + ones * libm::log(q) + zeros * libm::log(not_q)
    }

    fn inclusion(&self) -> (f64, f64) {
        (self.truth.probability(), self.others.probability())
    }

    fn words(&self) -> Words {
        Words { truth: self.truth.heads().into(), other: Some(self.others.ones().into()) }
    }

    fn decoder(&self) -> Decoder {
        Decoder::new(self.others.probability(), self.gap())
    }

    fn covariance(&self) -> Covariance {
        let (p, not_p, q, not_q) = self.probabilities();
        Covariance::independent(self.labels, p, not_p, q, not_q, self.gap())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn optimal_bits_have_the_trace_of_the_closed_form() {
        for (labels, value) in [(2, 1.0f64), (10, 0.5), (26, 3.0), (1000, 2.0)] {
            let (k, e) = (f64::from(labels), value.exp());
            // T = 2·(K·e^ε + √(e^ε·(e^ε+K-1)·(1+(K-1)·e^ε)))/(e^ε-1)²
            let root = (e * (e + k - 1.0) * (1.0 + (k - 1.0) * e)).sqrt();
            let expected = 2.0 * (k * e + root) / (e - 1.0).powi(2);
            let ours = Bits::optimal(labels, epsilon(value)).unwrap().covariance().trace();
            assert!((ours / expected - 1.0).abs() < 1e-9, "K = {labels}, ε = {value}: {ours} for {expected}");
        }
    }

    #[test]
    fn published_bits_keep_a_variance_of_one_at_any_epsilon() {
        let worst = Bits::as_published(10, epsilon(30.0)).unwrap().covariance().worst_case();
        assert!((worst - 1.0).abs() < 1e-6);
    }

    #[test]
    fn symmetric_bits_at_one_have_the_published_probabilities() {
        let (p, q) = Bits::symmetric(4, epsilon(1.0)).unwrap().inclusion();
        assert!((p - 0.622_459_331_2).abs() < 1e-10 && (q - 0.377_540_668_8).abs() < 1e-10);
    }

    #[test]
    fn a_whole_epsilon_for_each_bit_would_lose_two() {
        // Bits of log-odds ±ε each: the loss is the sum over the two bits in which inputs differ.
        let wrong = Bits::symmetric(3, epsilon(2.0)).unwrap();
        assert!((wrong.realised_epsilon() - 2.0).abs() < 1e-12, "ε = 1 a bit loses 2");
        let right = Bits::symmetric(3, epsilon(1.0)).unwrap();
        assert!((right.realised_epsilon() - 1.0).abs() < 1e-12 && right.realised_epsilon() <= 1.0);
    }
}
