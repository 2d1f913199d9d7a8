//! The logistic loss of a label 0 or 1: θ = β.
//!
//! > ∂β = w·(π - y)·x,   π = 1/(1 + e^-x'β)
//!
//! |π - y| < 1 and |x|·w ≤ R: the ball of radius R around zero holds it. Records on both sides of a steep β, each with the
//! wrong label, come as near to 2R apart as one likes.
//!
//! **At one θ**, weights R²/|x|². 1 - π is the π of -x, so all gradients are those of y = 0: points w·σ(x'θ)·x. Write
//! x = s·u with |u| = 1, c the cosine of the angle between u and θ, and k = |θ|·c. The length min(s, R²/s)·σ(s·k) rises with s up
//! to R if k ≥ 0 and falls after it, as z/(1 + e^z) < 1; if k < 0 it is largest at s·|k| = Z, where z/(1 + e^z) is, or at R
//! before that. Hence it is at most
//!
//! > ρ(c) = R·σ(Rk) for k ≥ 0,  R·σ(-m)·m/z for k < 0,  z = R|k|, m = min(z, Z)
//!
//! which rises with c. Two records at the same angle on both sides of θ are 2ρ(c)·√(1-c²) apart, and the ball stands around the
//! middle of the two that are farthest, a·θ/|θ|. Its radius is not believed but bounded: where the cosine lies in [c₀, c₁] a
//! gradient of length t ≤ ρ(c₁) has a squared distance of at most t² - 2a·t·c₀ + a² from the centre, convex in t, so that of
//! its two ends the longer counts. The largest over cells that cover [-1, 1] is the square of a radius that holds every
//! gradient, whatever the cells. They are halved where that is more than the two farthest records need, which leaves the
//! radius within 10^-4 of what it has to be at the least as long as it is worth having.

use alloc::vec::Vec;

/// The loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logistic;

/// Cells are halved until the radius is within this share of the least ...
const SLACK: f64 = 1e-4;

/// ... or they are as narrow as this.
const NARROW: f64 = 1.0 / 16384.0;

/// Z, where z/(1 + e^z) is largest.
const FARTHEST_BACK: f64 = 1.278_464_542_761_074;

/// More than all roundings below together: a sum of 2^20 squares is right to 2^-33.
const MARGIN: f64 = 1e-9;

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

    /// The centre and the radius of a ball that holds the gradients of all records at θ with weights R²/|x|², R = `r`.
    pub(super) fn ball_at(theta: &[f64], r: f64) -> (Vec<f64>, f64) {
        let norm = libm::sqrt(theta.iter().map(|b| b * b).sum());
        if norm == 0.0 {
            // σ(0) = 1/2, and what underflows does not move it.
            return (theta.iter().map(|_| 0.0).collect(), r / 2.0);
        }
        let steepness = r * norm;
        let c = farthest_cosine(steepness);
        let share = sigmoid(steepness * c);
        let gradients = Gradients { steepness, a: share * c };
        // (ρ/R)²·(1-c²), the square of half the distance of the farthest two
        let least = share * share * (1.0 - c * c);
        let square = gradients.farthest(-1.0, 1.0, least * (1.0 + 2.0 * SLACK));
        let radius = r * libm::sqrt(square) * (1.0 + MARGIN);
        if radius < r {
            (theta.iter().map(|b| r * gradients.a * (b / norm)).collect(), radius)
        } else {
            (theta.iter().map(|_| 0.0).collect(), r)
        }
    }
}

/// All gradients at one θ, in units of R.
struct Gradients {
    /// R·|θ|
    steepness: f64,
    /// How far the centre lies along θ
    a: f64,
}

impl Gradients {
    /// No less than the squared distance from the centre of any gradient whose cosine lies between `left` and `right`; cells
    /// are not halved where that is `enough`.
    fn farthest(&self, left: f64, right: f64, enough: f64) -> f64 {
        let (a, t) = (self.a, longest(self.steepness * right));
        let bound = (t * (t - 2.0 * a * left)).max(0.0) + a * a;
        if bound <= enough || right - left <= NARROW {
            return bound;
        }
        let middle = 0.5 * (left + right);
        self.farthest(left, middle, enough).max(self.farthest(middle, right, enough))
    }
}

/// The c between 0 and 1 at which σ(Kc)·√(1-c²) is largest: where K·(1 - σ(Kc))·(1-c²) - c, which falls, is zero.
fn farthest_cosine(steepness: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let c = 0.5 * (low + high);
        let rises = steepness * sigmoid(-steepness * c) * (1.0 - c * c) > c;
        (low, high) = if rises { (c, high) } else { (low, c) };
    }
    low
}

/// ρ/R where R·k = `score`.
fn longest(score: f64) -> f64 {
    if score >= -FARTHEST_BACK { sigmoid(score) } else { sigmoid(-FARTHEST_BACK) * (FARTHEST_BACK / -score) }
}

/// 1/(1 + e^-s), without overflow.
pub(super) fn sigmoid(score: f64) -> f64 {
    let e = libm::exp(-score.abs());
    (if score >= 0.0 { 1.0 } else { e }) / (1.0 + e)
}
