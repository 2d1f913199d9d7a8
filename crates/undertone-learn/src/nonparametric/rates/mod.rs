//! How fast the excess risk can fall at all, before anyone is asked: Table I of Zhao, Ma, Shen, Wang, Fan, *On Theoretical Limits of
//! Learning with Label Differential Privacy*, with the constants set to one.
//!
//! With b = β, g = γ, N' = N/max(ln K, 1) for classes and N for numbers, f = (p - 1)/p (one for bounded numbers),
//!
//! | task | label-local | full-local | central, label or full | none |
//! |---|---|---|---|---|
//! | classes | (N'ε²)^(-b(g+1)/(2b+d)) ∨ NP | (N'ε²)^(-b(g+1)/(2b+2d)) ∨ NP | NP + (εN')^(-b(g+1)/(b+d)) | NP = N'^(-b(g+1)/(2b+d)) |
//! | numbers | (Nε²)^(-2bf/(2b+df)) ∨ NP | (Nε²)^(-bf/(b+df)) ∨ NP | NP + (εN)^(-2bf/(b+df)) | NP = N^(-2b/(2b+d)) |
//!
//! Printed without the maximum in the local columns, a large ε would beat no privacy at all. Each private term has the form
//! (N'·ε^a)^(-e), so that where it meets NP can be solved for in closed form ([`Problem::crossover`]).

mod plan;
mod problem;
mod rules;
#[cfg(test)]
mod tests;

pub use plan::Plan;
pub use problem::{Problem, Task};
pub use rules::{
    cells_per_axis, central_clip, central_regression_width, clip_constant, heavy_neighbours, local_clip,
    local_width, neighbours,
};
