//! Before anyone is asked: which mechanism, how many people, which error to expect.

mod geometry;
mod label_plan;
mod methods;

pub use geometry::Geometry;
pub use label_plan::{Candidate, LabelPlan, Problem, label_plan};
pub use methods::{Method, Options};
