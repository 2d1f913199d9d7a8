//! Half the squared distance to the label: ℓ(z, k) = ½|z - e_k|².
//!
//! > Σ_k a_k·ℓ = (Σa)·½(|z|² + 1) - ⟨a, z⟩,  gradient (Σa)·z - a

use crate::labels::LabelVector;

pub(super) fn value(scores: &[f32], labels: LabelVector<'_>) -> f32 {
    let square: f32 = scores.iter().map(|z| z * z).sum();
    labels.sum(scores.len()) * 0.5 * (square + 1.0) - labels.dot(scores)
}

pub(super) fn gradient(scores: &mut [f32], labels: LabelVector<'_>) {
    let sum = labels.sum(scores.len());
    for z in scores.iter_mut() {
        *z *= sum;
    }
    labels.subtract_from(scores);
}

/// The scores themselves estimate the chances: what is below zero is cut and the rest made to sum to one.
pub(super) fn probabilities(scores: &mut [f32]) {
    for z in scores.iter_mut() {
        *z = z.max(0.0);
    }
    super::make_sum_one(scores);
}

/// |z - e_k| ≤ |z| + 1.
pub(super) fn lipschitz(_classes: usize, scores: f64) -> f64 {
    scores + 1.0
}
