//! Linear models: scores z = Wᵀx, one column of W for each class.

mod weights;

pub use weights::{LinearModel, Weights};
