//! A bounded number becomes an integer that anybody may see: five mechanisms, one file each, two of them
//! also with better parameters than the published ones.
//!
//! All of them clamp the number to a public grid ([`Bounds`]), report an integer, and decode it without bias to a
//! value of known variance, so that learners need not know which one was used. On [-1, 1] the worst variances are
//!
//! | ε | [`Laplace`] | [`OneBit`] | [`Piecewise`] | [`Hybrid`] | [`Bins`] | [`Piecewise::best`] | [`Hybrid::best`] |
//! |---|---|---|---|---|---|---|---|
//! | 0.25 | 128 | 64.67 | 85.22 | 64.67 | 64.67 | 85.06 | 64.67 |
//! | 0.5 | 32 | 16.67 | 21.22 | 16.67 | 16.67 | 21.06 | 16.67 |
//! | 1 | 8 | 4.683 | 5.224 | 4.289 | 4.683 | 5.066 | 4.267 |
//! | 2 | 2 | 1.724 | 1.228 | 1.042 | 0.9999 | 1.092 | 0.9817 |
//! | 4 | 0.5 | 1.076 | 0.2414 | 0.219 | 0.1767 | 0.1618 | 0.1557 |
//!
//! and [`NumberMechanism::best`] takes the least. To add a mechanism, write its file, implement [`NumberRandomizer`] and give it a
//! line in `number_mechanisms`.

mod bins;
mod bounds;
mod hybrid;
mod laplace;
mod number_report;
mod one_bit;
mod piecewise;

pub use bins::Bins;
pub use bounds::{Bounds, GridNumber};
pub use hybrid::Hybrid;
pub use laplace::Laplace;
pub use number_report::ReportVariance;
pub use one_bit::OneBit;
pub use piecewise::Piecewise;

use crate::integer_ratio::rounded_up;
use crate::kinds::kinds;
use crate::{DeviceSafe, Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased, ln_ratio};
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use rand_core::CryptoRng;

/// 2^64, the number of words, as a float.
const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// Turns a float that was computed with a handful of operations into one that is certainly not too small.
const ROUND_UP: f64 = 1.0 + 8.0 * f64::EPSILON;

/// The least ε of a number mechanism, 2^-30: below it, probabilities that are whole numbers of words have too few
/// words to differ by, and Laplace noise would outgrow 64 bits.
pub const LEAST_EPSILON: f64 = 1.0 / (1 << 30) as f64;

/// A randomizer for a bounded number, which estimates it from one report.
pub trait NumberRandomizer: DeviceSafe + Unbiased<Input = GridNumber, Report = i64> {
    /// Where the number lies.
    fn bounds(&self) -> Bounds;

    /// An unbiased estimate of the number, in its own units; it may lie outside the bounds.
    fn decode(&self, report: i64) -> f64;

    /// The variance of [`decode`](Self::decode) for this number, exactly.
    fn variance_at(&self, value: GridNumber) -> f64;

    /// The largest variance of any number.
    fn worst_variance(&self) -> f64;

    /// The least ε that the integers in use keep, rounded up; never above the promise.
    fn realised_epsilon(&self) -> f64;

    /// What may be reported, or nothing if every integer may.
    fn alphabet(&self) -> Option<RangeInclusive<i64>>;
}

/// Gives number mechanisms what they have in common: integers decide them, and their vector has one coordinate.
macro_rules! estimates_one_number {
    ($($mechanism:ty),*) => {$(
        impl DeviceSafe for $mechanism {}

        impl Unbiased for $mechanism {
            fn truth(&self, input: &GridNumber) -> Vec<f64> {
                Vec::from([self.bounds().value_of(*input)])
            }

            fn estimate(&self, report: &i64) -> Vec<f64> {
                Vec::from([self.decode(*report)])
            }

            fn variance(&self, input: &GridNumber) -> f64 {
                self.variance_at(*input)
            }
        }
    )*};
}

estimates_one_number!(Laplace, OneBit, Piecewise, Hybrid, Bins, NumberMechanism);

/// Declares the mechanisms: for each, how code calls it, its type, what people type, and how it is built.
macro_rules! number_mechanisms {
    ($($(#[$doc:meta])* $kind:ident($mechanism:ty) = $name:literal, built by $new:path;)*) => {
        kinds! {
            /// A number mechanism by its name.
            NumberKind { $($(#[$doc])* $kind = $name,)* }
        }

        /// Any number mechanism: what a task names and a device runs.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum NumberMechanism {
            $($(#[$doc])* $kind($mechanism),)*
        }

        impl NumberMechanism {
            /// The mechanism of this kind.
            pub fn new(kind: NumberKind, bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
                match kind {
                    $(NumberKind::$kind => $new(bounds, epsilon).map(Self::$kind),)*
                }
            }

            /// Which one it is.
            pub fn kind(&self) -> NumberKind {
                match self {
                    $(Self::$kind(_) => NumberKind::$kind,)*
                }
            }
        }

        impl Randomizer for NumberMechanism {
            type Input = GridNumber;
            type Report = i64;

            fn guarantee(&self) -> Guarantee {
                match self { $(Self::$kind(mechanism) => mechanism.guarantee(),)* }
            }

            fn randomize(&self, input: &GridNumber, rng: &mut impl CryptoRng) -> Result<i64, PrivacyError> {
                match self { $(Self::$kind(mechanism) => mechanism.randomize(input, rng),)* }
            }

            fn ln_likelihood(&self, report: &i64, input: &GridNumber) -> f64 {
                match self { $(Self::$kind(mechanism) => mechanism.ln_likelihood(report, input),)* }
            }
        }

        impl NumberRandomizer for NumberMechanism {
            fn bounds(&self) -> Bounds {
                match self { $(Self::$kind(mechanism) => mechanism.bounds(),)* }
            }

            fn decode(&self, report: i64) -> f64 {
                match self { $(Self::$kind(mechanism) => mechanism.decode(report),)* }
            }

            fn variance_at(&self, value: GridNumber) -> f64 {
                match self { $(Self::$kind(mechanism) => mechanism.variance_at(value),)* }
            }

            fn worst_variance(&self) -> f64 {
                match self { $(Self::$kind(mechanism) => mechanism.worst_variance(),)* }
            }

            fn realised_epsilon(&self) -> f64 {
                match self { $(Self::$kind(mechanism) => mechanism.realised_epsilon(),)* }
            }

            fn alphabet(&self) -> Option<RangeInclusive<i64>> {
                match self { $(Self::$kind(mechanism) => mechanism.alphabet(),)* }
            }
        }
    };
}

// Where two are equally good, the earlier one is preferred.
number_mechanisms! {
    /// Discrete Laplace noise
    Laplace(Laplace) = "laplace", built by Laplace::new;
    /// One bit
    OneBit(OneBit) = "one-bit", built by OneBit::new;
    /// The piecewise mechanism as published
    Piecewise(Piecewise) = "piecewise", built by Piecewise::new;
    /// The mixture of piecewise and one bit as published
    Hybrid(Hybrid) = "hybrid", built by Hybrid::new;
    /// Randomized response on the best number of bins
    Bins(Bins) = "bins", built by Bins::best;
    /// The piecewise mechanism with the window of least worst-case variance
    PiecewiseBest(Piecewise) = "piecewise-best", built by Piecewise::best;
    /// The mixture with the window of least worst-case variance
    HybridBest(Hybrid) = "hybrid-best", built by Hybrid::best;
}

impl NumberMechanism {
    /// The kind with the least worst-case variance: one bit for ε up to about 0.608, above it the mixture with the
    /// best window, until at ε of about 25 all its weight is on the piecewise part.
    ///
    /// One bit, the hybrid for small ε and two bins are the same channel up to rounding; to be preferred, a later one
    /// of [`NumberKind::ALL`] has to be better by more than a millionth.
    pub fn best(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        let mut best = Self::new(NumberKind::Laplace, bounds, epsilon)?;
        for kind in NumberKind::ALL {
            let candidate = Self::new(kind, bounds, epsilon)?;
            if candidate.worst_variance() < best.worst_variance() * (1.0 - 1e-6) {
                best = candidate;
            }
        }
        Ok(best)
    }
}

/// Refuses an ε too small for exact arithmetic.
fn large_enough(epsilon: Epsilon) -> Result<(), PrivacyError> {
    if epsilon.get() < LEAST_EPSILON {
        return Err(PrivacyError::NoInformation { epsilon: epsilon.get() });
    }
    Ok(())
}

/// ln(`likelier` / `rarer`), never above the promise.
fn loss(likelier: u128, rarer: u128, promise: Epsilon) -> f64 {
    rounded_up(ln_ratio(likelier, rarer), promise)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    /// A mechanism for numbers in [-1, 1].
    pub(super) fn on_unit<M>(
        epsilon: f64,
        new: impl FnOnce(Bounds, Epsilon) -> Result<M, PrivacyError>,
    ) -> M {
        new(Bounds::new(-1.0, 1.0).unwrap(), Epsilon::new(epsilon).unwrap()).unwrap()
    }

    /// Whether two numbers agree up to a relative difference.
    pub(super) fn within(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs()
    }

    /// Every mechanism on [-1, 3] with eight steps, for ordinary and extreme ε.
    pub(super) fn small_mechanisms() -> impl Iterator<Item = (f64, NumberMechanism)> {
        let bounds = Bounds::new(-1.0, 3.0).unwrap().with_bits(3);
        [1e-6, 0.1, 0.5, 1.0, 2.0, 5.0, 50.0].into_iter().flat_map(move |value| {
            let epsilon = Epsilon::new(value).unwrap();
            let kinds = NumberKind::ALL.map(|kind| NumberMechanism::new(kind, bounds, epsilon));
            let better = [
                Piecewise::best(bounds, epsilon).map(NumberMechanism::Piecewise),
                Hybrid::best(bounds, epsilon).map(NumberMechanism::Hybrid),
            ];
            kinds.into_iter().chain(better).map(move |mechanism| (value, mechanism.unwrap()))
        })
    }

    /// Everything that is ever reported; nothing if that is too much to look at.
    fn reports(mechanism: &NumberMechanism) -> Option<RangeInclusive<i64>> {
        match mechanism {
            NumberMechanism::Laplace(laplace) => {
                let reach = (laplace.noise().scale().get() * 45.0).ceil() as i64;
                (reach < 10_000).then_some(-reach..=reach + 8)
            }
            _ => mechanism.alphabet(),
        }
    }

    #[test]
    fn probabilities_sum_to_one() {
        for (epsilon, mechanism) in small_mechanisms() {
            let Some(reports) = reports(&mechanism) else { continue };
            for input in mechanism.bounds().grid() {
                let sum: f64 = reports.clone().map(|r| mechanism.ln_likelihood(&r, &input).exp()).sum();
                assert!(within(sum, 1.0, 1e-12), "ε = {epsilon}, {mechanism:?}: {sum}");
            }
        }
    }

    #[test]
    fn what_is_not_in_the_alphabet_is_never_reported() {
        for (_, mechanism) in small_mechanisms() {
            let Some(alphabet) = mechanism.alphabet() else { continue };
            for report in [alphabet.start() - 1, alphabet.end() + 1, i64::MIN, i64::MAX] {
                for input in mechanism.bounds().grid() {
                    assert_eq!(mechanism.ln_likelihood(&report, &input), f64::NEG_INFINITY);
                }
            }
        }
    }

    #[test]
    fn estimates_are_right_on_average_and_have_the_stated_variance() {
        for (epsilon, mechanism) in small_mechanisms() {
            let Some(reports) = reports(&mechanism) else { continue };
            for input in mechanism.bounds().grid() {
                let truth = mechanism.truth(&input)[0];
                let (mut bias, mut square) = (0.0, 0.0);
                for report in reports.clone() {
                    let p = mechanism.ln_likelihood(&report, &input).exp();
                    let error = mechanism.estimate(&report)[0] - truth;
                    bias += p * error;
                    square += p * error * error;
                }
                let variance = mechanism.variance(&input);
                let sigma = variance.sqrt();
                assert!(bias.abs() <= 1e-13 + 1e-14 * sigma, "ε = {epsilon}, {mechanism:?}: {bias}");
                // an error of a few units in the last place is left where the variance nearly vanishes
                assert!(
                    (square - variance).abs() <= 1e-11 * variance + 1e-30,
                    "ε = {epsilon}, {mechanism:?}: {square} is not {variance}"
                );
            }
        }
    }

    #[test]
    fn no_report_tells_two_numbers_apart_by_more_than_the_realised_epsilon() {
        for (epsilon, mechanism) in small_mechanisms() {
            let reports = reports(&mechanism).unwrap_or(-100..=100);
            let mut loss = 0f64;
            for report in reports {
                let likelihoods = || mechanism.bounds().grid().map(|i| mechanism.ln_likelihood(&report, &i));
                let most = likelihoods().fold(f64::NEG_INFINITY, f64::max);
                let least = likelihoods().fold(f64::INFINITY, f64::min);
                if most > f64::NEG_INFINITY {
                    loss = loss.max(most - least);
                }
            }
            let realised = mechanism.realised_epsilon();
            assert!(realised <= epsilon, "ε = {epsilon}, {mechanism:?}: {realised}");
            assert!((loss - realised).abs() <= 1e-13, "ε = {epsilon}, {mechanism:?}: {loss}, {realised}");
        }
    }

    #[test]
    fn hardly_any_of_the_promise_is_given_away() {
        for epsilon in [1e-6, 0.01, 1.0, 4.0, 25.0] {
            for kind in NumberKind::ALL {
                let realised = on_unit(epsilon, |b, e| NumberMechanism::new(kind, b, e)).realised_epsilon();
                assert!(realised <= epsilon && realised >= epsilon * (1.0 - 2e-4), "{kind}: {realised}");
            }
        }
    }

    #[test]
    fn extreme_promises_are_finite_and_kept() {
        for epsilon in [LEAST_EPSILON, 1e-6, 50.0, 1e3, 1e300] {
            for kind in NumberKind::ALL {
                let mechanism = on_unit(epsilon, |b, e| NumberMechanism::new(kind, b, e));
                assert!(mechanism.realised_epsilon() <= epsilon);
                let bounds = mechanism.bounds();
                let mut rng = ChaCha12Rng::seed_from_u64(1);
                for input in [bounds.lowest(), bounds.middle(), bounds.highest()] {
                    let report = mechanism.randomize(&input, &mut rng).unwrap();
                    assert!(mechanism.ln_likelihood(&report, &input).is_finite(), "{kind}, ε = {epsilon}");
                    assert!(mechanism.decode(report).is_finite(), "{kind}, ε = {epsilon}");
                    let (here, worst) = (mechanism.variance_at(input), mechanism.worst_variance());
                    assert!(here >= 0.0 && here <= worst * (1.0 + 1e-12) && worst.is_finite());
                }
            }
        }
    }

    #[test]
    fn an_epsilon_below_exact_arithmetic_is_refused() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let epsilon = LEAST_EPSILON / 2.0;
        for kind in NumberKind::ALL {
            let refused = NumberMechanism::new(kind, bounds, Epsilon::new(epsilon).unwrap());
            assert_eq!(refused, Err(PrivacyError::NoInformation { epsilon }));
        }
    }

    #[test]
    fn the_worst_variance_is_the_largest_on_the_grid() {
        for epsilon in [0.1, 0.65, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0] {
            for kind in NumberKind::ALL {
                let bounds = Bounds::new(-1.0, 1.0).unwrap().with_bits(12);
                let mechanism = NumberMechanism::new(kind, bounds, Epsilon::new(epsilon).unwrap()).unwrap();
                let largest = bounds.grid().map(|input| mechanism.variance_at(input)).fold(0.0, f64::max);
                let worst = mechanism.worst_variance();
                assert!(largest <= worst * (1.0 + 1e-12), "{kind}, ε = {epsilon}: {largest} > {worst}");
                assert!(within(largest, worst, 1e-4), "{kind}, ε = {epsilon}: {largest} < {worst}");
            }
        }
    }

    #[test]
    fn draws_follow_the_likelihood() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let trials = 60_000;
        for (epsilon, mechanism) in small_mechanisms() {
            for input in mechanism.bounds().grid().step_by(3) {
                let mut seen = alloc::collections::BTreeMap::<i64, u32>::new();
                for _ in 0..trials {
                    *seen.entry(mechanism.randomize(&input, &mut rng).unwrap()).or_default() += 1;
                }
                for report in reports(&mechanism).unwrap_or(-100..=100) {
                    let p = mechanism.ln_likelihood(&report, &input).exp();
                    let mean = f64::from(trials) * p;
                    let count = f64::from(seen.get(&report).copied().unwrap_or(0));
                    // Bernstein: beyond 5σ + 25/6 with probability 2·e^(-25/2) at most, however rare the report
                    assert!(
                        (count - mean).abs() <= 5.0 * (mean * (1.0 - p)).sqrt() + 25.0 / 6.0,
                        "ε = {epsilon}, {mechanism:?}: {count} reports of {report}, {mean} expected"
                    );
                }
            }
        }
    }

    #[test]
    fn on_the_real_grid_averages_approach_the_number() {
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let trials = 100_000;
        for kind in NumberKind::ALL {
            for value in [-1.0, -0.37, 0.9] {
                let mechanism = on_unit(1.0, |b, e| NumberMechanism::new(kind, b, e));
                let input = mechanism.bounds().place(value).unwrap();
                let sum: f64 = (0..trials)
                    .map(|_| mechanism.decode(mechanism.randomize(&input, &mut rng).unwrap()))
                    .sum();
                let sigma = (mechanism.variance_at(input) / f64::from(trials)).sqrt();
                assert!((sum / f64::from(trials) - value).abs() < 5.0 * sigma, "{kind}, {value}");
            }
        }
    }

    #[test]
    fn the_words_drawn_do_not_depend_on_the_number() {
        for (_, mechanism) in small_mechanisms() {
            let mut words = mechanism.bounds().grid().map(|input| {
                let mut rng = ChaCha12Rng::seed_from_u64(3);
                (0..200).for_each(|_| {
                    mechanism.randomize(&input, &mut rng).unwrap();
                });
                rng.get_word_pos()
            });
            let first = words.next();
            assert!(words.all(|other| Some(other) == first), "{mechanism:?}");
        }
    }

    #[test]
    fn the_best_mechanism_is_one_bit_and_then_the_mixture_with_the_best_window() {
        let best = |epsilon| on_unit(epsilon, NumberMechanism::best).kind();
        for (epsilon, kind) in [
            (1e-6, NumberKind::OneBit),
            (0.05, NumberKind::OneBit),
            (0.607, NumberKind::OneBit),
            (0.609, NumberKind::HybridBest),
            (1.0, NumberKind::HybridBest),
            (4.0, NumberKind::HybridBest),
            (20.0, NumberKind::HybridBest),
            (30.0, NumberKind::PiecewiseBest),
        ] {
            assert_eq!(best(epsilon), kind, "{epsilon}");
        }
    }

    #[test]
    fn of_the_published_mechanisms_the_hybrid_gives_way_to_bins() {
        // at ε of about 1.62
        let worst =
            |kind, epsilon| on_unit(epsilon, |b, e| NumberMechanism::new(kind, b, e)).worst_variance();
        assert!(worst(NumberKind::Hybrid, 1.615) < worst(NumberKind::Bins, 1.615));
        assert!(worst(NumberKind::Hybrid, 1.625) > worst(NumberKind::Bins, 1.625));
    }

    #[test]
    fn units_scale_the_variance_and_nothing_else() {
        let epsilon = Epsilon::new(1.0).unwrap();
        let celsius = Bounds::new(-20.0, 60.0).unwrap();
        for kind in NumberKind::ALL {
            let unit = on_unit(1.0, |b, e| NumberMechanism::new(kind, b, e));
            let mechanism = NumberMechanism::new(kind, celsius, epsilon).unwrap();
            assert!(within(mechanism.worst_variance(), 1600.0 * unit.worst_variance(), 1e-12));
            assert!(within(mechanism.decode(1), 20.0 + 40.0 * unit.decode(1), 1e-12));
            assert_eq!(mechanism.realised_epsilon(), unit.realised_epsilon());
        }
    }

    #[test]
    fn every_name_is_understood_and_an_unknown_one_is_told_the_others() {
        for kind in NumberKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(on_unit(1.0, |b, e| NumberMechanism::new(kind, b, e)).kind(), kind);
        }
        let names = NumberKind::ALL.map(NumberKind::name).join(", ");
        assert_eq!(
            "gauss".parse::<NumberKind>().unwrap_err().to_string(),
            alloc::format!("there is no mechanism \"gauss\" here; there are {names}")
        );
    }
}
