//! Before anyone is asked: which mechanism, how many people, which error to expect.

mod geometry;
mod label_plan;
mod methods;
mod one_round;

pub use geometry::Geometry;
pub use label_plan::{Candidate, LabelPlan, Problem, label_plan};
pub use methods::{Method, Options};
pub use one_round::{Largest, OneRoundMethod, OneRoundPlan, OneRoundProblem, one_round_plan};
