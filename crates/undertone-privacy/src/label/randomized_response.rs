//! K-ary randomized response: the truth, or any of the other labels evenly.
//!
//! With t = e^-ε,
//!
//! > P(y | y) = 1/(1 + (K-1)·t), P(k | y) = t/(1 + (K-1)·t)
//!
//! **Privacy.** One report has the probability p under its own label and q under every other, and p/q = e^ε.
//!
//! **As it runs.** One word decides: p of the 2^64 words say the truth, q say each other label, where q is
//! rounded up and p = 2^64 - (K-1)·q takes what is left, so p/q ≤ e^ε and all 2^64 words are used.
//!
//! Warner, *Randomized response* (1965); for K labels Kairouz, Bonawitz, Ramage, *Discrete distribution estimation
//! under local privacy* (2016).

use super::{
    Covariance, Decoder, Label, LabelRandomizer, LabelSet, ReportColumn, Words, at_least_two, known,
};
use crate::exact::{SetMemory, WordBuffer};
use crate::integer_ratio::rounded_up;
use crate::{Epsilon, PrivacyError, ln_ratio};
use alloc::vec::Vec;
use rand_core::{CryptoRng, Rng};

/// 2^64, the number of words, as a float.
const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// Randomized response among K labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomizedResponse {
    labels: u32,
    epsilon: Epsilon,
    /// Words that say the truth
    truth_words: u64,
    /// Words that say any one other label
    other_words: u64,
    /// ⌊2^64 / other_words⌋, to divide by multiplying
    reciprocal: u64,
}

impl RandomizedResponse {
    /// Randomized response among `labels` labels under a promise of `epsilon`.
    pub fn new(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        at_least_two(labels)?;
        let others = f64::from(labels - 1);
        let q = epsilon.t() / (1.0 + others * epsilon.t());
        // Rounded up by more than the float is off
        let other_words = (libm::ceil(q * (1.0 + 8.0 * f64::EPSILON) * WORDS) as u64).max(1);
        // What is left for the truth has to be more than any other label has. To lower q to the even share instead
        // would give the truth the remainder of 2^64/K, which may be more than the promise allows.
        let others = u128::from(labels - 1) * u128::from(other_words);
        let truth_words = (1u128 << 64).checked_sub(others).map_or(0, |words| words as u64);
        if truth_words <= other_words {
            return Err(PrivacyError::NoInformation { epsilon: epsilon.get() });
        }
        let reciprocal = u64::try_from((1u128 << 64) / u128::from(other_words)).unwrap_or(u64::MAX);
        Ok(Self { labels, epsilon, truth_words, other_words, reciprocal })
    }

    /// The report that a uniform `word` makes of `truth`. Both answers are worked out and one is chosen, so that
    /// the time does not tell which.
    #[inline]
    pub(super) fn answer(&self, truth: u32, word: u64) -> u32 {
        let rank = self.other_rank(word.wrapping_sub(self.truth_words));
        let other = rank.wrapping_add(u32::from(rank >= truth));
        // A mask instead of a branch
        let keep = u32::from(word < self.truth_words).wrapping_neg();
        (truth & keep) | (other & !keep)
    }

    /// ⌊word / other_words⌋: the product with the reciprocal is at most one too small.
    #[inline]
    fn other_rank(&self, word: u64) -> u32 {
        let guess = ((u128::from(word) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = word.wrapping_sub(guess.wrapping_mul(self.other_words));
        (guess + u64::from(rest >= self.other_words)) as u32
    }

    /// p and q.
    pub(super) fn probabilities(&self) -> (f64, f64) {
        (self.truth_words as f64 / WORDS, self.other_words as f64 / WORDS)
    }

    /// p - q, from the difference of the integers.
    fn gap(&self) -> f64 {
        (self.truth_words - self.other_words) as f64 / WORDS
    }
}

impl LabelRandomizer for RandomizedResponse {
    fn labels(&self) -> u32 {
        self.labels
    }

    fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    fn realised_epsilon(&self) -> f64 {
        rounded_up(ln_ratio(self.truth_words.into(), self.other_words.into()), self.epsilon)
    }

    #[inline]
    fn draw(&self, truth: u32, _memory: &mut SetMemory, members: &mut Vec<u32>, rng: &mut impl Rng) {
        members.push(self.answer(truth, rng.next_u64()));
    }

    fn ln_probability(&self, report: &LabelSet, truth: u32) -> f64 {
        match *report.members() {
            [member] if member >= self.labels => f64::NEG_INFINITY,
            [member] => {
                let (p, q) = self.probabilities();
                libm::log(if member == truth { p } else { q })
            }
            _ => f64::NEG_INFINITY,
        }
    }

    fn inclusion(&self) -> (f64, f64) {
        self.probabilities()
    }

    fn words(&self) -> Words {
        Words { truth: self.truth_words.into(), other: Some(self.other_words.into()) }
    }

    fn decoder(&self) -> Decoder {
        Decoder::new(self.probabilities().1, self.gap())
    }

    fn covariance(&self) -> Covariance {
        let (p, q) = self.probabilities();
        let not_p = f64::from(self.labels - 1) * q;
        Covariance::fixed_size(self.labels, p, not_p, q, self.gap())
    }

    fn randomize_column(
        &self,
        labels: &[Label],
        column: &mut ReportColumn,
        rng: &mut impl CryptoRng,
    ) -> Result<(), PrivacyError> {
        known(labels, self.labels)?;
        let mut rng = WordBuffer::new(rng);
        column.push_singles(labels.iter().map(|&Label(truth)| self.answer(truth, rng.next_u64())));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomizer;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn three_labels_at_e_to_the_epsilon_three_keep_the_truth_three_times_in_five() {
        let mechanism = RandomizedResponse::new(3, epsilon(3f64.ln())).unwrap();
        let p =
            |report, truth| mechanism.ln_likelihood(&LabelSet::new(Vec::from([report])), &Label(truth)).exp();
        assert!((p(0, 0) - 3.0 / 5.0).abs() < 1e-12);
        assert!((p(1, 0) - 1.0 / 5.0).abs() < 1e-12);
    }

    #[test]
    fn every_label_gets_exactly_its_words() {
        // The words at the borders of each share, for shares of every size
        for (labels, value) in [(2, 1.0), (3, 1e-6), (10, 4.0), (100_000, 1.0), (100_000, 50.0), (7, 50.0)] {
            let mechanism = RandomizedResponse::new(labels, epsilon(value)).unwrap();
            let (p, q) = (mechanism.truth_words, mechanism.other_words);
            let truth = labels / 2;
            assert_eq!(mechanism.answer(truth, 0), truth);
            assert_eq!(mechanism.answer(truth, p - 1), truth);
            for rank in [0, 1, labels / 3, labels - 2].map(|rank| rank.min(labels - 2)) {
                let other = rank + u32::from(rank >= truth);
                let first = p + u64::from(rank) * q;
                assert_eq!(mechanism.answer(truth, first), other, "K = {labels}, ε = {value}");
                assert_eq!(mechanism.answer(truth, first + (q - 1)), other, "K = {labels}, ε = {value}");
            }
            assert_eq!(u128::from(p) + u128::from(labels - 1) * u128::from(q), 1 << 64);
        }
    }

    #[test]
    fn an_epsilon_too_small_for_the_words_is_refused_and_never_exceeded() {
        // 2^64 is no multiple of these K: an even split leaves a remainder that is worth more than such an ε.
        for labels in [3, 10, 100_000, 3_000_000_000, u32::MAX] {
            for value in [1e-30, 1e-18, 1e-12, 1e-10, 1e-6, 0.01, 0.05, 1.0] {
                match RandomizedResponse::new(labels, epsilon(value)) {
                    Ok(mechanism) => {
                        assert!(mechanism.realised_epsilon() <= value, "K = {labels}, ε = {value}");
                    }
                    Err(error) => assert_eq!(error, PrivacyError::NoInformation { epsilon: value }),
                }
            }
        }
        assert!(RandomizedResponse::new(10, epsilon(1e-30)).is_err());
        assert!(RandomizedResponse::new(3_000_000_000, epsilon(0.05)).is_err());
    }

    #[test]
    fn one_label_is_no_choice() {
        assert_eq!(RandomizedResponse::new(1, epsilon(1.0)), Err(PrivacyError::TooFewLabels { labels: 1 }));
    }
}
