//! Linear models: scores z = Wᵀx, one column of W for each class.

mod adam;
mod averaged;
mod choice;
mod erm;
mod gathered;
mod kernels;
mod online;
mod parameters;
mod scale_back;
mod target;
mod team;
mod weights;

pub use choice::{Fitted, fit_choosing_l2};
pub use erm::{ErmOptions, Progress, default_epochs, fit};
pub use online::{OnlineLinear, Step};
pub use scale_back::ScaleBack;
pub use target::Target;
pub use weights::{LinearModel, Weights};
