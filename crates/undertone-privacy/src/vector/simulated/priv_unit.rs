//! PrivUnit: a uniform point of the best cap around the input's direction, or of the rest of the sphere (Bhowmick,
//! Duchi, Freudiger, Kapoor, Rogers, *Protection against reconstruction and its applications in private federated
//! learning*, 2018; optimal among pure mechanisms by Asi, Feldman, Talwar, *Optimal algorithms for mean estimation
//! under local differential privacy*, 2022).
//!
//! The cap γ = cos θ is the one that maximises m, with the exact ratio of densities instead of the sufficient
//! conditions of the first paper, which waste some of the budget. With E = e^ε - 1, m = K·E/(1 + E·q), and
//! dK/dγ = -γ·f, dq/dγ = -f for the density f of a coordinate give
//!
//! > dm/dγ = E·f/(1 + E·q)·(m - γ)
//!
//! so m rises while it exceeds γ and falls afterwards: the best cap is the one root of **γ = m**. In one dimension
//! every cap is one point and the mechanism is randomised response on the sign.
//!
//! **Privacy.** Two densities of ratio e^ε: pure ε, for real numbers.

use super::super::{Ball, BallVector, VectorRandomizer};
use super::cap::{Cap, reports_points_of_a_cap};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec::Vec;
use core::f64::consts::FRAC_PI_2;
use rand_core::CryptoRng;

/// PrivUnit with the exact best cap, in floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedPrivUnit(Cap);

impl SimulatedPrivUnit {
    /// The mechanism for vectors of `ball` under a pure promise.
    pub fn new(ball: Ball, epsilon: Epsilon) -> Self {
        // m > γ at the equator and m < γ at the pole.
        let (mut pole, mut equator) = (0.0, FRAC_PI_2);
        for _ in 0..100 {
            let angle = 0.5 * (pole + equator);
            let cap = Cap::new(ball, epsilon, angle);
            if cap.shrinkage() > cap.cosine() { equator = angle } else { pole = angle }
        }
        Self(Cap::new(ball, epsilon, equator))
    }

    /// P, the probability of the cap.
    pub fn cap_probability(&self) -> f64 {
        self.0.keep()
    }
}

reports_points_of_a_cap!(SimulatedPrivUnit);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::testing::{ball, corner, epsilon, estimates_match_the_stated_moments};

    #[test]
    fn at_the_best_cap_its_cosine_is_the_mean_of_the_report_along_the_direction() {
        for p in [2, 3, 6, 101, 10_000] {
            for e in [1e-6, 0.5, 3.0, 50.0] {
                let mechanism = SimulatedPrivUnit::new(ball(p), epsilon(e));
                let (cosine, m) = (mechanism.0.cosine(), mechanism.0.shrinkage());
                assert!((cosine / m - 1.0).abs() < 1e-7, "p = {p}, ε = {e}: γ = {cosine}, m = {m}");
                for other in [0.5, 0.9, 0.999, 1.001, 1.1] {
                    let angle = (libm::acos(cosine) * other).min(FRAC_PI_2);
                    assert!(Cap::new(ball(p), epsilon(e), angle).shrinkage() <= m * (1.0 + 1e-12));
                }
            }
        }
    }

    #[test]
    fn one_dimension_is_randomised_response_on_the_sign() {
        let mechanism = SimulatedPrivUnit::new(ball(1), epsilon(1.0));
        // P = e^ε/(e^ε + 1), m = tanh(ε/2)
        let e = core::f64::consts::E;
        assert!((mechanism.cap_probability() - e / (e + 1.0)).abs() < 1e-15);
        assert!((mechanism.variance_at_norm(0.0) - libm::tanh(0.5).powi(-2)).abs() < 1e-12);
    }

    #[test]
    fn the_noise_is_the_same_in_every_direction() {
        // Along u, E⟨V, u⟩² = m² + B·m² with B = (1/m² - 1)/p, so that Cov(V/m) = B·I.
        let mut rng = <rand_chacha::ChaCha12Rng as rand_core::SeedableRng>::seed_from_u64(1);
        let mechanism = SimulatedPrivUnit::new(ball(4), epsilon(2.0));
        let axis = ball(4).clamp(&[1.0, 0.0, 0.0, 0.0]).unwrap();
        let n = 40_000;
        let (mut square, mut fourth) = (0.0, 0.0);
        for _ in 0..n {
            let x = mechanism.estimate(&mechanism.randomize(&axis, &mut rng).unwrap())[0] - 1.0;
            square += x * x / f64::from(n);
            fourth += x.powi(4) / f64::from(n);
        }
        let expected = (mechanism.variance_at_norm(0.0) - 1.0) / 4.0;
        assert!(
            (square - expected).abs() < 5.0 * (fourth / f64::from(n)).sqrt(),
            "{square} against {expected}"
        );
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variance() {
        for (p, e, length) in [(1, 1.0, 0.5), (2, 50.0, 0.9), (6, 1.0, 0.3), (20, 6.0, 0.9), (3, 3.0, 0.0)] {
            let mechanism = SimulatedPrivUnit::new(Ball::new(p, 2.0).unwrap(), epsilon(e));
            estimates_match_the_stated_moments(&mechanism, &corner(ball(p), length), 20_000);
        }
    }
}
