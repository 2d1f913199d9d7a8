//! Smooth queries in one round: the means of cosines, and from them any smooth function of a record.
//!
//! Each person says, privately, the value of one product of cosines φ_v at their record. A function f on the box has the series
//!
//! > f(x) = c_0 + Σ_{v≠0} c_v·φ_v(x),   mean f = c_0 + Σ_{v≠0} c_v·mean φ_v
//!
//! and the same reports answer every f: kernels of any centre and bandwidth, and with them densities. What is left out beyond
//! t cosines on each axis is bounded by the coefficients beyond, and what noise does is known, so that each answer has an
//! interval. The variance is Σ c_v²·Var_v, not the sum of |c_v| times the largest.
//!
//! ```text
//! CosineBasis (device) ─► Tally ─► Means ─► SmoothAnswers::new ─► answer, kernel, density
//! ```
//!
//! Algorithm 7 of *Empirical Risk Minimization in the Non-interactive Local Model of Differential Privacy*, corrected: printed, it
//! takes values in [-1, 1] for values in [0, 1], loses ε once for each function, and asks about the constant, too.

mod answers;
mod degree_choice;
mod query;
#[cfg(test)]
mod tests;

pub use answers::{Answer, SmoothAnswers};
pub use degree_choice::{DegreeChoice, allocate, check_degrees, choose_degrees};
pub use query::Query;
