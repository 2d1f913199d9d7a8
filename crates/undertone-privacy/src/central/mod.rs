//! Pieces of the **central** model: a trusted curator sees the true data and releases one noisy answer.
//!
//! The local mechanisms need no such trust. Nothing here is [`DeviceSafe`](crate::DeviceSafe): a curator's answer is
//! not a device's report.

mod exponential;
mod histogram;

pub use exponential::ExponentialMechanism;
pub use histogram::NoisyHistogram;

use crate::kinds::kinds;

kinds! {
    /// A central mechanism by its name.
    CentralKind {
        /// The exponential mechanism over counts
        Exponential = "exponential",
        /// A histogram with discrete Laplace noise
        Histogram = "histogram",
    }
}
