//! Linear models: scores z = Wᵀx, one column of W for each class.

mod adam;
mod choice;
mod erm;
mod kernels;
mod parameters;
mod target;
mod weights;

pub use choice::{Fitted, fit_choosing_l2};
pub use erm::{ErmOptions, Progress, fit};
pub use target::Target;
pub use weights::{LinearModel, Weights};
