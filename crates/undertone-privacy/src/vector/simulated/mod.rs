//! Textbook vector mechanisms in floating-point numbers: for simulation, never for a device.
//!
//! Their laws are private; the floats that run are not. Which floating-point numbers a sampler can return depends
//! on the input it is centred at, so some reports are possible under one input and impossible under another, which
//! is a loss without bound (Mironov, *On significance of the least significant bits for differential privacy*,
//! 2012). The same holds for a float vector V/m made by rotating towards a secret direction. None of these types
//! is [`DeviceSafe`](crate::DeviceSafe), so nothing that sends reports accepts one. The device has
//! [`Laplace`](super::Laplace), [`Gaussian`](super::Gaussian) and [`Codebook`](super::Codebook) instead; these here
//! say how much better it could be, and stand for the mechanisms of the papers in experiments.

mod cap;
mod duchi;
mod l2_laplace;
mod priv_unit;

pub use duchi::SimulatedDuchi;
pub use l2_laplace::SimulatedL2Laplace;
pub use priv_unit::SimulatedPrivUnit;

use rand_core::Rng;

/// A float strictly between 0 and 1.
fn open_unit(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// ⟨a, b⟩.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
