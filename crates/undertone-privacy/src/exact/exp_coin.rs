//! A coin that shows heads with probability exp(-x), for rational x, exactly and mostly from one word.
//!
//! Heads are U < exp(-x) for a uniform U. Its first 64 bits decide against integer bounds of 2^64·exp(-x), which are
//! 2^30 apart; once in 2^34 tosses they do not, and more digits of both are compared, as many as it takes.
//!
//! The classical way (Canonne, Kamath, Steinke, *The Discrete Gaussian for Differential Privacy*, 2020, Algorithm 1) tosses
//! coins of probability x, x/2, x/3, … until one shows tails. It is as exact, needs no bounds, and takes several
//! words and as many branches that no processor can predict.

use super::exp_digits::is_below_exp;
use rand_core::Rng;

/// Heads with probability exp(-`numerator` / `denominator`), exactly; the denominator is at most 2^127.
///
/// An x above one is exp(-1) as often as it fits, times the rest.
#[inline]
pub fn bernoulli_exp(numerator: u128, denominator: u128, rng: &mut impl Rng) -> bool {
    debug_assert!(denominator > 0 && denominator <= 1 << 127);
    let mut rest = numerator;
    while rest >= denominator {
        if !bernoulli_inverse_e(rng) {
            return false;
        }
        rest -= denominator;
    }
    bernoulli_exp_near(fixed_point(rest, denominator), rest, denominator, rng)
}

/// Heads with probability exp(-1), exactly.
#[inline]
fn bernoulli_inverse_e(rng: &mut impl Rng) -> bool {
    let word = rng.next_u64();
    if word == INVERSE_E[0] { is_below_exp(word, 1, 1, 0, rng) } else { word < INVERSE_E[0] }
}

/// [`bernoulli_exp`] for `numerator` < `denominator`, given `x`, their quotient times 2^64 to within 2^26.
#[inline]
fn bernoulli_exp_near(x: u64, numerator: u128, denominator: u128, rng: &mut impl Rng) -> bool {
    if numerator == 0 {
        return true;
    }
    let (word, e) = (rng.next_u64(), exp_near(x));
    if word.abs_diff(e) <= SLACK {
        return is_below_exp(word, numerator, denominator, 0, rng);
    }
    word < e
}

/// A coin of probability exp(-x), for x as above, and if it shows heads the number of coins of probability exp(-1)
/// that show heads before one shows tails; exactly, and mostly from one word.
///
/// One uniform U does for all: it is below exp(-x - v) with probability exp(-x)·exp(-v), hence the largest such v.
#[inline]
pub(super) fn heads_after_exp(x: u64, numerator: u128, denominator: u128, rng: &mut impl Rng) -> Option<u64> {
    let (word, e) = (rng.next_u64(), exp_near(x));
    if word > e.saturating_add(SLACK) {
        return None;
    }
    // Bounds that U is certainly below, counted without a branch: how many cannot be predicted.
    let near = INVERSE_E.map(|inverse_e| high(e, inverse_e));
    let beyond = word.saturating_add(SLACK);
    let mut below = usize::from(beyond < e) + near.iter().map(|&e| usize::from(beyond < e)).sum::<usize>();
    // The bounds are further apart than their slack, so that only the next one can be in doubt.
    let next = if below == 0 { e } else { near.get(below - 1).copied().unwrap_or(0) };
    if word <= next.saturating_add(SLACK) && below <= near.len() {
        below += usize::from(is_below_exp(word, numerator, denominator, below, rng));
    }
    let mut heads = (below as u64).checked_sub(1)?;
    // A coin has no memory: whoever saw all those heads goes on with new words.
    if below > near.len() {
        while bernoulli_inverse_e(rng) {
            heads += 1;
        }
    }
    Some(heads)
}

/// ⌊2^64·e^-v⌋ for v = 1, …, 4
const INVERSE_E: [u64; 4] =
    [0x5e2d_58d8_b3bc_df1a, 0x22a5_5547_7f03_973f, 0x0cbe_d866_6758_5764, 0x04b0_556e_084f_3d1d];

/// How far [`exp_near`] is from 2^64·exp(-x) at most: 2^26 for x itself, 2^27.5 for the polynomial, and a few
/// hundred for the rest.
const SLACK: u64 = 1 << 29;

/// 2^64·exp(-x/2^64), to within [`SLACK`] even if x is off by 2^26.
#[inline]
fn exp_near(x: u64) -> u64 {
    // x = i/2^8 + r with r < 2^-8, and e^-r = 1 - r(1 - r/2·(1 - r/3)) up to r⁴/24 < 2^-36.5
    let (i, r) = (x >> 56, x & (u64::MAX >> 8));
    let mut polynomial = ONE;
    for k in [3, 2, 1] {
        polynomial = ONE - high(r, polynomial) / k;
    }
    // 2^64·2^63/2^64, times two
    high(TABLE[i as usize], polynomial) << 1
}

/// One with 63 bits after the point.
const ONE: u64 = 1 << 63;

/// 2^64·exp(-i/2^8), a few hundred off at most, since each entry is the one before times exp(-1/2^8), rounded down.
const TABLE: [u64; 256] = {
    // exp(-h) for h = 2^-8, the first terms of its series over the common denominator 720; h⁷/7! < 2^-68
    const H: u128 = 1 << 8;
    let series =
        720 * H.pow(6) - 720 * H.pow(5) + 360 * H.pow(4) - 120 * H.pow(3) + 30 * H.pow(2) - 6 * H + 1;
    let step = (series << 64) / (720 * H.pow(6));
    let mut table = [u64::MAX; 256];
    let mut i = 1;
    while i < 256 {
        table[i] = ((table[i - 1] as u128 * step) >> 64) as u64;
        i += 1;
    }
    table
};

/// The upper half of a product.
#[inline]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// `numerator`/`denominator` < 1 times 2^64, to within 8.
#[inline]
fn fixed_point(numerator: u128, denominator: u128) -> u64 {
    // Cut to 63 bits, each is off by less than one in at least 2^62.
    let cut = (128 - denominator.leading_zeros()).saturating_sub(63);
    let (numerator, denominator) = (numerator >> cut, denominator >> cut);
    u64::try_from((numerator << 64) / denominator).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::exp_digits::exp_digits;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn heads_come_as_often_as_the_exponential_says() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let trials = 400_000;
        for (numerator, denominator) in [(0, 1), (1, 3), (1, 1), (7, 4), (5, 1), (1u128 << 90, 3 << 89)] {
            let p = (-(numerator as f64 / denominator as f64)).exp();
            let heads = (0..trials).filter(|_| bernoulli_exp(numerator, denominator, &mut rng)).count();
            let sigma = (f64::from(trials) * p * (1.0 - p)).sqrt();
            assert!(
                (heads as f64 - f64::from(trials) * p).abs() <= 5.0 * sigma,
                "x = {numerator}/{denominator}"
            );
        }
    }

    #[test]
    fn heads_after_the_coin_fall_off_by_e_with_each() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let trials = 1_000_000;
        for (numerator, denominator) in [(0, 1), (1, 3), (99, 100)] {
            let x = fixed_point(numerator, denominator);
            let mut seen = [0u32; 16];
            for _ in 0..trials {
                if let Some(heads) = heads_after_exp(x, numerator, denominator, &mut rng) {
                    seen[(heads as usize).min(15)] += 1;
                }
            }
            let first = (-(numerator as f64 / denominator as f64)).exp() * (1.0 - (-1.0f64).exp());
            for (heads, &count) in (0u8..12).zip(&seen) {
                let expected = f64::from(trials) * first * (-f64::from(heads)).exp();
                let room = 5.0 * expected.sqrt().max(1.0);
                assert!(
                    (f64::from(count) - expected).abs() <= room,
                    "{heads} heads: {count}, not {expected}"
                );
            }
        }
    }

    /// 2^64·exp(-numerator/denominator), rounded down.
    fn reference(numerator: u128, denominator: u128) -> u64 {
        match exp_digits(numerator, denominator, 6)[..] {
            [0, high, low, ..] => u64::from(high) << 32 | u64::from(low),
            _ => u64::MAX,
        }
    }

    #[test]
    fn the_bounds_of_the_exponential_hold_at_the_ends_of_every_table_entry_and_between() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let ends = (0..=255u64).flat_map(|i| [i << 56, (i << 56) + (1 << 55), (i << 56) | (u64::MAX >> 8)]);
        let anywhere: alloc::vec::Vec<_> = (0..2000).map(|_| rng.next_u64()).collect();
        let mut worst = 0;
        for x in ends.chain(anywhere) {
            worst = worst.max(exp_near(x).abs_diff(reference(u128::from(x), 1 << 64)));
        }
        // 2^26 of the slack is for x.
        assert!(worst + (1 << 26) < SLACK, "{worst}");
    }

    #[test]
    fn fractions_of_any_size_become_fixed_point() {
        let one = 1u128 << 127;
        for (numerator, denominator) in [
            (1, 3),
            (2, 3),
            (1, one),
            (one - 1, one),
            (one / 3, one),
            (12345, 1 << 63),
            ((1 << 64) - 1, 1 << 64),
        ] {
            let x = fixed_point(numerator, denominator);
            let exact = libm::ldexp(numerator as f64 / denominator as f64, 64);
            assert!((x as f64 - exact).abs() <= 4096.0, "{numerator}/{denominator}: {x}");
            let e = exp_near(x);
            assert!(e.abs_diff(reference(numerator, denominator)) < SLACK, "{numerator}/{denominator}: {e}");
        }
    }
}
