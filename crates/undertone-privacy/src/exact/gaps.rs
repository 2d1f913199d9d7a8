//! Independent bits of one probability, drawn by the gaps between the ones: the cost follows the ones, not the bits.
//!
//! With q = T/2^64, the gap before the next one is at least g with probability (1 - q)^g. A table holds
//!
//! > F_g = ⌊2^128 · (1 - q)^g⌋ for g = 1, …, B
//!
//! and a uniform 128-bit number U has the gap max {g : U < F_g}; at B the search starts anew behind B zeros, which
//! is sound because gaps have no memory. All but 2^-52 of the draws are decided by the first of U's two words.
//!
//! **Exactness.** Each F_g is too small by less than g ≤ 2^12 units, and each gap's probability is at least
//! q·(1 - q)^B ≥ 2^-48·e^-5 of 2^128 units, so it is off by less than one part in 2^60. Changing one bit of a report
//! changes at most three gaps, hence a likelihood ratio by less than one part in 2^57: far below what rounding
//! the other probabilities towards privacy leaves free (see [`Coin`](super::Coin)).

use alloc::vec::Vec;
use rand_core::Rng;

/// 2^64, the number of words, as a float.
const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// Bits that are one with probability q = T/2^64 each.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaps {
    ones: u64,
    /// F_1, …, F_B: falling
    survival: Vec<u128>,
    /// For each top byte of U, a gap at which to begin the search: that of the largest U with this byte.
    guide: Vec<u16>,
}

impl Gaps {
    /// The least probability offered; a smaller one is raised to it, which is towards privacy.
    const LEAST: u64 = 1 << 16;
    /// The longest table.
    const MOST: f64 = 4096.0;

    /// Bits with the least probability that is certainly at least `q`, even if `q` was rounded.
    pub fn at_least(q: f64) -> Self {
        debug_assert!((0.0..1.0).contains(&q));
        let ones = libm::ceil(q * (1.0 + 8.0 * f64::EPSILON) * WORDS) as u64;
        Self::from_ones(ones.max(Self::LEAST))
    }

    fn from_ones(ones: u64) -> Self {
        let zeros = u128::from(ones.wrapping_neg());
        let longest = libm::ceil(4.0 * WORDS / ones as f64).min(Self::MOST) as usize;
        let mut survival = Vec::with_capacity(longest);
        survival.push(zeros << 64);
        while survival.len() < longest {
            // F·(2^64 - T)/2^64, rounded down, in halves that fit 128 bits
            let last = survival[survival.len() - 1];
            survival.push((last >> 64) * zeros + (((last & u128::from(u64::MAX)) * zeros) >> 64));
        }
        let gap = |u: u128| survival.partition_point(|&f| u < f) as u16;
        let guide = (0..256u128).map(|byte| gap((byte << 120) | (u128::MAX >> 8))).collect();
        Self { ones, survival, guide }
    }

    /// Calls `one` with the position of each one among `length` bits, in rising order.
    #[inline]
    pub fn positions(&self, length: u32, rng: &mut impl Rng, mut one: impl FnMut(u32)) {
        let mut position = 0u64;
        loop {
            let gap = self.gap(rng);
            position += gap as u64;
            if position >= u64::from(length) {
                return;
            }
            // A full table of zeros is followed by another gap, a shorter one by a one.
            if gap < self.survival.len() {
                one(position as u32);
                position += 1;
            }
        }
    }

    /// How many zeros come next, at most the length of the table.
    #[inline]
    fn gap(&self, rng: &mut impl Rng) -> usize {
        let word = rng.next_u64();
        let mut gap = usize::from(self.guide[(word >> 56) as usize]);
        while let Some(&f) = self.survival.get(gap) {
            let high = (f >> 64) as u64;
            // U < F by its first word, or, when that ties, by its second
            let below = word < high || (word == high && self.tie_is_below(gap, rng));
            if !below {
                break;
            }
            gap += 1;
        }
        gap
    }

    /// Decides U < F for equal first words; later F are smaller than U's first word then, so it is asked only once.
    #[cold]
    fn tie_is_below(&self, gap: usize, rng: &mut impl Rng) -> bool {
        rng.next_u64() < self.survival[gap] as u64
    }

    /// The words T out of 2^64 that make a one.
    pub fn ones(&self) -> u64 {
        self.ones
    }

    /// q, the probability of a one.
    pub fn probability(&self) -> f64 {
        self.ones as f64 / WORDS
    }

    /// 1 - q.
    pub fn complement(&self) -> f64 {
        self.ones.wrapping_neg() as f64 / WORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn each_bit_is_one_with_the_stated_probability_and_independent_of_the_next() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let trials = 200_000;
        for q in [0.5, 0.3, 0.02, 0.9] {
            let gaps = Gaps::at_least(q);
            let (mut seen, mut both) = (vec![0u64; 70], 0u64);
            for _ in 0..trials {
                let mut ones = 0u128;
                gaps.positions(70, &mut rng, |position| ones |= 1 << position);
                for (position, count) in seen.iter_mut().enumerate() {
                    *count += (ones >> position & 1) as u64;
                }
                both += u64::from(ones & 3 == 3);
            }
            let sigma = |p: f64| (f64::from(trials) * p * (1.0 - p)).sqrt();
            for count in seen {
                assert!((count as f64 - f64::from(trials) * q).abs() < 5.0 * sigma(q), "q = {q}: {count}");
            }
            assert!(
                (both as f64 - f64::from(trials) * q * q).abs() < 5.0 * sigma(q * q),
                "q = {q}: {both} pairs"
            );
        }
    }

    #[test]
    fn a_rare_one_is_found_beyond_the_end_of_the_table() {
        let gaps = Gaps::at_least(1e-5);
        assert_eq!(gaps.survival.len(), 4096);
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let mut ones = 0u64;
        for _ in 0..2000 {
            gaps.positions(100_000, &mut rng, |_| ones += 1);
        }
        // 2000·100,000·10^-5 = 2000 expected, with a standard deviation of 45
        assert!((ones as f64 - 2000.0).abs() < 5.0 * 2000f64.sqrt(), "{ones}");
    }

    #[test]
    fn the_table_is_the_power_it_says() {
        for q in [1e-14, 1e-4, 0.1, 0.7] {
            let gaps = Gaps::at_least(q);
            let ln_stay = (-gaps.probability()).ln_1p();
            for (g, &f) in (1..).zip(&gaps.survival) {
                let expected = (f64::from(g) * ln_stay).exp();
                assert!((f as f64 / 2f64.powi(128) / expected - 1.0).abs() < 1e-12, "q = {q}, g = {g}");
            }
        }
    }

    #[test]
    fn a_probability_is_never_rounded_down() {
        for q in [1e-30, 1e-9, 1.0 / 3.0, 0.999] {
            assert!(Gaps::at_least(q).probability() >= q);
        }
    }
}
