//! Weights from moments.

use super::{Constant, SurveyFit, Worth};
use crate::LearnError;
use crate::moments::{Moments, OneRound, Prediction, Verdict};

/// The weights of least risk for the moments of covariates that were divided by `scale`, the first of which is constant.
///
/// As that covariate is 1/`scale` wherever a record was not scaled back, E\[y\] is `scale` times the first coordinate of E\[yx\],
/// and with it the best constant is known, and its risk whatever the law of the margins. The closure has a risk of its own for it,
/// which may be far above: weights have to be better than either.
pub fn from_moments(method: &OneRound, moments: &Moments, scale: f64) -> Result<SurveyFit, LearnError> {
    let fit = method.fit(moments)?;
    let (mean, variance) = (scale * moments.mean()[0], scale * scale * moments.mean_variance());
    let constant = Constant::of_noisy(method.loss, mean, variance, scale, method.radius);
    let predicted = fit.predicted;
    let to_beat = |prediction: &Prediction| prediction.first.min(constant.risk);
    let worth = match fit.verdict {
        Verdict::ConstantIsBetter { .. } => Worth::ConstantIsBetter,
        _ if predicted.fitted >= to_beat(&predicted) => Worth::ConstantIsBetter,
        Verdict::Fitted if fit.cautious.fitted < to_beat(&fit.cautious) => Worth::Fitted,
        Verdict::Doubtful | Verdict::Fitted => Worth::Doubtful,
    };
    let constant = constant.with_risk(to_beat(&predicted));
    Ok(SurveyFit::with(worth, fit.weights, &constant, predicted.fitted, predicted.standard_error))
}

#[cfg(test)]
mod tests {
    use super::super::Expected;
    use super::*;
    use crate::moments::MarginLoss;

    #[test]
    fn the_share_of_the_classes_is_answered_where_columns_say_nothing_beyond_it() {
        // x = (1, z)/√2 with z = ±1 independent of y, and y = 1 for three people in four: E[yx] = (1/2, 0)/√2, E[xx'] = I/2
        let moments = |variance| {
            Moments::new(vec![0.5 / 2f64.sqrt(), 0.0], variance, Some((vec![0.5, 0.0, 0.5], variance)))
        };
        let method = OneRound::new(MarginLoss::Logistic, 6.0).unwrap();
        let fit = from_moments(&method, &moments(1e-4).unwrap(), 2f64.sqrt()).unwrap();
        assert_eq!(fit.expected.worth, Worth::ConstantIsBetter);
        // ln 3 = ⟨w, (1, ·)/√2⟩ up to the variance
        assert!((fit.weights[0] / 2f64.sqrt() - 3f64.ln()).abs() < 1e-3 && fit.weights[1] == 0.0);
        let Expected { constant, fitted, .. } = fit.expected;
        assert!(constant <= fitted && constant < 2f64.ln(), "{fit:?}");
    }

    #[test]
    fn a_closure_that_thinks_ill_of_the_constant_does_not_speak_for_the_weights() {
        // Nine people in ten have y = 1, and z, of both signs alike, says next to nothing: the constant 1/2 costs 0.1 by the hinge,
        // whereas normal margins of mean 0.4 and variance 0.09 would cost 0.18.
        let second = Some((vec![0.5, 0.0, 0.5], 1e-6));
        let moments = Moments::new(vec![0.8 / 2f64.sqrt(), 0.05 / 2f64.sqrt()], 1e-6, second).unwrap();
        let method = OneRound::new(MarginLoss::Hinge, 6.0).unwrap();
        let fit = from_moments(&method, &moments, 2f64.sqrt()).unwrap();
        assert_eq!(fit.expected.worth, Worth::ConstantIsBetter);
        assert!((fit.expected.constant - 0.1).abs() < 1e-4, "{fit:?}");
        assert!((fit.weights[0] / 2f64.sqrt() - 0.5).abs() < 1e-9 && fit.weights[1] == 0.0);
    }

    #[test]
    fn columns_that_tell_the_classes_apart_are_worth_their_weights() {
        // z tells y in nine people of ten: E[yz] = 0.8
        let second = Some((vec![0.5, 0.0, 0.5], 1e-5));
        let moments = Moments::new(vec![0.0, 0.8 / 2f64.sqrt()], 1e-5, second).unwrap();
        let method = OneRound::new(MarginLoss::Logistic, 6.0).unwrap();
        let fit = from_moments(&method, &moments, 2f64.sqrt()).unwrap();
        assert_eq!(fit.expected.worth, Worth::Fitted);
        assert!(fit.weights[1] > 1.0 && fit.expected.fitted < fit.expected.constant, "{fit:?}");
    }
}
