//! What a report says about a label, as learners see it.

mod channel;
mod shares;
mod vectors;

pub use channel::Channel;
pub(crate) use channel::check_members;
pub use shares::{LabelCounts, LabelShares, Share};
pub use vectors::{LabelVector, LabelVectors};
