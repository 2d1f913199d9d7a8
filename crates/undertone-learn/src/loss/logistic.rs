//! One logistic loss for each class against the rest: ℓ(z, k) = Σ_j ln(1 + e^z_j) - z_k.
//!
//! > Σ_k a_k·ℓ = (Σa)·Σ_j ln(1 + e^z_j) - ⟨a, z⟩,  gradient (Σa)·σ(z) - a

use crate::labels::LabelVector;

pub(super) fn value(scores: &[f32], labels: LabelVector<'_>) -> f32 {
    // ln(1 + e^z) without overflow
    let softplus = |z: &f32| z.max(0.0) + (-z.abs()).exp().ln_1p();
    labels.sum(scores.len()) * scores.iter().map(softplus).sum::<f32>() - labels.dot(scores)
}

pub(super) fn gradient(scores: &mut [f32], labels: LabelVector<'_>) {
    let sum = labels.sum(scores.len());
    for z in scores.iter_mut() {
        *z = sum / (1.0 + (-*z).exp());
    }
    labels.subtract_from(scores);
}

/// The K chances σ(z), made to sum to one.
pub(super) fn probabilities(scores: &mut [f32]) {
    for z in scores.iter_mut() {
        *z = 1.0 / (1.0 + (-*z).exp());
    }
    super::make_sum_one(scores);
}

/// Each of the K entries of σ(z) - e_k is at most σ(|z|) in size.
pub(super) fn lipschitz(classes: usize, scores: f64) -> f64 {
    (classes as f64).sqrt() / (1.0 + (-scores).exp())
}
