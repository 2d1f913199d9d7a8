//! One bit, likelier to be one the larger the number: the best there is for small ε.
//!
//! > P(1 | i) = (l + i·s) / 2^64 for i = 0, …, 2^20, with integers 2·l + 2^20·s = 2^64
//!
//! **Privacy.** Both bits have probabilities between l/2^64 and 1 - l/2^64, and s is the largest integer with
//! (2^64 - l) / l ≤ e^ε, that is s ≤ 2^44·(e^ε - 1)/(e^ε + 1).
//!
//! **Utility.** E[bit] is affine in i, so (2^64·bit - l)/s is unbiased for i. On [-1, 1] that is ±C with
//! C = 2^44/s ≈ (e^ε + 1)/(e^ε - 1), of variance C² - x², worst in the middle.
//!
//! Duchi, Jordan, Wainwright, *Minimax optimal procedures for locally private estimation* (2018), in one dimension;
//! ours has s rounded down to an integer, which makes the decoder exact.

use super::{Bounds, GridNumber, NumberRandomizer, ROUND_UP, WORDS, large_enough, loss};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, ln_ratio};
use core::ops::RangeInclusive;
use rand_core::CryptoRng;

/// The number as the probability of a bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneBit {
    bounds: Bounds,
    epsilon: Epsilon,
    low_words: u64,
    step_words: u64,
}

impl OneBit {
    /// The steepest probability that keeps ε.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        large_enough(epsilon)?;
        let n = bounds.half() as u64;
        // A step of 2^63/n words would reach from 0 to 2^64. Of it, (e^ε - 1)/(e^ε + 1) = 1 - 2t/(1 + t) is allowed.
        let whole = (1 << 63) / n;
        let t = epsilon.t();
        let gap = libm::ceil(whole as f64 * (2.0 * t / (1.0 + t)) * ROUND_UP) as u64;
        // Neither bit may be certain. The least ε leaves a step of some 2^13 words.
        let gap = gap.max(1);
        Ok(Self { bounds, epsilon, low_words: n * gap, step_words: whole - gap })
    }

    /// l, the words out of 2^64 that give a one at the lower end, and a zero at the upper end.
    pub fn low_words(self) -> u64 {
        self.low_words
    }

    /// s, the words by which each step of the grid makes a one likelier.
    pub fn step_words(self) -> u64 {
        self.step_words
    }

    /// The words that give a one.
    fn words(self, input: GridNumber) -> u64 {
        self.low_words + u64::from(input.index()) * self.step_words
    }
}

impl Randomizer for OneBit {
    type Input = GridNumber;
    type Report = i64;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, input: &GridNumber, rng: &mut impl CryptoRng) -> Result<i64, PrivacyError> {
        Ok(i64::from(rng.next_u64() < self.words(*input)))
    }

    fn ln_likelihood(&self, report: &i64, input: &GridNumber) -> f64 {
        let ones = self.words(*input);
        match report {
            0 => ln_ratio(u128::from(ones.wrapping_neg()), 1 << 64),
            1 => ln_ratio(u128::from(ones), 1 << 64),
            _ => f64::NEG_INFINITY,
        }
    }
}

impl NumberRandomizer for OneBit {
    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn decode(&self, report: i64) -> f64 {
        // (2^64·bit - l)/s - n = (2·bit - 1)·2^63/s
        let sign = if report > 0 { 1.0 } else { -1.0 };
        self.bounds.off_centre(sign * 0.5 * WORDS / self.step_words as f64)
    }

    fn variance_at(&self, value: GridNumber) -> f64 {
        // P(1)·P(0)·(2^64/s)², without cancellation when C is nearly one
        let ones = self.words(value);
        let step = self.step_words as f64 / self.bounds.step();
        (ones as f64 / step) * (ones.wrapping_neg() as f64 / step)
    }

    fn worst_variance(&self) -> f64 {
        // P(1)·P(0) is largest at one half.
        self.variance_at(self.bounds.middle())
    }

    fn realised_epsilon(&self) -> f64 {
        loss(u128::from(self.low_words.wrapping_neg()), u128::from(self.low_words), self.epsilon)
    }

    fn alphabet(&self) -> Option<RangeInclusive<i64>> {
        Some(0..=1)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::super::tests::{on_unit, within};
    use super::*;

    #[test]
    fn at_e_to_the_epsilon_three_the_ends_give_three_quarters_and_the_decoder_gives_plus_or_minus_two() {
        let mechanism = on_unit(3f64.ln(), OneBit::new);
        let p = |input| mechanism.ln_likelihood(&1, &input).exp();
        assert!(
            within(p(mechanism.bounds().lowest()), 0.25, 1e-12)
                && within(p(mechanism.bounds().highest()), 0.75, 1e-12)
        );
        assert_eq!(p(mechanism.bounds().middle()), 0.5);
        assert!(within(mechanism.decode(1), 2.0, 1e-12) && within(mechanism.decode(0), -2.0, 1e-12));
        // C² - x² = 4 - 1 at the ends
        assert!(within(mechanism.variance_at(mechanism.bounds().lowest()), 3.0, 1e-12));
    }

    #[test]
    fn worst_variances_are_those_of_the_table() {
        for (epsilon, variance) in [(0.25, 64.67), (0.5, 16.67), (1.0, 4.683), (2.0, 1.724), (4.0, 1.076)] {
            assert!(within(on_unit(epsilon, OneBit::new).worst_variance(), variance, 5e-4), "{epsilon}");
        }
    }

    #[test]
    fn the_ends_mirror_each_other_and_the_step_is_the_largest_that_is_allowed() {
        for epsilon in [1e-6, 1e-3, 0.5, 1.0, 5.0, 20.0] {
            let mechanism = on_unit(epsilon, OneBit::new);
            let (l, s) = (mechanism.low_words(), mechanism.step_words());
            assert_eq!(2 * u128::from(l) + (u128::from(s) << 20), 1 << 64);
            assert!(mechanism.realised_epsilon() <= epsilon);
            // two more words for each step, one of them for the safety of rounding, would break the promise
            let beyond = l - (2 << 19);
            assert!(ln_ratio(u128::from(beyond.wrapping_neg()), u128::from(beyond)) > epsilon, "{epsilon}");
        }
    }

    #[test]
    fn a_huge_epsilon_still_leaves_both_bits_possible() {
        for epsilon in [50.0, 1e4] {
            let mechanism = on_unit(epsilon, OneBit::new);
            assert_eq!(mechanism.low_words(), 1 << 19);
            assert!(mechanism.realised_epsilon() < 31.2);
        }
    }
}
