//! The stochastic intermediate gradient method (Dvurechensky, Gasnikov, *Stochastic intermediate gradient method for convex
//! problems with stochastic inexact oracle*, 2016), on the ball of radius R.
//!
//! With an order q in \[1, 2\], a = 2^((q-1)/2), b = 2^((5-2q)/4)·q^((1-2q)/2), and
//!
//! > α_i = ((i+q)/q)^(q-1)/a,   B_i = a·α_i²,   A_k = α_0 + … + α_k,   τ_k = α_{k+1}/B_{k+1},
//! > β_i = β + (b·σ/R)·(i+q+1)^((2q-1)/2)
//!
//! from x_0 = 0 and y_0 = Π(-α_0·g_0/β_0), for k = 0, 1, …:
//!
//! > z_k = Π(-Σ_{i≤k} α_i·g_i/β_k),   x_{k+1} = τ_k·z_k + (1-τ_k)·y_k,   g_{k+1} at x_{k+1},
//! > x̂ = Π(z_k - α_{k+1}·g_{k+1}/β_k),   w = τ_k·x̂ + (1-τ_k)·y_k,
//! > y_{k+1} = ((A_{k+1} - B_{k+1})·y_k + B_{k+1}·w)/A_{k+1}
//!
//! y_T is returned. The order is a property of the method; the paper that uses it writes p for it and for the dimension alike,
//! and with the dimension in its place nothing converges. At q = 1 it is dual averaging with the mean of its points, of error
//! βR²/k + σR/√k + the bias of the gradients; at q = 2 the first term falls like 1/k², and bias adds up.

use crate::LearnError;
use crate::convex::{Feasible, positive};

/// The state after some gradients.
#[derive(Clone, Debug)]
pub struct Sigm {
    feasible: Feasible,
    order: f64,
    a: f64,
    smoothness: f64,
    /// b·σ/R
    noise: f64,
    /// k + 1, the number of gradients so far
    count: u64,
    /// A_k
    total: f64,
    /// Σ α_i·g_i
    sum: Vec<f64>,
    /// x_k, where the next gradient is wanted
    point: Vec<f64>,
    /// y_k
    answer: Vec<f64>,
    /// z_k
    dual: Vec<f64>,
}

impl Sigm {
    /// Before any gradient, in p dimensions: β is the `smoothness` of the risk, σ the root of the second moment of the `noise`
    /// of a gradient.
    pub fn new(p: usize, order: f64, smoothness: f64, noise: f64, radius: f64) -> Result<Self, LearnError> {
        if !(1.0..=2.0).contains(&order) {
            let (what, expected) = ("the order of the method", "between 1 and 2");
            return Err(LearnError::Parameter { what, value: order, expected });
        }
        if !(noise >= 0.0 && noise.is_finite()) {
            let (what, expected) = ("the noise of gradients", "non-negative and finite");
            return Err(LearnError::Parameter { what, value: noise, expected });
        }
        let smoothness = positive("the smoothness of the risk", smoothness)?;
        Ok(Self::unchecked(p, order, smoothness, noise, Feasible::ball(radius)?, radius))
    }

    /// With any order, so that a test can show what the dimension in its place does.
    pub(super) fn unchecked(
        p: usize,
        order: f64,
        smoothness: f64,
        noise: f64,
        feasible: Feasible,
        radius: f64,
    ) -> Self {
        let b = 2f64.powf((5.0 - 2.0 * order) / 4.0) * order.powf((1.0 - 2.0 * order) / 2.0);
        let zero = vec![0.0; p];
        Self {
            feasible,
            order,
            a: 2f64.powf((order - 1.0) / 2.0),
            smoothness,
            noise: b * noise / radius,
            count: 0,
            total: 0.0,
            sum: zero.clone(),
            point: zero.clone(),
            answer: zero.clone(),
            dual: zero,
        }
    }

    /// Where the next gradient is wanted.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// y_k, the answer so far.
    pub fn answer(&self) -> &[f64] {
        &self.answer
    }

    /// α_i.
    fn alpha(&self, i: f64) -> f64 {
        ((i + self.order) / self.order).powf(self.order - 1.0) / self.a
    }

    /// β_i.
    fn beta(&self, i: f64) -> f64 {
        self.smoothness + self.noise * (i + self.order + 1.0).powf((2.0 * self.order - 1.0) / 2.0)
    }

    fn projected(&self, mut w: Vec<f64>) -> Vec<f64> {
        self.feasible.project(&mut w);
        w
    }

    /// Takes an unbiased gradient at [`point`](Self::point).
    pub fn step(&mut self, gradient: &[f64]) {
        let i = self.count as f64;
        let alpha = self.alpha(i);
        self.total += alpha;
        self.sum.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += alpha * g);
        if self.count == 0 {
            self.answer = self.projected(gradient.iter().map(|g| -alpha * g / self.beta(0.0)).collect());
        } else {
            let square = self.a * alpha * alpha;
            let (tau, beta) = (alpha / square, self.beta(i - 1.0));
            let moved = self.dual.iter().zip(gradient).map(|(z, g)| z - alpha * g / beta).collect();
            let ahead = self.projected(moved);
            for (y, x) in self.answer.iter_mut().zip(ahead) {
                let w = tau * x + (1.0 - tau) * *y;
                *y = ((self.total - square) * *y + square * w) / self.total;
            }
        }
        // z_k and x_{k+1}
        let beta = self.beta(i);
        self.dual = self.projected(self.sum.iter().map(|sum| -sum / beta).collect());
        let next = self.alpha(i + 1.0);
        let tau = next / (self.a * next * next);
        self.point = self.dual.iter().zip(&self.answer).map(|(z, y)| tau * z + (1.0 - tau) * y).collect();
        self.count += 1;
    }
}
