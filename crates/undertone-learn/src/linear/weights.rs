//! The weights of a linear model, and what they predict.

use super::parameters::{Parameters, Shape};
use super::scale_back::ScaleBack;
use crate::LearnError;
use crate::classifier::Classifier;
use crate::features::{Row, Rows};
use crate::loss::Loss;
use serde::{Deserialize, Serialize};

/// Rows whose scores are computed together.
const TOGETHER: usize = 64;

/// W, a row of K weights for each feature and a last row for the intercept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<f32>>", into = "Vec<Vec<f32>>")]
pub struct Weights {
    features: usize,
    classes: usize,
    values: Vec<f32>,
}

/// A linear model that has been fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearModel {
    /// What its scores mean
    pub loss: Loss,
    /// W
    pub weights: Weights,
    /// Where devices scaled their records back
    #[serde(default)]
    pub scale_back: Option<ScaleBack>,
}

impl Weights {
    /// W = 0.
    pub fn zero(features: usize, classes: usize) -> Self {
        Self { features, classes, values: vec![0.0; (features + 1) * classes] }
    }

    /// The number of features, without the intercept.
    pub fn features(&self) -> usize {
        self.features
    }

    /// K.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// All weights: K for each feature, then the K intercepts.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Multiplies all of them.
    pub(super) fn scale(&mut self, factor: f32) {
        self.values_mut().iter_mut().for_each(|weight| *weight *= factor);
    }

    /// The same, to change them.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The K weights of a feature; the intercepts for `feature` = features.
    pub fn of(&self, feature: usize) -> &[f32] {
        &self.values[feature * self.classes..(feature + 1) * self.classes]
    }

    /// z = Wᵀx.
    pub fn scores(&self, row: Row<'_>, scores: &mut [f32]) {
        scores.copy_from_slice(self.of(self.features));
        let sparse = row.sparse.iter().map(|&(feature, x)| (row.dense.len() + feature as usize, x));
        for (feature, x) in row.dense.iter().copied().enumerate().chain(sparse) {
            for (z, w) in scores.iter_mut().zip(self.of(feature)) {
                *z += x * w;
            }
        }
    }
}

impl From<Weights> for Vec<Vec<f32>> {
    fn from(weights: Weights) -> Self {
        weights.values.chunks_exact(weights.classes).map(<[f32]>::to_vec).collect()
    }
}

impl TryFrom<Vec<Vec<f32>>> for Weights {
    type Error = LearnError;

    fn try_from(rows: Vec<Vec<f32>>) -> Result<Self, LearnError> {
        let classes = rows.last().map_or(0, Vec::len);
        let problem = |problem: String| Err(LearnError::Model { problem });
        if classes < 2 {
            return problem(format!("its weights are for {classes} class(es)"));
        }
        if let Some((row, weights)) = rows.iter().enumerate().find(|(_, weights)| weights.len() != classes) {
            return problem(format!("feature {row} has {} weights for {classes} classes", weights.len()));
        }
        if let Some((row, _)) =
            rows.iter().enumerate().find(|(_, weights)| !weights.iter().all(|w| w.is_finite()))
        {
            return problem(format!("feature {row} has a weight that is not finite"));
        }
        Ok(Self { features: rows.len() - 1, classes, values: rows.concat() })
    }
}

impl Classifier for LinearModel {
    fn classes(&self) -> usize {
        self.weights.classes
    }

    fn probabilities(&self, rows: &Rows) -> Vec<f32> {
        let (dense, sparse, classes) = (rows.dense_width(), rows.sparse_width(), self.weights.classes);
        let parameters = Parameters::new(Shape { dense, sparse, classes }, Some(&self.weights));
        let mut all = vec![0.0; rows.len() * classes];
        for (start, scores) in (0..).step_by(TOGETHER).zip(all.chunks_mut(TOGETHER * classes)) {
            let some = start..start + scores.len() / classes;
            let features: Vec<&[f32]> = some.clone().map(|row| rows.get(row).dense).collect();
            parameters.scores(&features, some.clone().map(|row| rows.get(row).sparse), scores);
            if let Some(back) = &self.scale_back {
                for (row, scores) in some.zip(scores.chunks_exact_mut(classes)) {
                    for z in scores {
                        *z = back.apply(rows.get(row), f64::from(*z)) as f32;
                    }
                }
            }
            scores.chunks_exact_mut(classes).for_each(|scores| self.loss.probabilities(scores));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_have_the_probabilities_of_each() {
        let (mut rows, mut weights) = (Rows::new(11, 3), Weights::zero(14, 7));
        for (i, w) in weights.values_mut().iter_mut().enumerate() {
            *w = (i as f32).sin();
        }
        for i in 0..150u16 {
            rows.push_with(|dense, sparse| {
                dense.extend((0..11u16).map(|j| f32::from(i * 11 + j).cos()));
                sparse.extend((i % 2 == 0).then_some((u32::from(i % 3), 1.5)));
            });
        }
        for loss in Loss::ALL {
            let model = LinearModel { loss, weights: weights.clone(), scale_back: None };
            for (row, found) in rows.iter().zip(model.probabilities(&rows).chunks_exact(7)) {
                let mut expected = [0.0; 7];
                weights.scores(row, &mut expected);
                loss.probabilities(&mut expected);
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-4, "{loss:?}: {found} for {expected}");
                }
            }
        }
    }
}
