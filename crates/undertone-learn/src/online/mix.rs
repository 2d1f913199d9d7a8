//! Whether people of all tiers keep coming in the same proportions.
//!
//! Intervals by random scaling compare the beginning of a run with its end, and a change in the mix of budgets looks to
//! them like an error. Tiers are counted in blocks, whose size doubles whenever there are too many, so that what came before
//! some time can be compared with what came after it.

use serde::{Deserialize, Serialize};

/// Blocks that are kept: a change is found to one part in sixteen of the run.
const BLOCKS: usize = 32;
/// How many standard deviations of a normal number a change has to be as unlikely as.
const SIGMAS: f64 = 5.0;

/// Reports of a tier that have to be expected for its count to be about normal.
const LEAST_EXPECTED: f64 = 16.0;

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

    pub(super) fn tiers(&self) -> usize {
        self.tiers
    }

    /// Whether the last block is full, so that each block of some size is looked at once.
    pub(super) fn is_at_end_of_block(&self) -> bool {
        self.filled == self.size
    }

    /// How often each tier came.
    fn totals(&self) -> Vec<u64> {
        (0..self.tiers).map(|tier| self.counts.iter().skip(tier).step_by(self.tiers).sum()).collect()
    }

    /// Whether what came before the end of some block differs from what came after by more than chance explains. All ends are
    /// tried, as a mix that goes and comes back has two halves alike; each at five sigmas, which leaves one in 10^5 for all.
    pub(super) fn drifted(&self) -> bool {
        let totals = self.totals();
        let mut before = vec![0; self.tiers];
        (0..self.blocks.saturating_sub(1)).any(|block| {
            for (sum, count) in before.iter_mut().zip(&self.counts[block * self.tiers..]) {
                *sum += count;
            }
            differ(&before, &totals)
        })
    }

    /// Whether tiers came as often as these shares say: χ² of Pearson, beyond the quantile of five sigmas.
    ///
    /// > χ² = Σ_t (k_t - n·share_t)²/(n·share_t)
    pub(super) fn is_unlike(&self, shares: &[f64]) -> bool {
        let totals = self.totals();
        let n = totals.iter().sum::<u64>() as f64;
        let of_tier = |(count, share): (&u64, &f64)| (*count as f64 - n * share).powi(2) / (n * share);
        let enough = |(_, share): &(&u64, &f64)| n * **share >= LEAST_EXPECTED;
        let (mut chi_square, mut kinds) = (0.0, 0u32);
        for pair in totals.iter().zip(shares).filter(enough) {
            chi_square += of_tier(pair);
            kinds += 1;
        }
        kinds > 1 && chi_square > chi_square_quantile(f64::from(kinds - 1))
    }

    pub(super) fn is_of(&self, tiers: usize) -> bool {
        let fits = self.tiers == tiers && self.counts.len() == BLOCKS * tiers;
        fits && (1..=BLOCKS).contains(&self.blocks) && self.filled <= self.size
    }
}

/// Whether the reports counted in `before` and the rest of those in `totals` have different mixes, by more than chance explains:
/// χ² for two samples, beyond the quantile of five sigmas, over the tiers of which enough are expected on either side.
///
/// > χ² = Σ_t (a_t·√(b/a) - b_t·√(a/b))²/(a_t + b_t)
fn differ(before: &[u64], totals: &[u64]) -> bool {
    let (a, n) = (before.iter().sum::<u64>() as f64, totals.iter().sum::<u64>() as f64);
    let b = n - a;
    let (mut chi_square, mut kinds) = (0.0, 0u32);
    for (&of_a, &both) in before.iter().zip(totals) {
        let (of_a, both) = (of_a as f64, both as f64);
        if both * a.min(b) / n >= LEAST_EXPECTED {
            chi_square += (of_a * (b / a).sqrt() - (both - of_a) * (a / b).sqrt()).powi(2) / both;
            kinds += 1;
        }
    }
    kinds > 1 && chi_square > chi_square_quantile(f64::from(kinds - 1))
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
    fn a_mix_that_goes_and_comes_back_has_drifted() {
        for seed in 0..20 {
            let middle = |i: u64| (5000..15_000).contains(&i);
            assert!(mix(20_000, seed, |i| if middle(i) { 0.4 } else { 0.3 }).drifted());
            let third = |i: u64| (8000..12_000).contains(&i);
            assert!(mix(20_000, seed, |i| if third(i) { 0.45 } else { 0.3 }).drifted());
        }
    }

    #[test]
    fn a_tier_that_is_rare_is_no_drift() {
        for seed in 0..300 {
            assert!(!mix(1000 + 97 * seed, seed, |_| 0.997).drifted());
        }
    }

    #[test]
    fn a_mix_is_compared_with_what_was_declared() {
        for seed in 0..100 {
            let mix = mix(5000, seed, |_| 0.3);
            assert!(!mix.is_unlike(&[0.3, 0.35, 0.35]));
            assert!(mix.is_unlike(&[0.4, 0.3, 0.3]) && mix.is_unlike(&[0.3, 0.3, 0.4]));
        }
    }

    #[test]
    fn no_report_is_lost_when_blocks_become_larger() {
        for count in [1, 2, 31, 32, 33, 64, 65, 1000, 4097] {
            let mix = mix(count, 1, |_| 0.5);
            assert_eq!(mix.totals().iter().sum::<u64>(), count);
            assert!(mix.is_of(3) && !mix.is_of(2));
        }
    }

    #[test]
    fn the_quantile_is_that_of_five_sigmas_or_a_little_more() {
        // P(χ²_2 > x) = e^(-x/2) = Φ(-5) at x = 30.13
        assert!((30.13..34.0).contains(&chi_square_quantile(2.0)), "{}", chi_square_quantile(2.0));
    }
}
