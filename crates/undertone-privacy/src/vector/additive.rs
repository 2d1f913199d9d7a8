//! Integer noise on every coordinate, whatever its law.

use super::{Ball, BallVector, VectorRandomizer};
use crate::{DeviceSafe, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec::Vec;
use rand_core::{CryptoRng, Rng};

/// A law of integer noise without a mean, known exactly.
pub trait Noise: Copy {
    /// One draw.
    fn draw(self, rng: &mut impl Rng) -> i64;
    /// ln P(z).
    fn ln_probability(self, z: i64) -> f64;
    /// E\[z²\].
    fn second_moment(self) -> f64;
    /// The scale by which the law goes: b of a Laplace law, σ of a Gaussian one.
    fn width(self) -> f64;
}

/// k + z with independent noise z_j in every coordinate: the promise is that of the law at its scale, which is proved
/// where each law is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Additive<N> {
    pub(super) ball: Ball,
    pub(super) guarantee: Guarantee,
    pub(super) noise: N,
}

impl<N: Noise> Additive<N> {
    /// The noise on each coordinate, in grid steps.
    pub fn noise(&self) -> N {
        self.noise
    }

    /// The same noise under another promise, for an auditor to judge in its currency. What is claimed is the caller's to
    /// justify.
    #[must_use]
    pub fn claiming(self, guarantee: Guarantee) -> Self {
        Self { guarantee, ..self }
    }
}

impl<N: Noise> Randomizer for Additive<N> {
    type Input = BallVector;
    type Report = Vec<i64>;

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// The noise of every scale in use is far from the ends of `i64`, where the sum would saturate.
    fn randomize(&self, input: &BallVector, rng: &mut impl CryptoRng) -> Result<Vec<i64>, PrivacyError> {
        self.ball.check(input)?;
        Ok(input.steps().iter().map(|&k| i64::from(k).saturating_add(self.noise.draw(rng))).collect())
    }

    /// Σ ln P(z_j = report_j − k_j).
    fn ln_likelihood(&self, report: &Vec<i64>, input: &BallVector) -> f64 {
        if report.len() != input.steps().len() {
            return f64::NEG_INFINITY;
        }
        let noise = report.iter().zip(input.steps()).map(|(&y, &k)| y.saturating_sub(i64::from(k)));
        noise.map(|z| self.noise.ln_probability(z)).sum()
    }
}

impl<N: Noise> DeviceSafe for Additive<N> {}

impl<N: Noise> Unbiased for Additive<N> {
    fn truth(&self, input: &BallVector) -> Vec<f64> {
        self.ball.value_of(input)
    }

    fn estimate(&self, report: &Vec<i64>) -> Vec<f64> {
        report.iter().map(|&y| self.ball.length_of(y as f64)).collect()
    }

    fn variance(&self, _: &BallVector) -> f64 {
        self.variance_at_norm(0.0)
    }
}

impl<N: Noise> VectorRandomizer for Additive<N> {
    fn ball(&self) -> Ball {
        self.ball
    }

    fn variance_at_norm(&self, _: f64) -> f64 {
        self.ball.square_of(self.ball.dimension() as f64 * self.noise.second_moment())
    }

    fn noise_scale(&self) -> Option<f64> {
        Some(self.ball.length_of(self.noise.width()))
    }

    /// One `i64` for each coordinate.
    fn report_bytes(&self) -> Option<usize> {
        Some(8 * self.ball.dimension())
    }
}
