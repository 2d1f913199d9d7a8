//! What a report says about a number, as learners see it: an unbiased value, and how far off it is.

mod channel;
mod values;

pub use channel::NumberChannel;
pub use values::NumberValues;
