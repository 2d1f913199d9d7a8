//! Risk minimisation in one round: the risk at the nodes of a grid, and a polynomial through it.
//!
//! Each person says, privately, what their loss is at one node of a grid of parameters. The means of the nodes are the
//! coefficients of an iterated Bernstein polynomial in the parameters,
//!
//! > risk(w) ≈ Σ_v mean_v·Π_i B_{v_i}(w_i),   (B_0, …, B_k) = (b_0, …, b_k)·C_h,   C_h = Σ_{i<h} (I - M)^i
//!
//! with b_v the basis of degree k and M\[u, v\] = b_v(u/k). It is minimised on the box, afterwards and as often as one likes.
//!
//! ```text
//! LossAt (device) ─► Tally ─► Means::on_ranges ─► Surrogate::fit ─► Surrogate::minimise
//! ```
//!
//! The methods of *Empirical Risk Minimization in the Non-interactive Local Model of Differential Privacy* differ in how a
//! person answers: Laplace noise at [`epsilon_of_each`] for all nodes (Algorithm 2), the corrected rejection bit (Algorithm 3), an
//! index of a public string (Algorithm 8), and by default one direct bit.

mod basis;
mod contraction;
mod flattery;
mod grid_choice;
mod minimum;
mod operator;
mod quasi_newton;
mod surrogate;
#[cfg(test)]
mod tests;

pub use flattery::Flattery;
pub use grid_choice::{GridChoice, Problem, check_grid, choose_grid, choose_order};
pub use minimum::Minimum;
pub use operator::{iterated_operator, largest_absolute_sum};
pub use surrogate::{Surrogate, Workspace};

use crate::LearnError;
use undertone_privacy::Epsilon;

/// What is left for each of `statistics` if a person answers about all of them, as Algorithm 2 is printed: the promises add
/// up to ε. It is here to be compared with; the noise of a mean is as many times larger in variance as there are statistics.
pub fn epsilon_of_each(epsilon: Epsilon, statistics: u32) -> Result<Epsilon, LearnError> {
    Ok(Epsilon::new(epsilon.get() / f64::from(statistics))?)
}
