//! What a device computes of its whole record before anything is randomized: statistics that one round of questions can ask.
//!
//! [`RecordMoments`] has the first and the second moment of a record, [`MomentRelease`] tells one of the two, and a
//! [`Projection`] makes a record of few covariates from one of many beforehand. What is no record is the centre of its ball.

mod moments;
mod projection;
mod release;

pub use moments::{Moment, MomentVectors, RecordMoments, Response};
pub use projection::Projection;
pub use release::{MomentRelease, MomentReport};
