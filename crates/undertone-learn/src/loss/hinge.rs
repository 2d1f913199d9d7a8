//! The multiclass hinge of Crammer and Singer: ℓ(z, k) = max_j (z_j + 1{j ≠ k}) - z_k.
//!
//! With m the class of the highest score and s the next, the maximum is at m for every k ≠ m, and for k = m at m if it
//! leads by one and at s if not. So
//!
//! > Σ_k a_k·ℓ = (Σa - a_m)·(z_m + 1) + a_m·max(z_m, z_s + 1) - ⟨a, z⟩

use crate::labels::LabelVector;

/// The class of the highest score and the class of the next.
fn leaders(scores: &[f32]) -> (usize, usize) {
    let (mut first, mut second) = if scores[1] > scores[0] { (1, 0) } else { (0, 1) };
    for (k, &z) in scores.iter().enumerate().skip(2) {
        if z > scores[first] {
            (first, second) = (k, first);
        } else if z > scores[second] {
            second = k;
        }
    }
    (first, second)
}

pub(super) fn value(scores: &[f32], labels: LabelVector<'_>) -> f32 {
    let (m, s) = leaders(scores);
    let own = labels.at(m as u32);
    (labels.sum(scores.len()) - own) * (scores[m] + 1.0) + own * scores[m].max(scores[s] + 1.0)
        - labels.dot(scores)
}

pub(super) fn gradient(scores: &mut [f32], labels: LabelVector<'_>) {
    let (m, s) = leaders(scores);
    let (own, sum) = (labels.at(m as u32), labels.sum(scores.len()));
    let rival = if scores[m] >= scores[s] + 1.0 { m } else { s };
    scores.fill(0.0);
    scores[m] += sum - own;
    scores[rival] += own;
    labels.subtract_from(scores);
}

/// The hinge knows margins, not chances: the softmax of its scores stands in for them.
pub(super) fn probabilities(scores: &mut [f32]) {
    super::softmax::probabilities(scores);
}

/// |e_j - e_k| ≤ √2.
pub(super) fn lipschitz(_classes: usize, _scores: f64) -> f64 {
    std::f64::consts::SQRT_2
}
