//! Rows beyond a ball, scored as the devices told them.
//!
//! A device whose record is longer than the ball of its task scales it back to the sphere. Weights were learnt from such records, so
//! that a row with |(x, 1)| > r has the score of r·(x, 1)/|(x, 1)|: otherwise the longest rows would have the surest predictions, more so
//! than anything in the reports says.

use crate::LearnError;
use crate::features::Row;
use serde::{Deserialize, Serialize};

/// How far a score may depend on the length of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaleBack {
    /// r
    pub reach: f64,
    /// What is predicted where a record is zero altogether, its constant, too
    pub centre: f64,
}

impl ScaleBack {
    /// The score of the record that the device would have told, given that of the row.
    pub(crate) fn apply(&self, row: Row<'_>, score: f64) -> f64 {
        self.centre + (score - self.centre) * (self.reach / row.norm()).min(1.0)
    }

    /// Refuses what no task has.
    pub(crate) fn check(&self) -> Result<(), LearnError> {
        if self.reach > 0.0 && self.reach.is_finite() && self.centre.is_finite() {
            return Ok(());
        }
        let Self { reach, centre } = self;
        Err(LearnError::Model { problem: format!("it scales rows back to {reach} around {centre}") })
    }
}
