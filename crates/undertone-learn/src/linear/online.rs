//! One pass, one example at a time: Algorithm 1 of L. Chua, B. Ghazi, R. Kumar, P. Manurangsi, Z. Sun, C. Zhang, *Convex
//! Optimization with Local Label Differential Privacy*, for linear models.
//!
//! > w_t = Proj(w_{t-1} - η_t·g_t),  g_t = x·(Σ_k a_k·∂ℓ(z, k))ᵀ,  result: the mean of w_0 … w_{n-1}
//!
//! from w_0 = 0, where Proj is that onto the ball |w| ≤ R, and the intercept is the weight of a constant feature. An
//! example costs O(K·m) for m features that are not zero.

use super::LinearModel;
use super::averaged::Averaged;
use super::gathered::Gathered;
use super::kernels::padded;
use crate::LearnError;
use crate::features::Row;
use crate::labels::LabelVector;
use crate::learner::Learner;
use crate::loss::Loss;
use serde::{Deserialize, Serialize};
use undertone_privacy::label::Covariance;

/// η.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OnlineLinear {
    classes: usize,
    loss: Loss,
    step: Step,
    radius: Option<f64>,
    weights: Averaged,
    /// |g_1|² + … + |g_t|²
    gradients: f64,
    row: Gathered,
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
            classes,
            loss,
            step,
            radius,
            weights: Averaged::zero(features, classes),
            gradients: 0.0,
            row: Gathered::new(features),
            scores: vec![0.0; padded(classes)],
            gradient: vec![0.0; padded(classes)],
        })
    }

    /// One step along the gradient of one report, whose unbiased vector is `label`.
    pub fn observe(&mut self, row: Row<'_>, label: LabelVector<'_>) {
        self.row.gather(row);
        self.weights.scores(&self.row, &mut self.scores);
        self.gradient.copy_from_slice(&self.scores);
        self.loss.gradient(&mut self.gradient[..self.classes], label);
        let rate = self.rate();
        self.weights.step(&self.row, rate, &self.gradient, &self.scores);
        if let Some(radius) = self.radius {
            self.weights.project(radius);
        }
    }

    /// Whether `other` learns the same kind of model from as many features.
    pub(crate) fn is_of_the_same_shape(&self, other: &Self) -> bool {
        let shape = |learner: &Self| (learner.classes, learner.loss, learner.weights.shape());
        shape(self) == shape(other) && self.step == other.step && self.radius == other.radius
    }

    /// The model of the averaged weights.
    pub fn model(&self) -> Result<LinearModel, LearnError> {
        if self.weights.count() == 0 {
            return Err(LearnError::NoReports);
        }
        Ok(LinearModel { loss: self.loss, weights: self.weights.mean(), scale_back: None })
    }

    /// η of this example.
    fn rate(&mut self) -> f64 {
        match self.step {
            Step::Constant(rate) => rate,
            Step::Decaying(rate) => rate / ((self.weights.count() + 1) as f64).sqrt(),
            Step::Adaptive(distance) => {
                let square: f32 = self.gradient.iter().map(|g| g * g).sum();
                self.gradients += f64::from(square * self.row.norm_squared());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Rows;
    use crate::labels::LabelVectors;

    const FEATURES: usize = 5;

    /// Rows of three dense features and two sparse ones, some of them zero, and vectors as reports make them. No two
    /// scores tie, where the hinge would have two gradients.
    fn examples(classes: usize) -> (Rows, LabelVectors) {
        let (mut rows, mut labels) = (Rows::new(3, 2), LabelVectors::new());
        for i in 0..9000usize {
            let x = |factor: f32| ((i + 1) as f32 * factor).sin();
            rows.push_with(|dense, sparse| {
                dense.extend([x(7.1), x(3.3), if i % 3 == 0 { 0.0 } else { x(5.7) }]);
                sparse.extend((i % 2 == 0).then_some((i as u32 / 2 % 2, x(4.9))));
            });
            let (a, b) = (i % classes, i * i % (classes - 1));
            let other = if b == a { classes - 1 } else { b };
            let (low, high) = (a.min(other) as u32, a.max(other) as u32);
            labels.push(-0.3, [(low, 1.3 + 0.1 * x(2.3)), (high, 0.8 + 0.1 * x(1.7))]);
        }
        (rows, labels)
    }

    /// Algorithm 1 as it is printed, in 64 bits, with the mean of w_0 … w_{n-1}; gradients from the loss's closed form.
    fn printed(
        rows: &Rows,
        labels: &LabelVectors,
        classes: usize,
        loss: Loss,
        step: Step,
        radius: Option<f64>,
    ) -> Vec<f64> {
        let mut w = vec![0f64; (FEATURES + 1) * classes];
        let (mut sum, mut squares) = (w.clone(), 0.0);
        for (t, (row, label)) in rows.iter().zip(labels.iter()).enumerate() {
            sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
            let mut x = [0f64; FEATURES + 1];
            row.dense.iter().enumerate().for_each(|(j, value)| x[j] = f64::from(*value));
            row.sparse.iter().for_each(|(j, value)| x[3 + *j as usize] = f64::from(*value));
            x[FEATURES] = 1.0;
            let score = |k: usize| (0..=FEATURES).map(|j| x[j] * w[j * classes + k]).sum::<f64>();
            let mut g: Vec<f32> = (0..classes).map(|k| score(k) as f32).collect();
            loss.gradient(&mut g, label);
            squares +=
                x.iter().map(|x| x * x).sum::<f64>() * g.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>();
            let rate = match step {
                Step::Constant(rate) => rate,
                Step::Decaying(rate) => rate / ((t + 1) as f64).sqrt(),
                Step::Adaptive(distance) => distance / squares.sqrt(),
            };
            for (j, x) in x.iter().enumerate() {
                for (k, g) in g.iter().enumerate() {
                    w[j * classes + k] -= rate * x * f64::from(*g);
                }
            }
            let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
            if let Some(radius) = radius.filter(|radius| norm > *radius) {
                for w in &mut w {
                    *w *= radius / norm;
                }
            }
        }
        sum.iter().map(|sum| sum / rows.len() as f64).collect()
    }

    fn compare(classes: usize, loss: Loss, step: Step, radius: Option<f64>) {
        let (rows, labels) = examples(classes);
        let expected = printed(&rows, &labels, classes, loss, step, radius);
        let mut learner = OnlineLinear::new(FEATURES, classes, loss, step, radius).unwrap();
        rows.iter().zip(labels.iter()).for_each(|(row, label)| learner.observe(row, label));
        let model = learner.model().unwrap();
        let size = expected.iter().map(|w| w * w).sum::<f64>().sqrt();
        for (found, expected) in model.weights.values().iter().zip(&expected) {
            let apart = (f64::from(*found) - expected).abs();
            assert!(
                apart < 1e-4 * size,
                "{loss:?}, {step:?}, {radius:?}, K = {classes}: {found} for {expected}"
            );
        }
    }

    #[test]
    fn what_is_learnt_is_what_the_algorithm_as_printed_learns() {
        for loss in Loss::ALL {
            for radius in [None, Some(0.2)] {
                for step in [Step::Constant(0.02), Step::Decaying(0.2), Step::Adaptive(1.0)] {
                    compare(4, loss, step, radius);
                }
            }
        }
    }

    #[test]
    fn any_number_of_classes_is_worked_on_alike() {
        for classes in [2, 3, 8, 9, 17, 24, 25, 40] {
            compare(classes, Loss::Softmax, Step::Constant(0.02), Some(0.2));
        }
    }

    #[test]
    fn the_step_for_a_risk_is_the_distance_by_the_second_moment() {
        use undertone_privacy::Epsilon;
        use undertone_privacy::label::{LabelKind, LabelRandomizer};
        // K = 2 at e^ε = 3: randomized response keeps with 3/4, and 1 + V = 4c²p(1-p) + 1 with c = 2, for e^ε > K - 1
        let mechanism = LabelKind::Rr.mechanism(2, Epsilon::new(3f64.ln()).unwrap()).unwrap();
        let Step::Constant(found) = Step::for_risk(2.0, 3.0, &mechanism.covariance(), 100) else { panic!() };
        let expected = 2.0 / (3.0 * 4f64.sqrt() * 10.0);
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} for {expected}");
    }

    #[test]
    fn what_has_seen_nothing_has_no_model() {
        let learner = OnlineLinear::new(2, 3, Loss::Softmax, Step::default(), None).unwrap();
        assert!(matches!(learner.model(), Err(LearnError::NoReports)));
    }

    #[test]
    fn numbers_that_no_step_can_use_are_refused() {
        for (classes, step, radius, message) in [
            (1, Step::default(), None, "classes is 1"),
            (3, Step::Constant(0.0), None, "step is 0"),
            (3, Step::Adaptive(f64::NAN), None, "step is NaN"),
            (3, Step::default(), Some(-1.0), "radius is -1"),
        ] {
            let error = OnlineLinear::new(2, classes, Loss::Softmax, step, radius).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
