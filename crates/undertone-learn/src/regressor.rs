//! Whatever predicts numbers.

use crate::features::Rows;

/// A model that gives each row a number.
pub trait Regressor {
    /// The number of each row.
    fn predict(&self, rows: &Rows) -> Vec<f64>;
}
