//! The number rounded at random to one of B values, then randomized response: the best there is for larger ε.
//!
//! The B values are equispaced from `low` to `high`. The number falls between two of them and is rounded to either so
//! that it is right on average. The resulting bin b is reported as
//!
//! > P(r | b) = p/2^64 if r = b, else q/2^64, with p + (B - 1)·q = 2^64 and q ≥ 2^64·t/(1 + (B - 1)·t), t = e^-ε
//!
//! **Privacy.** p/q ≤ e^ε since q is rounded up, and rounding first is a mixture of bins, which cannot raise the ratio.
//!
//! **Utility.** Count the bins from the middle: c = 2r - (B - 1). Since all c add up to zero,
//!
//! > E[c(r) | b] = γ·c(b), γ = (p - q)/2^64 = 1 - B·q/2^64
//!
//! so c/γ is unbiased. For a number at c + 2f, 0 ≤ f ≤ 1, between the bins c and c + 2, its variance is
//!
//! > 4f(1 - f)/γ + (c + 2f)²·(1 - γ)/γ + (q/2^64)·S/γ², S = Σ c² = B(B² - 1)/3
//!
//! (rounding, truth that is told too rarely, and lies). It is concave in f, and largest on the outermost piece.
//! More bins mean less rounding but more lies; [`Bins::best`] weighs them.
//!
//! Warner, *Randomized response* (1965), with more than two answers as in Kairouz, Bonawitz, Ramage, *Discrete
//! distribution estimation under local privacy* (2016).

use super::{Bounds, GridNumber, NumberRandomizer, ROUND_UP, WORDS, large_enough, loss};
use crate::exact::uniform_below;
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, ln_ratio};
use core::ops::RangeInclusive;
use rand_core::CryptoRng;

/// Randomized response among equispaced values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bins {
    bounds: Bounds,
    epsilon: Epsilon,
    /// B
    count: u32,
    /// q
    lie_words: u64,
}

impl Bins {
    /// The largest number of bins.
    pub const MOST: u32 = 1 << 16;

    /// Randomized response among `bins` values.
    pub fn new(bounds: Bounds, epsilon: Epsilon, bins: u32) -> Result<Self, PrivacyError> {
        if !(2..=Self::MOST).contains(&bins) {
            return Err(PrivacyError::Bins { bins });
        }
        large_enough(epsilon)?;
        let t = epsilon.t();
        let lie = t / (1.0 + f64::from(bins - 1) * t);
        // The least ε leaves B·q < 2^64, and no lie is impossible.
        let lie_words = (libm::ceil(lie * ROUND_UP * WORDS) as u64).max(1);
        Ok(Self { bounds, epsilon, count: bins, lie_words })
    }

    /// The number of bins with the least worst-case variance.
    pub fn best(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        let mut best = Self::new(bounds, epsilon, 2)?;
        let mut least = best.worst_variance();
        for bins in 3..=Self::MOST {
            let candidate = Self::new(bounds, epsilon, bins)?;
            // Lies cost t·(1 + (B - 1)·t)/(1 - t)² · B(B + 1)/(3(B - 1)) on [-1, 1], which never falls as B grows: once
            // this alone is too much, the search is over.
            if candidate.variance_of_lies() > least {
                break;
            }
            let variance = candidate.worst_variance();
            if variance < least {
                (best, least) = (candidate, variance);
            }
        }
        Ok(best)
    }

    /// B, the number of bins.
    pub fn count(self) -> u32 {
        self.count
    }

    /// p, the words out of 2^64 that report the number's own bin.
    pub fn truth_words(self) -> u64 {
        (u64::from(self.count - 1) * self.lie_words).wrapping_neg()
    }

    /// q, the words that report any one of the others.
    pub fn lie_words(self) -> u64 {
        self.lie_words
    }

    /// What a report says about any function of the number that is linear between the bins, where it has these values.
    ///
    /// With λ = q/2^64, the chance of any one lie, a bin b is reported as itself with probability γ + λ and as each other one with λ, so that
    ///
    /// > E[(f(r) - λ·Σf)/γ | b] = f(b)
    ///
    /// and the number is rounded so that a function which is linear between two bins is right on average.
    ///
    /// # Panics
    ///
    /// If there is no value for the bin that is reported: there have to be B of them, and the report below B.
    pub fn estimate_of(self, values: &[f64], report: u32) -> f64 {
        let lies = self.lie_words as f64 / WORDS * values.iter().sum::<f64>();
        (values[report as usize] - lies) / self.slope()
    }

    /// The bin at or below a number, and how far it lies above it, in 2^20ths of a bin.
    fn bin_below(self, input: GridNumber) -> (u64, u64) {
        let scaled = u64::from(input.index()) * u64::from(self.count - 1);
        (scaled >> self.bounds.bits(), scaled & u64::from(self.bounds.steps() - 1))
    }

    /// 1 - γ
    fn shrinkage(self) -> f64 {
        (u64::from(self.count) * self.lie_words) as f64 / WORDS
    }

    /// γ, from a difference of integers.
    fn slope(self) -> f64 {
        (u64::from(self.count) * self.lie_words).wrapping_neg() as f64 / WORDS
    }

    /// The steps of the grid for each unit of c.
    fn unit(self) -> f64 {
        self.bounds.half() as f64 / f64::from(self.count - 1)
    }

    /// c(r)
    fn centred(self, bin: i64) -> f64 {
        2.0 * bin as f64 - f64::from(self.count - 1)
    }

    fn variance_of_lies(self) -> f64 {
        let b = f64::from(self.count);
        let spread = self.unit() * self.bounds.step() / self.slope();
        self.lie_words as f64 / WORDS * (b * (b * b - 1.0) / 3.0) * spread * spread
    }

    /// a and b of the variance that an estimate tells of itself: 1 - γ, and q·Σβ²/γ for the values β of the bins.
    pub(super) fn variance_of_estimates(self) -> (f64, f64) {
        // The variance of lies is q·Σβ²/γ².
        (self.shrinkage(), self.variance_of_lies() * self.slope())
    }

    /// The variance of a number a fraction `f` of the way from the bin `c` to the next.
    fn variance_between(self, c: f64, f: f64) -> f64 {
        let here = c + 2.0 * f;
        let rounding = 4.0 * f * (1.0 - f);
        let unit = self.unit() * self.bounds.step();
        (rounding + here * here * self.shrinkage()) / self.slope() * unit * unit + self.variance_of_lies()
    }
}

impl Randomizer for Bins {
    type Input = GridNumber;
    type Report = i64;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, input: &GridNumber, rng: &mut impl CryptoRng) -> Result<i64, PrivacyError> {
        let (below, rest) = self.bin_below(*input);
        let bin = below + u64::from(uniform_below(u64::from(self.bounds.steps()), rng) < rest);
        // The words fall into B blocks, by the high half of word × B. Block 0 tells the truth; block k > 0 reports the
        // bin k places on for its first q words, those with a low half below B·q, and tells the truth for the rest.
        let b = u64::from(self.count);
        let product = u128::from(rng.next_u64()) * u128::from(b);
        let lies = (product as u64) < b * self.lie_words;
        let said = bin + (product >> 64) as u64 * u64::from(lies);
        Ok((said - b * u64::from(said >= b)) as i64)
    }

    fn ln_likelihood(&self, report: &i64, input: &GridNumber) -> f64 {
        if !(0..i64::from(self.count)).contains(report) {
            return f64::NEG_INFINITY;
        }
        let (below, rest) = self.bin_below(*input);
        let steps = u64::from(self.bounds.steps());
        let rounded_to_it = match report.checked_sub_unsigned(below) {
            Some(0) => steps - rest,
            Some(1) => rest,
            _ => 0,
        };
        let (p, q) = (u128::from(self.truth_words()), u128::from(self.lie_words));
        let words = p * u128::from(rounded_to_it) + q * u128::from(steps - rounded_to_it);
        ln_ratio(words, u128::from(steps) << 64)
    }
}

impl NumberRandomizer for Bins {
    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn decode(&self, report: i64) -> f64 {
        self.bounds.off_centre(self.centred(report) * self.unit() / self.slope())
    }

    fn variance_at(&self, value: GridNumber) -> f64 {
        let (below, rest) = self.bin_below(value);
        self.variance_between(self.centred(below as i64), rest as f64 / f64::from(self.bounds.steps()))
    }

    /// Over the whole interval, of which the grid misses the worst point by half a step at most.
    fn worst_variance(&self) -> f64 {
        let c = self.centred(i64::from(self.count) - 2);
        // 4(1 - 2f)/γ + 4(c + 2f)(1 - γ)/γ = 0
        let f = (1.0 + c * self.shrinkage()) / (2.0 * self.slope());
        self.variance_between(c, f.min(1.0))
    }

    fn realised_epsilon(&self) -> f64 {
        loss(u128::from(self.truth_words()), u128::from(self.lie_words), self.epsilon)
    }

    fn alphabet(&self) -> Option<RangeInclusive<i64>> {
        Some(0..=i64::from(self.count) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{on_unit, within};
    use super::*;

    #[test]
    fn three_bins_at_e_to_the_epsilon_two_are_worked_by_hand() {
        // p = 2/4, q = 1/4, γ = 1/4: -1, 0, 1 are reported as -4, 0, 4
        let mechanism = on_unit(2f64.ln(), |bounds, epsilon| Bins::new(bounds, epsilon, 3));
        let input = mechanism.bounds.place(0.5).unwrap();
        let p = |report| mechanism.ln_likelihood(&report, &input).exp();
        // 0.5 is rounded to 0 and to 1 alike: 1/2·1/2 + 1/2·1/4
        assert!(within(p(0), 0.25, 1e-12) && within(p(1), 0.375, 1e-12) && within(p(2), 0.375, 1e-12));
        assert!(within(mechanism.decode(2), 4.0, 1e-12) && mechanism.decode(1).abs() < 1e-12);
        // E = 4·(3/8 - 1/4) = 1/2, E² = 16·5/8 = 10
        assert!(within(mechanism.variance_at(input), 9.75, 1e-12));
        // On the outer piece 4f(1 - f)·4 + 4f²·3 + 32 grows up to f = 2, so the end is worst, with 44 quarters.
        assert!(within(mechanism.worst_variance(), 11.0, 1e-12));
    }

    #[test]
    fn what_is_linear_between_the_bins_is_told_without_bias() {
        // On -1, 0, 1 with q = 1/4, γ = 1/4: the function 3, 0, 1 is told as 4·(f - 1)
        let mechanism = on_unit(2f64.ln(), |bounds, epsilon| Bins::new(bounds, epsilon, 3));
        let told = [0, 1, 2].map(|report| mechanism.estimate_of(&[3.0, 0.0, 1.0], report));
        assert!(within(told[0], 8.0, 1e-12) && within(told[1], -4.0, 1e-12) && told[2].abs() < 1e-12);
        // The number that stands for a bin
        let value = |mechanism: Bins, bin: u32| {
            mechanism.bounds.off_centre(mechanism.centred(i64::from(bin)) * mechanism.unit())
        };
        for (epsilon, bins, number) in [(1.0, 2, 0.3), (2.0, 3, -0.4), (4.0, 5, 0.9), (0.3, 7, 0.05)] {
            let mechanism = on_unit(epsilon, |bounds, epsilon| Bins::new(bounds, epsilon, bins));
            let values: alloc::vec::Vec<f64> = (0..bins).map(|bin| f64::from(bin * bin % 5)).collect();
            let input = mechanism.bounds.place(number).unwrap();
            let chance = |report| mechanism.ln_likelihood(&i64::from(report), &input).exp();
            let mean: f64 = (0..bins).map(|r| chance(r) * mechanism.estimate_of(&values, r)).sum();
            // Between the bins below and above
            let truth = mechanism.bounds.value_of(input);
            let below = (0..bins - 1).rev().find(|&bin| value(mechanism, bin) <= truth).unwrap();
            let [low, high] = [below, below + 1].map(|bin| value(mechanism, bin));
            let [from, to] = [below, below + 1].map(|bin| values[bin as usize]);
            let linear = from + (to - from) * (truth - low) / (high - low);
            assert!((mean - linear).abs() < 1e-9, "{bins} bins: {mean} is not {linear}");
        }
        let ends = [0, 2].map(|bin| value(mechanism, bin));
        assert!(within(ends[0], -1.0, 1e-12) && within(ends[1], 1.0, 1e-12));
    }

    #[test]
    fn the_best_numbers_of_bins_and_their_worst_variances_are_those_of_the_table() {
        let table = [(0.25, 2, 64.67), (0.5, 2, 16.67), (1.0, 2, 4.683), (2.0, 3, 0.9999), (4.0, 5, 0.1767)];
        for (epsilon, bins, variance) in table {
            let best = on_unit(epsilon, Bins::best);
            assert_eq!(best.count(), bins, "{epsilon}");
            assert!(within(best.worst_variance(), variance, 5e-4), "{epsilon}");
        }
        assert_eq!(on_unit(3.0, Bins::best).count(), 4);
    }

    #[test]
    fn stopping_early_misses_no_better_number_of_bins() {
        for epsilon in [0.1, 1.0, 1.7, 2.5, 5.0, 9.0, 14.0] {
            let best = on_unit(epsilon, Bins::best);
            let with = |bins| on_unit(epsilon, |bounds, epsilon| Bins::new(bounds, epsilon, bins));
            let others = (2..2000).map(with).map(|other| other.worst_variance());
            assert!(others.fold(f64::INFINITY, f64::min) >= best.worst_variance(), "{epsilon}");
        }
    }

    #[test]
    fn the_words_of_each_block_are_counted_exactly() {
        // Each lie has q words: the last that still lies and the first that does not, in every block.
        let mechanism = on_unit(1.3, |bounds, epsilon| Bins::new(bounds, epsilon, 7));
        let (b, q) = (7u128, u128::from(mechanism.lie_words()));
        for block in 1..b {
            let first = (block << 64).div_ceil(b);
            let low = |word: u128| (word * b) as u64;
            let bound = (b * q) as u64;
            assert_eq!((first * b) >> 64, block);
            assert!(low(first + q - 1) < bound && low(first + q) >= bound);
            assert_eq!(((first + q - 1) * b) >> 64, block);
        }
        assert_eq!(u128::from(mechanism.truth_words()) + (b - 1) * q, 1 << 64);
    }

    #[test]
    fn the_largest_number_of_bins_works_at_the_least_and_at_a_huge_epsilon() {
        for epsilon in [super::super::LEAST_EPSILON, 1e-6, 50.0, 1e4] {
            let mechanism = on_unit(epsilon, |bounds, epsilon| Bins::new(bounds, epsilon, Bins::MOST));
            assert!(mechanism.lie_words() > 0 && mechanism.truth_words() > mechanism.lie_words());
            assert!(mechanism.slope() > 0.0 && mechanism.worst_variance().is_finite());
            assert!(mechanism.realised_epsilon() <= epsilon);
        }
    }

    #[test]
    fn too_few_and_too_many_bins_are_refused() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        for bins in [0, 1, Bins::MOST + 1] {
            let refused = Bins::new(bounds, Epsilon::new(1.0).unwrap(), bins);
            assert_eq!(refused, Err(PrivacyError::Bins { bins }));
        }
    }
}
