//! Vectors of a ball: gradients, moments, histograms, under each of the promises.
//!
//! A vector is first put on a public integer grid ([`Ball::clamp`]), then randomized.

mod additive;
mod ball;
mod discrete_gaussian;
mod gaussian;
mod laplace;
pub mod simulated;
pub mod sphere;
pub mod stream;
#[cfg(test)]
mod testing;

pub use ball::{Ball, BallVector, STEPS};
pub use discrete_gaussian::DiscreteGaussian;
pub use gaussian::Gaussian;
pub use laplace::Laplace;

use crate::Unbiased;

/// A randomizer of the vectors of a ball, with what a plan wants to know of it.
pub trait VectorRandomizer: Unbiased<Input = BallVector> {
    /// The ball its inputs come from.
    fn ball(&self) -> Ball;

    /// E|estimate − g|², summed over coordinates, for an input g of length `norm`.
    fn variance_at_norm(&self, norm: f64) -> f64;

    /// The scale of additive noise in the units of the data: b of a Laplace law, σ of a Gaussian one.
    fn noise_scale(&self) -> Option<f64> {
        None
    }

    /// γ, the cosine at which the likelier cap of the sphere begins.
    fn cap(&self) -> Option<f64> {
        None
    }

    /// Bytes of a report, always the same; none if no report may leave a device.
    fn report_bytes(&self) -> Option<usize> {
        None
    }
}
