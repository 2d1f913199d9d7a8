//! Stochastic convex optimisation from private labels, as the papers have it and corrected where they err.
//!
//! Anything convex will do: a [`ConvexLoss`] is its gradient. People's labels reach the learner in one of three ways:
//!
//! | report | drawn | here |
//! |---|---|---|
//! | a set of labels, a(S) with E\[a \| y\] = e_y | before anything is learnt, once for all | [`LabelSgd`] |
//! | the gradient with Gaussian noise on the span of gradient differences | at the current point | [`NormalSgd`] |
//! | the gradient as a point of a sphere or codebook | at the current point | [`VectorSgd`] |
//!
//! All three feed the same [`ProjectedSgd`], whose excess risk after n reports is at most R₀·G/√n, where R₀ is the
//! distance from the start to the best point and G² the second moment of an estimated gradient. [`HardInstance`] and
//! [`KnownSoftmax`] are problems whose excess risk is known exactly.
//!
//! L. Chua, B. Ghazi, R. Kumar, P. Manurangsi, Z. Sun, C. Zhang, *Convex Optimization with Local Label Differential
//! Privacy: Tight Bounds in All Privacy Regimes*; B. Ghazi, N. Golowich, R. Kumar, P. Manurangsi, C. Zhang, *Deep
//! Learning with Label Differential Privacy* (2021), supplement.

mod debiased;
mod enclosing_ball;
pub mod experiment;
mod feasible;
mod hard_instance;
mod known_softmax;
mod label_sgd;
mod linear;
mod loss;
mod normal_sgd;
mod sgd;
mod span;
mod vector_sgd;

#[cfg(test)]
mod tests;

pub use debiased::DebiasedLoss;
pub use feasible::Feasible;
pub use hard_instance::HardInstance;
pub use known_softmax::KnownSoftmax;
pub use label_sgd::LabelSgd;
pub use linear::LinearLoss;
pub use loss::ConvexLoss;
pub use normal_sgd::NormalSgd;
pub use sgd::{ProjectedSgd, Step};
pub use span::Span;
pub use vector_sgd::VectorSgd;

use crate::LearnError;

/// A number that has to be positive and finite.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, LearnError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(LearnError::Parameter { what, value, expected: "positive and finite" })
    }
}

/// ⟨a, b⟩.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
