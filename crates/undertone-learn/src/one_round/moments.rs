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
    let told = if scale > 1.0 { method.with_constant(1.0 / scale)? } else { *method };
    let fit = told.fit(moments)?;
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
    fn the_risk_of_the_constant_is_exact_and_weights_are_no_worse() {
        // Nine people in ten have y = 1, and z = ±1, of both signs alike, tells little: the constant 1/2 costs 0.1 by the hinge,
        // whereas one normal law of margins of mean 0.4 and variance 0.09 would have it cost 0.18.
        let second = Some((vec![0.5, 0.0, 0.5], 1e-6));
        let moments = Moments::new(vec![0.8 / 2f64.sqrt(), 0.05 / 2f64.sqrt()], 1e-6, second).unwrap();
        let method = OneRound::new(MarginLoss::Hinge, 6.0).unwrap();
        let fit = from_moments(&method, &moments, 2f64.sqrt()).unwrap();
        assert!((fit.expected.constant - 0.1).abs() < 1e-4, "{fit:?}");
        // E[z | y = 1] = 0.05·0.2/0.36, E[z | y = -1] = -0.05·1.8/0.36
        let of = |y: f64, share: f64, mean: f64| {
            let at = |z: f64| {
                let score = (fit.weights[0] + z * fit.weights[1]) / 2f64.sqrt();
                0.5 * (1.0 + z * mean) * MarginLoss::Hinge.at(y * score)
            };
            share * (at(1.0) + at(-1.0))
        };
        let risk = of(1.0, 0.9, 0.05 / 1.8) + of(-1.0, 0.1, -0.25);
        assert!(risk < 0.1 + 1e-3, "{risk}, {fit:?}");
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
