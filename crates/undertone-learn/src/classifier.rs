//! Whatever predicts classes.

use crate::features::Rows;

/// A model that gives each row a probability for every class: what priors, stages and evaluation ask of it.
pub trait Classifier {
    /// K.
    fn classes(&self) -> usize;

    /// The K probabilities of each row, one row after the other.
    fn probabilities(&self, rows: &Rows) -> Vec<f32>;
}
