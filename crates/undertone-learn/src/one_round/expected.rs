//! What is expected of weights before anybody has tried them.

use super::{Constant, SurveyFit};
use serde::{Deserialize, Serialize};

/// One-sided: one in ten normal numbers is farther above their mean, in standard deviations.
const ONE_IN_TEN: f64 = 1.281_551_565_544_600_4;

/// Risks as far as the answers tell them. Those of the squared loss from moments are less E\[y²\], which no model changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Whether the weights are worth having
    pub worth: Worth,
    /// The risk of the best constant predictor
    pub constant: f64,
    /// The risk of the weights that were learnt
    pub fitted: f64,
    /// Of `fitted`
    pub standard_error: f64,
}

/// Whether weights are expected to do better than the best constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worth {
    /// They are.
    Fitted,
    /// They are, but one in ten collections as noisy as this one would be worse off with them.
    Doubtful,
    /// They are not, and the constant is answered.
    ConstantIsBetter,
}

impl SurveyFit {
    /// Weights with this risk, known up to a normal error, or the constant if it is below that.
    pub(super) fn judged(weights: Vec<f64>, constant: &Constant, fitted: f64, standard_error: f64) -> Self {
        let gain = constant.risk - fitted;
        let worth = if gain <= 0.0 || gain.is_nan() {
            Worth::ConstantIsBetter
        } else if gain < ONE_IN_TEN * standard_error {
            Worth::Doubtful
        } else {
            Worth::Fitted
        };
        Self::with(worth, weights, constant, fitted, standard_error)
    }

    /// The weights, or the constant if that is the verdict.
    pub(super) fn with(
        worth: Worth,
        weights: Vec<f64>,
        constant: &Constant,
        fitted: f64,
        standard_error: f64,
    ) -> Self {
        let expected = Expected { worth, constant: constant.risk, fitted, standard_error };
        let weights =
            if worth == Worth::ConstantIsBetter { constant.weights(weights.len()) } else { weights };
        Self { weights, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::MarginLoss;

    #[test]
    fn the_constant_is_answered_where_it_is_better_and_doubt_is_one_in_ten() {
        let constant = Constant::new(MarginLoss::Squared, 0.5, 2.0, 10.0);
        assert!((constant.risk + 0.25).abs() < 1e-15);
        let fit = |fitted| SurveyFit::judged(vec![3.0, 4.0], &constant, fitted, 0.1);
        assert_eq!(fit(-0.2).weights, [1.0, 0.0]);
        assert_eq!(fit(-0.2).expected.worth, Worth::ConstantIsBetter);
        assert_eq!((fit(-0.35).expected.worth, fit(-0.35).weights), (Worth::Doubtful, vec![3.0, 4.0]));
        assert_eq!(fit(-0.4).expected.worth, Worth::Fitted);
        assert_eq!(fit(f64::NAN).expected.worth, Worth::ConstantIsBetter);
    }
}
