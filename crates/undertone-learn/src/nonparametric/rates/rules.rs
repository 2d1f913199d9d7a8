//! What to choose before anything is known about the data: cell width h, neighbours k and clip T.
//!
//! Each rule minimises the bound on the risk that the theorem is proved by, constants included. They are for features on
//! [0, 1] (quantile scaling makes a density near one true of each axis) and a Lipschitz constant of one.

use super::{Problem, Task};
use crate::LearnError;
use crate::nonparametric::TrustModel;
use undertone_privacy::number::{Bounds, NumberMechanism, NumberRandomizer};

/// κ = (p-1)^(p-1)/p^p: E(|Y| - T)₊ ≤ κ·M_p·T^(1-p), with equality for some Y.
///
/// Printed as 1/(p-1), which is four times too much at p = 2.
pub fn clip_constant(p: f64) -> f64 {
    ((p - 1.0) * (p - 1.0).ln() - p * p.ln()).exp()
}

/// The T that minimises (κ·M_p)²·T^(2-2p) + 8T²·v, squared bias against variance, where the noise of an average is v times
/// that of Laplace noise of scale 2T:
///
/// > T = [(p-1)·κ²·M_p²/(8v)]^(1/(2p))
fn clip(p: f64, moment: f64, v: f64) -> f64 {
    let scale = (clip_constant(p) * moment).powi(2);
    ((p - 1.0) * scale / (8.0 * v)).powf(0.5 / p)
}

/// T of devices that clip and add noise, for averages of k reports: v = 1/(k·ε²). Printed without M_p and the constant, so that
/// other units of the label would ask for another T.
pub fn local_clip(p: f64, moment: f64, k: f64, epsilon: f64) -> f64 {
    clip(p, moment, 1.0 / (k * epsilon * epsilon))
}

/// T of a cell of n people whose sum a curator releases: v = 1/(n·ε)².
pub fn central_clip(p: f64, moment: f64, n: f64, epsilon: f64) -> f64 {
    clip(p, moment, 1.0 / (n * epsilon).powi(2))
}

/// ln of the volume of the unit ball: π^(d/2)/Γ(d/2 + 1).
fn ln_ball(d: f64) -> f64 {
    0.5 * d * std::f64::consts::PI.ln() - libm::lgamma(0.5 * d + 1.0)
}

/// k that minimises V/k + B·(k/N)^(2β/d), B = v_d^(-2β/d), for reports of variance V, in 1..=N:
///
/// > k = (d·V/(2β·B))^(d/(d+2β))·N^(2β/(d+2β))
pub fn neighbours(people: u64, dimension: u32, beta: f64, variance: f64) -> f64 {
    let (n, d) = (people as f64, f64::from(dimension));
    let bias = (-2.0 * beta / d * ln_ball(d)).exp();
    let power = d / (d + 2.0 * beta);
    let k = (d * variance / (2.0 * beta * bias)).powf(power) * n.powf(1.0 - power);
    k.round().clamp(1.0, n)
}

/// k for heavy tails: max(ε^-2·(Nε²)^(2pβ/(2pβ+d(p-1))), N^(2β/(2β+d))).
///
/// Printed with powers of ε that grow where they should fall, in two different ways.
pub fn heavy_neighbours(people: u64, dimension: u32, beta: f64, p: f64, epsilon: f64) -> f64 {
    let (n, d, e2) = (people as f64, f64::from(dimension), epsilon * epsilon);
    let private = (n * e2).powf(2.0 * p * beta / (2.0 * p * beta + d * (p - 1.0))) / e2;
    private.max(n.powf(2.0 * beta / (2.0 * beta + d))).round().clamp(1.0, n)
}

/// h of local classification: half of what balances the bias 2·d^(β/2)·h^β against 3·√(2·ln(2K)/(N·h^d·s²)), where s = p - q
/// is how much likelier a bit is for the true class; at most one.
pub fn local_width(people: u64, dimension: u32, beta: f64, classes: u32, s: f64) -> f64 {
    let (n, d) = (people as f64, f64::from(dimension));
    let spread = 4.5 * (2.0 * f64::from(classes)).ln() / (d.powf(beta) * n * s * s);
    (0.5 * spread.powf(1.0 / (2.0 * beta + d))).min(1.0)
}

/// h that minimises B·h^(2β) + σ²/(N·h^d) + 8T²/(εN·h^d)² with B = d^β/6, for labels in [-T, T], T = 1, σ² ≤ 1.
pub fn central_regression_width(people: u64, dimension: u32, beta: f64, epsilon: f64) -> f64 {
    let (n, d) = (people as f64, f64::from(dimension));
    let bound = |ln_h: f64| {
        let occupancy = n * (d * ln_h).exp();
        d.powf(beta) / 6.0 * (2.0 * beta * ln_h).exp() + 1.0 / occupancy + 8.0 / (epsilon * occupancy).powi(2)
    };
    // Each term is convex in ln h, so the golden section finds the one minimum.
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (-(n.ln() / d) - 1.0, 0.0);
    for _ in 0..100 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if bound(left) < bound(right) { high = right } else { low = left }
    }
    (0.5 * (low + high)).exp()
}

/// m = round(1/h), the cells along an axis; h has to lie in (0, 1).
pub fn cells_per_axis(width: f64) -> Result<u32, LearnError> {
    if !(width > 0.0 && width < 1.0) {
        let what = "the width of a cell";
        return Err(LearnError::Parameter { what, value: width, expected: "above 0 and below 1" });
    }
    Ok((1.0 / width).round().clamp(1.0, f64::from(1u32 << 30)) as u32)
}

impl Problem {
    /// E|z - y|² of the best device for a number in [-1, 1], and of the number itself; without privacy the latter.
    fn label_variance(&self) -> Result<f64, LearnError> {
        Ok(match self.trust {
            TrustModel::LabelLocal => {
                1.0 + NumberMechanism::best(Bounds::new(-1.0, 1.0)?, self.epsilon)?.worst_variance()
            }
            _ => 1.0,
        })
    }

    /// k for a regression by neighbours; without devices, that of no privacy.
    pub(super) fn regression_neighbours(&self) -> Result<f64, LearnError> {
        Ok(match (self.task, self.trust) {
            (Task::Heavy, TrustModel::LabelLocal) => {
                let epsilon = self.epsilon.get();
                heavy_neighbours(self.people, self.dimension, self.beta, self.moments, epsilon)
            }
            _ => neighbours(self.people, self.dimension, self.beta, self.label_variance()?),
        })
    }

    /// h for this problem, at most one.
    pub(super) fn cell_width(&self) -> Result<f64, LearnError> {
        let (b, d, n) = (self.beta, f64::from(self.dimension), self.people as f64);
        let epsilon = self.epsilon.get();
        let alone = self.effective_people().powf(-1.0 / (2.0 * b + d));
        let width = match (self.task, self.trust) {
            (Task::Classification, TrustModel::LabelLocal) => {
                // s = p - q of symmetric bits
                local_width(self.people, self.dimension, b, self.classes, (epsilon / 4.0).tanh())
            }
            (Task::Classification, TrustModel::LabelCentral | TrustModel::FullCentral) => {
                alone + (epsilon * self.effective_people()).powf(-1.0 / (b + d))
            }
            (Task::Regression, TrustModel::LabelCentral | TrustModel::FullCentral) => {
                central_regression_width(self.people, self.dimension, b, epsilon)
            }
            (Task::Heavy, TrustModel::LabelCentral | TrustModel::FullCentral) => {
                // The exponent is printed without the factor p - 1, which is right at p = 2 only.
                let p = self.moments;
                alone + (epsilon * n).powf(-(p - 1.0) / (p * b + d * (p - 1.0)))
            }
            (Task::Regression | Task::Heavy, TrustModel::LabelLocal) => {
                (self.regression_neighbours()? / n).powf(1.0 / d)
            }
            // The width whose bias is the rate
            (Task::Classification, _) => self.rate().powf(1.0 / (b * (self.gamma + 1.0))),
            (_, _) => self.rate().powf(0.5 / b),
        };
        Ok(width.min(1.0))
    }

    /// T for labels with a p-th absolute moment of one, or the bound of bounded numbers, which is one.
    pub(super) fn clip(&self, neighbours: f64) -> Option<f64> {
        let epsilon = self.epsilon.get();
        match (self.task, self.trust) {
            (Task::Regression, _) => Some(1.0),
            (Task::Heavy, TrustModel::LabelLocal | TrustModel::FullLocal) => {
                Some(local_clip(self.moments, 1.0, neighbours, epsilon))
            }
            (Task::Heavy, TrustModel::LabelCentral | TrustModel::FullCentral) => {
                Some(central_clip(self.moments, 1.0, neighbours, epsilon))
            }
            (Task::Classification, _) | (Task::Heavy, TrustModel::None) => None,
        }
    }
}
