//! What is believed of each person's label: K probabilities in a row, before and after the report.

use crate::Matrix;
use crate::exponential::exponentials;
use rayon::prelude::*;

/// Rows that a core treats together.
const ROWS: usize = 1024;
/// What is taken for nothing.
const LEAST: f32 = 1e-30;

/// Scores become probabilities: softmax(β·score), row by row.
pub(crate) fn softmax(scores: &mut [f32], classes: usize, sharpness: f32) {
    scores.par_chunks_mut(ROWS * classes).for_each(|rows| {
        for row in rows.chunks_exact_mut(classes) {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for x in row {
                *x = sharpness * (*x - most);
            }
        }
        exponentials(rows);
        for row in rows.chunks_exact_mut(classes) {
            let part = 1.0 / row.iter().sum::<f32>();
            for x in row {
                *x *= part;
            }
        }
    });
}

/// ln P(report) under each person's probabilities: ln Σ_k π_k·E_k.
pub(crate) fn log_likelihoods(probabilities: &[f32], reports: &[f32], classes: usize) -> Vec<f64> {
    let one = |(p, e): (&[f32], &[f32])| {
        let sum: f32 = p.iter().zip(e).map(|(p, e)| p * e).sum();
        f64::from(sum.max(LEAST)).ln()
    };
    probabilities.par_chunks(classes).zip(reports.par_chunks(classes)).with_min_len(ROWS).map(one).collect()
}

/// The mean of it for softmax(β·score).
pub(crate) fn mean_log_likelihood(scores: &[f32], reports: &[f32], classes: usize, sharpness: f32) -> f64 {
    // Σ_k e^(β·s_k)·E_k / Σ_k e^(β·s_k)
    let one = |(weights, e): (&[f32], &[f32])| {
        let told: f32 = weights.iter().zip(e).map(|(weight, e)| weight * e).sum();
        f64::from((told / weights.iter().sum::<f32>()).max(LEAST))
    };
    let some = |(scores, reports): (&[f32], &[f32])| -> f64 {
        let mut weights = Vec::with_capacity(scores.len());
        for scores in scores.chunks_exact(classes) {
            let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            weights.extend(scores.iter().map(|score| sharpness * (score - most)));
        }
        exponentials(&mut weights);
        // The logarithm of a product of eight, each at least 10⁻³⁰, in place of eight logarithms
        let product = |(weights, e): (&[f32], &[f32])| {
            weights.chunks_exact(classes).zip(e.chunks_exact(classes)).map(one).product::<f64>().ln()
        };
        weights.chunks(8 * classes).zip(reports.chunks(8 * classes)).map(product).sum()
    };
    let blocks = scores.par_chunks(ROWS * classes).zip(reports.par_chunks(ROWS * classes));
    let parts: Vec<f64> = blocks.map(some).collect();
    parts.iter().sum::<f64>() / (scores.len() / classes) as f64
}

/// Bayes: q_k ∝ π_k·E_k.
pub(crate) fn posterior(probabilities: &Matrix, reports: &Matrix) -> Matrix {
    let classes = probabilities.columns();
    let mut out = probabilities.clone();
    out.values_mut()
        .par_chunks_mut(ROWS * classes)
        .zip(reports.values().par_chunks(ROWS * classes))
        .for_each(|(q, e)| {
            for (q, e) in q.chunks_exact_mut(classes).zip(e.chunks_exact(classes)) {
                q.iter_mut().zip(e).for_each(|(q, e)| *q *= e);
                let total: f32 = q.iter().sum();
                // A report that no likely label can have made says nothing
                if total > 0.0 {
                    for q in q {
                        *q /= total;
                    }
                } else {
                    q.fill(1.0 / classes as f32);
                }
            }
        });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bayes_by_hand() {
        let prior = Matrix::new(2, vec![0.25, 0.75, 0.5, 0.5]).unwrap();
        let reports = Matrix::new(2, vec![3.0, 1.0, 0.0, 2.0]).unwrap();
        assert_eq!(posterior(&prior, &reports).values(), [0.5, 0.5, 0.0, 1.0]);
        let logs = log_likelihoods(prior.values(), reports.values(), 2);
        assert!((logs[0] - 1.5f64.ln()).abs() < 1e-6 && logs[1].abs() < 1e-6);
    }

    #[test]
    fn the_likelihood_of_scores_is_that_of_their_probabilities() {
        let scores: Vec<f32> = (0..30).map(|i| (i as f32).sin()).collect();
        let reports: Vec<f32> = (0..30).map(|i| 1.0 + (i % 3) as f32).collect();
        let mut probabilities = scores.clone();
        softmax(&mut probabilities, 3, 2.5);
        let expected = log_likelihoods(&probabilities, &reports, 3).iter().sum::<f64>() / 10.0;
        assert!((mean_log_likelihood(&scores, &reports, 3, 2.5) - expected).abs() < 1e-5);
    }
}
