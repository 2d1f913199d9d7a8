//! Networks on private labels ([`undertone_nets`]).
//!
//! Features are public, labels are not: a device randomizes its label once, and training sees [`Examples`](crate::Examples), in which no true label can be. A
//! [`NetTrainer`] makes a [`NetModel`] of them, alone or in stages ([`MultiStage`](crate::stages::MultiStage)): LP-MST of Ghazi, Golowich, Kumar, Manurangsi, Zhang,
//! *Deep Learning with Label Differential Privacy* (2021). [`Relabel`] says what labels a second network is trained on.

mod inputs;
mod kind;
mod model;
mod relabel;
mod trainer;

pub use inputs::Inputs;
pub use kind::NetKind;
pub use model::NetModel;
pub use relabel::Relabel;
pub use trainer::NetTrainer;
pub use undertone_nets::layer::Image;
pub use undertone_nets::{Architecture, Augmentation, Loss, NetError, Progress, Schedule, Training};
