//! Weights of covariates as a model of columns.

use crate::LearnError;
use crate::features::Encoder;
use crate::linear::{LinearModel, ScaleBack, Weights};
use crate::loss::Loss;
use crate::moments::MarginLoss;
use crate::regression::LinearNumber;
use undertone_report::{EncodingWords, ResponseWords};

/// ⟨w, x⟩/r in the order of the encoder's features; of a record beyond r as a device would have scaled it back.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    weights: Vec<f64>,
    intercept: f64,
    reach: f64,
}

impl Score {
    /// Of the weights of covariates that devices made by `words` and divided by `scale`, the constant first.
    pub fn new(
        weights: &[f64],
        scale: f64,
        encoder: &Encoder,
        words: &[EncodingWords],
    ) -> Result<Self, LearnError> {
        let places = encoder.covariate_features(words)?;
        let Some((constant, rest)) = weights.split_first().filter(|(_, rest)| rest.len() == places.len())
        else {
            return Err(LearnError::Columns { found: weights.len(), expected: places.len() + 1 });
        };
        let mut ordered = vec![0.0; places.len()];
        for (place, weight) in places.into_iter().zip(rest) {
            ordered[place] = weight / scale;
        }
        Ok(Self { weights: ordered, intercept: constant / scale, reach: scale })
    }

    /// A model of two classes, of which the second is the label 1.
    ///
    /// With scores ∓s/2 softmax gives the second class σ(s); with ∓s the hinge of two classes is twice max(0, 1/2 - m); with
    /// (1 ∓ s)/2 the squared distance to the class is (1 - m)²/2.
    pub fn classifier(&self, loss: MarginLoss) -> LinearModel {
        let (loss, factor, base) = match loss {
            MarginLoss::Logistic => (Loss::Softmax, 0.5, 0.0),
            MarginLoss::Hinge => (Loss::Hinge, 1.0, 0.0),
            MarginLoss::Squared => (Loss::Squared, 0.5, 0.5),
        };
        let mut weights = Weights::zero(self.weights.len(), 2);
        let all = self.weights.iter().map(|w| (w, 0.0)).chain([(&self.intercept, base)]);
        for (pair, (w, base)) in weights.values_mut().chunks_exact_mut(2).zip(all) {
            pair.copy_from_slice(&[(base - factor * w) as f32, (base + factor * w) as f32]);
        }
        LinearModel { loss, weights, scale_back: Some(ScaleBack { reach: self.reach, centre: base }) }
    }

    /// A model of a number, of which the score explains (y - mean)·scale.
    pub fn line(&self, response: ResponseWords) -> LinearNumber {
        let ResponseWords { mean, scale } = response;
        LinearNumber {
            weights: self.weights.iter().map(|w| w / scale).collect(),
            intercept: mean + self.intercept / scale,
            scale_back: Some(ScaleBack { reach: self.reach, centre: mean }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::Classifier;
    use crate::features::{Batch, Column, Rows};
    use crate::regressor::Regressor;
    use undertone_report::{CategoryWords, ColumnKind, FeatureColumn, Stretch};

    /// Values that are not in the order of their names, which is that of features.
    fn words() -> (Encoder, Vec<EncodingWords>) {
        let values = ["red", "blue", "green"].map(String::from).to_vec();
        let words = vec![
            EncodingWords::Number(Stretch::Standard { mean: 10.0, scale: 0.5, missing: false }),
            EncodingWords::Category(CategoryWords::Values { values, other: true, missing: false }),
        ];
        let column = |name: &str, kind| FeatureColumn { name: name.into(), kind };
        let columns = [column("age", ColumnKind::Number), column("colour", ColumnKind::Words)];
        (Encoder::from_words(&columns, &words).unwrap(), words)
    }

    fn rows(encoder: &Encoder) -> Rows {
        let mut rows = encoder.rows();
        let colours = ["red", "blue", "green", "grey"].map(Some).into_iter().collect();
        let columns = vec![Column::Numbers(vec![10.0, 12.0, 10.0, 12.0]), Column::Words(colours)];
        encoder.encode(&Batch { columns, rows: 4 }, &mut rows).unwrap();
        rows
    }

    /// Of the constant, the age, red, blue, green and any other, times r = 2.
    const WEIGHTS: [f64; 6] = [0.2, 0.4, 2.0, -4.0, 6.0, -8.0];
    /// (0.2 + 0.4·z + of the colour)/2
    const SCORES: [f64; 4] = [1.1, -1.7, 3.1, -3.7];

    #[test]
    fn values_of_a_category_keep_their_weights_whatever_their_order() {
        let (encoder, words) = words();
        let score = Score::new(&WEIGHTS, 2.0, &encoder, &words).unwrap();
        let chances = score.classifier(MarginLoss::Logistic).probabilities(&rows(&encoder));
        for (pair, score) in chances.chunks_exact(2).zip(SCORES) {
            assert!((f64::from(pair[1]) - 1.0 / (1.0 + (-score).exp())).abs() < 1e-6, "{pair:?} at {score}");
        }
        for loss in [MarginLoss::Hinge, MarginLoss::Squared] {
            let chances = score.classifier(loss).probabilities(&rows(&encoder));
            assert!(chances.chunks_exact(2).zip(SCORES).all(|(pair, s)| (pair[1] > pair[0]) == (s > 0.0)));
        }
        let line = score.line(ResponseWords { mean: 100.0, scale: 0.1 });
        for (number, score) in line.predict(&rows(&encoder)).into_iter().zip(SCORES) {
            assert!((number - (100.0 + 10.0 * score)).abs() < 1e-5, "{number} at {score}");
        }
    }

    #[test]
    fn a_record_beyond_the_ball_is_scored_as_it_was_told() {
        let (encoder, words) = words();
        let score = Score::new(&WEIGHTS, 2.0, &encoder, &words).unwrap();
        // Ages of 10, 30 and 50 are z = 0, 10 and 20 beside red and the constant: |(z, 1, 1)| is beyond 2 for the last two.
        let mut rows = encoder.rows();
        let colours = ["red"; 3].map(Some).into_iter().collect();
        let columns = vec![Column::Numbers(vec![10.0, 30.0, 50.0]), Column::Words(colours)];
        encoder.encode(&Batch { columns, rows: 3 }, &mut rows).unwrap();
        let told = [0.0, 10.0, 20.0].map(|z: f64| {
            let length = (z * z + 2.0).sqrt();
            (0.1 + 0.2 * z + 1.0) * (2.0 / length).min(1.0)
        });
        let chances = score.classifier(MarginLoss::Logistic).probabilities(&rows);
        for (pair, told) in chances.chunks_exact(2).zip(told) {
            assert!((f64::from(pair[1]) - 1.0 / (1.0 + (-told).exp())).abs() < 1e-6, "{pair:?} at {told}");
        }
        // (1 ± s)/2 of the classes, nothing below zero
        let squared = score.classifier(MarginLoss::Squared).probabilities(&rows);
        for (pair, told) in squared.chunks_exact(2).zip(told) {
            let [a, b] = [1.0 - told, 1.0 + told].map(|twice| (0.5 * twice).max(0.0));
            assert!((f64::from(pair[1]) - b / (a + b)).abs() < 1e-6, "{pair:?} at {told}");
        }
        assert!(told.iter().any(|told| told.abs() < 1.0));
        let line = score.line(ResponseWords { mean: 100.0, scale: 0.1 });
        for (number, told) in line.predict(&rows).into_iter().zip(told) {
            assert!((number - (100.0 + 10.0 * told)).abs() < 1e-4, "{number} at {told}");
        }
    }

    #[test]
    fn weights_of_other_columns_are_refused() {
        let (encoder, words) = words();
        assert!(matches!(
            Score::new(&WEIGHTS[1..], 2.0, &encoder, &words),
            Err(LearnError::Columns { found: 5, expected: 6 })
        ));
        assert!(Score::new(&WEIGHTS, 2.0, &encoder, &words[1..]).is_err());
    }
}
