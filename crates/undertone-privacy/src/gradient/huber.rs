//! Huber's regression with the scale of its errors: θ = (β, σ).
//!
//! > loss  = w·(σ·ρ_c(t) + κ·σ/2),  t = (y - x'β)/σ,  u = clip(t, -c, c)
//! > ∂β = -w·u·x,   ∂σ = w·(κ - u²)/2,   κ = E min(Z², c²)
//!
//! The loss is the perspective of ρ_c, hence convex in both for σ > 0. κ makes σ the standard deviation of Gaussian errors;
//! of other symmetric errors β is still right.
//!
//! **Its ball, weights R²/|x|².** |∂β|² ≤ u²R²w, so the squared distance to (0, (κ-c²)/2) is at most
//!
//! > u²R²w + (w·(κ-u²) - (κ-c²))²/4
//!
//! which is convex in w and, at w = 1, in u². At its ends it is c²R² for w = 1, u² = c², c⁴/4 for w = 1, u = 0 and (c²-κ)²/4
//! for w = 0: never more than c²R² if c ≤ 2R. Two records with |x| = R and u = ±c are 2cR apart, and no smaller ball holds
//! them. **Weights R/|x|.** |∂β| ≤ |u|·R, and at |u| = c the other coordinate runs from (κ-c²)/2 to 0 as w falls from 1 to 0
//! while |∂β| stays cR: the ball around the middle has the radius √(c²R² + (c²-κ)²/16), and the same two convexities show
//! that it holds the rest.
//!
//! **In l1**, |x|₁ ≤ √q·|x|. Let ρ = R√q, and c ≤ ρ. Weights R²/|x|²: with t = |u|√w the distance to the same centre is at most
//!
//! > ρt - t²/2 + (wκ + c² - κ)/2 ≤ ρt - t²/2 + c²/2 ≤ cρ
//!
//! as ρt - t²/2 rises up to t = ρ; two records with |x_j| = R/√q and u = ±c are 2cρ apart. Weights R/|x|: the σ-coordinate lies
//! in [(κ-u²)/2, 0] if u² ≥ κ and in [0, (κ-u²)/2] if not, so that the distance to its centre is at most
//! ρ|u| + max(0, κ-u²)/2 + (c²-κ)/4, and the first two rise to cρ if √κ ≤ ρ as well. Two such records, one of them so long that
//! its w is zero, come as near to 2cρ + (c²-κ)/2 apart as one likes.

use super::Weight;
use crate::PrivacyError;
use crate::accounting::normal::{cdf, pdf};

/// The loss, with its cut and where its scale may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Huber {
    /// c
    cut: f64,
    /// κ
    consistency: f64,
    least_scale: f64,
    most_scale: f64,
}

impl Huber {
    /// c of most of the literature: 95 % of the efficiency of least squares under Gaussian errors.
    pub const CUT: f64 = 1.345;

    /// With the cut c, and a scale that stays between these two.
    pub fn new(cut: f64, least_scale: f64, most_scale: f64) -> Result<Self, PrivacyError> {
        if !(0.1..=10.0).contains(&cut) {
            return Err(PrivacyError::Parameter { what: "the cut of the Huber loss", value: cut });
        }
        if !(least_scale >= 1e-6 && least_scale < most_scale && most_scale <= 1e6) {
            return Err(PrivacyError::Bounds { low: least_scale, high: most_scale });
        }
        // E min(Z², c²) = (2Φ(c) - 1) - 2c·φ(c) + 2c²·Φ(-c)
        let consistency = 1.0 - 2.0 * cdf(-cut) - 2.0 * cut * pdf(cut) + 2.0 * cut * cut * cdf(-cut);
        Ok(Self { cut, consistency, least_scale, most_scale })
    }

    /// c.
    pub fn cut(&self) -> f64 {
        self.cut
    }

    /// κ.
    pub fn consistency(&self) -> f64 {
        self.consistency
    }

    /// Where the scale may lie.
    pub fn scales(&self) -> (f64, f64) {
        (self.least_scale, self.most_scale)
    }

    /// The proof of the balls needs c² ≤ 4R².
    pub(super) fn check(&self, radius: f64) -> Result<(), PrivacyError> {
        if self.cut <= 2.0 * radius {
            Ok(())
        } else {
            Err(PrivacyError::Parameter {
                what: "the radius of the weights, of which the cut is more than twice",
                value: radius,
            })
        }
    }

    pub(super) fn radius(&self, weight: Weight, r: f64) -> f64 {
        let half = match weight {
            Weight::Linear => (self.cut * self.cut - self.consistency) / 4.0,
            _ => 0.0,
        };
        // Upwards: a square root may have been rounded down.
        libm::sqrt(self.cut * self.cut * r * r + half * half) * (1.0 + 4.0 * f64::EPSILON)
    }

    /// Δ₁ for ρ = R√q; infinite where the proof does not hold.
    pub(super) fn l1_diameter(&self, weight: Weight, rho: f64) -> f64 {
        let (c, kappa) = (self.cut, self.consistency);
        match weight {
            _ if c > rho => f64::INFINITY,
            Weight::Linear if kappa > rho * rho => f64::INFINITY,
            Weight::Linear => 2.0 * c * rho + (c * c - kappa) / 2.0,
            _ => 2.0 * c * rho,
        }
    }

    /// The σ-coordinate of the centre.
    pub(super) fn centre(&self, weight: Weight) -> f64 {
        let parts = if weight == Weight::Linear { 4.0 } else { 2.0 };
        (self.consistency - self.cut * self.cut) / parts
    }

    pub(super) fn check_scale(&self, scale: f64) -> Result<(), PrivacyError> {
        if (self.least_scale..=self.most_scale).contains(&scale) {
            Ok(())
        } else {
            Err(PrivacyError::Parameter { what: "the scale of the model", value: scale })
        }
    }

    pub(super) fn project_scale(&self, scale: f64) -> f64 {
        scale.clamp(self.least_scale, self.most_scale)
    }

    #[inline]
    pub(super) fn gradient(&self, theta: &[f64], x: &[f64], y: f64, weight: f64, gradient: &mut [f64]) {
        let q = x.len();
        let fitted: f64 = x.iter().zip(theta).map(|(x, b)| x * b).sum();
        // A finite residual that overflows is a large one, but an infinite y is none; clamp leaves what is no number as it is.
        let t = (y - fitted) / theta[q] + 0.0 * y;
        let u = t.clamp(-self.cut, self.cut);
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = -weight * u * x;
        }
        gradient[q] = weight * (self.consistency - u * u) / 2.0;
    }
}
