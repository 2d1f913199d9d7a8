//! What to expect of a descent before anyone is asked: the laws of its errors, in numbers, for two designs.
//!
//! > x = (1, z), z ~ N(0, I_d), β* = (1, …, 1);   linear: y = x'β* + N(0, 4);   logistic: P(y = 1) = 1/(1 + e^-x'β*)
//!
//! are the simulations of Shi et al. With A the Hessian at θ*, S = Cov(∇) + Δ²·E\[1/μ²\]·I the covariance of a report, and Δ
//! twice the radius of the ball of gradients,
//!
//! > E|θ_n - θ*|² ≈ (η/2)·n^-α·tr(A⁻¹S),   E|θ̄_n - θ*|² ≈ tr(A⁻¹SA⁻¹)/n,   start forgotten like e^-m·η·n^(1-α)/(1-α)
//!
//! where m is the least eigenvalue of A. People with budgets of their own count by the mean of 1/μ², not by 1 over that of μ².

mod budgets;
mod design;
mod pair;
mod polar;

pub use budgets::Budgets;
pub use design::{Design, DesignKind};

use super::intervals::doubts_of_steps;
use super::{Doubt, Level, Steps};
use pair::Pair;
use serde::Serialize;

/// A and S of a design, in the directions in which they are simple: the intercept and the mean slope together, all other
/// slopes, and the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    dimension: usize,
    /// A and S of the intercept and the direction (1, …, 1)/√d of slopes
    together: (Pair, Pair),
    /// A and S of each of the d - 1 directions across, if there are any
    across: Option<(f64, f64)>,
    /// A and S of the scale, where there is one
    scale: Option<(f64, f64)>,
}

/// What a run of n reports should come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// E|θ_n - θ*|², for 0 < α < 1
    pub last_iterate_error: f64,
    /// E|θ̄_n - θ*|², for 1/2 < α < 1
    pub averaged_error: f64,
    /// The start is forgotten like e^-this
    pub transient_exponent: f64,
    /// n·η_n·m: how often the run is as long as its memory
    pub correlation_times: f64,
    /// How wide a 95 % interval by random scaling is, in the mean over parameters and runs
    pub interval_width: f64,
}

impl Law {
    /// m, the least eigenvalue of A.
    pub fn least_curvature(&self) -> f64 {
        let lines = self.across.iter().chain(&self.scale).map(|(a, _)| *a);
        lines.fold(self.together.0.least_eigenvalue(), f64::min)
    }

    /// tr(A⁻¹S).
    pub fn last_iterate_trace(&self) -> f64 {
        let (a, s) = self.together;
        a.inverse().trace_of_product(s) + self.over_lines(|(a, s)| s / a)
    }

    /// tr(A⁻¹SA⁻¹).
    pub fn averaged_trace(&self) -> f64 {
        self.limit_of_pair().trace() + self.over_lines(limit_of_line)
    }

    /// A⁻¹SA⁻¹ of the intercept and the mean slope.
    fn limit_of_pair(&self) -> Pair {
        let (a, s) = self.together;
        s.between(a.inverse())
    }

    /// The sum of `of` over the d - 1 directions across and the scale.
    fn over_lines(&self, of: impl Fn((f64, f64)) -> f64) -> f64 {
        let across = (self.dimension - 1) as f64 * self.across.map_or(0.0, &of);
        across + self.scale.map_or(0.0, of)
    }

    /// The mean over parameters of √(n·Var θ̄_j).
    fn mean_deviation(&self) -> f64 {
        let (pair, d) = (self.limit_of_pair(), self.dimension as f64);
        // e_j is (1, …, 1)/√d by 1/√d of its length, and across it otherwise.
        let slope = (pair.second + (d - 1.0) * self.across.map_or(0.0, limit_of_line)) / d;
        let sum = pair.first.sqrt() + d * slope.sqrt();
        match self.scale {
            Some(scale) => (sum + limit_of_line(scale).sqrt()) / (d + 2.0),
            None => sum / (d + 1.0),
        }
    }

    /// What `n` reports with these steps should come to.
    pub fn predict(&self, steps: &Steps, n: u64) -> Prediction {
        let (last, m) = (steps.at(n), self.least_curvature());
        Prediction {
            last_iterate_error: last / 2.0 * self.last_iterate_trace(),
            averaged_error: self.averaged_trace() / n as f64,
            transient_exponent: steps.transient_exponent(n, m),
            correlation_times: n as f64 * last * m,
            interval_width: self.width_of_one() / (n as f64).sqrt(),
        }
    }

    /// What speaks against intervals after `n` reports with these steps.
    pub fn doubts(&self, steps: &Steps, n: u64) -> Vec<Doubt> {
        let exponent = (!steps.allow_intervals()).then(|| Doubt::Exponent { alpha: steps.alpha() });
        exponent.into_iter().chain(doubts_of_steps(steps, n, n, self.least_curvature())).collect()
    }

    /// How many reports give 95 % intervals of this mean width; none if more than there are people.
    pub fn people_for(&self, width: f64) -> Option<u64> {
        let n = (self.width_of_one() / width).powi(2);
        (width > 0.0 && n < 9e15).then(|| (n * (1.0 - 1e-12)).ceil().max(1.0) as u64)
    }

    /// The mean width of 95 % intervals, times √n.
    fn width_of_one(&self) -> f64 {
        Level::NINETY_FIVE.mean_width() * self.mean_deviation()
    }
}

/// A⁻¹SA⁻¹ of one direction.
fn limit_of_line((a, s): (f64, f64)) -> f64 {
    s / (a * a)
}

#[cfg(test)]
mod tests;
