//! Projected stochastic gradient descent, one report at a time.
//!
//! > w_t = Π(w_{t-1} - η_t·ĝ_t), and the mean of w_0, …, w_{n-1} is returned
//!
//! If E\[ĝ_t | past\] is the gradient of the risk at w_{t-1}, E|ĝ_t|² ≤ G² and |w_0 - w*| ≤ R₀, then with the constant step
//! η = R₀/(G·√n)
//!
//! > E\[risk of the mean\] - risk(w*) ≤ R₀²/(2ηn) + ηG²/2 = R₀·G/√n
//!
//! Chua et al. print the mean of w_1, …, w_n, which the cited analysis does not bound; it differs by |w_n - w_0|/n. What is
//! learnt depends on the order of the reports, so there is nothing to merge.

use super::{ConvexLoss, Feasible, positive};
use crate::LearnError;
use crate::labels::LabelVector;

/// How far to go at step t = 1, 2, ….
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// η
    Constant(f64),
    /// c/√t, for those who return the last point
    InverseRoot(f64),
}

impl Step {
    /// R₀/(G·√n), the constant step with the least bound.
    pub fn exact(reach: f64, root_second_moment: f64, n: u64) -> Self {
        Self::Constant(reach / (root_second_moment * (n as f64).sqrt()))
    }

    /// η_t.
    pub fn at(self, t: u64) -> f64 {
        match self {
            Self::Constant(eta) => eta,
            Self::InverseRoot(c) => c / (t as f64).sqrt(),
        }
    }
}

/// The state of a descent after some reports.
#[derive(Clone, Debug)]
pub struct ProjectedSgd<'a, L> {
    loss: &'a L,
    feasible: Feasible,
    step: Step,
    /// w_t
    point: Vec<f64>,
    /// w_0 + … + w_{t-1}
    sum: Vec<f64>,
    gradient: Vec<f64>,
    /// t
    count: u64,
}

impl<'a, L: ConvexLoss> ProjectedSgd<'a, L> {
    /// Before any report, at `start`, which is projected first.
    pub fn new(loss: &'a L, feasible: Feasible, mut start: Vec<f64>, step: Step) -> Result<Self, LearnError> {
        let dimension = loss.dimension();
        if start.len() != dimension {
            let value = start.len() as f64;
            return Err(LearnError::Parameter {
                what: "the length of the start",
                value,
                expected: "that of the weights",
            });
        }
        positive("the step", step.at(1))?;
        feasible.project(&mut start);
        Ok(Self {
            loss,
            feasible,
            step,
            point: start,
            sum: vec![0.0; dimension],
            gradient: vec![0.0; dimension],
            count: 0,
        })
    }

    /// Learns from one person's public features and label vector a(S).
    pub fn observe(&mut self, x: &L::Features, a: LabelVector<'_>) -> Result<(), LearnError> {
        self.gradient.fill(0.0);
        self.loss.add_debiased_gradient(&self.point, x, a, &mut self.gradient);
        self.descend()
    }

    /// Learns from an unbiased gradient at [`point`](Self::point), which `write` adds to zeros.
    pub fn observe_gradient(&mut self, write: impl FnOnce(&mut [f64])) -> Result<(), LearnError> {
        self.gradient.fill(0.0);
        write(&mut self.gradient);
        self.descend()
    }

    fn descend(&mut self) -> Result<(), LearnError> {
        let total: f64 = self.gradient.iter().sum();
        if !total.is_finite() {
            return Err(LearnError::Parameter { what: "a gradient", value: total, expected: "finite" });
        }
        self.count += 1;
        let eta = self.step.at(self.count);
        for ((w, sum), g) in self.point.iter_mut().zip(&mut self.sum).zip(&self.gradient) {
            *sum += *w;
            *w -= eta * g;
        }
        self.feasible.project(&mut self.point);
        Ok(())
    }

    /// w_t: what the next person is asked about if their report depends on it, and the last iterate.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// How many have reported.
    pub fn reports(&self) -> u64 {
        self.count
    }

    /// The mean of w_0, …, w_{n-1}.
    pub fn mean(&self) -> Result<Vec<f64>, LearnError> {
        if self.count == 0 {
            return Err(LearnError::NoReports);
        }
        Ok(self.sum.iter().map(|sum| sum / self.count as f64).collect())
    }
}
