//! Learning from gradients of whole records, one report after the other: LDP-SGD and its averages, with intervals.
//!
//! A device computes the gradient of its record at a public θ, randomizes it, and reports once
//! ([`undertone_privacy::gradient`]). For the i-th report that was accepted
//!
//! > θ_i = Π(θ_{i-1} - η_i·ĝ_i),   η_i = η·(i + i₀)^-α
//!
//! where Π is the projection onto the public box of the model. The last iterate is LDP-SGD, the mean of iterates LDP-ASGD
//! ([`OnlineSgd`]). What is learnt depends on the order of the reports, so there is nothing to merge; it depends on nothing
//! else. All of it, intervals included, is post-processing of the reports and costs no privacy.
//!
//! With A the Hessian of the weighted loss at the optimum θ*, and S the covariance of a report there, noise included,
//!
//! > n^α·E|θ_n - θ*|² → (η/2)·tr(A⁻¹S) for 0 < α < 1,   √n·(θ̄_n - θ*) → N(0, A⁻¹SA⁻¹) for ½ < α < 1
//!
//! which [`laws`] has in numbers before anyone is asked. Random scaling has intervals that need neither A nor S.
//!
//! After Shi, Xie, Jiang, Kong, He, *Non-Asymptotic Analysis of Online Local Private Learning with SGD*, who do not project;
//! without a bounded set their conditions contradict each other, and the scale of a Huber regression falls below zero
//! within a few reports.

mod average;
mod bend;
mod clipped_normal;
mod critical;
mod curvature;
mod descent;
mod evidence;
mod intervals;
pub mod laws;
mod mix;
mod scaling;
mod steps;
mod tiers;
mod two_chains;

pub use critical::Level;
pub use curvature::{expected_curvature, largest_curvature};
pub use descent::{Estimate, OnlineOptions, OnlineSgd};
pub use intervals::{Doubt, Interval, Intervals, Refused};
pub use steps::Steps;
pub use tiers::{Budget, Tiers};
pub use two_chains::{Comparison, TwoChains};

#[cfg(test)]
mod tests;
