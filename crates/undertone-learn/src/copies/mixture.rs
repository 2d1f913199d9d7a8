//! Every 1-Lipschitz convex function on [-1, 1] is a mixture of absolute values and a linear one.
//!
//! > g(t) = (g'(1) - g'(-1))/2·E|t - s| + (g'(1) + g'(-1))/2·t + const
//!
//! where v is uniform on [g'(-1), g'(1)] and s = max{s : v ∈ ∂g(s)}. As the slope of |t - s| is 2·1{t > s} - 1,
//!
//! > g'(t) = (g'(1) - g'(-1))·P(s < t) + g'(-1)
//!
//! A loss on margins in [-R, R] is brought there by g(t) = f(R·t)/R, with g'(t) = f'(R·t).

use crate::LearnError;
use crate::convex::positive;
use crate::moments::MarginLoss;

/// A loss on [-R, R], as the law of its kinks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture<F = fn(f64) -> f64> {
    slope: F,
    radius: f64,
    /// g'(-1)
    low: f64,
    /// g'(1)
    high: f64,
}

impl Mixture<Box<dyn Fn(f64) -> f64>> {
    /// Of one of the named losses.
    pub fn of(loss: MarginLoss, radius: f64) -> Result<Self, LearnError> {
        Self::new(Box::new(move |t| loss.slope(t)), radius)
    }
}

impl<F: Fn(f64) -> f64> Mixture<F> {
    /// Of a loss with this slope, which rises and stays within [-1, 1].
    pub fn new(slope: F, radius: f64) -> Result<Self, LearnError> {
        let radius = positive("the radius of the ball of weights", radius)?;
        let (low, high) = (slope(-radius), slope(radius));
        let outside = [low, high].into_iter().find(|slope| !(-1.0..=1.0).contains(slope));
        if let Some(value) = outside.or((low > high).then_some(high)) {
            return Err(LearnError::Parameter {
                what: "a slope of the loss",
                value,
                expected: "within [-1, 1] and rising",
            });
        }
        Ok(Self { slope, radius, low, high })
    }

    /// R.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// g'(-1).
    pub fn low(&self) -> f64 {
        self.low
    }

    /// g'(1) - g'(-1).
    pub fn rise(&self) -> f64 {
        self.high - self.low
    }

    /// The kink s of a `uniform` number in [0, 1]: the last place where the slope does not exceed v, by bisection.
    pub fn kink(&self, uniform: f64) -> f64 {
        let v = self.low + uniform * (self.high - self.low);
        let (mut low, mut high) = (-1.0, 1.0);
        for _ in 0..53 {
            let middle = 0.5 * (low + high);
            if (self.slope)(self.radius * middle) <= v { low = middle } else { high = middle }
        }
        low
    }
}
