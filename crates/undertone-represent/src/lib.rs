//! What public features tell before any label is known, and what private labels add to it.
//!
//! Features are public, so that everything unsupervised is free: filters for images ([`Scattering`]), the directions in which
//! people differ most ([`Coordinates`]), who is like whom ([`GraphBasis`]) and smooth functions of where somebody is
//! ([`KernelBasis`]). Each of these ends in an orthonormal basis over the people, in which a class is a short vector; noisy
//! labels determine a short vector well. [`Recipe`] does that and chooses everything by how likely it makes the reports.
//!
//! Nothing here can hold a true label: what is known of labels are two matrices with a row for each person and a column for each
//! class, the unbiased a(S) with E\[a | y\] = e_y and the likelihood P(S | ·).

mod beliefs;
mod blend;
mod coordinates;
mod descent;
mod error;
mod exponential;
mod forward;
mod graph;
mod kernel;
mod learnt;
mod matrix;
mod nearest;
mod patches;
mod principal;
mod ranks;
mod recipe;
mod refine;
mod representation;
mod scattering;
mod smoother;
mod sparse;
mod spectrum;
mod spread;
mod waves;
mod written;

pub use coordinates::{Coordinates, Kind};
pub use error::RepresentError;
pub use graph::GraphBasis;
pub use kernel::{KernelBasis, Landmarks};
pub use learnt::Learnt;
pub use matrix::Matrix;
pub use nearest::Neighbours;
pub use patches::Patches;
pub use recipe::{Recipe, Told};
pub use representation::{Representation, Sizes};
pub use scattering::Scattering;
pub use sparse::SparseRows;
pub use spectrum::SPARE;
