//! Cross-entropy: ℓ(z, k) = ln Σ_j e^z_j - z_k.
//!
//! > Σ_k a_k·ℓ = (Σa)·lse(z) - ⟨a, z⟩,  gradient (Σa)·π - a with π = softmax(z)
//!
//! Convex in z for a report with Σa ≥ 0, which sets of fixed size have (Σa = 1) and independent bits do not.

use super::exp::exp;
use crate::labels::LabelVector;

pub(super) fn value(scores: &[f32], labels: LabelVector<'_>) -> f32 {
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let log_sum = top + scores.iter().map(|z| (z - top).exp()).sum::<f32>().ln();
    labels.sum(scores.len()) * log_sum - labels.dot(scores)
}

#[inline]
pub(super) fn gradient(scores: &mut [f32], labels: LabelVector<'_>) {
    probabilities(scores);
    let sum = labels.sum(scores.len());
    for z in scores.iter_mut() {
        *z *= sum;
    }
    labels.subtract_from(scores);
}

#[inline]
pub(super) fn probabilities(scores: &mut [f32]) {
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for z in scores.iter_mut() {
        *z = exp(*z - top);
    }
    let scale = 1.0 / scores.iter().sum::<f32>();
    for z in scores.iter_mut() {
        *z *= scale;
    }
}

/// |π - e_k| ≤ √2, approached when π is certain of another class.
pub(super) fn lipschitz(_classes: usize, _scores: f64) -> f64 {
    std::f64::consts::SQRT_2
}
