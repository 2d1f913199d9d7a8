//! Learning numbers from public features: least squares on unbiased values.
//!
//! E\[z | y\] = y, so that the line of best fit to z is that to y with more noise, whatever the mechanism. Learners see z, and v for
//! judging ([`NumberValues`](crate::numbers::NumberValues)), and nothing else; where numbers are known, v = 0 and the same code runs.

mod cholesky;
mod linear_number;
mod normal_equations;
mod ridge;
#[cfg(test)]
mod tests;
mod wide;

pub use linear_number::LinearNumber;
pub use normal_equations::{MOST_FEATURES, NormalEquations};
pub(crate) use ridge::cross_fit;
pub use ridge::{FOLDS, RidgeFit, fit_ridge, ridge_choosing_l2};
