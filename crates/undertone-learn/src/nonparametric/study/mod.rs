//! **Simulation** of learning without a model: problems whose truth is known, and how far each method stays above it.
//!
//! The settings are those of Zhao, Ma, Shen, Wang, Fan, *On Theoretical Limits of Learning with Label Differential Privacy*: classes,
//! bounded numbers and heavy tails, with devices or a curator. People are drawn from seeds; what is run on them are the learners of
//! this crate with the mechanisms of the privacy crate, and beside them what is printed. Every repetition draws a truth of its own,
//! so that no boundary is in step with the edges of cells. For means of cells the expected excess is known in closed form
//! ([`Terms`]), and can be drawn cell by cell instead of person by person ([`Setting::excess_by_cells`]), for any number of people.

mod cell_draws;
mod circle;
mod classes;
mod numbers;
mod pareto;
mod places;
mod printed;
mod setting;
mod terms;
#[cfg(test)]
mod tests;
mod waves;

pub use setting::{Method, Setting};
pub use terms::Terms;
