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
