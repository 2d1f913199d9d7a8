//! One bounded number of a whole record: a member of a public family of statistics, evaluated on the device.
//!
//! A collection of one round asks for the means of many statistics over all people. Public randomness gives each person
//! **one** of them ([`Allocation`]), the device evaluates it on its record, and a number mechanism reports it with the whole
//! promise: splitting ε over all statistics instead would cost their number once more in variance.
//!
//! A statistic is a share between 0 and 1 of a range that only its public parameters decide, or a value in [-1, 1]; the
//! mechanism clamps it to its integer grid before anything is drawn, so that privacy does not rest on the floats here. No
//! record is refused, for that would speak about it: one that cannot be evaluated is in the middle of the range.

mod allocation;
mod cosine;
mod loss_at;
mod parameter_grid;
mod point_loss;

pub use allocation::Allocation;
pub use cosine::CosineBasis;
pub use loss_at::LossAt;
pub use parameter_grid::ParameterGrid;
pub use point_loss::PointLoss;
