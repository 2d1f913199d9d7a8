//! Whatever learns from one example after the other.

use crate::LearnError;

/// A learner observes; what it learnt is another type, and what has observed nothing has no model.
pub trait Learner {
    /// What it is shown, borrowed from wherever it is kept.
    type Example<'a>;
    /// What it learns.
    type Model;

    /// Takes one more example into account.
    fn observe(&mut self, example: Self::Example<'_>);

    /// What was learnt so far.
    fn model(&self) -> Result<Self::Model, LearnError>;
}
