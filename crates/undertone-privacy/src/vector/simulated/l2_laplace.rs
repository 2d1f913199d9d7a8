//! The Laplace mechanism of the l2 norm: noise of a gamma-distributed length in a uniform direction.
//!
//! > report = k + z, density of z ∝ exp(-ε|z|/Δ), Δ = 2·STEPS,
//!
//! so |z| ~ Gamma(p, Δ/ε). **Privacy.** |z| changes by at most Δ between inputs: pure ε, for real numbers.
//! **Utility.** E|z|² = p(p+1)Δ²/ε², always (p+1)/(2p) of what noise on every coordinate costs.

use super::super::stream::fill_normal;
use super::super::{Ball, BallVector, STEPS, VectorRandomizer};
use super::{dot, open_unit};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::{LN_2, PI};
use rand_core::CryptoRng;

/// Laplace noise with respect to the l2 norm, in floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedL2Laplace {
    ball: Ball,
    epsilon: Epsilon,
}

impl SimulatedL2Laplace {
    /// The mechanism for vectors of `ball` under a pure promise.
    pub fn new(ball: Ball, epsilon: Epsilon) -> Self {
        Self { ball, epsilon }
    }

    /// Δ/ε in grid steps.
    fn scale(&self) -> f64 {
        2.0 * f64::from(STEPS) / self.epsilon.get()
    }
}

impl Randomizer for SimulatedL2Laplace {
    type Input = BallVector;
    /// A vector in grid steps.
    type Report = Vec<f64>;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, input: &BallVector, rng: &mut impl CryptoRng) -> Result<Vec<f64>, PrivacyError> {
        self.ball.check(input)?;
        // Gamma(p) is the sum of p exponential variables
        let length: f64 = input.steps().iter().map(|_| -libm::log(open_unit(rng))).sum();
        let mut noise = vec![0.0; self.ball.dimension()];
        fill_normal(|| rng.next_u64(), &mut noise);
        let factor = self.scale() * length / libm::sqrt(dot(&noise, &noise));
        Ok(input.steps().iter().zip(noise).map(|(&k, z)| f64::from(k) + factor * z).collect())
    }

    /// The log-density, -|z|/b - ln(2π^(p/2)/Γ(p/2)·Γ(p)·b^p): the area of the sphere times ∫ ρ^(p-1)·e^(-ρ/b) dρ.
    fn ln_likelihood(&self, report: &Vec<f64>, input: &BallVector) -> f64 {
        if report.len() != input.steps().len() {
            return f64::NEG_INFINITY;
        }
        let (p, b) = (self.ball.dimension() as f64, self.scale());
        let noise: Vec<f64> = report.iter().zip(input.steps()).map(|(y, &k)| y - f64::from(k)).collect();
        let area = LN_2 + 0.5 * p * libm::log(PI) - libm::lgamma(0.5 * p);
        -libm::sqrt(dot(&noise, &noise)) / b - area - libm::lgamma(p) - p * libm::log(b)
    }
}

impl Unbiased for SimulatedL2Laplace {
    fn truth(&self, input: &BallVector) -> Vec<f64> {
        self.ball.value_of(input)
    }

    fn estimate(&self, report: &Vec<f64>) -> Vec<f64> {
        report.iter().map(|&y| self.ball.length_of(y)).collect()
    }

    fn variance(&self, _: &BallVector) -> f64 {
        self.variance_at_norm(0.0)
    }
}

impl VectorRandomizer for SimulatedL2Laplace {
    fn ball(&self) -> Ball {
        self.ball
    }

    fn variance_at_norm(&self, _: f64) -> f64 {
        let p = self.ball.dimension() as f64;
        self.ball.square_of(p * (p + 1.0) * self.scale() * self.scale())
    }

    fn noise_scale(&self) -> Option<f64> {
        Some(self.ball.length_of(self.scale()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::testing::{ball, corner, epsilon, estimates_match_the_stated_moments};

    #[test]
    fn the_density_in_the_plane_integrates_to_one_and_keeps_the_promise() {
        let mechanism = SimulatedL2Laplace::new(ball(2), epsilon(2.0));
        let (a, b) = (corner(ball(2), 0.5), corner(ball(2), -1.0));
        let (n, reach) = (400, 40.0 * mechanism.scale());
        let h = 2.0 * reach / f64::from(n);
        let mut sum = 0.0;
        for i in 0..n {
            for j in 0..n {
                let report = vec![(f64::from(i) + 0.5) * h - reach, (f64::from(j) + 0.5) * h - reach];
                let ln_p = mechanism.ln_likelihood(&report, &a);
                sum += ln_p.exp() * h * h;
                assert!((ln_p - mechanism.ln_likelihood(&report, &b)).abs() <= 2.0 + 1e-12);
            }
        }
        // the kink at the centre costs the midpoint rule some digits
        assert!((sum - 1.0).abs() < 2e-3, "{sum}");
    }

    #[test]
    fn lengths_follow_the_gamma_law() {
        let mut rng = <rand_chacha::ChaCha12Rng as rand_core::SeedableRng>::seed_from_u64(1);
        let mechanism = SimulatedL2Laplace::new(ball(3), epsilon(1.0));
        let centre = BallVector::zero(ball(3));
        let n = 40_000;
        // P(Gamma(3) ≤ x) = 1 - e^-x·(1 + x + x²/2)
        let lengths: Vec<f64> = (0..n)
            .map(|_| mechanism.randomize(&centre, &mut rng).unwrap())
            .map(|z| dot(&z, &z).sqrt() / mechanism.scale())
            .collect();
        for x in [0.5, 1.5, 3.0, 6.0] {
            let p = 1.0 - libm::exp(-x) * (1.0 + x + 0.5 * x * x);
            let seen = lengths.iter().filter(|&&length| length <= x).count() as f64;
            let deviation = (f64::from(n) * p * (1.0 - p)).sqrt();
            assert!((seen - f64::from(n) * p).abs() < 5.0 * deviation, "{x}");
        }
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variance() {
        for (p, e, length) in [(1, 1.0, 0.5), (2, 1e-6, 1.0), (6, 50.0, 0.3)] {
            let mechanism = SimulatedL2Laplace::new(Ball::new(p, 2.0).unwrap(), epsilon(e));
            estimates_match_the_stated_moments(&mechanism, &corner(ball(p), length), 20_000);
        }
    }
}
