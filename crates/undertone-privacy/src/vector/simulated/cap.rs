//! What the direction mechanisms have in common: a point of the sphere, likelier in a cap than outside.
//!
//! The input v of the ball becomes a direction u = ±v/|v|, positive with probability 1/2 + |v|/(2r), so that
//! E[r·u] = v; the zero vector becomes the first axis with a fair sign. With q the mass of the cap of angle θ and
//! t = e^-ε, the report V is uniform on the cap {⟨V, u⟩ ≥ cos θ} with probability P = q/(q + (1-q)t), else uniform
//! on its complement.
//!
//! **Privacy.** With respect to the uniform measure on the sphere the density takes two values,
//!
//! > P/q = 1/(t + (1-t)q) in the cap, (1-P)/(1-q) = t/(t + (1-t)q) outside,
//!
//! of ratio e^ε. The sign is preprocessing.
//!
//! **Utility.** m = E⟨V, u⟩ = K·(1-t)/(t + (1-t)q), with K the moment of the cap, so r·V/m is unbiased with
//! E|r·V/m - v|² = r²/m² - |v|².

use super::super::sphere::Sphere;
use super::super::stream::fill_normal;
use super::super::{Ball, BallVector};
use super::{dot, open_unit};
use crate::{Epsilon, PrivacyError};
use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::{FRAC_PI_2, PI};
use rand_core::Rng;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cap {
    pub(super) ball: Ball,
    pub(super) epsilon: Epsilon,
    sphere: Sphere,
    /// θ
    angle: f64,
    /// q
    mass: f64,
}

impl Cap {
    pub(super) fn new(ball: Ball, epsilon: Epsilon, angle: f64) -> Self {
        let sphere = Sphere::new(ball.dimension());
        Self { ball, epsilon, sphere, angle, mass: sphere.cap_mass(angle) }
    }

    /// cos θ, which for a half-sphere is zero in floats, too.
    pub(super) fn cosine(&self) -> f64 {
        if self.angle >= FRAC_PI_2 { 0.0 } else { libm::cos(self.angle) }
    }

    /// t + (1-t)·q, by which the uniform density is divided inside the cap.
    fn normaliser(&self) -> f64 {
        self.epsilon.t() + self.epsilon.m() * self.mass
    }

    /// P.
    pub(super) fn keep(&self) -> f64 {
        self.mass / self.normaliser()
    }

    /// m.
    pub(super) fn shrinkage(&self) -> f64 {
        self.sphere.cap_moment(self.angle) * self.epsilon.m() / self.normaliser()
    }

    pub(super) fn variance_at_norm(&self, norm: f64) -> f64 {
        let length = self.ball.radius() / self.shrinkage();
        // not below zero by a rounding at large ε
        ((length - norm) * (length + norm)).max(0.0)
    }

    pub(super) fn estimate(&self, report: &[f64]) -> Vec<f64> {
        let length = self.ball.radius() / self.shrinkage();
        report.iter().map(|x| length * x).collect()
    }

    pub(super) fn randomize(&self, input: &BallVector, rng: &mut impl Rng) -> Result<Vec<f64>, PrivacyError> {
        self.ball.check(input)?;
        let (mut direction, forward) = direction(input);
        if open_unit(rng) >= forward {
            for x in &mut direction {
                *x = -*x;
            }
        }
        let inside = open_unit(rng) < self.keep();
        // A uniform point of the sphere, as its part along the direction and its part across
        let mut across = vec![0.0; direction.len()];
        fill_normal(|| rng.next_u64(), &mut across);
        let along = dot(&across, &direction);
        for (x, u) in across.iter_mut().zip(&direction) {
            *x -= along * u;
        }
        let width = if self.ball.dimension() == 1 { 0.0 } else { libm::sqrt(dot(&across, &across)) };
        let mut angle = libm::atan2(width, along);
        // If it fell on the right side it is what we want; if not, only its angle is drawn anew.
        if (angle <= self.angle) != inside {
            let share = open_unit(rng);
            angle = if self.cosine() == 0.0 {
                // half-spheres are each other's mirror images
                PI - angle
            } else if inside {
                self.sphere.angle_of_cap(share * self.mass)
            } else {
                PI - self.sphere.angle_of_cap(share * (1.0 - self.mass))
            };
        }
        let sideways = if width > 0.0 { libm::sin(angle) / width } else { 0.0 };
        let cosine = libm::cos(angle);
        Ok(direction.iter().zip(&across).map(|(u, w)| cosine * u + sideways * w).collect())
    }

    /// The logarithm of the density with respect to the uniform measure on the sphere.
    pub(super) fn ln_likelihood(&self, report: &[f64], input: &BallVector) -> f64 {
        let length = libm::sqrt(dot(report, report));
        if report.len() != input.steps().len() || libm::fabs(length - 1.0) > 1e-9 {
            return f64::NEG_INFINITY;
        }
        let (direction, forward) = direction(input);
        let cosine = dot(report, &direction);
        let density = |inside| if inside { 1.0 } else { self.epsilon.t() } / self.normaliser();
        let limit = self.cosine();
        libm::log(forward * density(cosine >= limit) + (1.0 - forward) * density(-cosine >= limit))
    }
}

/// v/|v| and the probability 1/2 + |v|/(2r) of its positive sign.
fn direction(input: &BallVector) -> (Vec<f64>, f64) {
    let mut direction: Vec<f64> = input.steps().iter().map(|&k| f64::from(k)).collect();
    direction[0] += f64::from(u8::from(input.square() == 0));
    let norm = libm::sqrt(dot(&direction, &direction));
    for x in &mut direction {
        *x /= norm;
    }
    (direction, 0.5 + 0.5 * input.relative_norm())
}

/// Makes a mechanism of a newtype around a [`Cap`].
macro_rules! reports_points_of_a_cap {
    ($mechanism:ty) => {
        impl Randomizer for $mechanism {
            type Input = BallVector;
            /// A point of the unit sphere.
            type Report = Vec<f64>;

            fn guarantee(&self) -> Guarantee {
                Guarantee::Pure(self.0.epsilon)
            }

            fn randomize(
                &self,
                input: &BallVector,
                rng: &mut impl CryptoRng,
            ) -> Result<Vec<f64>, PrivacyError> {
                self.0.randomize(input, rng)
            }

            /// The log-density with respect to the uniform measure on the sphere, which takes two values for each sign.
            fn ln_likelihood(&self, report: &Vec<f64>, input: &BallVector) -> f64 {
                self.0.ln_likelihood(report, input)
            }
        }

        impl Unbiased for $mechanism {
            fn truth(&self, input: &BallVector) -> Vec<f64> {
                self.0.ball.value_of(input)
            }

            fn estimate(&self, report: &Vec<f64>) -> Vec<f64> {
                self.0.estimate(report)
            }

            fn variance(&self, input: &BallVector) -> f64 {
                self.0.variance_at_norm(self.0.ball.radius() * input.relative_norm())
            }
        }

        impl VectorRandomizer for $mechanism {
            fn ball(&self) -> Ball {
                self.0.ball
            }

            fn variance_at_norm(&self, norm: f64) -> f64 {
                self.0.variance_at_norm(norm)
            }

            fn cap(&self) -> Option<f64> {
                Some(self.0.cosine())
            }
        }
    };
}
pub(super) use reports_points_of_a_cap;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::testing::{ball, corner, epsilon};
    use core::f64::consts::FRAC_PI_2;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn the_density_on_the_circle_integrates_to_one_and_takes_two_values_of_ratio_e_to_the_epsilon() {
        for (angle, e) in [(FRAC_PI_2, 1.0), (1.1, 2.0), (0.3, 4.0)] {
            let cap = Cap::new(ball(2), epsilon(e), angle);
            for length in [0.0, 0.4, 1.0] {
                let input = corner(ball(2), length);
                let n = 400_000;
                let (mut sum, mut least, mut most) = (0.0, f64::INFINITY, 0.0f64);
                for i in 0..n {
                    let phi = 2.0 * PI * (f64::from(i) + 0.5) / f64::from(n);
                    let density = cap.ln_likelihood(&[phi.cos(), phi.sin()], &input).exp();
                    sum += density / f64::from(n);
                    (least, most) = (least.min(density), most.max(density));
                }
                assert!((sum - 1.0).abs() < 1e-4, "{sum}");
                let ratio = (most / least).ln();
                assert!(ratio <= e + 1e-12, "{ratio}");
                assert!(length < 1.0 || (ratio - e).abs() < 1e-4, "{ratio}");
            }
        }
    }

    #[test]
    fn draws_fall_into_the_cap_and_into_parts_of_it_as_often_as_the_density_says() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let trials = 40_000;
        for (p, angle, e) in
            [(2, 0.6, 3.0), (3, 1.2, 1.0), (6, 1.0, 4.0), (50, FRAC_PI_2, 0.5), (50, 1.3, 8.0)]
        {
            let cap = Cap::new(ball(p), epsilon(e), angle);
            let input = corner(ball(p), 1.0);
            let (u, _) = direction(&input);
            let angles: Vec<f64> = (0..trials)
                .map(|_| libm::acos(dot(&cap.randomize(&input, &mut rng).unwrap(), &u).clamp(-1.0, 1.0)))
                .collect();
            let sphere = Sphere::new(p);
            // P(angle ≤ x) is the density of each side times the mass of x on it
            for share in [0.2, 0.6, 1.0, 1.1, 1.3] {
                let x = angle * share;
                let inside = sphere.cap_mass(x.min(angle));
                let outside = sphere.cap_mass(x.max(angle)) - cap.mass;
                let probability = (inside + outside * epsilon(e).t()) / cap.normaliser();
                let expected = f64::from(trials) * probability;
                let seen = angles.iter().filter(|&&a| a <= x).count() as f64;
                let deviation = (expected * (1.0 - probability)).sqrt();
                assert!(
                    (seen - expected).abs() <= 5.0 * deviation + 1e-9,
                    "p = {p}: {seen} against {expected}"
                );
            }
        }
    }

    #[test]
    fn a_point_off_the_sphere_cannot_be_reported() {
        let cap = Cap::new(ball(2), epsilon(1.0), 1.0);
        let input = corner(ball(2), 1.0);
        assert!(cap.ln_likelihood(&[1.0, 1.0], &input) < f64::MIN);
        assert!(cap.ln_likelihood(&[1.0], &input) < f64::MIN);
    }
}
