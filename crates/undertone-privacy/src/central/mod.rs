//! Pieces of the **central** model: a trusted curator sees the true data and releases one noisy answer.
//!
//! The local mechanisms need no such trust. Nothing here is [`DeviceSafe`](crate::DeviceSafe): a curator's answer is
//! not a device's report.

mod cell_votes;
mod exponential;
mod floored_means;
mod histogram;
mod noisy_sum;
mod two_sided_sums;

pub use cell_votes::{CellVotes, Vote};
pub use exponential::ExponentialMechanism;
pub use floored_means::FlooredMeans;
pub use histogram::NoisyHistogram;
pub use noisy_sum::NoisySum;
pub use two_sided_sums::{Placed, TwoSidedSums};

use crate::kinds::kinds;

kinds! {
    /// A central mechanism by its name.
    CentralKind {
        /// The exponential mechanism over counts
        Exponential = "exponential",
        /// A histogram with discrete Laplace noise
        Histogram = "histogram",
        /// A class for every cell
        CellVotes = "cell-votes",
        /// The sum of the numbers of one cell
        CellSum = "cell-sum",
        /// Two sums for every cell
        TwoSidedSums = "two-sided-sums",
        /// A mean for every cell, of no fewer than some people
        FlooredMeans = "floored-means",
    }
}
