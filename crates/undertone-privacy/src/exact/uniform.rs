//! Uniform integers and subsets without bias.

use alloc::vec::Vec;
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

/// Sets larger than this are tracked in a bit map, smaller ones by looking through the members.
const SCAN: u32 = 24;

/// Appends `size` distinct integers below `n` to `members`, every set with the same probability exactly, in no
/// meaningful order (Floyd's method: one draw for each member). `seen` is memory to reuse, left all zero.
///
/// For j = n - size, …, n - 1: draw from 0..=j, and take j itself if the draw is already a member.
pub fn distinct_below(n: u32, size: u32, seen: &mut Vec<u64>, members: &mut Vec<u32>, rng: &mut impl Rng) {
    debug_assert!(size <= n);
    let start = members.len();
    if size <= SCAN {
        for j in n - size..n {
            let draw = uniform_below(u64::from(j) + 1, rng) as u32;
            let taken = members[start..].contains(&draw);
            members.push(if taken { j } else { draw });
        }
        return;
    }
    if seen.len() < n.div_ceil(64) as usize {
        seen.resize(n.div_ceil(64) as usize, 0);
    }
    for j in n - size..n {
        let draw = uniform_below(u64::from(j) + 1, rng) as u32;
        let taken = seen[(draw / 64) as usize] >> (draw % 64) & 1 == 1;
        let member = if taken { j } else { draw };
        seen[(member / 64) as usize] |= 1 << (member % 64);
        members.push(member);
    }
    for &member in &members[start..] {
        seen[(member / 64) as usize] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn distinct(n: u32, size: u32, rng: &mut impl Rng) -> Vec<u32> {
        let (mut seen, mut members) = (Vec::new(), Vec::new());
        distinct_below(n, size, &mut seen, &mut members, rng);
        assert!(seen.iter().all(|&word| word == 0));
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
