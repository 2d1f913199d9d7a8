//! An exact Gaussian on every coordinate, rounded to the grid.
//!
//! > report = k + round(s·N), s = ⌈2·STEPS/μ⌉
//!
//! **Privacy.** k is an integer vector, so the report is round(k + s·N): a function of the true Gaussian mechanism
//! on vectors at most 2·STEPS apart, hence exactly (2·STEPS/s)-GDP in any dimension (Dong, Roth, Su, *Gaussian
//! differential privacy*, 2022), and 2·STEPS/s ≤ μ. For an (ε, δ) promise μ is the largest with δ_μ(ε) ≤ δ, which
//! is necessary and sufficient for every ε (Balle, Wang, *Improving the Gaussian mechanism for differential
//! privacy: analytical calibration and optimal denoising*, 2018). The classical scale √(2·ln(1.25/δ))·Δ/ε is
//! wasteful at small ε and breaks its promise at large ε; it is not offered.
//!
//! The scale is made from the **diameter** 2r of the ball. A norm bound r in its place is twice the μ promised.
//!
//! **Utility.** E|report − g|² = p·(s² + 1/12) steps² ≈ 4p·r²/μ².

use super::additive::{Additive, Noise};
use super::{Ball, STEPS};
use crate::accounting::mu_for;
use crate::exact::RoundedGaussian;
use crate::{Delta, Epsilon, Guarantee, Mu, PrivacyError};
use rand_core::Rng;

/// The Gaussian mechanism, rounded but exact.
pub type Gaussian = Additive<RoundedGaussian>;

impl Gaussian {
    /// Noise for vectors of `ball` under a promise of μ-GDP.
    pub fn gdp(ball: Ball, mu: Mu) -> Result<Self, PrivacyError> {
        Self::with(ball, mu.get(), Guarantee::Gaussian(mu))
    }

    /// Noise for vectors of `ball` under a promise of (ε, δ).
    pub fn analytic(ball: Ball, epsilon: Epsilon, delta: Delta) -> Result<Self, PrivacyError> {
        Self::with(ball, mu_for(epsilon, delta)?.get(), Guarantee::Approximate(epsilon, delta))
    }

    fn with(ball: Ball, mu: f64, guarantee: Guarantee) -> Result<Self, PrivacyError> {
        let diameter = 2.0 * f64::from(STEPS);
        let scale = libm::ceil(diameter / mu);
        // The quotient may have been rounded down to an integer; a fused product has the right sign.
        let short = libm::fma(scale, mu, -diameter) < 0.0;
        // `as` saturates, and what is too large is refused.
        let scale = (scale as u64).saturating_add(u64::from(short));
        Ok(Self { ball, guarantee, noise: RoundedGaussian::new(scale)? })
    }
}

impl Noise for RoundedGaussian {
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
        self.scale() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomizer;
    use crate::vector::testing::{ball, corner, delta, epsilon, estimates_match_the_stated_moments, mu};
    use crate::vector::{BallVector, VectorRandomizer};
    use core::f64::consts::SQRT_2;

    /// Φ(-x).
    fn upper_tail(x: f64) -> f64 {
        0.5 * libm::erfc(x / SQRT_2)
    }

    #[test]
    fn the_scale_never_falls_short_of_the_diameter_over_mu() {
        let diameter = 2.0 * f64::from(STEPS);
        // half of the thirds, fifths, … are a little less than their float, and then one step more is needed
        let parts = (1..2000).map(|n| diameter / f64::from(n));
        for value in [1e-6, 0.1, 1.0 / 3.0, 1.0, 2.5, 50.0, 1e7].into_iter().chain(parts) {
            let s = Gaussian::gdp(ball(6), mu(value)).unwrap().noise.scale() as f64;
            // the sign of s·μ - 2·STEPS, which rounding once cannot change
            assert!(libm::fma(s, value, -diameter) >= 0.0, "μ = {value}");
            assert!(s <= diameter / value * (1.0 + 1e-15) + 1.0);
        }
        assert!(matches!(Gaussian::gdp(ball(6), mu(1e-9)), Err(PrivacyError::Scale { .. })));
    }

    #[test]
    fn one_gdp_in_six_dimensions_costs_twenty_four_squared_radii() {
        let mechanism = Gaussian::gdp(ball(6), mu(1.0)).unwrap();
        assert!((mechanism.variance_at_norm(1.0) - 24.0).abs() < 1e-9);
        assert!((mechanism.noise_scale().unwrap() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn at_extreme_promises_noise_is_found_too() {
        for (e, d) in [(1e-6, 1e-6), (1e-6, 0.5), (50.0, 1e-12), (50.0, 0.9)] {
            assert!(Gaussian::analytic(ball(3), epsilon(e), delta(d)).is_ok(), "({e}, {d})");
        }
    }

    #[test]
    fn what_runs_is_as_hard_to_tell_apart_as_two_normal_laws() {
        // In one dimension the best test accepts above a threshold c. For each c the hockey-stick of the integers
        // that run is at most δ_μ(ε), the largest over all thresholds of the true normal law.
        for m in [0.25, 1.0, 3.0] {
            let mechanism = Gaussian::gdp(ball(1), mu(m)).unwrap();
            let (a, b) = (corner(ball(1), 1.0), corner(ball(1), -1.0));
            let s = mechanism.noise.scale() as f64;
            for e in [0.0, 0.5, 1.0, 3.0] {
                let delta_mu = upper_tail(e / m - m / 2.0) - libm::exp(e) * upper_tail(e / m + m / 2.0);
                let exceeds = |c: i64| {
                    let report = alloc::vec![c];
                    mechanism.ln_likelihood(&report, &a) - mechanism.ln_likelihood(&report, &b) > e
                };
                // the likelihood ratio increases with the report: bisect for the least that exceeds e^ε
                let (mut low, mut high) = (-(1i64 << 40), 1i64 << 40);
                while high - low > 1 {
                    let middle = low.midpoint(high);
                    if exceeds(middle) { high = middle } else { low = middle }
                }
                let mass = |k: i32| upper_tail((high as f64 - 0.5 - f64::from(k)) / s);
                let ours = mass(a.steps()[0]) - libm::exp(e) * mass(b.steps()[0]);
                assert!(ours <= delta_mu + 1e-13 && ours >= delta_mu - 1e-6, "μ = {m}, ε = {e}: {ours}");
            }
        }
    }

    #[test]
    fn noise_made_from_the_norm_bound_instead_of_the_diameter_has_twice_the_mu() {
        // The mistake: s = C0/μ. It is the mechanism of a ball of half the diameter, run on the whole ball.
        let promised = 1.0;
        let mistaken = RoundedGaussian::new(u64::from(STEPS)).unwrap();
        let (a, b) = (corner(ball(1), 1.0), corner(ball(1), -1.0));
        // For N(0, s²) against N(Δ, s²) the log-likelihood ratio at the centre a is (Δ/s)²/2.
        let ratio = |noise: RoundedGaussian| {
            let ln_p = |input: &BallVector| noise.ln_pmf(i64::from(a.steps()[0] - input.steps()[0]));
            ln_p(&a) - ln_p(&b)
        };
        let mu_of = |noise| (2.0 * ratio(noise)).sqrt();
        assert!((mu_of(mistaken) - 2.0 * promised).abs() < 1e-6);
        let right = Gaussian::gdp(ball(1), mu(promised)).unwrap().noise;
        assert!((mu_of(right) - promised).abs() < 1e-6 && mu_of(right) <= promised + 1e-12);
        // And the other printed mistake, a variance of 4/μ instead of 4/μ², is 0.707-GDP when 0.5 is promised.
        let printed = RoundedGaussian::new((2.0 * f64::from(STEPS) / 0.5f64.sqrt()) as u64).unwrap();
        assert!((mu_of(printed) - 0.5f64.sqrt()).abs() < 1e-5);
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variance() {
        for (p, m) in [(1, 1.0), (3, 0.3), (6, 40.0)] {
            let mechanism = Gaussian::gdp(Ball::new(p, 0.5).unwrap(), mu(m)).unwrap();
            estimates_match_the_stated_moments(&mechanism, &corner(ball(p), 0.7), 20_000);
        }
    }
}
