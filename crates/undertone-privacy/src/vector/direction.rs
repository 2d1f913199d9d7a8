//! Random directions as vectors of integers, quick to make and alike to the last bit wherever they are made.
//!
//! A coordinate is a normal number in steps of 2^-12, drawn by its quantile: sixteen bits of a public word are a sign and i < 2^15, and
//!
//! > k_i = the integer next to 2^12·x, P(|N| ≤ x) = (i + ½)/2^15, but at least 1
//!
//! so that no vector is zero. One word is four coordinates, words depend on their place alone, and integers have no rounding: the
//! square of a length and the product with a vector of the grid are exact in any order of summation, and only the root of the one
//! and a division are rounded, which IEEE 754 does in one way. The words are public, so that looking them up tells nothing.
//!
//! **How normal.** Coordinates are independent and symmetric, with a kurtosis of 2.9992 instead of 3: the largest is 17715 steps, where
//! one normal number in 65000 is larger. In p dimensions that changes E⟨v_j, u⟩ by less than a part in ten thousand, whatever u,
//! which the scatter of ten million reports hides.

use super::stream::{mixed, split_mix};

/// How many magnitudes there are: fifteen bits.
const MAGNITUDES: usize = 1 << 15;
/// Steps of one.
#[cfg(test)]
const STEP: f64 = 4096.0;
/// Coordinates that are made before they are passed on, a multiple of four.
const BLOCK: usize = 64;
/// In the order of i.
static QUANTILES: [i16; MAGNITUDES] = quantiles();

/// k_i for all i, when the program is built.
///
/// P(|N| ≤ (k + ½)·h) grows from k - 1 to k by the mass of a step, h·g·(1 + h²·(x² - 1)/24) at its middle x = k·h up to 10^-16 of
/// itself, where g = √(2/π)·e^(-x²/2) comes from the one before it by a factor that falls by e^(-h²) each time. i is k's as long as its
/// probability is below.
#[expect(
    clippy::large_stack_arrays,
    reason = "on the stack of the compiler: it is made when the program is built"
)]
const fn quantiles() -> [i16; MAGNITUDES] {
    let (h, square) = (1.0 / 4096.0, 1.0 / (4096.0 * 4096.0));
    // e^(-h²/2) and e^(-h²)
    let mut factor = 1.0 - square / 2.0 + square * square / 8.0;
    let falling = 1.0 - square + square * square / 2.0;
    let mut mass = h * 0.797_884_560_802_865_4;
    let mut below = 0.5 * mass;
    let (mut k, mut i, mut table) = (0i16, 0, [1; MAGNITUDES]);
    while i < MAGNITUDES {
        while (i as f64 + 0.5) / MAGNITUDES as f64 >= below {
            k += 1;
            mass *= factor;
            factor *= falling;
            let x = k as f64 * h;
            below += mass * (1.0 + square * (x * x - 1.0) / 24.0);
        }
        if k > 1 {
            table[i] = k;
        }
        i += 1;
    }
    table
}

/// The coordinate of the lowest sixteen bits.
#[inline(always)]
#[expect(clippy::inline_always, reason = "so that callers compile it for the vectors of their machine")]
fn coordinate(word: u64) -> i16 {
    let magnitude = QUANTILES[word as usize % MAGNITUDES];
    let sign = (word as i16) >> 15;
    (magnitude ^ sign) - sign
}

/// Fills `vector` with the coordinates of a direction, integers, and returns the square of its length.
///
/// Word number i, counted from zero, is that of SplitMix64 started at S(S(low, lane) ^ high, lane), S(h, i) being the word i of
/// SplitMix64 started at h and low and high the halves of the seed. Its lowest sixteen bits are coordinate 4i.
#[inline(always)]
#[expect(clippy::inline_always, reason = "so that callers compile it for the vectors of their machine")]
pub(super) fn fill_direction(seed: u128, lane: u64, vector: &mut [f64]) -> u64 {
    let start = split_mix(split_mix(seed as u64, lane) ^ (seed >> 64) as u64, lane);
    let (mut state, mut square) = (start, 0);
    let mut steps = [0i16; BLOCK];
    for block in vector.chunks_mut(BLOCK) {
        for four in steps[..block.len().next_multiple_of(4)].chunks_exact_mut(4) {
            let word = mixed(&mut state);
            for (part, step) in (0..).step_by(16).zip(four) {
                *step = coordinate(word >> part);
            }
        }
        for (x, &step) in block.iter_mut().zip(&steps) {
            *x = f64::from(step);
            let step = i32::from(step);
            square += u64::from((step * step) as u32);
        }
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::stream::PublicStream;
    use alloc::vec;
    use alloc::vec::Vec;

    fn direction(seed: u128, lane: u64, p: usize) -> (Vec<f64>, u64) {
        let mut vector = vec![0.0; p];
        let square = fill_direction(seed, lane, &mut vector);
        (vector, square)
    }

    #[test]
    fn seed_and_lane_give_these_integers_in_every_language() {
        const SEED: u128 = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;
        for (seed, lane, expected) in [
            (0, 0, [-2691.0, 2419.0, 7166.0, 1454.0, 1838.0, -2255.0]),
            (SEED, 0, [4856.0, 1191.0, -187.0, -335.0, -934.0, -14.0]),
            (SEED, 127, [-3449.0, -7542.0, 609.0, 694.0, -426.0, -3096.0]),
        ] {
            assert_eq!(direction(seed, lane, 6).0, expected, "{seed:x}, {lane}");
        }
    }

    #[test]
    fn a_magnitude_is_the_quantile_of_its_number() {
        for (i, &k) in QUANTILES.iter().enumerate() {
            // P(|N| ≤ x) = erf(x/√2), and (i + ½)/2^15 is within that of half a step around k.
            let p = (i as f64 + 0.5) / MAGNITUDES as f64;
            let within = |steps: f64| libm::erf(steps / STEP * core::f64::consts::FRAC_1_SQRT_2);
            let low = if k == 1 { 0.0 } else { within(f64::from(k) - 0.5) };
            assert!(low <= p + 1e-12 && p < within(f64::from(k) + 0.5) + 1e-12, "{k} for {i}");
        }
    }

    #[test]
    fn the_square_is_that_of_the_length_and_a_short_vector_is_the_beginning_of_a_long_one() {
        let (long, _) = direction(5, 3, 300);
        for p in [1, 2, 3, 4, 5, 63, 64, 65, 127, 130, 300] {
            let (short, square) = direction(5, 3, p);
            assert_eq!(short, long[..p]);
            assert!((short.iter().map(|x| x * x).sum::<f64>() - square as f64).abs() < 1e-9);
            assert!(short.iter().all(|x| x.abs() >= 1.0));
        }
    }

    #[test]
    fn coordinates_have_the_moments_of_their_table_and_those_of_normal_numbers_nearly() {
        let table = |power: i32| {
            QUANTILES.iter().map(|&k| (f64::from(k) / STEP).powi(power)).sum::<f64>() / MAGNITUDES as f64
        };
        assert!((table(2) - 1.0).abs() < 3e-5 && (table(4) / table(2).powi(2) - 3.0).abs() < 8e-4);
        let (values, _) = direction(7, 0, 400_000);
        let n = values.len() as f64;
        let moment = |power: i32| values.iter().map(|x| (x / STEP).powi(power)).sum::<f64>() / n;
        // Var(x^k) of the normal law is 1, 2, 15 and 96
        for (power, expected, variance) in
            [(1, 0.0, 1.0), (2, table(2), 2.0), (3, 0.0, 15.0), (4, table(4), 96.0)]
        {
            assert!((moment(power) - expected).abs() < 5.0 * f64::sqrt(variance / n), "moment {power}");
        }
        for apart in [1, 2, 3, 4, 64] {
            let product =
                values.iter().zip(&values[apart..]).map(|(x, y)| x * y / STEP / STEP).sum::<f64>() / n;
            assert!(product.abs() < 5.0 / n.sqrt(), "{apart} apart: {product}");
        }
    }

    #[test]
    fn lanes_of_one_seed_and_seeds_of_one_lane_are_uncorrelated() {
        let (first, _) = direction(0, 0, 1000);
        let others = (1..200).map(|lane| direction(0, lane, 1000));
        let others = others.chain((0..128).map(|bit| direction(1 << bit, 0, 1000)));
        let worst = others
            .map(|(other, _)| {
                let product: f64 = first.iter().zip(&other).map(|(x, y)| x * y / STEP / STEP).sum();
                product.abs() / 1000f64.sqrt()
            })
            .fold(0.0, f64::max);
        assert!(worst < 5.0, "{worst}");
    }

    #[test]
    fn the_words_are_those_of_split_mix() {
        let start = split_mix(split_mix(9, 4) ^ 2, 4);
        let mut state = start;
        for i in 0..10 {
            assert_eq!(mixed(&mut state), split_mix(start, i));
        }
        // and no relation to those of the other stream
        assert_ne!(PublicStream::new(2 << 64 | 9, 4).next_word(), split_mix(start, 0));
    }
}
