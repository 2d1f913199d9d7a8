//! What the mechanisms that add integer noise to each coordinate have in common.

use super::{Ball, BallVector};
use crate::PrivacyError;
use alloc::vec::Vec;

/// k + noise. The noise of every scale in use is far from the ends of `i64`, where the sum would saturate.
pub(super) fn perturb(
    ball: Ball,
    input: &BallVector,
    mut draw: impl FnMut() -> i64,
) -> Result<Vec<i64>, PrivacyError> {
    ball.check(input)?;
    Ok(input.steps().iter().map(|&k| i64::from(k).saturating_add(draw())).collect())
}

/// ln P(report | input) = Σ ln P(noise_j = report_j − k_j), the coordinates being independent.
pub(super) fn ln_likelihood(report: &[i64], input: &BallVector, ln_pmf: impl Fn(i64) -> f64) -> f64 {
    if report.len() != input.steps().len() {
        return f64::NEG_INFINITY;
    }
    report.iter().zip(input.steps()).map(|(&y, &k)| ln_pmf(y.saturating_sub(i64::from(k)))).sum()
}

/// The report in units of the data: noise without a mean leaves it unbiased.
pub(super) fn estimate(ball: Ball, report: &[i64]) -> Vec<f64> {
    report.iter().map(|&y| ball.length_of(y as f64)).collect()
}

/// Bytes of a report: one `i64` for each coordinate.
pub(super) fn report_bytes(ball: Ball) -> usize {
    8 * ball.dimension()
}
