//! A prediction for each cell.
//!
//! Under local label privacy it is the average of the unbiased reports of the people in the cell, taken to the nearest
//! distribution or into the bounds; whose argmax is that of the average. For the bits of eq. 11 this is the published
//! classifier, eq. 13, and any other label mechanism is as welcome. A cell with too few people takes its parent's
//! ([`Targets::least`]); the root speaks for everybody. How many people a cell has is public.

use super::TrustModel;
use super::cells::Partition;
use super::sums::Sums;
use super::targets::{Output, Targets};
use super::trust::trust_and_output;
use crate::LearnError;
use crate::features::Rows;
use serde::{Deserialize, Serialize};

/// What was learnt about each cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Document", into = "Document")]
pub struct CellModel {
    trust: TrustModel,
    output: Output,
    partition: Partition,
    /// For each node as many as the output has
    values: Vec<f32>,
}

trust_and_output!(CellModel);

impl CellModel {
    /// Averages reports over the cells.
    pub fn fit(partition: Partition, rows: &Rows, targets: Targets<'_>) -> Result<Self, LearnError> {
        let sums = Sums::of(&partition, rows, targets, |_| true)?;
        Ok(Self::of_sums(partition, &sums, targets))
    }

    pub(super) fn of_sums(partition: Partition, sums: &Sums, targets: Targets<'_>) -> Self {
        let (output, least) = (targets.output(), targets.least());
        let enough = |node: usize| sums.people[node] >= least;
        let values = sums.settle(&partition, enough, |means, into| output.settle(means, into));
        Self::released(TrustModel::LabelLocal, output, partition, values)
    }

    /// What a curator has released.
    pub(super) fn released(
        trust: TrustModel,
        output: Output,
        partition: Partition,
        values: Vec<f32>,
    ) -> Self {
        Self { trust, output, partition, values }
    }

    /// The cells.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The prediction of a node.
    #[inline]
    pub fn node(&self, node: usize) -> &[f32] {
        let width = self.output.width();
        &self.values[node * width..(node + 1) * width]
    }

    /// Predictions of each row, one after the other; rows of other columns are refused.
    pub fn predict(&self, rows: &Rows) -> Result<Vec<f32>, LearnError> {
        self.partition.axes().check(rows)?;
        let mut predictions = Vec::with_capacity(rows.len() * self.output.width());
        for row in rows.iter() {
            predictions.extend_from_slice(self.node(self.partition.locate(row)));
        }
        Ok(predictions)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    trust: TrustModel,
    output: Output,
    partition: Partition,
    values: Vec<f32>,
}

impl From<CellModel> for Document {
    fn from(CellModel { trust, output, partition, values }: CellModel) -> Self {
        Self { trust, output, partition, values }
    }
}

impl TryFrom<Document> for CellModel {
    type Error = LearnError;

    fn try_from(Document { trust, output, partition, values }: Document) -> Result<Self, LearnError> {
        let expected = partition.nodes() * output.width();
        if values.len() == expected && expected > 0 && values.iter().all(|value| value.is_finite()) {
            return Ok(Self { trust, output, partition, values });
        }
        let problem = format!("its cells need {expected} finite values, {} are given", values.len());
        Err(LearnError::Model { problem })
    }
}
