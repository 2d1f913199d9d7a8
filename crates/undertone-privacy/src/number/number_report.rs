//! What a number's report tells beyond its estimate: whether an honest device can have said it, and how far off the estimate is.
//!
//! Let z be the estimate, u = z - c its distance from the middle c of the bounds, T half their width, w = y - c. Learners that judge by
//! squared errors need v with E\[v | y\] = Var(z | y), for then E\[(f - z)² - v | y\] = (f - y)² for every prediction f. Every
//! mechanism here has one of the form v = a·u² + b, as far as there is one at all:
//!
//! * Laplace: a = 0, b the variance of the noise.
//! * Piecewise, and its mixture with one bit: Var(z | y) = V₀ + κ·w², so E\[u²\] = (1 + κ)·w² + V₀, and v = (κ·u² + V₀)/(1 + κ).
//! * One bit says ±C, and its probabilities are affine in y. So is the mean of everything that can be made of it, while Var(z | y) = C² - w²
//!   is not: **nobody can tell from single bits how far the numbers are from their mean.** What is left is its lower bound, v = C² - T²,
//!   which hides T² - w² of it.
//! * Bins say a rounded number β with E\[β | y\] = y, γ·u is that number: v = (1 - γ)·u² + q·Σβ²/γ, which hides the rounding, at
//!   most the square of half a bin.
//!
//! What is hidden is the same for every prediction: differences between models are unbiased under each of them.

use super::{GridNumber, NumberMechanism, NumberRandomizer};
use crate::{PrivacyError, Randomizer};
use core::ops::RangeInclusive;
use rand_core::CryptoRng;

/// Browsers tell whole numbers apart up to here.
const LARGEST_REPORT: f64 = 9_007_199_254_740_992.0;

/// Laplace noise of a scale b is beyond 42·b with probability below e^-41.
const LAPLACE_REACH: f64 = 42.0;

/// The variance of an estimate, from the estimate itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportVariance {
    middle: f64,
    /// a
    slope: f64,
    /// b
    offset: f64,
    hidden: f64,
}

impl ReportVariance {
    /// That of a number that is known.
    pub const NONE: Self = Self { middle: 0.0, slope: 0.0, offset: 0.0, hidden: 0.0 };

    /// v, for an estimate z.
    pub fn of(&self, estimate: f64) -> f64 {
        let u = estimate - self.middle;
        self.slope * u * u + self.offset
    }

    /// The most that E\[v | y\] can lie below the variance; zero for mechanisms that hide nothing.
    pub fn hidden(&self) -> f64 {
        self.hidden
    }
}

impl NumberMechanism {
    /// A report that passes for [plausible](Self::is_plausible).
    pub fn report(&self, input: &GridNumber, rng: &mut impl CryptoRng) -> Result<i64, PrivacyError> {
        let said = self.randomize(input, rng)?;
        let range = self.range();
        Ok(said.clamp(*range.start(), *range.end()))
    }

    /// Whether an honest device can have said so, but for a chance of less than e^-40.
    pub fn is_plausible(&self, report: i64) -> bool {
        // What is possible for one number is possible for all.
        self.range().contains(&report)
            && self.ln_likelihood(&report, &self.bounds().middle()) > f64::NEG_INFINITY
    }

    /// Whether reports are integers that every reader of JSON tells apart: not if ε is below some 5·10⁻⁹.
    pub fn fits_a_report(&self) -> bool {
        match self {
            Self::Laplace(laplace) => LAPLACE_REACH * laplace.noise().scale().get() < LARGEST_REPORT / 2.0,
            _ => true,
        }
    }

    fn range(&self) -> RangeInclusive<i64> {
        match self {
            Self::Laplace(laplace) => {
                let reach = (LAPLACE_REACH * laplace.noise().scale().get()) as i64;
                -reach..=reach.saturating_add(i64::from(self.bounds().steps()))
            }
            // All others have one.
            _ => self.alphabet().unwrap_or(0..=0),
        }
    }

    /// How the variance of an estimate is told from it.
    pub fn report_variance(&self) -> ReportVariance {
        let bounds = self.bounds();
        let (middle, half) = (bounds.value_of(bounds.middle()), bounds.half() as f64 * bounds.step());
        let [at_middle, at_end] = [bounds.middle(), bounds.lowest()].map(|place| self.variance_at(place));
        // C² - T² is the variance at the ends.
        let of_bits = ReportVariance { middle, slope: 0.0, offset: at_end, hidden: half * half };
        let affine = |slope, offset| ReportVariance { middle, slope, offset, hidden: 0.0 };
        match self {
            Self::Laplace(_) => affine(0.0, at_middle),
            Self::OneBit(_) => of_bits,
            Self::Hybrid(mixed) | Self::HybridBest(mixed) if mixed.blend().heads() == 0 => of_bits,
            Self::Piecewise(_) | Self::PiecewiseBest(_) | Self::Hybrid(_) | Self::HybridBest(_) => {
                let kappa = (at_end - at_middle) / (half * half);
                affine(kappa / (1.0 + kappa), at_middle / (1.0 + kappa))
            }
            Self::Bins(bins) => {
                let bin = 2.0 * half / f64::from(bins.count() - 1);
                let (slope, lies) = bins.variance_of_estimates();
                ReportVariance { middle, slope, offset: lies, hidden: bin * bin / 4.0 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::small_mechanisms;
    use super::super::{Bounds, NumberKind};
    use super::*;
    use crate::Epsilon;
    use alloc::vec::Vec;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    /// E\[v | y\] by going through all reports, those of Laplace noise as far as they matter.
    fn mean(mechanism: &NumberMechanism, input: GridNumber) -> f64 {
        let variance = mechanism.report_variance();
        let range = mechanism.alphabet().unwrap_or(-6_000..=6_000);
        let terms = range.filter_map(|report| {
            let p = mechanism.ln_likelihood(&report, &input).exp();
            (p > 0.0).then(|| p * variance.of(mechanism.decode(report)))
        });
        terms.sum()
    }

    #[test]
    fn the_mean_of_v_is_the_variance_but_for_what_is_hidden() {
        for (epsilon, mechanism) in small_mechanisms() {
            if matches!(mechanism, NumberMechanism::Laplace(_)) && epsilon < 0.1 {
                continue;
            }
            let hidden = mechanism.report_variance().hidden();
            for input in mechanism.bounds().grid() {
                let (found, exact) = (mean(&mechanism, input), mechanism.variance_at(input));
                // Of a mixture, v is a quotient of variances by what may be a small number.
                let error = 1e-9 * mechanism.worst_variance() + 1e-12;
                let missing = exact - found;
                assert!(
                    missing >= -error && missing <= hidden + error,
                    "ε = {epsilon}, {mechanism:?}: {missing}"
                );
                let mut kinds = Vec::from([NumberKind::OneBit, NumberKind::Bins]);
                kinds.extend(
                    (hidden > 0.0)
                        .then_some([NumberKind::Hybrid, NumberKind::HybridBest])
                        .into_iter()
                        .flatten(),
                );
                assert!(hidden <= 0.0 || kinds.contains(&mechanism.kind()), "{mechanism:?} hides {hidden}");
            }
        }
    }

    #[test]
    fn one_bit_hides_most_in_the_middle_and_bins_half_a_bin() {
        let bounds = Bounds::new(-1.0, 3.0).unwrap().with_bits(3);
        let epsilon = Epsilon::new(4.0).unwrap();
        for (kind, hidden) in [(NumberKind::OneBit, 4.0), (NumberKind::Bins, 0.25)] {
            let mechanism = NumberMechanism::new(kind, bounds, epsilon).unwrap();
            assert!((mechanism.report_variance().hidden() - hidden).abs() < 1e-12, "{kind}");
            let missing = |input| mechanism.variance_at(input) - mean(&mechanism, input);
            // Both are at a bin at the ends, one bit is furthest from any in the middle, five bins are between two of eight steps.
            assert!(
                missing(bounds.lowest()).abs() < 1e-9 && missing(bounds.highest()).abs() < 1e-9,
                "{kind}"
            );
            let most = bounds.grid().map(missing).fold(0.0, f64::max);
            assert!((most - hidden).abs() < 1e-9, "{kind}: {most}");
        }
    }

    #[test]
    fn what_every_mechanism_says_is_plausible_and_what_none_says_is_not() {
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        for (_, mechanism) in small_mechanisms() {
            let bounds = mechanism.bounds();
            for input in [bounds.lowest(), bounds.middle(), bounds.highest()] {
                for _ in 0..200 {
                    let said = mechanism.report(&input, &mut rng).unwrap();
                    assert!(mechanism.is_plausible(said), "{mechanism:?}: {said}");
                }
            }
            let range = mechanism.range();
            for said in [range.start() - 1, range.end() + 1, i64::MIN, i64::MAX] {
                assert!(!mechanism.is_plausible(said), "{mechanism:?}: {said}");
            }
        }
        // A mixture that is all one bit has gaps.
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let bits = NumberMechanism::new(NumberKind::Hybrid, bounds, Epsilon::new(0.5).unwrap()).unwrap();
        assert!(!bits.is_plausible(0) && bits.is_plausible(*bits.range().end()));
    }

    #[test]
    fn only_laplace_noise_can_be_too_wide_for_a_report() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        for kind in NumberKind::ALL {
            let fits = |epsilon| {
                NumberMechanism::new(kind, bounds, Epsilon::new(epsilon).unwrap()).unwrap().fits_a_report()
            };
            assert!(fits(1e-7), "{kind}");
            assert_eq!(fits(2e-9), kind != NumberKind::Laplace, "{kind}");
        }
    }
}
