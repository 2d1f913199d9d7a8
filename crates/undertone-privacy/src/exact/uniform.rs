//! Uniform integers and subsets without bias.

use rand_core::Rng;

/// An integer below `n`, each with the same probability exactly (Lemire, *Fast random integer generation in an
/// interval*, 2019).
///
/// The high half of word × n is the answer. The 2^64 words fall on n answers; the first 2^64 mod n words of each
/// answer's low half are drawn again, so that every answer keeps the same number of words.
#[inline]
pub fn uniform_below(n: u64, rng: &mut impl Rng) -> u64 {
    debug_assert!(n > 0);
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(n);
        let low = product as u64;
        // 2^64 mod n < n, so the division is only needed in the rare case low < n
        if low >= n || low >= n.wrapping_neg() % n {
            return (product >> 64) as u64;
        }
    }
}

/// [`uniform_below`] for a small `n`, at half the price: from 32 bits.
#[inline]
pub fn uniform_below_u32(n: u32, rng: &mut impl Rng) -> u32 {
    debug_assert!(n > 0);
    loop {
        let product = u64::from(rng.next_u32()) * u64::from(n);
        let low = product as u32;
        if low >= n || low >= n.wrapping_neg() % n {
            return (product >> 32) as u32;
        }
    }
}

/// Calls `member` with `size` distinct integers below `n`, every set with the same probability exactly, in no
/// meaningful order (Floyd's method: one draw for each member).
///
/// For j = n - size, …, n - 1: draw from 0..=j, and take j itself if the draw is already a member, which `is_member`
/// tells.
#[inline]
pub fn distinct_below<S>(
    n: u32,
    size: u32,
    set: &mut S,
    rng: &mut impl Rng,
    is_member: impl Fn(&S, u32) -> bool,
    mut member: impl FnMut(&mut S, u32),
) {
    debug_assert!(size <= n);
    for j in n - size..n {
        let draw = uniform_below_u32(j + 1, rng);
        let taken = is_member(set, draw);
        member(set, if taken { j } else { draw });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn distinct(n: u32, size: u32, rng: &mut impl Rng) -> Vec<u32> {
        let mut members = Vec::new();
        distinct_below(n, size, &mut members, rng, |set, draw| set.contains(&draw), Vec::push);
        members
    }

    /// |z| of `count` successes in `trials`, each with probability `p`.
    fn sigmas(count: u64, trials: u64, p: f64) -> f64 {
        let mean = trials as f64 * p;
        ((count as f64 - mean) / (mean * (1.0 - p)).sqrt()).abs()
    }

    #[test]
    fn every_integer_below_seven_is_drawn_alike() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let mut counts = [0u64; 7];
        for _ in 0..700_000 {
            counts[uniform_below(7, &mut rng) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| sigmas(count, 700_000, 1.0 / 7.0) < 5.0), "{counts:?}");
    }

    #[test]
    fn a_word_that_would_bias_the_draw_is_drawn_again() {
        // With n = 2^63 + 1 nearly half of all words are refused; the accepted ones stay below n.
        let n = (1u64 << 63) + 1;
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let above_half = (0..100_000).filter(|_| uniform_below(n, &mut rng) >= n / 2).count();
        assert!(sigmas(above_half as u64, 100_000, 0.5) < 5.0);
    }

    #[test]
    fn every_pair_among_five_is_drawn_alike() {
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let mut counts = BTreeMap::new();
        for _ in 0..100_000 {
            let mut pair = distinct(5, 2, &mut rng);
            pair.sort_unstable();
            *counts.entry(pair).or_insert(0u64) += 1;
        }
        assert_eq!(counts.len(), 10);
        assert!(counts.values().all(|&count| sigmas(count, 100_000, 0.1) < 5.0), "{counts:?}");
    }

    #[test]
    fn large_sets_have_distinct_members_that_are_drawn_alike() {
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        let mut counts = [0u64; 100];
        for _ in 0..20_000 {
            let mut set = distinct(100, 40, &mut rng);
            for &member in &set {
                counts[member as usize] += 1;
            }
            set.sort_unstable();
            set.dedup();
            assert_eq!(set.len(), 40);
        }
        assert!(counts.iter().all(|&count| sigmas(count, 20_000, 0.4) < 5.0), "{counts:?}");
    }

    #[test]
    fn a_set_may_be_empty_or_everything() {
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        assert!(distinct(3, 0, &mut rng).is_empty());
        let mut all = distinct(30, 30, &mut rng);
        all.sort_unstable();
        assert_eq!(all, (0..30).collect::<Vec<_>>());
    }
}
