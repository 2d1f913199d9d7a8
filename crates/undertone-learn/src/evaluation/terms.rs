//! What one report says about one prediction: the terms whose means are the figures.
//!
//! With p the model's probabilities, ŷ the likeliest class (the smaller one on ties) and a the unbiased label vector,
//! each figure f(p, y) of a true label becomes Σ_k a_k·f(p, k), whose mean over the reports is f(p, y) itself:
//!
//! > accuracy a_ŷ,  log loss -Σ a_k·ln p_k,  Brier score |p|² + 1 - 2⟨a, p⟩
//!
//! (in the last Σa is replaced by its mean, one, which is exact for reports of fixed size and spares the others some
//! noise). For true labels a = e_y, and the terms are those of the textbook.

use crate::labels::LabelVector;

/// Probabilities below this count as this, in logarithms only: a claim to be impossible costs at most 16.1 nats. It is the
/// resolution of 32-bit probabilities near one.
pub const PROBABILITY_FLOOR: f64 = 1e-7;

/// ln p, not below the logarithm of the floor.
fn ln(p: f32) -> f64 {
    f64::from(p).max(PROBABILITY_FLOOR).ln()
}

/// Σ_k a_k·g(p_k).
fn weighted(p: &[f32], a: LabelVector<'_>, g: impl Fn(f32) -> f64) -> f64 {
    let base = f64::from(a.base);
    let rest = if a.base == 0.0 { 0.0 } else { base * p.iter().map(|&p| g(p)).sum::<f64>() };
    let entries = a.entries.iter().map(|&(k, value)| (f64::from(value) - base) * g(p[k as usize]));
    rest + entries.sum::<f64>()
}

/// ŷ, the likeliest class; the smaller one on ties.
pub fn predicted(p: &[f32]) -> usize {
    let mut best = 0;
    for (k, &value) in p.iter().enumerate().skip(1) {
        if value > p[best] {
            best = k;
        }
    }
    best
}

/// a_ŷ.
pub fn accuracy(p: &[f32], a: LabelVector<'_>) -> f64 {
    f64::from(a.at(predicted(p) as u32))
}

/// Σ a_k over the `count` likeliest classes; smaller classes first on ties.
pub fn top_accuracy(p: &[f32], a: LabelVector<'_>, count: usize) -> f64 {
    let mut top: Vec<usize> = Vec::with_capacity(count + 1);
    for (k, &value) in p.iter().enumerate() {
        let place = top.partition_point(|&other| p[other] >= value);
        if place < count {
            top.insert(place, k);
            top.truncate(count);
        }
    }
    top.iter().map(|&k| f64::from(a.at(k as u32))).sum()
}

/// -Σ a_k·ln p_k.
pub fn log_loss(p: &[f32], a: LabelVector<'_>) -> f64 {
    -weighted(p, a, ln)
}

/// |p|² + 1 - 2⟨a, p⟩, between 0 and 2 for a true label.
pub fn brier(p: &[f32], a: LabelVector<'_>) -> f64 {
    let square: f64 = p.iter().map(|&p| f64::from(p) * f64::from(p)).sum();
    square + 1.0 - 2.0 * weighted(p, a, f64::from)
}

/// ln Σ_k p_k·P(S | k) - ln (1/K)·Σ_k P(S | k): how much likelier the model makes the report than even chances do.
///
/// Not the figure of any true label, but a proper score: its mean over reports is largest, among all p, at the
/// probabilities that the labels really have, wherever reports tell labels apart. It varies far less than the log loss,
/// since it never exceeds the realised ε. For true labels it is ln K less the log loss.
pub fn log_likelihood(p: &[f32], likelihood: LabelVector<'_>) -> f64 {
    let floored = |p: f32| f64::from(p).max(PROBABILITY_FLOOR);
    let even = 1.0 / p.len() as f64;
    (weighted(p, likelihood, floored) / weighted(p, likelihood, |_| even)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::LabelVectors;

    #[test]
    fn true_labels_give_the_figures_of_the_textbook() {
        let (p, labels) = ([0.2, 0.5, 0.3], LabelVectors::certain([1, 2]));
        let [right, wrong] = [labels.get(0), labels.get(1)];
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}");
        close(accuracy(&p, right), 1.0);
        close(accuracy(&p, wrong), 0.0);
        close(top_accuracy(&p, wrong, 2), 1.0);
        close(log_loss(&p, wrong), -(0.3f64.ln()));
        close(brier(&p, wrong), 0.04 + 0.25 + 0.49);
        close(log_likelihood(&p, wrong), (3.0f64 * 0.3).ln());
    }

    #[test]
    fn the_smaller_class_is_predicted_on_ties() {
        assert_eq!(predicted(&[0.25, 0.375, 0.375]), 1);
        let labels = LabelVectors::certain([0, 1, 2]);
        let second = |row| top_accuracy(&[0.25, 0.5, 0.25], labels.get(row), 2);
        assert_eq!([second(0), second(1), second(2)].map(f64::to_bits), [1.0, 1.0, 0.0].map(f64::to_bits));
    }

    #[test]
    fn a_claim_to_be_impossible_costs_no_more_than_the_floor() {
        let labels = LabelVectors::certain([0]);
        let loss = log_loss(&[0.0, 1.0], labels.get(0));
        assert!((loss + PROBABILITY_FLOOR.ln()).abs() < 1e-12);
        assert!(log_likelihood(&[0.0, 1.0], labels.get(0)).is_finite());
    }
}
