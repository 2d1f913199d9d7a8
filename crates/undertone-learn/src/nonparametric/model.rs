//! Any model of this folder, as one value that predicts, is written down and read back.

use super::forest::Forest;
use super::linear_cells::LinearCells;
use super::neighbours::NeighbourModel;
use super::targets::Output;
use super::{CellModel, TrustModel};
use crate::features::Rows;
use crate::{Classifier, LearnError, Regressor};
use serde::{Deserialize, Serialize};

/// A nonparametric model of any sort.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NonparametricModel {
    /// A prediction for each cell
    Cells(CellModel),
    /// The average of the nearest
    Neighbours(NeighbourModel),
    /// The average of many partitions
    Forest(Forest),
    /// A plane for each cell
    LinearCells(LinearCells),
}

impl NonparametricModel {
    /// Who had to be trusted.
    pub fn trust(&self) -> TrustModel {
        match self {
            Self::Cells(model) => model.trust(),
            Self::Neighbours(model) => model.trust(),
            Self::Forest(model) => model.trust(),
            Self::LinearCells(model) => model.trust(),
        }
    }

    /// The same, where true labels were learnt from, which then somebody has seen: nothing is promised.
    #[must_use]
    pub fn of_true_labels(self) -> Self {
        match self {
            Self::Cells(model) => Self::Cells(model.of_true_labels()),
            Self::Neighbours(model) => Self::Neighbours(model.of_true_labels()),
            Self::Forest(model) => Self::Forest(model.of_true_labels()),
            Self::LinearCells(model) => Self::LinearCells(model.of_true_labels()),
        }
    }

    /// What is predicted.
    pub fn output(&self) -> Output {
        match self {
            Self::Cells(model) => model.output(),
            Self::Neighbours(model) => model.output(),
            Self::Forest(model) => model.output(),
            Self::LinearCells(model) => model.output(),
        }
    }

    /// K probabilities, or one number, for each row; rows of other columns are refused.
    pub fn predict(&self, rows: &Rows) -> Result<Vec<f32>, LearnError> {
        match self {
            Self::Cells(model) => model.predict(rows),
            Self::Neighbours(model) => model.predict(rows),
            Self::Forest(model) => model.predict(rows),
            Self::LinearCells(model) => model.predict(rows),
        }
    }

    /// The K probabilities of each row; refused where a number is predicted.
    pub fn predict_probabilities(&self, rows: &Rows) -> Result<Vec<f32>, LearnError> {
        match self.output() {
            Output::Classes(_) => self.predict(rows),
            Output::Number { .. } => {
                Err(LearnError::Model { problem: "it predicts a number, not a class".into() })
            }
        }
    }

    /// The number predicted for each row; refused where a class is.
    pub fn predict_value(&self, rows: &Rows) -> Result<Vec<f32>, LearnError> {
        match self.output() {
            Output::Number { .. } => self.predict(rows),
            Output::Classes(_) => {
                Err(LearnError::Model { problem: "it predicts a class, not a number".into() })
            }
        }
    }
}

impl Classifier for NonparametricModel {
    fn classes(&self) -> usize {
        self.output().width()
    }

    fn probabilities(&self, rows: &Rows) -> Vec<f32> {
        self.predict(rows).expect("rows of the encoder that the model comes with")
    }
}

impl Regressor for NonparametricModel {
    fn predict(&self, rows: &Rows) -> Vec<f64> {
        let values = self.predict_value(rows).expect("rows of the encoder that the model comes with");
        values.into_iter().map(f64::from).collect()
    }
}
