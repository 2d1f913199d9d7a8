//! Random numbers for **simulation**: a stream for each replication, all of a block advanced at once.
//!
//! The words are those of xoshiro256++ (Blackman, Vigna, *Scrambled linear pseudorandom number generators*, 2021), whose state
//! is four words of the SplitMix64 generator that seed and replication choose: what a replication draws depends on
//! neither threads nor neighbours. Normal variables come from the method of Box and Müller in 32-bit floats, from a
//! radius of at most 6.66. Nothing of this is fit for a person's data.

use super::functions::{ln, sine_and_cosine};
use super::lanes::{LANES, Lanes, each};
use core::f32::consts::FRAC_PI_4;

/// The increment of SplitMix64, 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A word for each of (seed, index): SplitMix64.
pub(super) fn split_mix(seed: u64, index: u64) -> u64 {
    let z = seed.wrapping_add(GOLDEN.wrapping_mul(index.wrapping_add(1)));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The streams of one block.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    state: [[u64; LANES]; 4],
}

impl Streams {
    /// Those of the replications `first`, `first` + 1, …
    pub(super) fn new(seed: u64, first: u64) -> Self {
        let own = split_mix(seed, 0);
        let word = |l: usize, place: u64| split_mix(own, 4 * (first + l as u64) + place);
        Self { state: [0, 1, 2, 3].map(|place| each(|l| word(l, place))) }
    }

    /// The next word of each.
    #[inline(always)]
    pub(super) fn words(&mut self) -> [u64; LANES] {
        let [a, b, c, d] = &mut self.state;
        let mut words = [0; LANES];
        for l in 0..LANES {
            words[l] = a[l].wrapping_add(d[l]).rotate_left(23).wrapping_add(a[l]);
            let shifted = b[l] << 17;
            c[l] ^= a[l];
            d[l] ^= b[l];
            b[l] ^= c[l];
            a[l] ^= d[l];
            c[l] ^= shifted;
            d[l] = d[l].rotate_left(45);
        }
        words
    }

    /// Uniform between 0 and 1.
    #[inline(always)]
    pub(super) fn uniform(&mut self) -> Lanes {
        let words = self.words();
        // The upper 53 bits would need a conversion of 64-bit integers, which few processors have.
        each(|l| {
            f64::from((words[l] >> 33) as i32)
                .mul_add(1.0 / f64::from(1u32 << 31), 0.5 / f64::from(1u32 << 31))
        })
    }

    /// Two independent standard normal variables.
    #[inline(always)]
    fn normal_pair(&mut self) -> (Lanes, Lanes) {
        let words = self.words();
        let (mut first, mut second) = ([0f32; LANES], [0f32; LANES]);
        for l in 0..LANES {
            let (high, low) = ((words[l] >> 32) as u32, words[l] as u32);
            let radius = (-2.0 * ln(open_unit(high))).sqrt();
            // An angle of ±π/4, and which of the four quarters it is turned into: a swap and a sign
            let (sine, cosine) = sine_and_cosine(low as i32 as f32 * (FRAC_PI_4 / 2_147_483_648.0));
            let cosine = f32::from_bits(cosine.to_bits() ^ (high & 1) << 31);
            let swapped = low & 1 == 0;
            first[l] = radius * if swapped { sine } else { cosine };
            second[l] = radius * if swapped { cosine } else { sine };
        }
        (each(|l| f64::from(first[l])), each(|l| f64::from(second[l])))
    }

    /// Fills `values` with standard normal variables.
    #[inline(always)]
    pub(super) fn normals(&mut self, values: &mut [Lanes]) {
        let (pairs, last) = values.as_chunks_mut::<2>();
        for pair in pairs {
            let (first, second) = self.normal_pair();
            *pair = [first, second];
        }
        if let [value] = last {
            *value = self.normal_pair().0;
        }
    }

    /// Fills `values` with variables of the density e^-|z|/2.
    #[inline(always)]
    pub(super) fn laplaces(&mut self, values: &mut [Lanes]) {
        self.logarithms(values, |size, word| f32::from_bits(size.to_bits() ^ (word & 1) << 31));
    }

    /// Fills `values` with variables of the density e^-z, z > 0.
    #[inline(always)]
    pub(super) fn exponentials(&mut self, values: &mut [Lanes]) {
        self.logarithms(values, |size, _| size);
    }

    /// -ln u of a uniform u, with whatever `and` makes of a bit that u does not use.
    #[inline(always)]
    fn logarithms(&mut self, values: &mut [Lanes], and: impl Fn(f32, u32) -> f32) {
        for pair in values.chunks_mut(2) {
            let words = self.words();
            for (half, value) in pair.iter_mut().enumerate() {
                let word = |l: usize| (words[l] >> (32 * half)) as u32;
                *value = each(|l| f64::from(and(-ln(open_unit(word(l))), word(l))));
            }
        }
    }
}

/// A float of the upper 31 bits, from 2^-32 to 1.
#[inline(always)]
fn open_unit(word: u32) -> f32 {
    ((word >> 1) as i32 as f32).mul_add(1.0 / 2_147_483_648.0, 0.5 / 2_147_483_648.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 400_000;

    fn drawn(fill: impl Fn(&mut Streams, &mut [Lanes])) -> Vec<f64> {
        let mut values = vec![[0.0; LANES]; DRAWS / LANES];
        fill(&mut Streams::new(7, 0), &mut values);
        values.as_flattened().to_vec()
    }

    #[test]
    fn xoshiro_gives_the_published_words() {
        let mut streams = Streams { state: [1, 2, 3, 4].map(|word| [word; LANES]) };
        for word in [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386] {
            assert_eq!(streams.words(), [word; LANES]);
        }
    }

    #[test]
    fn a_replication_draws_the_same_in_whatever_block_it_is() {
        let (mut early, mut late) = (Streams::new(1, 0), Streams::new(1, 3));
        for _ in 0..10 {
            let (early, late) = (early.uniform(), late.uniform());
            assert_eq!(early[3..], late[..LANES - 3]);
            assert!(early.iter().zip(&early[1..]).all(|(a, b)| a.to_bits() != b.to_bits()));
        }
    }

    #[test]
    fn moments_are_those_of_their_laws() {
        let even = |x: [f64; 3]| [0.0, x[0], 0.0, x[1], 0.0, x[2]];
        let (normal, laplace) = (even([1.0, 3.0, 15.0]), even([2.0, 24.0, 720.0]));
        let checks: [(Vec<f64>, [f64; 6]); 3] = [
            (drawn(Streams::normals), normal),
            (drawn(Streams::laplaces), laplace),
            (drawn(Streams::exponentials), [1.0, 2.0, 6.0, 24.0, 120.0, 720.0]),
        ];
        for (values, moments) in checks {
            for k in 1..=3 {
                let mean = values.iter().map(|x| x.powi(k)).sum::<f64>() / DRAWS as f64;
                let (expected, square) = (moments[k as usize - 1], moments[2 * k as usize - 1]);
                let error = ((square - expected * expected) / DRAWS as f64).sqrt();
                assert!((mean - expected).abs() < 5.0 * error, "moment {k}: {mean} for {expected} ± {error}");
            }
        }
    }

    #[test]
    fn normals_of_a_pair_are_as_often_beyond_any_bound_as_they_should_be() {
        let values = drawn(Streams::normals);
        for bound in [-2.5, -1.0, 0.0, 0.3, 1.96, 3.0] {
            let share = undertone_privacy::accounting::normal::cdf(-bound);
            let seen = values.iter().filter(|x| **x > bound).count() as f64;
            let error = (share * (1.0 - share) * DRAWS as f64).sqrt();
            assert!((seen - share * DRAWS as f64).abs() < 5.0 * error, "{bound}");
        }
        // both of a pair, and squares of both, are uncorrelated
        let pairs: Vec<(f64, f64)> = values
            .chunks_exact(2 * LANES)
            .flat_map(|pair| (0..LANES).map(|l| (pair[l], pair[l + LANES])))
            .collect();
        let n = pairs.len() as f64;
        let products = pairs.iter().map(|(x, y)| x * y).sum::<f64>() / n;
        let squares = pairs.iter().map(|(x, y)| (x * x - 1.0) * (y * y - 1.0)).sum::<f64>() / n;
        assert!(products.abs() < 5.0 / n.sqrt() && squares.abs() < 10.0 / n.sqrt());
    }
}
