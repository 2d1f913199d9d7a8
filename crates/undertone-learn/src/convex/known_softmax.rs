//! A softmax problem whose best weights are known: six kinds of people, five labels.
//!
//! A person is of kind i = 0, …, 5 with equal chance, with the public features
//!
//! > x_i = (cos(πi/3), sin(πi/3), 1)/√2,  |x_i| = 1
//!
//! and label k with probability softmax(W*ᵀx_i)_k, where W*_fk = 1.5·cos(2π(f+1)k/5 + f). The five columns of W* sum to
//! zero, so W* is the shortest of the weights that predict the same. Since the labels follow a softmax model, no weights
//! have a smaller cross-entropy than W*, and the excess risk of W is the mean divergence of what it predicts,
//!
//! > (1/6)·Σ_i Σ_k π*_ik·ln(π*_ik/π_ik)
//!
//! exactly. W lies in the ball of radius |W*|, L = √2.

use super::{ConvexLoss, Feasible, LinearLoss};
use crate::LearnError;
use crate::loss::Loss;
use rand_core::Rng;
use std::f64::consts::PI;
use undertone_privacy::label::Label;

/// The problem.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownSoftmax {
    rows: Vec<[f64; FEATURES]>,
    best: Vec<f64>,
    loss: LinearLoss,
}

const LABELS: usize = 5;
const FEATURES: usize = 3;
const KINDS: usize = 6;

impl KnownSoftmax {
    /// The problem described above.
    pub fn new() -> Result<Self, LearnError> {
        let row = |i: usize| {
            let angle = PI * i as f64 / 3.0;
            [angle.cos(), angle.sin(), 1.0].map(|x| x * 0.5f64.sqrt())
        };
        let weight = |f: usize, k: usize| {
            1.5 * (2.0 * PI * (f as f64 + 1.0) * k as f64 / LABELS as f64 + f as f64).cos()
        };
        let best: Vec<f64> = (0..FEATURES).flat_map(|f| (0..LABELS).map(move |k| weight(f, k))).collect();
        let radius = super::dot(&best, &best).sqrt();
        let loss = LinearLoss::new(Loss::Softmax, LABELS as u32, FEATURES, 1.0, radius)?;
        Ok(Self { rows: (0..KINDS).map(row).collect(), best, loss })
    }

    /// The loss.
    pub fn loss(&self) -> &LinearLoss {
        &self.loss
    }

    /// The ball of radius |W*|.
    pub fn feasible(&self) -> Feasible {
        Feasible::Ball { radius: super::dot(&self.best, &self.best).sqrt() }
    }

    /// W*.
    pub fn best(&self) -> &[f64] {
        &self.best
    }

    /// x_i.
    pub fn row(&self, kind: usize) -> &[f64] {
        &self.rows[kind]
    }

    /// The kind and label of a person, for simulation.
    pub fn draw(&self, rng: &mut impl Rng) -> (usize, Label) {
        let kind = ((u128::from(rng.next_u64()) * KINDS as u128) >> 64) as usize;
        let mut share = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let probabilities = self.probabilities(&self.best, kind);
        let mut passes = |p: &f64| {
            share -= p;
            share < 0.0
        };
        let label = probabilities.iter().position(&mut passes).unwrap_or(LABELS - 1);
        (kind, Label(label as u32))
    }

    /// The chances of each label for a kind of people, under weights w.
    fn probabilities(&self, w: &[f64], kind: usize) -> [f64; LABELS] {
        let mut p = [0.0; LABELS];
        for (row, x) in w.chunks_exact(LABELS).zip(&self.rows[kind]) {
            p.iter_mut().zip(row).for_each(|(z, w)| *z += x * w);
        }
        let top = p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for z in &mut p {
            *z = (*z - top).exp();
        }
        let sum: f64 = p.iter().sum();
        p.map(|p| p / sum)
    }

    /// The excess risk of w, exactly.
    pub fn excess(&self, w: &[f64]) -> f64 {
        let divergence = |kind: usize| -> f64 {
            let (truth, ours) = (self.probabilities(&self.best, kind), self.probabilities(w, kind));
            truth.iter().zip(ours).map(|(p, q)| p * (p / q).ln()).sum()
        };
        (0..KINDS).map(divergence).sum::<f64>() / KINDS as f64
    }

    /// The mean of ℓ(w; x, y) over all kinds and labels.
    pub fn risk(&self, w: &[f64]) -> f64 {
        let of_kind = |kind: usize| -> f64 {
            let p = self.probabilities(&self.best, kind);
            (0u32..).zip(p).map(|(k, p)| p * self.loss.value(w, &self.rows[kind], k)).sum()
        };
        (0..KINDS).map(of_kind).sum::<f64>() / KINDS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excess_is_the_risk_less_that_of_the_best_weights() {
        let problem = KnownSoftmax::new().unwrap();
        let best = problem.risk(problem.best());
        for scale in [0.0, 0.5, 1.0, 1.3] {
            let w: Vec<f64> = problem.best().iter().map(|w| w * scale).collect();
            // the risk is computed from 32-bit scores
            assert!((problem.excess(&w) - (problem.risk(&w) - best)).abs() < 1e-6);
        }
        assert!(problem.excess(problem.best()).abs() < 1e-15);
    }

    #[test]
    fn the_gradient_of_the_risk_is_zero_at_the_best_weights() {
        let problem = KnownSoftmax::new().unwrap();
        let mut gradient = vec![0.0; 15];
        for kind in 0..KINDS {
            let p = problem.probabilities(problem.best(), kind);
            for (k, p) in (0u32..).zip(p) {
                problem.loss.add_gradient(problem.best(), problem.row(kind), k, p, &mut gradient);
            }
        }
        assert!(gradient.iter().all(|g| g.abs() < 1e-6), "{gradient:?}");
        for f in 0..FEATURES {
            assert!(problem.best()[f * LABELS..(f + 1) * LABELS].iter().sum::<f64>().abs() < 1e-12);
        }
    }
}
