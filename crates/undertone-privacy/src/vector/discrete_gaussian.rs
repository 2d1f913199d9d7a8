//! The discrete Gaussian on every coordinate, for a promise of zero-concentrated privacy.
//!
//! > report = k + z, P(z_j) ∝ exp(-z_j²/2σ²), σ² = (2·STEPS)²/(2ρ)
//!
//! **Privacy.** Integer vectors at most 2·STEPS apart in l2 are ρ-zCDP, ρ = (2·STEPS)²/(2σ²) (Canonne, Kamath,
//! Steinke, *The Discrete Gaussian for Differential Privacy*, 2020). It is not exactly μ-GDP: for that
//! promise take [`Gaussian`](super::Gaussian), whose noise is no dearer.
//!
//! **Utility.** E|report − g|² = p·σ² steps² = 2p·r²/ρ. The exact arithmetic holds σ² up to 2^50 steps², so a ρ
//! below 2^-9 is refused.

use super::additive::{Additive, Noise};
use super::{Ball, STEPS};
use crate::exact::{self, Scale};
use crate::{Guarantee, PrivacyError, Rho};
use rand_core::Rng;

/// The coordinate-wise discrete Gaussian mechanism.
pub type DiscreteGaussian = Additive<exact::DiscreteGaussian>;

impl DiscreteGaussian {
    /// Noise for vectors of `ball` under a promise of ρ-zCDP.
    pub fn new(ball: Ball, rho: Rho) -> Result<Self, PrivacyError> {
        let diameter = 2.0 * f64::from(STEPS);
        let square = Scale::at_least(diameter * diameter / (2.0 * rho.get()))?;
        let guarantee = Guarantee::Concentrated(rho);
        Ok(Self { ball, guarantee, noise: exact::DiscreteGaussian::new(square)? })
    }
}

impl Noise for exact::DiscreteGaussian {
    fn draw(self, rng: &mut impl Rng) -> i64 {
        self.sample(rng)
    }

    fn ln_probability(self, z: i64) -> f64 {
        self.ln_pmf(z)
    }

    fn second_moment(self) -> f64 {
        self.variance()
    }

    fn width(self) -> f64 {
        libm::sqrt(self.square().get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomizer;
    use crate::vector::VectorRandomizer;
    use crate::vector::testing::{ball, corner, estimates_match_the_stated_moments};

    fn rho(value: f64) -> Rho {
        Rho::new(value).unwrap()
    }

    #[test]
    fn a_half_in_six_dimensions_costs_what_one_gdp_does() {
        let mechanism = DiscreteGaussian::new(ball(6), rho(0.5)).unwrap();
        assert!((mechanism.variance_at_norm(1.0) - 24.0).abs() < 1e-9);
        assert!((mechanism.noise_scale().unwrap() - 2.0).abs() < 1e-10);
    }

    #[test]
    fn the_divergence_between_opposite_inputs_is_the_promise() {
        // At order one the Rényi divergence is E[ln P(Y|a) − ln P(Y|b)] = Δ²/(2σ²), since Y has mean a.
        for value in [0.002, 0.5, 50.0] {
            let mechanism = DiscreteGaussian::new(ball(1), rho(value)).unwrap();
            let (a, b) = (corner(ball(1), 1.0), corner(ball(1), -1.0));
            let mean = alloc::vec![i64::from(a.steps()[0])];
            let divergence = mechanism.ln_likelihood(&mean, &a) - mechanism.ln_likelihood(&mean, &b);
            assert!((divergence / value - 1.0).abs() < 1e-9);
            let diameter = 2.0 * f64::from(STEPS);
            assert!(diameter * diameter / (2.0 * mechanism.noise.square().get()) <= value);
        }
        assert!(matches!(DiscreteGaussian::new(ball(1), rho(1e-4)), Err(PrivacyError::Scale { .. })));
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variance() {
        for (p, r) in [(1, 0.5), (3, 50.0)] {
            let mechanism = DiscreteGaussian::new(Ball::new(p, 3.0).unwrap(), rho(r)).unwrap();
            estimates_match_the_stated_moments(&mechanism, &corner(ball(p), 0.7), 20_000);
        }
    }
}
