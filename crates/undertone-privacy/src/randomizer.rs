//! What every mechanism is: a sampler that carries its own likelihood.

use crate::{Guarantee, PrivacyError};
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// A randomizer: turns what somebody knows into what they may say.
///
/// Every implementation keeps its [`guarantee`](Self::guarantee). For a pure promise of ε that means, for all
/// neighbouring inputs `a`, `b` (in the local model: any two) and every report `r`,
///
/// > P(r | a) ≤ e^ε · P(r | b)
///
/// and [`ln_likelihood`](Self::ln_likelihood) is that `P`, so that a test can check it.
pub trait Randomizer {
    /// What is known and must not be said.
    type Input;
    /// What may be said.
    type Report: Clone + PartialEq + core::fmt::Debug;

    /// The promise, which the probabilities that really run keep.
    fn guarantee(&self) -> Guarantee;

    /// Draws a report about `input`.
    fn randomize(&self, input: &Self::Input, rng: &mut impl CryptoRng) -> Result<Self::Report, PrivacyError>;

    /// ln P(`report` | `input`), or the log-density, for the probabilities that `randomize` really uses;
    /// negative infinity for what cannot be reported.
    fn ln_likelihood(&self, report: &Self::Report, input: &Self::Input) -> f64;
}

/// A randomizer whose reports are integers decided by integers, and may therefore leave a device.
///
/// Textbook mechanisms that compute with floating-point numbers are [`Randomizer`]s too, for simulation; they do
/// not have this mark, and nothing that sends a report accepts them.
pub trait DeviceSafe: Randomizer {}

/// A randomizer whose reports can be averaged: E\[`estimate`\] = `truth`.
pub trait Unbiased: Randomizer {
    /// The vector that a report estimates: the one-hot label, the number, the clamped vector.
    fn truth(&self, input: &Self::Input) -> Vec<f64>;

    /// An unbiased estimate of [`truth`](Self::truth) from one report.
    fn estimate(&self, report: &Self::Report) -> Vec<f64>;

    /// E|`estimate` − `truth`|² for this input, exactly, summed over coordinates.
    fn variance(&self, input: &Self::Input) -> f64;
}
