//! What has to hold for descents: the recursion worked by hand, the laws of their errors, and how often intervals cover.

mod bias;
mod coverage;
mod misprints;
mod recursion;
pub(super) mod simulation;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// Normal numbers from a seed, two at a time (Marsaglia's polar method): for simulation only.
pub(super) struct Normals {
    rng: ChaCha8Rng,
    spare: Option<f64>,
}

impl Normals {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), spare: None }
    }

    /// Uniform on [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (a, b) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = a * a + b * b;
            if square < 1.0 && square > 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(b * factor);
                return a * factor;
            }
        }
    }
}

/// A mean with its standard error.
pub(super) struct Sample {
    pub(super) mean: f64,
    pub(super) error: f64,
}

pub(super) fn sample(values: &[f64]) -> Sample {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Sample { mean, error: (variance / n).sqrt() }
}
