//! The gradient of a whole record at a public point, inside a ball that is known beforehand.
//!
//! A record is (x, y), x with its constant first. Its gradient at θ is weighted by a function of x alone
//! ([`Weighting`]), which bounds it for every record without a bias: E[score | x] = 0 at the optimum, whatever the weight.
//! What a promise is made of is the ball that holds **all** gradients of one θ, as any two records may be compared; a norm
//! bound taken for a sensitivity would be half of it.
//!
//! | loss | p | ball, with weights R²/\|x\|² | with weights R/\|x\| |
//! |---|---|---|---|
//! | Huber with its scale | q + 1 | radius cR around (0, (κ-c²)/2) | radius √(c²R² + (c²-κ)²/16) around (0, (κ-c²)/4) |
//! | logistic | q | radius R around 0 | the same |
//! | multinomial, K ≥ 3 | (K-1)·q | radius √2·R around 0 | the same |
//!
//! In l1, which coordinate-wise Laplace noise goes by, the corners of these balls are never reached by some losses:
//!
//! | loss | Δ₁, with weights R²/\|x\|² | with weights R/\|x\| | √p·2r instead |
//! |---|---|---|---|
//! | Huber with its scale, c ≤ R√q | 2cR√q | 2cR√q + (c²-κ)/2 | 2cR√(q+1) |
//! | logistic | 2R√q | the same | the same |
//! | multinomial, K ≥ 3 | 4R√q | the same | 4R√(q(K-1)/2) |
//!
//! After Shi, Xie, Jiang, Kong, He, *Non-Asymptotic Analysis of Online Local Private Learning with SGD*, whose sensitivity of
//! the Huber loss is valid but not exact, and who count covariates where parameters are perturbed.

mod huber;
mod logistic;
mod multinomial;
#[cfg(test)]
mod tests;
mod weighting;

pub use huber::Huber;
pub use logistic::Logistic;
pub use multinomial::Multinomial;
pub use weighting::{Weight, Weighting};

use crate::PrivacyError;
use crate::vector::{Ball, BallVector, VectorMechanism};
use alloc::vec;
use alloc::vec::Vec;

/// A loss of a record that is differentiable in θ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RecordLoss {
    /// Regression that outliers do not move far, with the scale of its errors
    Huber(Huber),
    /// Of a label 0 or 1
    Logistic(Logistic),
    /// Of a label 0, …, K-1, the last of which has no coefficients
    Multinomial(Multinomial),
}

/// What a device computes: the gradient of a loss, weighted, at points of a public box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordModel {
    loss: RecordLoss,
    weighting: Weighting,
    /// q, the constant included
    covariates: usize,
    /// Every coefficient lies within ± this
    bound: f64,
}

/// A ball and where its centre is.
#[derive(Clone, Debug, PartialEq)]
pub struct CentredBall {
    /// As long as θ
    pub centre: Vec<f64>,
    /// The ball around it
    pub ball: Ball,
}

impl CentredBall {
    /// Turns the estimate of a mechanism that knows a ball of another radius into that of a gradient here: a report is
    /// in steps of the radius, and seen from the centre.
    pub fn place(&self, mechanism: &VectorMechanism, estimate: &mut [f64]) {
        let factor = self.ball.radius() / mechanism.ball().radius();
        for (value, centre) in estimate.iter_mut().zip(&self.centre) {
            *value = *value * factor + centre;
        }
    }
}

/// The largest coefficient that a box may allow: x'β is finite whenever |x|² is.
const LARGEST_BOUND: f64 = 1e6;

impl RecordModel {
    /// For records of q = `covariates` numbers, the constant included, and coefficients within ±`bound`.
    pub fn new(
        loss: RecordLoss,
        weighting: Weighting,
        covariates: usize,
        bound: f64,
    ) -> Result<Self, PrivacyError> {
        if covariates == 0 {
            return Err(PrivacyError::Dimension { dimension: 0, least: 1, most: Ball::MOST_DIMENSION });
        }
        if !(bound > 0.0 && bound <= LARGEST_BOUND) {
            return Err(PrivacyError::Parameter { what: "the bound on coefficients", value: bound });
        }
        let weighting = Weighting::new(weighting.weight, weighting.radius)?;
        if let (RecordLoss::Huber(huber), Weight::Square | Weight::Linear) = (loss, weighting.weight) {
            huber.check(weighting.radius)?;
        }
        let model = Self { loss, weighting, covariates, bound };
        Ball::new(model.parameters(), model.radius())?;
        Ok(model)
    }

    /// The loss.
    pub fn loss(&self) -> RecordLoss {
        self.loss
    }

    /// How records are weighted.
    pub fn weighting(&self) -> Weighting {
        self.weighting
    }

    /// q, the constant included.
    pub fn covariates(&self) -> usize {
        self.covariates
    }

    /// B: no coefficient leaves ±B.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// p, the length of θ: what is perturbed.
    pub fn parameters(&self) -> usize {
        let q = self.covariates;
        match self.loss {
            RecordLoss::Huber(_) => q.saturating_add(1),
            RecordLoss::Logistic(_) => q,
            RecordLoss::Multinomial(multinomial) => q.saturating_mul(multinomial.classes() as usize - 1),
        }
    }

    /// r: half of the largest distance between the gradients of two records at any one θ.
    pub fn radius(&self) -> f64 {
        let r = self.weighting.radius;
        match (self.weighting.weight, self.loss) {
            (Weight::Clip, _) | (_, RecordLoss::Logistic(_)) => r,
            (weight, RecordLoss::Huber(huber)) => huber.radius(weight, r),
            (_, RecordLoss::Multinomial(multinomial)) => multinomial.radius(r),
        }
    }

    /// Δ₁: no two records have gradients farther apart than this in l1, at any one θ. Smaller than what follows from the radius,
    /// 2r·√p, where no gradient comes near a corner of its ball.
    pub fn l1_diameter(&self) -> f64 {
        let (r, root) = (self.weighting.radius, libm::sqrt(self.covariates as f64));
        let of_ball = 2.0 * self.radius() * libm::sqrt(self.parameters() as f64);
        let own = match (self.weighting.weight, self.loss) {
            (Weight::Clip, _) => of_ball,
            (_, RecordLoss::Logistic(_)) => 2.0 * r * root,
            (weight, RecordLoss::Huber(huber)) => huber.l1_diameter(weight, r * root),
            (_, RecordLoss::Multinomial(multinomial)) => multinomial.l1_diameter(r * root),
        };
        own.min(of_ball)
    }

    /// The last coordinate of the centre; all others are zero.
    fn last_of_centre(&self) -> f64 {
        match (self.weighting.weight, self.loss) {
            (weight @ (Weight::Square | Weight::Linear), RecordLoss::Huber(huber)) => huber.centre(weight),
            _ => 0.0,
        }
    }

    /// The ball that holds the gradient of every record at every θ.
    pub fn ball(&self) -> Result<CentredBall, PrivacyError> {
        let mut centre = vec![0.0; self.parameters()];
        if let Some(last) = centre.last_mut() {
            *last = self.last_of_centre();
        }
        // The largest l1 distance of two gradients is twice that of a gradient from the centre, by the proofs of each loss.
        let ball = Ball::new(self.parameters(), self.radius())?.within_l1(self.l1_diameter() / 2.0);
        Ok(CentredBall { centre, ball })
    }

    /// The ball that holds the gradient of every record at this θ, which everybody knows, so that noise may be made for it:
    /// for the logistic loss with weights R²/|x|² never larger than [`ball`](Self::ball), and at θ = 0 of half its radius.
    ///
    /// Elsewhere it is that one. A residual without bound reaches it at every θ, and so does, with the other weights, a
    /// record without bound; for the softmax loss nothing smaller is proved.
    ///
    /// Made of arithmetic that is the same everywhere, so that a device and its collector have the same bits.
    pub fn ball_at(&self, theta: &[f64]) -> Result<CentredBall, PrivacyError> {
        self.check_point(theta)?;
        match (self.loss, self.weighting.weight) {
            (RecordLoss::Logistic(_), Weight::Square) => {
                let (centre, radius) = Logistic::ball_at(theta, self.weighting.radius);
                Ok(CentredBall { centre, ball: Ball::new(self.parameters(), radius)? })
            }
            _ => self.ball(),
        }
    }

    /// Refuses a θ that no honest collector sends, before any record is looked at.
    pub fn check_point(&self, theta: &[f64]) -> Result<(), PrivacyError> {
        if theta.len() != self.parameters() {
            return Err(PrivacyError::WrongLength { length: theta.len(), dimension: self.parameters() });
        }
        let outside = |value: f64| PrivacyError::Parameter { what: "a coefficient of the model", value };
        let coefficients = match self.loss {
            RecordLoss::Huber(huber) => {
                let (coefficients, scale) = theta.split_at(self.covariates);
                huber.check_scale(scale[0])?;
                coefficients
            }
            _ => theta,
        };
        match coefficients.iter().find(|value| !(-self.bound..=self.bound).contains(*value)) {
            Some(&value) => Err(outside(value)),
            None => Ok(()),
        }
    }

    /// The nearest θ of p numbers that passes [`check_point`](Self::check_point): post-processing, hence free. What is no
    /// number has none that is nearest, stays as it is, and is refused.
    pub fn project(&self, theta: &mut [f64]) {
        let coefficients = match self.loss {
            RecordLoss::Huber(huber) => {
                let (coefficients, scale) = theta.split_at_mut(self.covariates);
                scale[0] = huber.project_scale(scale[0]);
                coefficients
            }
            _ => theta,
        };
        for value in coefficients {
            *value = value.clamp(-self.bound, self.bound);
        }
    }

    /// Where a run begins unless somebody knows better: zero, and one for a scale if that is allowed.
    pub fn start(&self) -> Vec<f64> {
        let mut start = vec![0.0; self.parameters()];
        if let (RecordLoss::Huber(huber), Some(scale)) = (self.loss, start.last_mut()) {
            *scale = huber.project_scale(1.0);
        }
        start
    }

    /// Writes the gradient of the record (x, y) at θ: p, q and p numbers, in the order of the arguments. What a record cannot be, such as a label of 1/2, and what overflows,
    /// gives numbers that are not finite; [`vector_at`](Self::vector_at) makes the centre of them.
    pub fn gradient(&self, theta: &[f64], x: &[f64], y: f64, gradient: &mut [f64]) {
        let weight = self.weighting.of(x);
        match self.loss {
            RecordLoss::Huber(huber) => huber.gradient(theta, x, y, weight, gradient),
            RecordLoss::Logistic(_) => Logistic::gradient(theta, x, y, weight, gradient),
            RecordLoss::Multinomial(multinomial) => multinomial.gradient(theta, x, y, weight, gradient),
        }
        if self.weighting.weight == Weight::Clip {
            self.weighting.clip(gradient);
        }
    }

    /// What a device randomizes: the gradient of a record at a θ that has been checked, seen from the centre of `around`, as
    /// integers in its ball. No record is refused, for that would speak about it: one of another length, with a label that
    /// there is not, or with numbers that are not finite or too large to square, is the centre.
    pub fn vector_at(
        &self,
        theta: &[f64],
        x: &[f64],
        y: f64,
        around: &CentredBall,
    ) -> Result<BallVector, PrivacyError> {
        self.check_point(theta)?;
        if around.centre.len() != self.parameters() {
            let (length, dimension) = (around.centre.len(), self.parameters());
            return Err(PrivacyError::WrongLength { length, dimension });
        }
        let mut gradient = vec![f64::NAN; self.parameters()];
        if x.len() == self.covariates {
            self.gradient(theta, x, y, &mut gradient);
        }
        for (value, centre) in gradient.iter_mut().zip(&around.centre) {
            *value -= centre;
        }
        around.ball.clamp(&gradient)
    }
}
