//! From moments to weights, and whether they are worth having.

use super::classes::Classes;
use super::closure::{Closure, MarginLoss, Surrogate, best_length};
use super::estimate::Moments;
use super::length::Length;
use super::minimize::Problem;
use super::prediction::{Prediction, predict};
use super::rule::closure_for;
use crate::LearnError;
use crate::convex::positive;

/// The largest share of collections that may be worse off without a word.
const DOUBT: f64 = 0.1;
/// Standard deviations by which margins are thought to spread farther than is told: weights that are too sure of themselves cost more
/// than weights that are too short.
const MORE_SPREAD: f64 = 0.5;
/// The same for scores within a class, in every direction.
const WIDER: f64 = 1.0;
/// The most covariates whose margins are taken for those of records on a sphere.
const FEW: usize = 2;

/// What is to be minimised, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneRound {
    /// f
    pub loss: MarginLoss,
    /// R, of the ball of weights
    pub radius: f64,
    /// How a risk is made of the moments; the one that measures best if none is given
    pub closure: Option<Closure>,
    /// The first covariate, where it is the same for everybody
    pub constant: Option<f64>,
}

/// Whether the weights are expected to do better than none.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// They are.
    Fitted,
    /// They are, but one in ten collections as noisy as this one would be worse off with them, or the mean, or the
    /// difference of the classes, may be as long as it is by luck, or nobody told the second moment.
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
    /// What is expected of the weights of least risk
    pub predicted: Prediction,
    /// The same if the mean, or the difference of the classes, is as short as nine in ten like it allow
    pub cautious: Prediction,
    /// Which of the two the answer is
    pub verdict: Verdict,
}

impl OneRound {
    /// The loss on the ball of this radius, with the closure that measures best for the moments.
    pub fn new(loss: MarginLoss, radius: f64) -> Result<Self, LearnError> {
        let radius = positive("the radius of the ball of weights", radius)?;
        Ok(Self { loss, radius, closure: None, constant: None })
    }

    /// The same with another closure.
    #[must_use]
    pub fn with_closure(self, closure: Closure) -> Self {
        Self { closure: Some(closure), ..self }
    }

    /// The same for people whose first covariate is always `constant`: the moments then tell of either class. A number has none, and a
    /// closure that was given is one of all margins; both are solved as without.
    pub fn with_constant(self, constant: f64) -> Result<Self, LearnError> {
        if !(constant > 0.0 && constant < 1.0) {
            return Err(LearnError::Parameter {
                what: "the constant covariate",
                value: constant,
                expected: "between 0 and 1, beside other covariates in the unit ball",
            });
        }
        Ok(Self { constant: Some(constant), ..self })
    }

    /// What the constant covariate is, if the two classes are to be told apart by it.
    pub(super) fn between_classes(&self, moments: &Moments) -> Option<f64> {
        let margins = self.closure.is_some() || self.loss == MarginLoss::Squared || moments.covariates() < 2;
        self.constant.filter(|_| !margins)
    }

    /// The loss closed as it is for these moments.
    pub(super) fn surrogate(&self, moments: &Moments) -> Surrogate {
        let closure = self.closure.unwrap_or_else(|| closure_for(self.loss, moments));
        Surrogate::new(self.loss, closure, self.radius)
    }

    /// The weights of least risk for the moments, whatever they are worth.
    pub fn minimum(&self, moments: &Moments) -> Result<Vec<f64>, LearnError> {
        let Some(constant) = self.between_classes(moments) else {
            return self.steady_minimum(moments);
        };
        let classes = Classes::new(self.loss, constant, moments, Length::Nearest, WIDER)?;
        Ok(classes.minimum(self.radius))
    }

    /// The weights of least risk by the margins of everybody.
    ///
    /// They lie where the repaired second moment is small, and that one is rounder than the truth. So their length becomes what is
    /// best for the spread of their margins as it was told, w'Sw without repair, which is nearly unbiased along a direction that
    /// owes most to the mean; it has a say only where it is larger. For the hinge and two covariates the length of weights is that
    /// of records on a circle.
    fn steady_minimum(&self, moments: &Moments) -> Result<Vec<f64>, LearnError> {
        let problem = Problem::new(self.surrogate(moments), moments.repaired()?, self.radius);
        let mut weights = problem.minimum().weights;
        let square: f64 = weights.iter().map(|w| w * w).sum();
        let Some((told, deviation)) = moments.spread_along(&weights).filter(|_| square > 0.0) else {
            return Ok(weights);
        };
        // No record is longer than one.
        let spread = (told + MORE_SPREAD * deviation).min(square).max(problem.spread(&weights));
        let few = self.loss == MarginLoss::Hinge && self.closure.is_none() && weights.len() <= FEW;
        let length = square.sqrt();
        let on_sphere = few.then(|| {
            best_length(self.loss, problem.mean_along(&weights) / length, spread / square, self.radius)
        });
        let share = match on_sphere.flatten() {
            Some(best) => best / length,
            None => problem.best_share(&weights, spread),
        };
        for w in &mut weights {
            *w *= share;
        }
        Ok(weights)
    }

    /// The weights with what is expected of them; none where the constant predictor is expected to do better.
    pub fn fit(&self, moments: &Moments) -> Result<OneRoundFit, LearnError> {
        let weights = self.minimum(moments)?;
        let predicted = predict(self, moments, Length::Even)?;
        let cautious = predict(self, moments, Length::Cautious)?;
        if predicted.fitted < predicted.constant {
            let sure =
                predicted.worse <= DOUBT && cautious.fitted < cautious.constant && moments.second().is_some();
            let verdict = if sure { Verdict::Fitted } else { Verdict::Doubtful };
            return Ok(OneRoundFit { weights, predicted, cautious, verdict });
        }
        let none = vec![0.0; weights.len()];
        let verdict = Verdict::ConstantIsBetter { weights };
        Ok(OneRoundFit { weights: none, predicted, cautious, verdict })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::vector::stream::PublicStream;

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

    /// 36000 people with a constant covariate of √½ and seven others, small and unrelated to each other, of whom a quarter has the
    /// label 1: records that are far from a multiple of I.
    fn with_constant(second: bool) -> Moments {
        let (p, people) = (8, 36_000.0);
        let mut mean = vec![0.03; p];
        mean[0] = -0.5 * 0.5f64.sqrt();
        let mut svec = vec![0.0; p * (p + 1) / 2];
        for i in 0..p {
            svec[i * (i + 3) / 2] = if i == 0 { 0.5 } else { 0.03 };
        }
        // 6.2 for each report at ε = 1
        Moments::new(mean, 6.2 / people / 0.7, second.then_some((svec, 6.2 / people / 0.3))).unwrap()
    }

    /// The risk of the constant covariate's weight, that of all others being unknown to these people: at least this is lost.
    fn of_the_constant(loss: MarginLoss, w: &[f64]) -> f64 {
        let score = w[0] * 0.5f64.sqrt();
        0.25 * loss.at(score) + 0.75 * loss.at(-score)
    }

    #[test]
    fn a_constant_covariate_does_not_make_weights_sure_of_themselves() {
        // With S = I/p the intercept had the weight -11, and three people in four were right for sure, one wrong.
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge] {
            let method = OneRound::new(loss, 4.0 * 8f64.sqrt()).unwrap();
            for second in [true, false] {
                let fit = method.fit(&with_constant(second)).unwrap();
                let (risk, none) = (of_the_constant(loss, &fit.weights), loss.at(0.0));
                assert!(risk <= none, "{loss:?}, {second}: {risk} is above {none}");
                // Where nobody told the second moment nothing is promised.
                assert!(second || fit.verdict != Verdict::Fitted);
            }
        }
    }

    #[test]
    fn a_mean_that_is_long_by_luck_is_not_said_to_be_worth_it() {
        // Nothing to learn: means of noise alone, of which nine in ten are to be known for what they are
        let (p, variance, rounds) = (10, 1e-3, 60);
        let svec: Vec<f64> =
            (0..p).flat_map(|i| (0..=i).map(move |j| if i == j { 0.1 } else { 0.0 })).collect();
        let method = OneRound::new(MarginLoss::Logistic, 12.0).unwrap();
        let fitted = (0..rounds).filter(|&round| {
            let mut mean = vec![0.0; p];
            PublicStream::new(17, round).fill_normal(&mut mean);
            for x in &mut mean {
                *x *= f64::sqrt(variance);
            }
            let moments = Moments::new(mean, variance, Some((svec.clone(), variance))).unwrap();
            method.fit(&moments).unwrap().verdict == Verdict::Fitted
        });
        let (fitted, expected) = (fitted.count() as f64, 0.1 * rounds as f64);
        assert!(fitted < expected + 3.0 * expected.sqrt(), "{fitted} of {rounds}");
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
