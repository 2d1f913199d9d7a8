//! Discrete Laplace noise on every coordinate.
//!
//! Two integer vectors of l2-distance at most 2·STEPS have l1-distance at most Δ₁ = ⌈2·STEPS·√p⌉, or less where the ball
//! says so ([`Ball::within_l1`]), hence
//!
//! > report = k + z, P(z_j) ∝ exp(-|z_j|/b), b = Δ₁/ε
//!
//! **Privacy.** ln P(report | k) changes by at most Σ|k_j − k'_j|/b ≤ Δ₁/b ≤ ε: pure ε. The scale is rounded up.
//!
//! **Utility.** E|report − g|² = 2p·b² = 8p²r²/ε², less what the grid makes of it (2p/12 steps²): the dearest of
//! the vector mechanisms. The dimension is that of the vector, however many covariates it was made from.

use super::Ball;
use super::additive::{Additive, Noise};
use crate::exact::{DiscreteLaplace, Scale};
use crate::{Epsilon, Guarantee, PrivacyError};
use rand_core::Rng;

/// The coordinate-wise discrete Laplace mechanism.
pub type Laplace = Additive<DiscreteLaplace>;

impl Laplace {
    /// Noise for vectors of `ball` under a pure promise.
    pub fn new(ball: Ball, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        let scale = Scale::at_least(ball.l1_diameter() as f64 / epsilon.get())?;
        Ok(Self { ball, guarantee: Guarantee::Pure(epsilon), noise: DiscreteLaplace::new(scale) })
    }
}

impl Noise for DiscreteLaplace {
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
        self.scale().get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomizer;
    use crate::vector::testing::{ball, corner, epsilon, estimates_match_the_stated_moments};
    use crate::vector::{BallVector, STEPS, VectorRandomizer};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn the_l1_sensitivity_covers_opposite_corners_of_the_cube() {
        // p = 4: the corners ±STEPS/2·(1,1,1,1) have norm STEPS and l1-distance 4·STEPS = 2·STEPS·√4
        assert_eq!(ball(4).l1_diameter(), 4 * u64::from(STEPS));
        assert_eq!(ball(1).l1_diameter(), 2 * u64::from(STEPS));
        assert_eq!(ball(2).l1_diameter(), 2_965_821);
    }

    #[test]
    fn opposite_corners_differ_by_the_promise_and_no_more() {
        for (p, e) in [(1, 1e-6), (3, 1.0), (6, 0.5), (16, 50.0)] {
            let mechanism = Laplace::new(ball(p), epsilon(e)).unwrap();
            let (a, b) = (corner(ball(p), 1.0), corner(ball(p), -1.0));
            // Outside both corners every coordinate pays its share of the loss.
            let far = alloc::vec![1i64 << 21; p];
            let loss = mechanism.ln_likelihood(&far, &a) - mechanism.ln_likelihood(&far, &b);
            // a difference of two logarithms, so at ε = 10^-6 it has lost half of its digits
            assert!((loss / e - 1.0).abs() < 1e-5, "p = {p}: {loss} against {e}");
        }
    }

    #[test]
    fn the_l1_distance_over_the_scale_stays_within_the_promise_in_a_million_dimensions() {
        for (p, e) in [(5, 1e-6), (1000, 50.0), (Ball::MOST_DIMENSION, 1e-6)] {
            let mechanism = Laplace::new(ball(p), epsilon(e)).unwrap();
            let (a, b) = (corner(ball(p), 1.0), corner(ball(p), -1.0));
            let apart: u64 = a.steps().iter().zip(b.steps()).map(|(x, y)| u64::from(x.abs_diff(*y))).sum();
            assert!(apart as f64 / mechanism.noise.scale().get() <= e, "p = {p}");
        }
    }

    #[test]
    fn in_a_ball_without_corners_the_noise_is_smaller_and_the_promise_the_same() {
        let (whole, e) = (ball(4), epsilon(1.0));
        let cut = whole.within_l1(1.2 * whole.radius());
        let [all, less] = [whole, cut].map(|ball| Laplace::new(ball, e).unwrap());
        assert!((less.noise_scale().unwrap() / all.noise_scale().unwrap() - 1.2 / 2.0).abs() < 1e-5);
        // The farthest vectors are the corners that were brought in, as much as the promise allows.
        let [a, b] = [1.0, -1.0].map(|side| cut.clamp(&[side; 4]).unwrap());
        let far = alloc::vec![1i64 << 22; 4];
        let loss = less.ln_likelihood(&far, &a) - less.ln_likelihood(&far, &b);
        assert!(loss <= 1.0 + 1e-12 && loss > 1.0 - 1e-4, "{loss}");
        // A vector of the whole ball could be farther away, and is refused whatever it is.
        assert!(less.randomize(&BallVector::zero(whole), &mut ChaCha12Rng::seed_from_u64(1)).is_err());
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variance() {
        for (p, e) in [(1, 0.5), (3, 1.0), (6, 50.0)] {
            let mechanism = Laplace::new(Ball::new(p, 2.5).unwrap(), epsilon(e)).unwrap();
            estimates_match_the_stated_moments(&mechanism, &corner(ball(p), 0.7), 20_000);
        }
    }

    #[test]
    fn the_noise_scale_is_the_l1_sensitivity_over_epsilon() {
        let mechanism = Laplace::new(Ball::new(9, 0.5).unwrap(), epsilon(3.0)).unwrap();
        // 2·r·√p/ε = 2·0.5·3/3
        assert!((mechanism.noise_scale().unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(mechanism.report_bytes(), Some(72));
    }
}
