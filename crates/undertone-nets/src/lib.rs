//! Networks that learn from private labels.
//!
//! Features are public, labels are not: a device randomizes its label once, and training sees
//! [`Examples`](undertone_learn::Examples), that is rows of features, unbiased label vectors and likelihoods. Layers are written out by hand on
//! products of matrices ([`layer`]), joined to networks ([`network`], [`Architecture`]), and trained as published or better
//! ([`Training`], [`Loss`]). A [`NetTrainer`] also runs in stages
//! ([`MultiStage`](undertone_learn::stages::MultiStage)): LP-MST of Ghazi, Golowich, Kumar, Manurangsi, Zhang, *Deep Learning with Label
//! Differential Privacy* (2021). [`relabel()`] makes labels to train again on.

mod architecture;
mod coins;
mod error;
pub mod layer;
mod loss;
mod model;
pub mod network;
mod product;
mod relabel;
mod trainer;
mod training;

pub use architecture::Architecture;
pub use error::NetError;
pub use loss::Loss;
pub use model::NetModel;
pub use network::Network;
pub use relabel::{Relabel, relabel};
pub use trainer::{NetTrainer, Progress};
pub use training::{Augmentation, Decay, Schedule, Training};
