//! **Simulation** of online learning under local privacy: whole replications, many at once.
//!
//! Each person's device turns the gradient of its record at the current θ into a private report, and θ takes a step (Shi,
//! Xie, Jiang, Kong, He, *Non-Asymptotic Analysis of Online Local Private Learning with SGD*). Here people, devices and server
//! are loops over floats; replications fill the lanes of vector registers (`lanes`). The mechanisms are those of the privacy
//! crate in law, not in bits: nothing here is for a person's data.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the loop is compiled for the least of processors"
)]

mod cosines;
mod descent;
mod excess;
mod functions;
mod gradient;
pub mod insurance;
mod lanes;
mod noise;
mod people;
mod replicate;
mod stream;

pub use descent::Kept;
pub use excess::Excess;
pub use noise::Noise;
pub use people::People;
pub use replicate::{Path, Place, Setting};

#[cfg(test)]
mod tests;
