//! Reports become models and answers, with their uncertainty.
//!
//! What is known about a label is one sparse vector over the classes ([`labels::LabelVector`]): the unbiased a(S) with
//! E\[a | y\] = e_y, or the likelihood P(S | ·). What is known about a person otherwise is a row of public features
//! ([`features::Rows`]). Where the label is a number, it is an unbiased value and its variance ([`numbers::NumberValues`]). Every learner here takes features and one of these and nothing else: no type of this crate can hold a true
//! label.

pub mod auto;
pub mod bernstein;
pub mod convex;
pub mod copies;
pub mod evaluation;
pub mod factors;
pub mod features;
pub mod held_out;
pub mod labels;
pub mod linear;
pub mod live;
pub mod loss;
pub mod marginals;
pub mod means;
pub mod moments;
pub mod networks;
pub mod nonparametric;
pub mod numbers;
pub mod one_round;
pub mod online;
pub mod online_study;
pub mod plan;
pub mod regression;
pub mod represented;
pub mod shelf;
pub mod smooth;
pub mod split;
pub mod stages;

mod classifier;
mod error;
mod examples;
mod learner;
mod mixture;
mod model;
mod regressor;
mod simplex;
mod tensor;

pub use classifier::Classifier;
pub use error::LearnError;
pub use examples::{Examples, Source};
pub use learner::Learner;
pub use mixture::{Member, Mixture};
pub use model::{Curator, MODEL_VERSION, Model, NumberPredictor, Predictor, Training};
pub use regressor::Regressor;
