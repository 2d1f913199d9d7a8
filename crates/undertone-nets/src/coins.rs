//! Randomness of training: a stream for each purpose and place, so that nothing depends on who draws first.
//!
//! None of it protects anybody. What does was drawn on the devices.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::f64::consts::TAU;

/// What coins are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// First weights
    Weights = 1,
    /// The order of an epoch
    Order = 2,
    /// What is done to an image
    Image = 3,
    /// How much of two images is mixed
    Mix = 4,
    /// What a judge is asked to be known by
    Judge = 5,
}

/// A stream of coins.
#[derive(Clone, Debug)]
pub(crate) struct Coins(ChaCha8Rng);

impl Coins {
    /// Those of a purpose at place (a, b).
    pub(crate) fn new(seed: u64, purpose: Purpose, a: u64, b: u64) -> Self {
        let mut key = [0; 32];
        for (bytes, word) in key.chunks_exact_mut(8).zip([seed, purpose as u64, a, b]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Even on [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Even on 0..n, but for a bias of n/2^64.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Of the standard normal law, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }

    /// Of the law Γ(shape, 1): G. Marsaglia, W. W. Tsang, *A simple method for generating gamma variables* (2000); a shape
    /// below one by way of Γ(shape + 1)·U^(1/shape).
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let u = 1.0 - self.uniform();
            return self.gamma(shape + 1.0) * u.powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            if v > 0.0 && (1.0 - self.uniform()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// Of the law Beta(a, a).
    pub(crate) fn beta(&mut self, a: f64) -> f64 {
        let (x, y) = (self.gamma(a), self.gamma(a));
        // Both underflow together for a near zero only, where the law is a fair coin.
        if x + y > 0.0 { x / (x + y) } else { self.below(2) as f64 }
    }

    /// A permutation of 0..n.
    pub(crate) fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for end in (1..n).rev() {
            order.swap(end, self.below(end + 1));
        }
        order
    }

    /// Normal weights of this deviation.
    pub(crate) fn fill_normal(&mut self, weights: &mut [f32], deviation: f64) {
        for weight in weights {
            *weight = (self.normal() * deviation) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beta_has_the_mean_and_the_variance_of_the_textbook() {
        let n = 100_000;
        for a in [0.5, 1.0, 4.0] {
            let mut coins = Coins::new(1, Purpose::Mix, 0, 0);
            let drawn: Vec<f64> = (0..n).map(|_| coins.beta(a)).collect();
            let mean = drawn.iter().sum::<f64>() / f64::from(n);
            let variance = drawn.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>() / f64::from(n);
            let expected = 1.0 / (4.0 * (2.0 * a + 1.0));
            // Five sigma: |x - 1/2| is at most 1/2, so that (x - 1/2)² varies by at most expected/4
            assert!((mean - 0.5).abs() < 5.0 * (expected / f64::from(n)).sqrt(), "{a}: {mean}");
            assert!((variance - expected).abs() < 5.0 * (expected / 4.0 / f64::from(n)).sqrt(), "{a}");
        }
    }

    #[test]
    fn a_permutation_has_everything_once_and_depends_on_its_place() {
        let mut order = Coins::new(1, Purpose::Order, 0, 0).permutation(100);
        assert_ne!(order, Coins::new(1, Purpose::Order, 1, 0).permutation(100));
        assert_eq!(order, Coins::new(1, Purpose::Order, 0, 0).permutation(100));
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }
}
