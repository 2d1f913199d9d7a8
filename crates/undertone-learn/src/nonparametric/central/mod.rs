//! Learning by a curator, who sees true labels and releases one model.
//!
//! A task that trusts nobody refuses these ([`TrustModel::check`](super::TrustModel::check)).

mod calibration;
mod design;
mod full;
mod label;
mod units;

pub use calibration::{calibrate_intervals, calibrate_sets};
pub use design::{Design, Learnt};
pub use full::{FullNumbers, MOST_CELLS, PublicGrid};
pub use label::{ClassRelease, Clipping, release_classes, release_numbers};
pub use units::enough_for_numbers;
