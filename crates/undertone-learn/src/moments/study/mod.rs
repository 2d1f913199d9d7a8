//! **Simulation** of learning in one round: a population whose records are known, and what a method makes of its reports.
//!
//! Nothing here is private. Records are drawn from seeds, moments get noise of the law that the codebook's has in the mean of
//! many reports, and risks are those on records that nobody reported.

mod noise;
mod population;
mod sample;

pub use noise::{noisy_moments, noisy_moments_of};
pub use population::Population;
pub use sample::Sample;

#[cfg(test)]
mod tests;
