//! One pass, one example at a time: Algorithm 1 of L. Chua, B. Ghazi, R. Kumar, P. Manurangsi, Z. Sun, C. Zhang, *Convex
//! Optimization with Local Label Differential Privacy*, for linear models.
//!
//! > w_t = Proj(w_{t-1} - η_t·g_t),  g_t = x·(Σ_k a_k·∂ℓ(z, k))ᵀ,  result: the mean of w_0 … w_{n-1}
//!
//! from w_0 = 0, where Proj is that onto the ball |w| ≤ R, and the intercept is the weight of a constant feature. An
//! example costs O(K·m) for m features that are not zero.

use super::LinearModel;
use super::averaged::Averaged;
use super::kernels::padded;
use crate::LearnError;
use crate::features::Row;
use crate::labels::LabelVector;
use crate::learner::Learner;
use crate::loss::Loss;
use undertone_privacy::label::Covariance;

/// η.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The same η for every example
    Constant(f64),
    /// η/√t for example t
    Decaying(f64),
    /// D/√(|g_1|² + … + |g_t|²): steps that come to about D, whatever the gradients and their noise
    Adaptive(f64),
}

impl Default for Step {
    fn default() -> Self {
        Self::Adaptive(4.0)
    }
}

impl Step {
    /// η = R/(G·√n), for which the expected excess risk of `examples` reports is at most R·G/√n.
    ///
    /// R = `radius` bounds the distance to the best weights, and G² = L²·(1 + V) is the exact second moment of the
    /// gradient: L = `lipschitz` and V the worst-case variance of the mechanism whose covariance this is.
    pub fn for_risk(radius: f64, lipschitz: f64, covariance: &Covariance, examples: u64) -> Self {
        let second_moment = lipschitz.powi(2) * covariance.worst_case_second_moment();
        Self::Constant(radius / (second_moment * examples as f64).sqrt())
    }

    fn check(self) -> Result<(), LearnError> {
        let (Self::Constant(value) | Self::Decaying(value) | Self::Adaptive(value)) = self;
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(LearnError::Parameter { what: "the step", value, expected: "positive and finite" })
    }
}

/// Algorithm 1 on its way through the reports.
#[derive(Clone, Debug)]
pub struct OnlineLinear {
    features: usize,
    classes: usize,
    loss: Loss,
    step: Step,
    radius: Option<f64>,
    weights: Averaged,
    /// |g_1|² + … + |g_t|²
    gradients: f64,
    row: Vec<(u32, f32)>,
    scores: Vec<f32>,
    gradient: Vec<f32>,
}

impl OnlineLinear {
    /// A learner that has seen nothing.
    pub fn new(
        features: usize,
        classes: usize,
        loss: Loss,
        step: Step,
        radius: Option<f64>,
    ) -> Result<Self, LearnError> {
        step.check()?;
        if classes < 2 {
            let expected = "at least two";
            return Err(LearnError::Parameter {
                what: "the number of classes",
                value: classes as f64,
                expected,
            });
        }
        if let Some(value) = radius.filter(|radius| !(*radius > 0.0 && radius.is_finite())) {
            return Err(LearnError::Parameter { what: "the radius", value, expected: "positive and finite" });
        }
        Ok(Self {
            features,
            classes,
            loss,
            step,
            radius,
            weights: Averaged::zero(features, classes),
            gradients: 0.0,
            row: Vec::new(),
            scores: vec![0.0; padded(classes)],
            gradient: vec![0.0; padded(classes)],
        })
    }

    /// One step along the gradient of one report, whose unbiased vector is `label`.
    pub fn observe(&mut self, row: Row<'_>, label: LabelVector<'_>) {
        self.gather(row);
        self.weights.scores(&self.row, &mut self.scores);
        self.gradient.copy_from_slice(&self.scores);
        self.loss.gradient(&mut self.gradient[..self.classes], label);
        let rate = self.rate();
        self.weights.step(&self.row, rate, &self.gradient, &self.scores);
        if let Some(radius) = self.radius {
            self.weights.project(radius);
        }
    }

    /// The model of the averaged weights.
    pub fn model(&self) -> Result<LinearModel, LearnError> {
        if self.weights.count() == 0 {
            return Err(LearnError::NoReports);
        }
        Ok(LinearModel { loss: self.loss, weights: self.weights.mean() })
    }

    /// Lists the features of a row that are not zero, the constant one last.
    fn gather(&mut self, row: Row<'_>) {
        self.row.clear();
        let dense = (0..).zip(row.dense).filter(|(_, x)| **x != 0.0).map(|(feature, x)| (feature, *x));
        self.row.extend(dense);
        let offset = row.dense.len() as u32;
        self.row.extend(row.sparse.iter().map(|&(feature, x)| (offset + feature, x)));
        self.row.push((self.features as u32, 1.0));
    }

    /// η of this example.
    fn rate(&mut self) -> f64 {
        match self.step {
            Step::Constant(rate) => rate,
            Step::Decaying(rate) => rate / ((self.weights.count() + 1) as f64).sqrt(),
            Step::Adaptive(distance) => {
                let squares =
                    |values: &mut dyn Iterator<Item = f32>| values.map(|v| f64::from(v * v)).sum::<f64>();
                let size = squares(&mut self.row.iter().map(|(_, x)| *x));
                self.gradients += size * squares(&mut self.gradient.iter().copied());
                if self.gradients > 0.0 { distance / self.gradients.sqrt() } else { 0.0 }
            }
        }
    }
}

impl Learner for OnlineLinear {
    type Example<'a> = (Row<'a>, LabelVector<'a>);
    type Model = LinearModel;

    fn observe(&mut self, (row, label): Self::Example<'_>) {
        Self::observe(self, row, label);
    }

    fn model(&self) -> Result<LinearModel, LearnError> {
        Self::model(self)
    }
}
