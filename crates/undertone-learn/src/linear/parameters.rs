//! The weights of a model while it is fitted.
//!
//! Dense features have their classes outermost (see [`super::kernels`]), sparse ones their K weights side by side, since
//! a row has few of them.

use super::Weights;
use super::kernels::{AddScores, padded, vectorized};

/// W in three parts.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    pub(super) shape: Shape,
    /// K × stride, zero beyond the features
    pub(super) dense: Vec<f32>,
    /// sparse features × K
    pub(super) sparse: Vec<f32>,
    /// K
    pub(super) intercept: Vec<f32>,
}

/// How many there are of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) dense: usize,
    pub(super) sparse: usize,
    pub(super) classes: usize,
}

impl Shape {
    /// Places for the dense features of a class.
    pub(super) fn stride(self) -> usize {
        padded(self.dense)
    }
}

impl Parameters {
    pub(super) fn new(shape: Shape, start: Option<&Weights>) -> Self {
        let mut parameters = Self {
            shape,
            dense: vec![0.0; shape.classes * shape.stride()],
            sparse: vec![0.0; shape.sparse * shape.classes],
            intercept: vec![0.0; shape.classes],
        };
        if let Some(start) = start {
            let (dense, rest) = start.values().split_at(shape.dense * shape.classes);
            let (sparse, intercept) = rest.split_at(shape.sparse * shape.classes);
            for (feature, weights) in dense.chunks_exact(shape.classes).enumerate() {
                for (class, w) in weights.iter().enumerate() {
                    parameters.dense[class * shape.stride() + feature] = *w;
                }
            }
            parameters.sparse.copy_from_slice(sparse);
            parameters.intercept.copy_from_slice(intercept);
        }
        parameters
    }

    pub(super) fn weights(&self) -> Weights {
        let Shape { dense, sparse, classes } = self.shape;
        let mut weights = Weights::zero(dense + sparse, classes);
        let (head, rest) = weights.values_mut().split_at_mut(dense * classes);
        for (feature, weights) in head.chunks_exact_mut(classes).enumerate() {
            for (class, w) in weights.iter_mut().enumerate() {
                *w = self.dense[class * self.shape.stride() + feature];
            }
        }
        let (middle, last) = rest.split_at_mut(sparse * classes);
        middle.copy_from_slice(&self.sparse);
        last.copy_from_slice(&self.intercept);
        weights
    }

    /// z = Wᵀx of some rows, whose dense and sparse features these are, one row after the other.
    pub(super) fn scores<'a>(
        &self,
        dense: &[&[f32]],
        sparse: impl Iterator<Item = &'a [(u32, f32)]>,
        scores: &mut [f32],
    ) {
        let classes = self.shape.classes;
        for (row, scores) in sparse.zip(scores.chunks_exact_mut(classes)) {
            scores.copy_from_slice(&self.intercept);
            for &(feature, x) in row {
                let weights = &self.sparse[feature as usize * classes..][..classes];
                scores.iter_mut().zip(weights).for_each(|(z, w)| *z += x * w);
            }
        }
        vectorized(AddScores { rows: dense, weights: &self.dense, stride: self.shape.stride(), scores });
    }

    /// The nearest weights in the ball |W| ≤ `radius`.
    pub(super) fn project(&mut self, radius: f64) {
        let parts = [&mut self.dense, &mut self.sparse, &mut self.intercept];
        let norm =
            parts.iter().flat_map(|part| part.iter()).map(|w| f64::from(*w).powi(2)).sum::<f64>().sqrt();
        if norm > radius {
            let scale = (radius / norm) as f32;
            parts.into_iter().flatten().for_each(|w| *w *= scale);
        }
    }
}
