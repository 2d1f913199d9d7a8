//! From moments to weights, and whether they are worth having.

use super::closure::{Closure, MarginLoss, Surrogate};
use super::estimate::Moments;
use super::minimize::Problem;
use super::prediction::{Prediction, predict};
use super::rule::closure_for;
use crate::LearnError;
use crate::convex::positive;

/// The largest share of collections that may be worse off without a word.
const DOUBT: f64 = 0.1;

/// What is to be minimised, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneRound {
    /// f
    pub loss: MarginLoss,
    /// R, of the ball of weights
    pub radius: f64,
    /// How a risk is made of the moments; the one that measures best if none is given
    pub closure: Option<Closure>,
}

/// Whether the weights are expected to do better than none.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// They are.
    Fitted,
    /// They are, but one in ten collections as noisy as this one would be worse off with them.
    Doubtful,
    /// They are not: noise is expected to cost more than they gain. What would have been answered is kept.
    ConstantIsBetter {
        /// The weights of least risk for the noisy moments
        weights: Vec<f64>,
    },
}

/// What was learnt.
#[derive(Clone, Debug, PartialEq)]
pub struct OneRoundFit {
    /// The answer: the weights of least risk, or zero where the constant is better
    pub weights: Vec<f64>,
    /// How the risk was made of the moments
    pub closure: Closure,
    /// What is expected of the weights of least risk
    pub predicted: Prediction,
    /// Which of the two the answer is
    pub verdict: Verdict,
}

impl OneRound {
    /// The loss on the ball of this radius, with the closure that measures best for the moments.
    pub fn new(loss: MarginLoss, radius: f64) -> Result<Self, LearnError> {
        let radius = positive("the radius of the ball of weights", radius)?;
        Ok(Self { loss, radius, closure: None })
    }

    /// The same with another closure.
    #[must_use]
    pub fn with_closure(self, closure: Closure) -> Self {
        Self { closure: Some(closure), ..self }
    }

    /// The loss closed as it is for these moments.
    fn surrogate(&self, moments: &Moments) -> Surrogate {
        let closure = self.closure.unwrap_or_else(|| closure_for(self.loss, moments));
        Surrogate::new(self.loss, closure, self.radius)
    }

    /// The weights of least risk for the moments, whatever they are worth.
    pub fn minimum(&self, moments: &Moments) -> Result<Vec<f64>, LearnError> {
        Ok(Problem::new(self.surrogate(moments), &moments.repaired()?, self.radius).minimum().weights)
    }

    /// The weights with what is expected of them; none where the constant predictor is expected to do better.
    pub fn fit(&self, moments: &Moments) -> Result<OneRoundFit, LearnError> {
        let weights = self.minimum(moments)?;
        let surrogate = self.surrogate(moments);
        let predicted = predict(self, surrogate, moments)?;
        let closure = surrogate.closure();
        if predicted.fitted < predicted.constant {
            let verdict = if predicted.worse > DOUBT { Verdict::Doubtful } else { Verdict::Fitted };
            return Ok(OneRoundFit { weights, closure, predicted, verdict });
        }
        let none = vec![0.0; weights.len()];
        Ok(OneRoundFit { weights: none, closure, predicted, verdict: Verdict::ConstantIsBetter { weights } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(variance: f64) -> Moments {
        let svec = vec![0.5, 0.1, 0.3, -0.05, 0.02, 0.15];
        Moments::new(vec![0.2, -0.1, 0.15], variance, Some((svec, variance))).unwrap()
    }

    #[test]
    fn without_noise_the_weights_are_worth_what_they_gain() {
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge, MarginLoss::Squared] {
            let fit = OneRound::new(loss, 2.0).unwrap().fit(&moments(0.0)).unwrap();
            assert_eq!(fit.verdict, Verdict::Fitted);
            assert!(fit.predicted.noise().abs() < 1e-9 && fit.predicted.fitted < fit.predicted.constant);
        }
    }

    #[test]
    fn where_noise_drowns_the_moments_the_constant_is_answered_and_said_so() {
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge, MarginLoss::Squared] {
            let fit = OneRound::new(loss, 6.0).unwrap().fit(&moments(0.5)).unwrap();
            assert_eq!(fit.weights, [0.0; 3]);
            assert!(matches!(&fit.verdict, Verdict::ConstantIsBetter { weights } if weights.len() == 3));
            assert!(fit.predicted.fitted >= fit.predicted.constant && fit.predicted.noise() > 0.0);
        }
    }

    #[test]
    fn in_between_weights_are_answered_with_doubt() {
        let method = OneRound::new(MarginLoss::Logistic, 6.0).unwrap();
        let verdicts: Vec<Verdict> =
            (0..40).map(|k| method.fit(&moments(1e-4 * 1.25f64.powi(k))).unwrap().verdict).collect();
        let doubtful = verdicts.iter().position(|verdict| *verdict == Verdict::Doubtful);
        let constant =
            verdicts.iter().position(|verdict| matches!(verdict, Verdict::ConstantIsBetter { .. }));
        assert_eq!(verdicts[0], Verdict::Fitted);
        assert!(doubtful.is_some() && doubtful < constant, "{doubtful:?}, {constant:?}");
    }

    #[test]
    fn a_radius_that_is_none_is_refused() {
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                OneRound::new(MarginLoss::Hinge, radius),
                Err(LearnError::Parameter { value, .. }) if value.to_bits() == radius.to_bits()
            ));
        }
    }
}
