//! Reports become models and answers, with their uncertainty.
//!
//! What is known about a label is one sparse vector over the classes ([`labels::LabelVector`]): the unbiased a(S) with
//! E\[a | y\] = e_y, or the likelihood P(S | ·). What is known about a person otherwise is a row of public features
//! ([`features::Rows`]). Every learner here takes these two and nothing else: no type of this crate can hold a true
//! label.

pub mod convex;
pub mod features;
pub mod labels;
pub mod linear;
pub mod loss;
pub mod plan;

mod classifier;
mod error;
mod examples;

pub use classifier::Classifier;
pub use error::LearnError;
pub use examples::{Examples, Source};
