//! Learning by a curator, who sees true labels and releases one model.
//!
//! A task that trusts nobody refuses these ([`TrustModel::check`](super::TrustModel::check)).

mod full;
mod label;
mod units;

pub use full::{FullNumbers, MOST_CELLS, PublicGrid};
pub use label::{ClassRelease, Clipping, release_classes, release_numbers};
