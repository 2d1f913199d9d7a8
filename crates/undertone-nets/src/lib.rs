//! Networks that learn from vectors over the classes: labels, beliefs, or what a randomized report says.
//!
//! Layers are written out by hand on products of matrices ([`layer`]), joined to networks ([`network`], [`Architecture`]), and trained as published
//! or better ([`Training`], [`Loss`], [`fit`]). What is trained on is a [`Dataset`] of plain numbers; where they come from, and who may be asked for them, is
//! the business of whoever fills it. [`Trained`] is what comes out, and what is written down.

mod architecture;
mod coins;
mod error;
pub mod layer;
mod loss;
pub mod network;
mod product;
mod trained;
mod training;
mod written;

pub use architecture::Architecture;
pub use error::NetError;
pub use loss::Loss;
pub use network::Network;
pub use trained::Trained;
pub use training::{Augmentation, Dataset, Hooks, Judge, Need, Progress, Schedule, Training, check, fit};
