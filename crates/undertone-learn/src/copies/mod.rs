//! Generalized linear losses from noisy copies of a record, as published: gradients at any w from one report.
//!
//! A device tells z = yx several times, with independent Gaussian noise ([`GaussianCopies`]). The slope f' of the loss is
//! approximated by a polynomial of degree d in the margin ([`BernsteinSlope`]), and a product of independent copies of the margin
//! is an unbiased power of it, so that
//!
//! > G(w) = P̂(w)·z_0,   E\[G(w)\] = P(⟨w, z⟩)·z
//!
//! at every w, after the fact ([`SlopeOracle`]). [`Sigm`] descends along these, each person used once.
//!
//! | algorithm | here |
//! |---|---|
//! | 4, hinge loss | [`SlopeOracle::hinge`] |
//! | 5, any 1-Lipschitz convex loss | [`SlopeOracle::mixture`]; [`SlopeOracle::direct`] needs no mixture |
//! | 9, stochastic intermediate gradient method | [`Sigm`] |
//!
//! After Wang, Gaboardi, Smith, Xu, *Empirical risk minimization in the non-interactive local model of differential
//! privacy*, 2020, corrected: z is told instead of x and y apart, noise is accounted for exactly, margins are mapped onto the
//! interval on which Bernstein polynomials approximate, one s is shared by the factors of a product, the constant slope is
//! multiplied by z_0, and the order of the method is not the dimension. The variance grows like d^6d: at ε = 1 nothing beyond
//! d = 2 is of use, and [`moments`](crate::moments) measured better everywhere. This is here for its name.
//!
//! [`GaussianCopies`]: undertone_privacy::vector::GaussianCopies

mod bernstein;
mod descent;
mod layout;
mod mixture;
mod oracle;
mod risk;
mod sigm;

#[cfg(test)]
mod tests;

pub use bernstein::{BernsteinSlope, smooth_hinge_slope, smooth_step};
pub use descent::{CopiesDescent, DescentOptions};
pub use layout::Layout;
pub use mixture::Mixture;
pub use oracle::SlopeOracle;
pub use risk::PolynomialRisk;
pub use sigm::Sigm;
