//! What a report says about a label, as learners see it.

mod channel;
mod vectors;

pub use channel::Channel;
pub use vectors::{LabelVector, LabelVectors};
