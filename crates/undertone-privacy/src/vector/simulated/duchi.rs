//! The mechanism of Duchi, Jordan and Wainwright for the l2 ball: the half-sphere around the input's direction is
//! likelier than the other (*Minimax optimal procedures for locally private estimation*, 2018).
//!
//! It is the cap mechanism at the angle π/2, where q = 1/2 and
//!
//! > r/m = B = r·√π·Γ((p+1)/2)/Γ(p/2)·(e^ε+1)/(e^ε-1), E|estimate - v|² = B² - |v|²
//!
//! **Privacy.** The density is 2/(1+t) on one half and 2t/(1+t) on the other, of ratio e^ε: pure ε, for real numbers.

use super::super::{Ball, BallVector, VectorRandomizer};
use super::cap::{Cap, reports_points_of_a_cap};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec::Vec;
use core::f64::consts::FRAC_PI_2;
use rand_core::CryptoRng;

/// Duchi's mechanism for the l2 ball, in floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedDuchi(Cap);

impl SimulatedDuchi {
    /// The mechanism for vectors of `ball` under a pure promise.
    pub fn new(ball: Ball, epsilon: Epsilon) -> Self {
        Self(Cap::new(ball, epsilon, FRAC_PI_2))
    }
}

reports_points_of_a_cap!(SimulatedDuchi);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::testing::{ball, corner, epsilon, estimates_match_the_stated_moments};

    #[test]
    fn the_length_of_an_estimate_is_the_closed_form() {
        for (p, e) in [(1, 1.0), (2, 0.5), (6, 3.0), (101, 1e-6), (11, 50.0)] {
            let x = 0.5 * p as f64;
            let gammas = (libm::lgamma(x + 0.5) - libm::lgamma(x)).exp();
            let b = core::f64::consts::PI.sqrt() * gammas / libm::tanh(0.5 * e);
            let ours = SimulatedDuchi::new(ball(p), epsilon(e)).variance_at_norm(0.0).sqrt();
            assert!((ours / b - 1.0).abs() < 1e-12, "p = {p}: {ours} against {b}");
        }
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variance() {
        for (p, e, length) in [(1, 1.0, 0.5), (2, 2.0, 1.0), (6, 1.0, 0.3), (3, 50.0, 0.0)] {
            let mechanism = SimulatedDuchi::new(Ball::new(p, 2.0).unwrap(), epsilon(e));
            estimates_match_the_stated_moments(&mechanism, &corner(ball(p), length), 20_000);
        }
    }
}
