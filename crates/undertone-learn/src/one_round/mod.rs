//! Models from surveys: everybody has answered one question about their whole record, and weights come of it.
//!
//! Three families of questions explain a column. [`from_moments`] is what measures best; [`from_losses`] minimises the risk at the
//! nodes of a grid; [`CopiesFit`] descends along noisy copies, as published. Whatever the family, the weights come with what is
//! [`Expected`] of them, next to the best constant predictor, which is answered in their place where it is expected to do
//! better: nothing is worse than it without saying so. [`Score`] makes a model of them that needs no survey to be used.

mod constant;
mod copies;
mod expected;
mod losses;
mod moments;
mod score;

pub use constant::Constant;
pub(crate) use copies::copies_bound;
pub use copies::{CopiesFit, CopiesMethod};
pub use expected::{Expected, Worth};
pub use losses::{LossFit, from_losses};
pub use moments::from_moments;
pub use score::Score;

/// Weights of the covariates as the survey has them, the constant first, and what is expected of them.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyFit {
    /// w
    pub weights: Vec<f64>,
    /// Beside the best constant
    pub expected: Expected,
}
