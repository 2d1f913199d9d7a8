//! The logistic loss of a label 0 or 1: θ = β.
//!
//! > ∂β = w·(π - y)·x,   π = 1/(1 + e^-x'β)
//!
//! |π - y| < 1 and |x|·w ≤ R: the ball of radius R around zero holds it. Records on both sides of a steep β, each with the
//! wrong label, come as near to 2R apart as one likes.

/// The loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logistic;

impl Logistic {
    #[inline]
    #[expect(clippy::float_cmp, reason = "a label is 0 or 1 exactly, or none")]
    pub(super) fn gradient(theta: &[f64], x: &[f64], y: f64, weight: f64, gradient: &mut [f64]) {
        let score: f64 = x.iter().zip(theta).map(|(x, b)| x * b).sum();
        let label = if y == 0.0 || y == 1.0 { y } else { f64::NAN };
        let factor = weight * (sigmoid(score) - label);
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = factor * x;
        }
    }
}

/// 1/(1 + e^-s), without overflow.
pub(super) fn sigmoid(score: f64) -> f64 {
    let e = libm::exp(-score.abs());
    (if score >= 0.0 { 1.0 } else { e }) / (1.0 + e) + 0.0 * score
}
