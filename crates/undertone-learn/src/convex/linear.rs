//! The losses of linear scores as convex losses: w holds K weights for each feature.
//!
//! For cross-entropy, one-against-rest and squared loss the gradient for label k is (c - e_k) xᵀ, where only c depends on w.
//! The K gradients therefore are a regular simplex around (c - 1/K) xᵀ, and what a device could say about its gradient it
//! can say about its label: noise on the span of gradients needs no interaction for these losses.

use super::{ConvexLoss, Span, positive};
use crate::LearnError;
use crate::labels::LabelVector;
use crate::loss::Loss;

/// A [`Loss`] of the scores Wᵀx. There is no intercept but a feature that is always one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearLoss {
    loss: Loss,
    labels: u32,
    features: usize,
    /// L
    lipschitz: f64,
}

impl LinearLoss {
    /// For K labels, rows of `features` numbers with |x| ≤ `longest`, and |W| ≤ `radius`, on which the steepness of the
    /// squared loss depends.
    pub fn new(
        loss: Loss,
        labels: u32,
        features: usize,
        longest: f64,
        radius: f64,
    ) -> Result<Self, LearnError> {
        positive("the length of the longest row", longest)?;
        positive("the radius of the weights", radius)?;
        let lipschitz = longest * loss.lipschitz(labels as usize, longest * radius);
        Ok(Self { loss, labels, features, lipschitz })
    }

    /// z = Wᵀx.
    fn scores(&self, w: &[f64], x: &[f64]) -> Vec<f32> {
        let mut scores = vec![0.0; self.labels as usize];
        for (row, &x) in w.chunks_exact(self.labels as usize).zip(x) {
            for (z, w) in scores.iter_mut().zip(row) {
                *z += x * w;
            }
        }
        scores.into_iter().map(|z: f64| z as f32).collect()
    }

    /// Adds the outer product of x and `of_scores`.
    fn add_outer(&self, x: &[f64], of_scores: &[f32], factor: f64, into: &mut [f64]) {
        for (row, &x) in into.chunks_exact_mut(self.labels as usize).zip(x) {
            for (g, &z) in row.iter_mut().zip(of_scores) {
                *g += factor * x * f64::from(z);
            }
        }
    }

    fn add(&self, w: &[f64], x: &[f64], a: LabelVector<'_>, factor: f64, into: &mut [f64]) {
        let mut scores = self.scores(w, x);
        self.loss.gradient(&mut scores, a);
        self.add_outer(x, &scores, factor, into);
    }
}

impl ConvexLoss for LinearLoss {
    type Features = [f64];

    fn dimension(&self) -> usize {
        self.features * self.labels as usize
    }

    fn labels(&self) -> u32 {
        self.labels
    }

    fn lipschitz(&self) -> f64 {
        self.lipschitz
    }

    fn value(&self, w: &[f64], x: &[f64], label: u32) -> f64 {
        f64::from(self.loss.value(&self.scores(w, x), LabelVector { base: 0.0, entries: &[(label, 1.0)] }))
    }

    fn add_gradient(&self, w: &[f64], x: &[f64], label: u32, factor: f64, into: &mut [f64]) {
        self.add(w, x, LabelVector { base: 0.0, entries: &[(label, 1.0)] }, factor, into);
    }

    fn add_debiased_gradient(&self, w: &[f64], x: &[f64], a: LabelVector<'_>, into: &mut [f64]) {
        self.add(w, x, a, 1.0, into);
    }

    fn span(&self, w: &[f64], x: &[f64]) -> Span {
        if self.loss == Loss::Hinge {
            // Where the leader's lead is short its own gradient points elsewhere.
            let gradient = |label| {
                let mut gradient = vec![0.0; self.dimension()];
                self.add_gradient(w, x, label, 1.0, &mut gradient);
                gradient
            };
            return Span::of_gradients((0..self.labels).map(gradient).collect());
        }
        // The even mixture of labels has the gradient (c - 1/K) xᵀ.
        let even = LabelVector { base: 1.0 / self.labels as f32, entries: &[] };
        let mut centre = vec![0.0; self.dimension()];
        self.add(w, x, even, 1.0, &mut centre);
        Span::of_simplex(self.labels, x, centre)
    }
}
