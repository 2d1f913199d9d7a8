//! How much a record counts, so that no record counts more than it may.

use crate::PrivacyError;

/// Which function of the record bounds its gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// w(x) = min(1, R²/|x|²), as published
    Square,
    /// w(x) = min(1, R/|x|): never less, and |x|·w(x) ≤ R all the same
    Linear,
    /// g·min(1, R/|g|), which is biased: the factor depends on y, so that its mean is not zero at the optimum
    Clip,
}

impl Weight {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Square, Self::Linear, Self::Clip];

    /// What people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Square => "square",
            Self::Linear => "linear",
            Self::Clip => "clip",
        }
    }
}

/// A weight and its R.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighting {
    /// Which function
    pub weight: Weight,
    /// R, positive
    pub radius: f64,
}

impl Weighting {
    /// A weight with R between 10^-6 and 10^6.
    pub fn new(weight: Weight, radius: f64) -> Result<Self, PrivacyError> {
        if (1e-6..=1e6).contains(&radius) {
            Ok(Self { weight, radius })
        } else {
            Err(PrivacyError::Parameter { what: "the radius of the weights", value: radius })
        }
    }

    /// w(x); no number if |x|² is none that a float can hold, from |x| ≈ 10^154 on. That is no record: a scaled norm would
    /// find a weight for it, but could not keep x'β from overflowing.
    pub fn of(&self, x: &[f64]) -> f64 {
        let square: f64 = x.iter().map(|x| x * x).sum();
        let weight = match self.weight {
            Weight::Square => self.radius * self.radius / square.max(self.radius * self.radius),
            Weight::Linear => self.radius / libm::sqrt(square).max(self.radius),
            Weight::Clip => 1.0,
        };
        // max takes the number of two; what is not finite must not become one.
        weight + 0.0 * square
    }

    /// g·min(1, R/|g|).
    pub(super) fn clip(&self, gradient: &mut [f64]) {
        let norm = libm::sqrt(gradient.iter().map(|g| g * g).sum());
        let factor = self.radius / norm.max(self.radius);
        for g in gradient {
            *g *= factor;
        }
    }
}
