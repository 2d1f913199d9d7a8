//! The softmax loss of a label 0, …, K-1, the last of which has no coefficients: θ = (β_0, …, β_{K-2}).
//!
//! > ∂β_k = w·(π_k - 1{y = k})·x,   π the softmax of the scores x'β_k and 0
//!
//! |π - e_y|² ≤ 2 over all K classes, and leaving one out makes it no longer, so that the ball of radius √2·R around zero
//! holds it; for K = 2 it is the logistic loss, with radius R. In l1, Σ_k |π_k - 1{y = k}| ≤ 2 over all classes and |x|₁·w ≤ R√q,
//! so that no gradient is longer than 2R√q, however many classes there are; and R√q for K = 2. All K coefficients at once would leave a direction in which
//! noise wanders and nothing calls it back.

use crate::PrivacyError;
use core::f64::consts::SQRT_2;

/// The loss, with its K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multinomial {
    classes: u32,
}

impl Multinomial {
    /// Classes whose scores fit a device.
    const MOST: u32 = 4096;

    /// Of K classes.
    pub fn new(classes: u32) -> Result<Self, PrivacyError> {
        if classes < 2 {
            return Err(PrivacyError::TooFewLabels { labels: classes });
        }
        if classes > Self::MOST {
            return Err(PrivacyError::Dimension {
                dimension: classes as usize,
                least: 2,
                most: Self::MOST as usize,
            });
        }
        Ok(Self { classes })
    }

    /// K.
    pub fn classes(self) -> u32 {
        self.classes
    }

    pub(super) fn radius(self, r: f64) -> f64 {
        if self.classes == 2 { r } else { SQRT_2 * r * (1.0 + 4.0 * f64::EPSILON) }
    }

    /// Δ₁ for ρ = R√q.
    pub(super) fn l1_diameter(self, rho: f64) -> f64 {
        if self.classes == 2 { 2.0 * rho } else { 4.0 * rho }
    }

    #[inline]
    pub(super) fn gradient(self, theta: &[f64], x: &[f64], y: f64, weight: f64, gradient: &mut [f64]) {
        let q = x.len();
        let known = (y >= 0.0) & (y < f64::from(self.classes)) & (libm::trunc(y).to_bits() == y.to_bits());
        let label = if known { y } else { f64::NAN };
        let score = |k: usize| -> f64 { x.iter().zip(&theta[k * q..]).map(|(x, b)| x * b).sum() };
        let with = self.classes as usize - 1;
        // The scores wait in the first places of each class's gradient; the last class has a score of zero.
        let mut largest = 0f64;
        for k in 0..with {
            gradient[k * q] = score(k);
            largest = largest.max(gradient[k * q]);
        }
        let mut sum = libm::exp(-largest);
        for k in 0..with {
            gradient[k * q] = libm::exp(gradient[k * q] - largest);
            sum += gradient[k * q];
        }
        for k in 0..with {
            // 1 if this is the label, no number if there is none
            let own = f64::from(u8::from((label - k as f64).abs() < 0.5)) + 0.0 * label;
            let factor = weight * (gradient[k * q] / sum - own);
            for (g, x) in gradient[k * q..(k + 1) * q].iter_mut().zip(x) {
                *g = factor * x;
            }
        }
    }
}
