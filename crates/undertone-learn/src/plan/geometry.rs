//! How far and how steep: what the bounds know about a learning problem.

use crate::LearnError;
use crate::loss::Loss;
use serde::Serialize;

/// The geometry of a convex problem.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Geometry {
    /// R₀, how far from the start the best point may lie
    pub radius: f64,
    /// L, the greatest length of a gradient
    pub lipschitz: f64,
    /// D, the greatest distance between two points that may be chosen: 2R₀ for a ball around the start
    pub diameter: f64,
    /// The greatest distance between the gradients of two labels: 2L unless the loss is known
    pub sensitivity: f64,
}

impl Geometry {
    /// A ball of this radius around the start, and any loss with gradients up to `lipschitz`.
    pub fn new(radius: f64, lipschitz: f64) -> Result<Self, LearnError> {
        let positive = |what, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(value)
            } else {
                Err(LearnError::Parameter { what, value, expected: "positive and finite" })
            }
        };
        positive("the radius", radius)?;
        positive("the Lipschitz constant", lipschitz)?;
        Ok(Self { radius, lipschitz, diameter: 2.0 * radius, sensitivity: 2.0 * lipschitz })
    }

    /// Of a linear model with weights in a ball of this radius, whose longest row of features, the constant one of an
    /// intercept counted in, is `longest`.
    ///
    /// But for the hinge the gradients of labels j and k differ by (e_j - e_k) xᵀ, of length √2·|x|.
    pub fn of_linear(loss: Loss, classes: u32, longest: f64, radius: f64) -> Result<Self, LearnError> {
        let any = Self::new(radius, longest * loss.lipschitz(classes as usize, longest * radius))?;
        let simplex = std::f64::consts::SQRT_2 * longest;
        Ok(match loss {
            Loss::Softmax | Loss::Logistic | Loss::Squared => Self { sensitivity: simplex, ..any },
            Loss::Hinge => any,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softmax_gradients_are_as_far_apart_as_they_are_long() {
        let geometry = Geometry::of_linear(Loss::Softmax, 10, 3.0, 2.0).unwrap();
        assert!((geometry.lipschitz - 3.0 * 2f64.sqrt()).abs() < 1e-12);
        assert!((geometry.sensitivity - geometry.lipschitz).abs() < 1e-12);
        assert!((geometry.diameter - 4.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_positive_is_refused() {
        assert!(Geometry::new(0.0, 1.0).is_err() && Geometry::new(1.0, f64::INFINITY).is_err());
        assert!(Geometry::of_linear(Loss::Hinge, 3, f64::NAN, 1.0).is_err());
    }
}
