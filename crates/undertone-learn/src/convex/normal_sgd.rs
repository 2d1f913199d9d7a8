//! LP-Normal-SGD (Ghazi et al., Algorithm 6): the gradient with Gaussian noise on the span of gradient differences.
//!
//! At (x, w) the K possible gradients become K integer points on a public grid of 2^20 steps to the greatest distance
//! between two of them, Δ. The device reports its own point with an exact Gaussian on each coordinate ([`NoisyPoint`]), for
//! the largest μ with δ_μ(ε) ≤ δ.
//!
//! **Privacy.** That of [`NoisyPoint`]: μ-GDP, hence (ε, δ). Printed is σ = C·L·√(ln 1/δ)/ε without C, and a
//! sensitivity that is 2L, not L; with L and the classical constant a promise of (1, 10^-5) has a δ of 1.7·10^-3.
//! **Each person reports once**: a label that is read in a second pass is released a second time, which nothing here
//! prevents.
//!
//! **Utility.** Unbiased up to the grid, half a step in each coordinate, with E|ĝ - g|² = r·σ², where r ≤ K - 1 because the
//! noise is on the span of differences, not on that of the gradients as printed, which may have one dimension more.
//!
//! For softmax the points are 2^20·e_k in K coordinates, their distances exact, and what the noise adds along (1, …, 1) is
//! dropped when the report is read: O(K), and no basis is needed.

use super::{ConvexLoss, Span, Step};
use crate::LearnError;
use rand_core::CryptoRng;
use undertone_privacy::accounting::mu_for;
use undertone_privacy::label::Label;
use undertone_privacy::vector::NoisyPoint;
use undertone_privacy::{Delta, Epsilon, Mu, PrivacyError, Randomizer};

/// Grid steps to the greatest distance between two gradients, or to |x|.
const STEPS: u32 = 1 << 20;

/// Gaussian noise on gradients, under a promise of (ε, δ) about the label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalSgd {
    epsilon: Epsilon,
    delta: Delta,
    mu: Mu,
}

impl NormalSgd {
    /// With the least noise that keeps (ε, δ).
    pub fn new(epsilon: Epsilon, delta: Delta) -> Result<Self, PrivacyError> {
        Ok(Self { epsilon, delta, mu: mu_for(epsilon, delta)? })
    }

    /// The promise.
    pub fn promise(&self) -> (Epsilon, Delta) {
        (self.epsilon, self.delta)
    }

    /// μ, as hard to tell apart as N(0, 1) and N(μ, 1) are any two labels.
    pub fn mu(&self) -> Mu {
        self.mu
    }

    /// What a device says about the gradient of its label at the (x, w) of `span`: integers. Gradients that are not finite
    /// are refused.
    pub fn release(
        &self,
        span: &Span,
        label: Label,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<i64>, LearnError> {
        span.check_finite()?;
        Ok(NoisyPoint::new(span.grid(STEPS).points, self.mu)?.randomize(&label, rng)?)
    }

    /// Adds the gradient that a report stands for to `into`.
    pub fn add_estimate(&self, span: &Span, report: &[i64], into: &mut [f64]) -> Result<(), LearnError> {
        let grid = span.grid(STEPS);
        let (length, dimension) = (report.len(), grid.points.dimension());
        if length != dimension {
            return Err(PrivacyError::WrongLength { length, dimension }.into());
        }
        span.add_grid_point(grid.step, report, into);
        Ok(())
    }

    /// E|ĝ - g|² = r·σ² at the (x, w) of `span`, whatever the label.
    pub fn variance(&self, span: &Span) -> Result<f64, LearnError> {
        let grid = span.grid(STEPS);
        let noise = NoisyPoint::new(grid.points, self.mu)?.noise();
        Ok(span.rank() as f64 * noise.variance() * grid.step * grid.step)
    }

    /// G²/L² for gradients that differ by at most `sensitivity`·L in r dimensions: 1 + r·(sensitivity/μ)². With the 2 that
    /// always suffices for the sensitivity and r = K - 1 it holds for every loss; for softmax the sensitivity is 1.
    pub fn second_moment(&self, dimensions: usize, sensitivity: f64) -> f64 {
        1.0 + dimensions as f64 * (sensitivity / self.mu.get()).powi(2)
    }

    /// η_t = R/√((L² + Kσ²)·t) with σ = 2L/μ, for those who return the last point, as Ghazi et al. do.
    pub fn published_step(&self, reach: f64, loss: &impl ConvexLoss) -> Step {
        let moment = self.second_moment(loss.labels() as usize, 2.0);
        Step::InverseRoot(reach / (loss.lipschitz() * moment.sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::HardInstance;
    use super::*;

    #[test]
    fn the_published_step_is_that_of_four_labels_worked_out_by_hand() {
        let sgd = NormalSgd::new(Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap()).unwrap();
        // L² = ¼·¾ and 1/μ = 3.7306, so L² + 4·(2L/μ)² = 0.1875·(1 + 16·13.9176) = 41.940, and R = 2 gives 2/6.4761
        let loss = HardInstance::new(4, 0.1).unwrap();
        let step = sgd.published_step(2.0, &loss);
        for (t, expected) in [(1, 0.308_826), (4, 0.154_413), (100, 0.030_883)] {
            assert!((step.at(t) - expected).abs() < 1e-6, "{} for {expected}", step.at(t));
        }
    }
}
