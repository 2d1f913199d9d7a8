//! Public randomness that every device and every server computes alike, to the last bit.
//!
//! A 128-bit seed and a lane give a stream of words: xoshiro256++ (Blackman, Vigna, *Scrambled linear
//! pseudorandom number generators*, 2021), whose four state words for lane j are the words 2j and 2j + 1 of the
//! SplitMix64 generator started at the low half of the seed, then those of the one started at the high half.
//! SplitMix64 never gives the same word twice in a row, so no state is all zero, and no two lanes share a state.
//!
//! Normal variables come from Marsaglia's polar method with addition, multiplication, division and square root
//! alone, which IEEE 754 rounds in one way only, in the order written here; the logarithm is our own, since those of
//! mathematical libraries differ in the last place. The stream is not secret and not for secrets.

/// The increment of SplitMix64, 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of public words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicStream {
    state: [u64; 4],
}

impl PublicStream {
    /// The stream of this seed and lane.
    pub fn new(seed: u128, lane: u64) -> Self {
        let word = |half: u64, offset| split_mix(half, lane.wrapping_mul(2).wrapping_add(offset));
        let (low, high) = (seed as u64, (seed >> 64) as u64);
        Self { state: [word(low, 0), word(low, 1), word(high, 0), word(high, 1)] }
    }

    /// The next word.
    #[inline]
    pub fn next_word(&mut self) -> u64 {
        let s = &mut self.state;
        let word = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        word
    }

    /// Fills `values` with independent standard normal variables.
    pub fn fill_normal(&mut self, values: &mut [f64]) {
        fill_normal(|| self.next_word(), values);
    }
}

/// Word number `index`, counted from zero, of the SplitMix64 generator started at `seed`.
#[inline]
pub(super) fn split_mix(seed: u64, index: u64) -> u64 {
    mixed(&mut seed.wrapping_add(GOLDEN.wrapping_mul(index)))
}

/// The next word of a SplitMix64 generator.
#[inline(always)]
#[expect(clippy::inline_always, reason = "so that callers compile it for the vectors of their machine")]
pub(super) fn mixed(state: &mut u64) -> u64 {
    *state = state.wrapping_add(GOLDEN);
    let z = *state;
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// How many points are worked on together.
const BLOCK: usize = 64;

/// Fills `values` with standard normal variables made from uniform `words`, two at a time; of the last pair the
/// second is dropped when their number is odd.
///
/// A point (u, v) uniform in the unit disc, of squared radius s, gives u·√(-2·ln s/s) and v·√(-2·ln s/s). Points are found
/// first, without a branch on whether one lies in the disc, and logarithms taken of many at once: the words that are drawn
/// and the bits that come out are those of one point after the other, in a third of the time.
pub(super) fn fill_normal(mut words: impl FnMut() -> u64, values: &mut [f64]) {
    // The upper 53 bits of a word, from 0 to 2 in steps of 2^-52, less one: exact.
    let mut centred = || (words() >> 11) as f64 * (1.0 / (1u64 << 52) as f64) - 1.0;
    let (mut us, mut vs, mut squares) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
    for block in values.chunks_mut(2 * BLOCK) {
        let points = block.len().div_ceil(2);
        let mut found = 0;
        while found < points {
            let (u, v) = (centred(), centred());
            us[found] = u;
            vs[found] = v;
            // One outside of the disc is written over by the next.
            let s = u * u + v * v;
            found += usize::from(s < 1.0 && s > 0.0);
        }
        for ((square, u), v) in squares[..points].iter_mut().zip(&us).zip(&vs) {
            let s = u * u + v * v;
            *square = -2.0 * ln(s) / s;
        }
        for (pair, ((u, v), square)) in block.chunks_mut(2).zip(us.iter().zip(&vs).zip(&squares)) {
            let factor = libm::sqrt(*square);
            pair[0] = u * factor;
            if let Some(second) = pair.get_mut(1) {
                *second = v * factor;
            }
        }
    }
}

/// ln x for a positive normal x, with an error of a few units in the last place.
///
/// > x = 2^e·f with f in [√½, √2), ln x = e·ln 2 + 2·atanh z, z = (f - 1)/(f + 1)
///
/// and |z| ≤ 0.1716, so that z + z³/3 + … + z²³/23 is exact to the last place. Nothing in it keeps a compiler from taking
/// several logarithms at once.
#[inline]
fn ln(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    /// The bits of 1 and of √½.
    const ONE: u64 = 1023 << 52;
    const ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    // A fraction of √½ or more carries over into the exponent.
    let bits = x.to_bits().wrapping_add(ONE - ROOT);
    let f = f64::from_bits((bits & FRACTION) + ROOT);
    // e + 1023 in the last places of 2^52
    let exponent = f64::from_bits(bits >> 52 | 1075 << 52) - ((1u64 << 52) + 1023) as f64;
    let z = (f - 1.0) / (f + 1.0);
    let square = z * z;
    let mut series = 1.0 / 23.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = series * square + 1.0 / odd;
    }
    exponent * core::f64::consts::LN_2 + 2.0 * z * series
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn split_mix_gives_the_published_words() {
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
        ];
        for (index, word) in published.into_iter().enumerate() {
            assert_eq!(split_mix(1_234_567, index as u64), word);
        }
    }

    #[test]
    fn xoshiro_gives_the_published_words() {
        let mut stream = PublicStream { state: [1, 2, 3, 4] };
        let published = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
            14_011_001_112_246_962_877,
            12_406_186_145_184_390_807,
            15_849_039_046_786_891_736,
            10_450_023_813_501_588_000,
        ];
        for word in published {
            assert_eq!(stream.next_word(), word);
        }
    }

    #[test]
    fn seed_and_lane_give_these_bits_in_every_language() {
        const SEED: u128 = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;
        let vectors = [
            (
                0,
                0,
                0x342f_13d3_4cc6_1a52,
                [0x3fde_4c07_852a_0019, 0xbff3_ab06_28f2_b2ff, 0xbfcf_fc6f_53a7_911d],
            ),
            (
                SEED,
                0,
                0xa374_7c95_6fd8_1c79,
                [0x3fcd_09fb_a622_6497, 0xbfe5_da3a_68d9_e671, 0x3fea_c2f8_290d_4038],
            ),
            (
                SEED,
                255,
                0x2538_8947_b7b0_f327,
                [0xbfd4_1947_bb15_36ab, 0x3fd2_2cb0_9fa5_6a8f, 0x3ff3_f494_b923_6524],
            ),
        ];
        for (seed, lane, word, normals) in vectors {
            assert_eq!(PublicStream::new(seed, lane).next_word(), word);
            let mut values = [0.0; 3];
            PublicStream::new(seed, lane).fill_normal(&mut values);
            assert_eq!(values.map(f64::to_bits), normals);
        }
    }

    #[test]
    fn many_points_at_once_are_one_after_the_other() {
        // A pair at a time from the same words, for numbers around the size of a block
        for length in [1, 2, 127, 128, 129, 500] {
            let (mut at_once, mut singly) = (vec![0.0; length], vec![0.0; length]);
            let (mut one, mut other) = (PublicStream::new(3, 1), PublicStream::new(3, 1));
            one.fill_normal(&mut at_once);
            singly.chunks_mut(2).for_each(|pair| other.fill_normal(pair));
            assert_eq!(at_once, singly);
            assert_eq!(one, other);
        }
    }

    #[test]
    fn the_logarithm_is_right_to_the_last_places() {
        for x in [1e-30, 1e-9, 0.1, 0.5, 0.707, 0.7072, 0.999_999, 1.0, 1.414, 1.415, 3.0, 1e300] {
            assert!((ln(x) - x.ln()).abs() <= 4.0 * f64::EPSILON * x.ln().abs(), "{x}");
        }
    }

    #[test]
    fn normal_variables_have_the_moments_of_the_normal_law() {
        let mut values = vec![0.0; 400_000];
        PublicStream::new(7, 0).fill_normal(&mut values);
        let n = values.len() as f64;
        let moment = |k: i32| values.iter().map(|x| x.powi(k)).sum::<f64>() / n;
        // Var(x^k) = E[x^2k] - E[x^k]² is 1, 2, 15 and 96
        for (k, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            assert!((moment(k) - expected).abs() < 5.0 * f64::sqrt(variance / n), "moment {k}");
        }
        let beyond = values.iter().filter(|x| x.abs() > 1.959_964).count() as f64;
        assert!((beyond - 0.05 * n).abs() < 5.0 * (0.05 * 0.95 * n).sqrt());
        let neighbours = values.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / n;
        assert!(neighbours.abs() < 5.0 / n.sqrt());
    }

    #[test]
    fn lanes_of_one_seed_and_seeds_of_one_lane_are_uncorrelated() {
        let fill = |seed, lane| {
            let mut values = vec![0.0; 1000];
            PublicStream::new(seed, lane).fill_normal(&mut values);
            values
        };
        let first = fill(0, 0);
        let others = (1..200).map(|lane| fill(0, lane)).chain((0..100).map(|bit| fill(1 << bit, 0)));
        let worst = others
            .map(|other| first.iter().zip(&other).map(|(x, y)| x * y).sum::<f64>().abs() / 1000f64.sqrt())
            .fold(0.0, f64::max);
        assert!(worst < 5.0, "{worst}");
    }
}
