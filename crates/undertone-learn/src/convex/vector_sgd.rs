//! Learning from gradients that were randomized as vectors, at the point that is current (Chua et al., Appendix B).
//!
//! Whoever knows (x, w) knows the K possible gradients, hence needs only the coordinates c_y of the one that is true, a
//! vector of a ball of radius ρ in at most K - 1 dimensions ([`Span`]). It is randomized by a mechanism for the unit ball
//! whose estimate has the length B whatever the input:
//!
//! > ĝ = h + ρ·B·z,  E|ĝ|² = |h|² + 2⟨h, g_y - h⟩ + ρ²·B²
//!
//! and since ρ² ≤ L² - |h|², E|ĝ|² ≤ L²·(B² + 1/(1 + B²)). Each person is asked about one w only, and in turn: what they are
//! asked depends on what the others said.
//!
//! Printed is a bound on |v|₁ where |v|₂ is meant, and a span of K dimensions. Two mechanisms are offered: the device's
//! [`Codebook`], and that of Duchi, Jordan and Wainwright, which is made of floats and is for [`simulate`](VectorSgd::simulate)
//! alone.

use super::{Span, dot};
use crate::LearnError;
use rand_core::CryptoRng;
use undertone_privacy::label::Label;
use undertone_privacy::vector::simulated::SimulatedDuchi;
use undertone_privacy::vector::{Ball, BallVector, Codebook, VectorRandomizer};
use undertone_privacy::{DeviceSafe, Epsilon, PrivacyError};

/// Gradients as randomized vectors, under a pure promise about the label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorSgd<M> {
    /// For the unit ball
    mechanism: M,
}

impl VectorSgd<Codebook> {
    /// For spans of at most `dimension` coordinates, K - 1 or that of the weights if that is less: what a device runs.
    pub fn codebook(dimension: usize, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Ok(Self { mechanism: Codebook::new(Ball::new(dimension, 1.0)?, epsilon)? })
    }
}

impl VectorSgd<SimulatedDuchi> {
    /// As published, for spans of at most `dimension` coordinates: in floats, hence for simulation only.
    pub fn simulated_duchi(dimension: usize, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Ok(Self { mechanism: SimulatedDuchi::new(Ball::new(dimension, 1.0)?, epsilon) })
    }
}

impl<M: VectorRandomizer> VectorSgd<M> {
    /// What a device says about the gradient of its label at the (x, w) of `span`. Gradients that are not finite are
    /// refused.
    pub fn release(
        &self,
        span: &Span,
        label: Label,
        rng: &mut impl CryptoRng,
    ) -> Result<M::Report, LearnError>
    where
        M: DeviceSafe,
    {
        self.simulate(span, label, rng)
    }

    /// The same for mechanisms whose reports may not leave a device.
    pub fn simulate(
        &self,
        span: &Span,
        Label(label): Label,
        rng: &mut impl CryptoRng,
    ) -> Result<M::Report, LearnError> {
        span.check_finite()?;
        check_label(label, span)?;
        Ok(self.mechanism.randomize(&self.input(span, label)?, rng)?)
    }

    /// c_y/ρ on the mechanism's grid, filled up with zeros.
    fn input(&self, span: &Span, label: u32) -> Result<BallVector, PrivacyError> {
        let (ball, radius) = (self.mechanism.ball(), span.radius());
        if span.rank() > ball.dimension() {
            return Err(PrivacyError::WrongLength { length: span.rank(), dimension: ball.dimension() });
        }
        let scale = if radius > 0.0 { 1.0 / radius } else { 0.0 };
        let mut coordinates: Vec<f64> = span.coordinates(label).into_iter().map(|c| c * scale).collect();
        coordinates.resize(ball.dimension(), 0.0);
        ball.clamp(&coordinates)
    }

    /// Adds the gradient that a report stands for to `into`. What it says beside the span is dropped.
    pub fn add_estimate(&self, span: &Span, report: &M::Report, into: &mut [f64]) {
        let radius = span.radius();
        let mut coordinates = self.mechanism.estimate(report);
        coordinates.truncate(span.rank());
        for c in &mut coordinates {
            *c *= radius;
        }
        span.add_point(&coordinates, into);
    }

    /// B², the squared length of every estimate for the unit ball.
    pub fn squared_length(&self) -> f64 {
        self.mechanism.variance_at_norm(0.0)
    }

    /// E|ĝ|² for `label` at the (x, w) of `span`; an upper bound if the span has fewer coordinates than the mechanism.
    pub fn second_moment(&self, span: &Span, label: u32) -> f64 {
        let centre = span.centre();
        let mut gradient = vec![0.0; centre.len()];
        span.add_point(&span.coordinates(label), &mut gradient);
        let square = dot(centre, centre);
        square + 2.0 * (dot(centre, &gradient) - square) + span.radius().powi(2) * self.squared_length()
    }

    /// B² + 1/(1 + B²), a bound on E|ĝ|²/L² for every loss.
    pub fn worst_case_second_moment(&self) -> f64 {
        let square = self.squared_length();
        square + 1.0 / (1.0 + square)
    }
}

/// Refuses a label that is none.
fn check_label(label: u32, span: &Span) -> Result<(), PrivacyError> {
    if (label as usize) < span.labels() {
        Ok(())
    } else {
        Err(PrivacyError::UnknownLabel { label, labels: span.labels() as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With L = 1, three gradients on the unit circle: (a, ±√(1 - a²)), which make the ball around h = (a, 0), and h/a.
    fn three(a: f64) -> Span {
        let side = (1.0 - a * a).sqrt();
        Span::of_gradients(vec![vec![a, side], vec![a, -side], vec![1.0, 0.0]])
    }

    #[test]
    fn the_worst_case_second_moment_is_reached_and_not_exceeded() {
        fn check<M: VectorRandomizer>(sgd: &VectorSgd<M>) {
            let (square, worst) = (sgd.squared_length(), sgd.worst_case_second_moment());
            // E|ĝ|² = a² + 2a(1 - a) + (1 - a²)·B² is greatest at a = 1/(1 + B²), where it is B² + 1/(1 + B²)
            let reached = sgd.second_moment(&three(1.0 / (1.0 + square)), 2);
            assert!((reached / worst - 1.0).abs() < 1e-6, "{reached} of {worst}, B² = {square}");
            assert!(worst - square > 1e-3, "{worst} and {square}: nothing to be seen");
            for a in (1..50).map(|step| f64::from(step) / 50.0) {
                let span = three(a);
                for label in 0..3 {
                    assert!(sgd.second_moment(&span, label) <= worst * (1.0 + 1e-9), "a = {a}, {label}");
                }
            }
        }
        for value in [1.0, 3.0] {
            let epsilon = Epsilon::new(value).unwrap();
            check(&VectorSgd::simulated_duchi(2, epsilon).unwrap());
            check(&VectorSgd::codebook(2, epsilon).unwrap());
        }
    }
}
