//! Laplace noise on the grid: the textbook answer, and the yardstick for the others.
//!
//! > report = index + z, P(z) ∝ e^(-|z| / scale), scale ≥ 2^20 / ε
//!
//! **Privacy.** Two indices differ by at most 2^20, so ln P changes by at most 2^20 / scale ≤ ε.
//!
//! **Utility.** The variance is that of the noise for every input, 2·(width/ε)² but for a tiny part of a squared
//! step. Any integer may be reported, which no other mechanism here allows.
//!
//! Dwork, McSherry, Nissim, Smith, *Calibrating Noise to Sensitivity in Private Data Analysis* (2006); the noise is
//! [`DiscreteLaplace`], since the floating-point kind is not private.

use super::{Bounds, GridNumber, NumberRandomizer, large_enough};
use crate::exact::{DiscreteLaplace, Scale};
use crate::integer_ratio::rounded_up;
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer};
use core::ops::RangeInclusive;
use rand_core::CryptoRng;

/// The number plus discrete Laplace noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laplace {
    bounds: Bounds,
    epsilon: Epsilon,
    noise: DiscreteLaplace,
}

impl Laplace {
    /// Noise of scale 2^20/ε, rounded up.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        large_enough(epsilon)?;
        let scale = Scale::at_least(f64::from(bounds.steps()) / epsilon.get())?;
        Ok(Self { bounds, epsilon, noise: DiscreteLaplace::new(scale) })
    }

    /// The noise, in steps of the grid.
    pub fn noise(self) -> DiscreteLaplace {
        self.noise
    }
}

impl Randomizer for Laplace {
    type Input = GridNumber;
    type Report = i64;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, input: &GridNumber, rng: &mut impl CryptoRng) -> Result<i64, PrivacyError> {
        // The noise stays below 2^62 but for a probability of e^-2048.
        Ok(self.noise.sample(rng).saturating_add(i64::from(input.index())))
    }

    fn ln_likelihood(&self, report: &i64, input: &GridNumber) -> f64 {
        self.noise.ln_pmf(report.saturating_sub(i64::from(input.index())))
    }
}

impl NumberRandomizer for Laplace {
    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn decode(&self, report: i64) -> f64 {
        self.bounds.off_centre(report.saturating_sub(self.bounds.half()) as f64)
    }

    fn variance_at(&self, _: GridNumber) -> f64 {
        self.noise.variance() * self.bounds.step() * self.bounds.step()
    }

    fn worst_variance(&self) -> f64 {
        self.variance_at(self.bounds.lowest())
    }

    fn realised_epsilon(&self) -> f64 {
        rounded_up(f64::from(self.bounds.steps()) / self.noise.scale().get(), self.epsilon)
    }

    fn alphabet(&self) -> Option<RangeInclusive<i64>> {
        None
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::super::tests::{on_unit, within};
    use super::*;

    #[test]
    fn at_epsilon_two_the_noise_has_half_the_grid_for_its_scale() {
        let mechanism = on_unit(2.0, Laplace::new);
        assert!((mechanism.noise().scale().get() / f64::from(1 << 19) - 1.0).abs() < 1e-11);
        assert_eq!(mechanism.decode(0), -1.0);
        assert_eq!(mechanism.decode(1 << 19), 0.0);
        assert_eq!(mechanism.decode(3 << 19), 2.0);
    }

    #[test]
    fn worst_variances_are_those_of_the_table() {
        for (epsilon, variance) in [(0.25, 128.0), (0.5, 32.0), (1.0, 8.0), (2.0, 2.0), (4.0, 0.5)] {
            assert!(within(on_unit(epsilon, Laplace::new).worst_variance(), variance, 1e-9));
        }
    }

    #[test]
    fn a_shift_by_the_whole_grid_costs_the_realised_epsilon_and_no_more_than_promised() {
        for epsilon in [1e-6, 0.3, 1.0, 50.0, 1e9, 1e300] {
            let mechanism = on_unit(epsilon, Laplace::new);
            let [near, far] = [mechanism.bounds().highest(), mechanism.bounds().lowest()]
                .map(|input| mechanism.ln_likelihood(&(1 << 30), &input));
            assert!(within(near - far, mechanism.realised_epsilon(), 1e-8), "{epsilon}");
            assert!(mechanism.realised_epsilon() <= epsilon);
            assert!(mechanism.worst_variance().is_finite());
        }
    }
}
