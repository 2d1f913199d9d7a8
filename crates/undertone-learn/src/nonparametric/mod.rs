//! Learning without a model to believe in: averages over cells or neighbours, under label privacy and under full privacy,
//! and how fast that can be at best.
//!
//! After Zhao, Ma, Shen, Wang, Fan, *On Theoretical Limits of Learning with Label Differential Privacy*, corrected where it
//! is wrong. [`rates`] says before anyone is asked what can be hoped for; [`fit_cells`] averages reports over [`cells`] of
//! public features, [`neighbours::fit_neighbours`] over the nearest people. Every model says who had to be trusted ([`TrustModel`]).

pub mod cells;
pub mod central;
pub mod neighbours;
pub mod rates;
pub mod study;

mod average;
mod bin_intervals;
mod bounded_mean;
mod cell_model;
mod choice;
mod coverage;
mod forest;
mod linear_cells;
mod model;
mod pilot;
mod prediction_sets;
mod sums;
mod targets;
#[cfg(test)]
mod tests;
mod trust;

pub use average::{Average, Averaged};
pub use bin_intervals::BinReports;
pub use cell_model::CellModel;
pub use choice::{FittedCells, Tried, fit_cells};
pub use coverage::{Coverage, Intervals};
pub use forest::{FittedForest, Forest, fit_forest};
pub use linear_cells::{FittedPlanes, LinearCells, fit_planes};
pub use model::NonparametricModel;
pub use pilot::{Magnitudes, PilotMoment};
pub use prediction_sets::{LabelBins, PredictionSets};
pub use targets::{NumberReports, Output, Targets};
pub use trust::TrustModel;
