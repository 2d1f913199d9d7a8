//! A number that is linear in the features.

use crate::LearnError;
use crate::features::{Row, Rows};
use crate::linear::ScaleBack;
use crate::regressor::Regressor;
use serde::{Deserialize, Serialize};

/// A fitted line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearNumber {
    /// One for each feature
    pub weights: Vec<f64>,
    /// What is predicted where all features are zero
    pub intercept: f64,
    /// Where devices scaled their records back
    #[serde(default)]
    pub scale_back: Option<ScaleBack>,
}

impl LinearNumber {
    /// w·x + c, for the record that a device would have told.
    pub fn at(&self, row: Row<'_>) -> f64 {
        let dense = row.dense.iter().zip(&self.weights).map(|(&x, w)| f64::from(x) * w);
        let sparse = row.sparse.iter().map(|&(feature, x)| {
            let weight = self.weights.get(row.dense.len() + feature as usize);
            f64::from(x) * weight.copied().unwrap_or_default()
        });
        let number = self.intercept + dense.sum::<f64>() + sparse.sum::<f64>();
        self.scale_back.map_or(number, |back| back.apply(row, number))
    }

    /// Refuses weights that are not those of `features` features, or not finite.
    pub(crate) fn check(&self, features: usize) -> Result<(), LearnError> {
        let problem = |problem: String| Err(LearnError::Model { problem });
        if self.weights.len() != features {
            let found = self.weights.len();
            return problem(format!("its weights are for {found} features, its columns give {features}"));
        }
        if !self.weights.iter().chain([&self.intercept]).all(|weight| weight.is_finite()) {
            return problem("it has a weight that is not finite".into());
        }
        self.scale_back.map_or(Ok(()), |back| back.check())
    }
}

impl Regressor for LinearNumber {
    fn predict(&self, rows: &Rows) -> Vec<f64> {
        rows.iter().map(|row| self.at(row)).collect()
    }
}
