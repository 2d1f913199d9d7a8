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

use super::bend::{self, Pull};
use super::intervals::{LEAST_ITERATES, biased, doubts_of_steps, too_few};
use super::{Doubt, Interval, Level, Steps};
use pair::Pair;
use serde::Serialize;

/// A and S of a design, in the directions in which they are simple: the intercept and the mean slope together, all other
/// slopes, and the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    design: Design,
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
    /// E|θ_n - θ*|²; none unless 0 < α < 1
    pub last_iterate_error: Option<f64>,
    /// E|θ̄_n - θ*|² for 1/2 < α < 1, and the least that it can be down to 0; none at 0 and at 1
    pub averaged_error: Option<f64>,
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

    /// tr S, E|ĝ|² of a report at the optimum.
    pub fn scatter(&self) -> f64 {
        self.together.1.trace() + self.over_lines(|(_, s)| s)
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

    /// √(n·Var θ̄_j) of each parameter.
    fn deviations(&self) -> Vec<f64> {
        let (pair, d) = (self.limit_of_pair(), self.dimension as f64);
        // e_j is (1, …, 1)/√d by 1/√d of its length, and across it otherwise.
        let slope = (pair.second + (d - 1.0) * self.across.map_or(0.0, limit_of_line)) / d;
        let slopes = std::iter::repeat_n(slope.sqrt(), self.dimension);
        let scale = self.scale.map(|scale| limit_of_line(scale).sqrt());
        [pair.first.sqrt()].into_iter().chain(slopes).chain(scale).collect()
    }

    /// The mean of them.
    fn mean_deviation(&self) -> f64 {
        let deviations = self.deviations();
        deviations.iter().sum::<f64>() / deviations.len() as f64
    }

    /// By how much of its half width the mean of `n` iterates is beside the optimum, at most over parameters.
    fn bias_share(&self, steps: &Steps, n: u64) -> f64 {
        // The mean of η_i/2
        let half_step = steps.transient_exponent(n, 1.0) / (2.0 * n as f64);
        let across = (self.dimension - 1) as f64 * self.across.map_or(0.0, |(_, s)| s);
        let pull = Pull {
            coefficients: half_step * (self.together.1.trace() + across),
            scale: half_step * self.scale.map_or(0.0, |(_, s)| s),
        };
        let optimum = self.design.optimum();
        let bias = bend::bias(&self.design.model(), &optimum, pull, self.least_curvature());
        let unit = Level::NINETY_FIVE.mean_width() / (2.0 * (n as f64).sqrt());
        let interval =
            |(deviation, &estimate): (f64, &f64)| Interval { estimate, half_width: unit * deviation };
        let intervals: Vec<Interval> = self.deviations().into_iter().zip(&optimum).map(interval).collect();
        bend::largest_share(&bias, &intervals)
    }

    /// What `n` reports with these steps should come to.
    pub fn predict(&self, steps: &Steps, n: u64) -> Prediction {
        let (last, m) = (steps.at(n), self.least_curvature());
        let falling = |error: f64| steps.have_a_law().then_some(error);
        Prediction {
            last_iterate_error: falling(last / 2.0 * self.last_iterate_trace()),
            averaged_error: falling(self.averaged_trace() / n as f64),
            transient_exponent: steps.transient_exponent(n, m),
            correlation_times: n as f64 * last * m,
            interval_width: self.width_of_one() / (n as f64).sqrt(),
        }
    }

    /// What speaks against these laws, and against intervals, after `n` reports with these steps.
    pub fn doubts(&self, steps: &Steps, n: u64) -> Vec<Doubt> {
        let (alpha, Prediction { transient_exponent, correlation_times, .. }) =
            (steps.alpha(), self.predict(steps, n));
        let last = (!steps.have_a_law()).then_some(Doubt::LastIterate { alpha });
        let exponent = (!steps.allow_intervals()).then_some(Doubt::Exponent { alpha });
        let first = [last, exponent, too_few(n)].into_iter().flatten();
        let rest = doubts_of_steps(transient_exponent, correlation_times);
        first.chain(rest).chain(biased(self.bias_share(steps, n))).collect()
    }

    /// How many reports give 95 % intervals of this mean width, and as many as intervals need at the least; none if more
    /// than there are people.
    pub fn people_for(&self, width: f64) -> Option<u64> {
        let n = (self.width_of_one() / width).powi(2);
        (width > 0.0 && n < 9e15).then(|| ((n * (1.0 - 1e-12)).ceil() as u64).max(LEAST_ITERATES))
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
