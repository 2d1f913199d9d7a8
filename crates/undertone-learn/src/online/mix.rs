//! Whether people of all tiers keep coming in the same proportions.
//!
//! Intervals by random scaling compare the beginning of a run with its end, and a change in the mix of budgets looks to
//! them like an error. Tiers are counted in blocks, whose size doubles whenever there are too many, so that the two halves
//! can be compared at any time.

use serde::{Deserialize, Serialize};

/// Blocks that are kept: a half is known to one in sixteen.
const BLOCKS: usize = 32;
/// How many standard deviations of a normal number a change has to be as unlikely as.
const SIGMAS: f64 = 5.0;

/// Counts of each tier in blocks of equal size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TierMix {
    tiers: usize,
    /// Reports in a full block
    size: u64,
    /// Reports in the last block
    filled: u64,
    /// Blocks in use, the last of them perhaps not full
    blocks: usize,
    /// Of each block, of each tier
    counts: Vec<u64>,
}

impl TierMix {
    pub(super) fn new(tiers: usize) -> Self {
        Self { tiers, size: 1, filled: 0, blocks: 1, counts: vec![0; BLOCKS * tiers] }
    }

    pub(super) fn observe(&mut self, tier: usize) {
        if self.filled == self.size {
            if self.blocks == BLOCKS {
                self.halve();
            }
            (self.blocks, self.filled) = (self.blocks + 1, 0);
        }
        self.counts[(self.blocks - 1) * self.tiers + tier] += 1;
        self.filled += 1;
    }

    /// Makes one block of each two.
    fn halve(&mut self) {
        for block in 0..BLOCKS {
            for tier in 0..self.tiers {
                let count = std::mem::take(&mut self.counts[block * self.tiers + tier]);
                self.counts[block / 2 * self.tiers + tier] += count;
            }
        }
        (self.blocks, self.size) = (BLOCKS / 2, 2 * self.size);
    }

    /// How often each tier came in the first and in the second half.
    fn halves(&self) -> impl Iterator<Item = (f64, f64)> {
        let middle = self.blocks / 2;
        (0..self.tiers).map(move |tier| {
            let sum = |blocks: std::ops::Range<usize>| -> u64 {
                blocks.map(|block| self.counts[block * self.tiers + tier]).sum()
            };
            (sum(0..middle) as f64, sum(middle..self.blocks) as f64)
        })
    }

    /// Whether the halves differ by more than chance explains: χ² for two samples, beyond the quantile of five sigmas.
    ///
    /// > χ² = Σ_t (a_t·√(b/a) - b_t·√(a/b))²/(a_t + b_t)
    pub(super) fn drifted(&self) -> bool {
        let (a, b) = self.halves().fold((0.0, 0.0), |(a, b), (of_a, of_b)| (a + of_a, b + of_b));
        let seen = self.halves().filter(|(of_a, of_b)| of_a + of_b > 0.0);
        let (mut chi_square, mut kinds) = (0.0, 0u32);
        for (of_a, of_b) in seen {
            chi_square += (of_a * (b / a).sqrt() - of_b * (a / b).sqrt()).powi(2) / (of_a + of_b);
            kinds += 1;
        }
        a > 0.0 && kinds > 1 && chi_square > chi_square_quantile(f64::from(kinds - 1))
    }

    pub(super) fn is_of(&self, tiers: usize) -> bool {
        let fits = self.tiers == tiers && self.counts.len() == BLOCKS * tiers;
        fits && (1..=BLOCKS).contains(&self.blocks) && self.filled <= self.size
    }
}

/// The quantile of χ² at five sigmas or a little more, after Wilson and Hilferty: (χ²/f)^⅓ is nearly normal.
fn chi_square_quantile(freedom: f64) -> f64 {
    let variance = 2.0 / (9.0 * freedom);
    freedom * (1.0 - variance + SIGMAS * variance.sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::{Rng, SeedableRng};

    /// `count` reports, of which those at place i have tier 0 with probability `share(i)`.
    fn mix(count: u64, seed: u64, share: impl Fn(u64) -> f64) -> TierMix {
        let (mut mix, mut rng) = (TierMix::new(3), ChaCha12Rng::seed_from_u64(seed));
        for i in 0..count {
            let first = f64::from(rng.next_u32()) < share(i) * 2f64.powi(32);
            mix.observe(if first { 0 } else { 1 + (rng.next_u32() % 2) as usize });
        }
        mix
    }

    #[test]
    fn an_even_mix_has_not_drifted_at_any_time() {
        for seed in 0..300 {
            assert!(!mix(1000 + 97 * seed, seed, |_| 0.3).drifted());
        }
    }

    #[test]
    fn a_mix_that_changes_has_drifted() {
        for seed in 0..20 {
            assert!(mix(20_000, seed, |i| if i < 10_000 { 0.3 } else { 0.4 }).drifted());
            assert!(mix(20_000, seed, |i| 0.2 + 1e-5 * i as f64).drifted());
        }
    }

    #[test]
    fn no_report_is_lost_when_blocks_become_larger() {
        for count in [1, 2, 31, 32, 33, 64, 65, 1000, 4097] {
            let mix = mix(count, 1, |_| 0.5);
            let (a, b) = mix.halves().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
            assert!((a + b - count as f64).abs() < 0.5);
            assert!(count < 100 || (a - b).abs() < 0.13 * count as f64, "{a} and {b}");
            assert!(mix.is_of(3) && !mix.is_of(2));
        }
    }

    #[test]
    fn the_quantile_is_that_of_five_sigmas_or_a_little_more() {
        // P(χ²_2 > x) = e^(-x/2) = Φ(-5) at x = 30.13
        assert!((30.13..34.0).contains(&chi_square_quantile(2.0)), "{}", chi_square_quantile(2.0));
    }
}
