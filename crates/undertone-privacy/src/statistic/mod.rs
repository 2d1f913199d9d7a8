//! What a device computes of its whole record before anything is randomized, where each person is asked one public question
//! and never again.
//!
//! A collection of one round wants many answers about everybody. Public randomness gives each person **one** question, the
//! device answers that one about its record, and a mechanism reports the answer with the whole promise: splitting ε over all
//! questions instead would cost their number once more in variance.
//!
//! * A **number**: a share between 0 and 1 of a range that only public parameters decide ([`LossAt`]), or a value in [-1, 1]
//!   ([`CosineBasis`]); an [`Allocation`] says who is asked which.
//! * A **category**: a [`Questionnaire`] of [`Question`]s about a tuple of categories ([`Schema`]).
//! * A **vector**: the first or the second moment ([`RecordMoments`], [`MomentRelease`]); a [`Projection`] makes a record of few
//!   covariates from one of many beforehand.
//!
//! Mechanisms clamp to their integer grids before anything is drawn, so that privacy does not rest on the floats here. No
//! record is refused, for that would speak about it: one that cannot be evaluated is in the middle of its range.

mod allocation;
mod answering;
mod cosine;
mod loss_at;
mod moments;
mod parameter_grid;
mod point_loss;
mod projection;
mod question;
mod questionnaire;
mod release;
mod schema;
mod selections;

pub use allocation::Allocation;
pub use answering::Answering;
pub use cosine::CosineBasis;
pub use loss_at::LossAt;
pub use moments::{Moment, MomentVectors, RecordMoments, Response};
pub use parameter_grid::ParameterGrid;
pub use point_loss::PointLoss;
pub use projection::Projection;
pub use question::Question;
pub use questionnaire::{Answer, Questionnaire, View};
pub use release::{MomentRelease, MomentReport};
pub use schema::Schema;
pub use selections::Selections;
