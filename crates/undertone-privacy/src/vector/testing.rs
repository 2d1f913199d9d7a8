//! What the tests of the vector mechanisms share.

use super::{Ball, BallVector, STEPS, VectorRandomizer};
use crate::{Delta, Epsilon, Mu};
use alloc::vec;
use alloc::vec::Vec;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;

pub(super) fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

pub(super) fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

pub(super) fn mu(value: f64) -> Mu {
    Mu::new(value).unwrap()
}

/// The unit ball.
pub(super) fn ball(dimension: usize) -> Ball {
    Ball::new(dimension, 1.0).unwrap()
}

/// A vector of this share of the radius, with the same entry in every coordinate.
pub(super) fn corner(ball: Ball, length: f64) -> BallVector {
    let entry = (length * f64::from(STEPS) / (ball.dimension() as f64).sqrt()) as i64;
    ball.clamp_steps(&vec![entry; ball.dimension()]).unwrap()
}

/// Draws reports about `input` and compares the mean of the estimates, and of their squared error, with what the
/// mechanism says of itself, within five standard errors.
pub(super) fn estimates_match_the_stated_moments<R: VectorRandomizer>(
    mechanism: &R,
    input: &BallVector,
    trials: u32,
) {
    let mut rng = ChaCha12Rng::seed_from_u64(2026);
    let truth = mechanism.truth(input);
    let n = f64::from(trials);
    let (mut first, mut second) = (vec![0.0; truth.len()], vec![0.0; truth.len()]);
    let (mut loss, mut loss_square) = (0.0, 0.0);
    for _ in 0..trials {
        let estimate = mechanism.estimate(&mechanism.randomize(input, &mut rng).unwrap());
        let errors: Vec<f64> = estimate.iter().zip(&truth).map(|(x, t)| x - t).collect();
        for (j, e) in errors.iter().enumerate() {
            first[j] += e / n;
            second[j] += e * e / n;
        }
        let square: f64 = errors.iter().map(|e| e * e).sum();
        loss += square / n;
        loss_square += square * square / n;
    }
    for (j, (mean, square)) in first.iter().zip(&second).enumerate() {
        assert!(
            mean.abs() <= 5.0 * (square / n).sqrt(),
            "coordinate {j} is off by {mean} with variance {square}"
        );
    }
    let stated = mechanism.variance(input);
    let deviation = ((loss_square - loss * loss).max(0.0) / n).sqrt();
    assert!(
        (loss - stated).abs() <= 5.0 * deviation + 1e-5 * stated,
        "{loss} ± {deviation} against {stated}"
    );
}
