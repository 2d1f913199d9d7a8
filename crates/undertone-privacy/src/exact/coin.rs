//! A biased coin as so many words out of 2^64, so that the probability we reason about is the one that runs.

use rand_core::Rng;

/// 2^64, the number of words, as a float.
const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// A float that was computed with a handful of operations is off by a few units in the last place; this is more.
const SAFETY: f64 = 8.0 * f64::EPSILON;

/// A coin that shows heads for `heads` of the 2^64 words a generator may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coin {
    heads: u64,
}

impl Coin {
    /// A coin with exactly `heads` words out of 2^64.
    pub fn from_heads(heads: u64) -> Self {
        Self { heads }
    }

    /// The coin of greatest probability that is certainly at most `p`, even if `p` was rounded.
    ///
    /// Give a `p` above one half through [`leaving_at_least`](Self::leaving_at_least) instead: its distance from
    /// one is what matters, and it is lost in `p`.
    pub fn at_most(p: f64) -> Self {
        debug_assert!((0.0..=1.0).contains(&p));
        // `as` saturates, so that a p of one becomes 2^64 - 1 words.
        Self { heads: libm::floor(p * (1.0 - SAFETY) * WORDS) as u64 }
    }

    /// The coin of greatest probability that certainly leaves at least `q` for tails, and never less than one word.
    pub fn leaving_at_least(q: f64) -> Self {
        debug_assert!((0.0..=1.0).contains(&q));
        let tails = libm::ceil(q * (1.0 + SAFETY) * WORDS);
        // 2^64 - tails, where tails = 2^64 leaves no heads at all
        let heads = if tails >= WORDS { 0 } else { (tails as u64).max(1).wrapping_neg() };
        Self { heads }
    }

    /// Heads or tails, from one word.
    #[inline]
    pub fn toss(self, rng: &mut impl Rng) -> bool {
        rng.next_u64() < self.heads
    }

    /// The words that show heads.
    pub fn heads(self) -> u64 {
        self.heads
    }

    /// The words that show tails: 2^64 − heads.
    pub fn tails(self) -> u128 {
        (1 << 64) - u128::from(self.heads)
    }

    /// The probability of heads.
    pub fn probability(self) -> f64 {
        self.heads as f64 / WORDS
    }

    /// The probability of tails, without cancellation when it is small.
    pub fn complement(self) -> f64 {
        self.tails() as f64 / WORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_never_exceeds_the_probability_asked_for() {
        for p in [1e-19, 1e-6, 0.1, 1.0 / 3.0, 0.5] {
            assert!(Coin::at_most(p).probability() <= p);
            assert!(Coin::at_most(p).probability() >= p * (1.0 - 1e-14) - 1.0 / WORDS);
            assert!(Coin::leaving_at_least(p).complement() >= p);
        }
    }

    #[test]
    fn a_tail_too_small_to_see_still_gets_one_word() {
        let coin = Coin::leaving_at_least(1e-30);
        assert_eq!((coin.heads(), coin.tails()), (u64::MAX, 1));
        assert_eq!(Coin::leaving_at_least(1.0).heads(), 0);
    }
}
