//! A network that was learnt from reports.

use super::{Architecture, Inputs};
use crate::features::Rows;
use crate::{Classifier, LearnError};
use serde::{Deserialize, Serialize};
use undertone_nets::Trained;

/// A network, and how features get into it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetModel {
    pub(super) inputs: Inputs,
    pub(super) network: Trained,
}

impl NetModel {
    /// What it looks like.
    pub fn architecture(&self) -> &Architecture {
        self.network.architecture()
    }

    /// All weights.
    pub fn weights(&self) -> &[f32] {
        self.network.weights()
    }

    /// The mean of 1, …, K under the probabilities of each row: a rating.
    pub fn ratings(&self, rows: &Rows) -> Vec<f64> {
        let rating = |p: &[f32]| (1u32..).zip(p).map(|(k, p)| f64::from(k) * f64::from(*p)).sum();
        self.probabilities(rows).chunks_exact(self.classes()).map(rating).collect()
    }

    /// Refuses a network of other features and classes.
    pub(crate) fn check(&self, features: usize, classes: usize) -> Result<(), LearnError> {
        let (inputs, of_columns) = (self.network.inputs(), self.inputs.width(features));
        if of_columns == Some(inputs) && self.classes() == classes {
            return Ok(());
        }
        let problem = format!(
            "its network takes {inputs} numbers and tells {} classes apart, its columns give {features} features and {classes} classes",
            self.classes()
        );
        Err(LearnError::Model { problem })
    }
}

impl Classifier for NetModel {
    fn classes(&self) -> usize {
        self.network.classes()
    }

    fn probabilities(&self, rows: &Rows) -> Vec<f32> {
        assert_eq!(
            self.inputs.width(rows.width()),
            Some(self.network.inputs()),
            "rows like those of training"
        );
        self.network.probabilities(rows.len(), |row, into| self.inputs.write(rows.get(row), into))
    }
}
