//! Several beliefs become one: a weighted sum of their logarithms.

use crate::Matrix;
use crate::beliefs::{log_likelihoods, softmax};

/// Weights that are tried.
const WEIGHTS: [f32; 8] = [0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.4];
/// How often all are gone through.
const ROUNDS: usize = 3;

/// Weights, from `start`, that make the reports likelier; a step has to gain more than so many standard errors, as luck gains half of the
/// time.
pub(crate) fn weights(beliefs: &[Matrix], reports: &Matrix, start: &[f32], errors: f64) -> (Vec<f32>, f64) {
    let classes = reports.columns();
    let judged = |weights: &[f32]| {
        let sum = blend(beliefs, weights);
        log_likelihoods(sum.values(), reports.values(), classes)
    };
    let mut weights = start.to_vec();
    let mut current = judged(&weights);
    for _ in 0..ROUNDS {
        let before = weights.clone();
        for which in 0..beliefs.len() {
            for weight in WEIGHTS {
                let mut tried = weights.clone();
                tried[which] = weight;
                if tried == weights || tried.iter().all(|&weight| weight == 0.0) {
                    continue;
                }
                let likelihoods = judged(&tried);
                let (gain, error) = difference(&likelihoods, &current);
                if gain > (errors * error).max(rounding(classes)) {
                    (weights, current) = (tried, likelihoods);
                }
            }
        }
        if weights == before {
            break;
        }
    }
    let mean = current.iter().sum::<f64>() / current.len() as f64;
    (weights, mean)
}

/// What the logarithm of a sum of K products in single precision may be off by.
pub(crate) fn rounding(classes: usize) -> f64 {
    (classes + 2) as f64 * f64::from(f32::EPSILON)
}

/// softmax of the weighted sum of log probabilities.
pub(crate) fn blend(beliefs: &[Matrix], weights: &[f32]) -> Matrix {
    let mut sum = Matrix::zeros(beliefs[0].rows(), beliefs[0].columns());
    for (belief, &weight) in beliefs.iter().zip(weights) {
        if weight != 0.0 {
            sum.values_mut().iter_mut().zip(belief.values()).for_each(|(sum, x)| *sum += weight * x);
        }
    }
    let classes = sum.columns();
    softmax(sum.values_mut(), classes, 1.0);
    sum
}

/// The mean of a - b and its standard error.
pub(crate) fn difference(a: &[f64], b: &[f64]) -> (f64, f64) {
    let n = a.len() as f64;
    let differences = || a.iter().zip(b).map(|(a, b)| a - b);
    let mean = differences().sum::<f64>() / n;
    let variance = differences().map(|d| (d - mean) * (d - mean)).sum::<f64>() / n;
    (mean, (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_belief_that_knows_is_followed_and_the_one_that_does_not_is_not() {
        let people = 2000;
        let knows = Matrix::from_fn(people, 2, |i, k| (if i % 2 == k { 0.9f32 } else { 0.1 }).ln());
        let guesses = Matrix::from_fn(people, 2, |i, k| (if i / 2 % 2 == k { 0.9f32 } else { 0.1 }).ln());
        let reports = Matrix::from_fn(people, 2, |i, k| if i % 2 == k { 3.0 } else { 1.0 });
        let (found, mean) = weights(&[guesses, knows.clone()], &reports, &[1.0, 0.0], 1.0);
        assert!(found[0] == 0.0 && found[1] >= 1.0, "{found:?}");
        let alone = log_likelihoods(blend(&[knows], &[1.0]).values(), reports.values(), 2);
        assert!(mean >= alone.iter().sum::<f64>() / people as f64 - 1e-9);
    }
}
