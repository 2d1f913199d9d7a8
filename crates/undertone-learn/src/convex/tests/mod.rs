//! What has to hold for every algorithm here: estimators against enumeration, excess risk against theory, and the papers'
//! mistakes shown to be mistakes.

mod descents;
mod estimators;
mod misprints;

use super::*;
use crate::labels::LabelVectors;
use crate::loss::Loss;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::label::{LabelKind, LabelMechanism, LabelRandomizer, LabelSet};
use undertone_privacy::{Epsilon, Randomizer};

pub(super) fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Normal numbers.
pub(super) fn normals(seed: u64, count: usize) -> Vec<f64> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut normal = || (-2.0 * (1.0 - unit()).ln()).sqrt() * (2.0 * std::f64::consts::PI * unit()).cos();
    (0..count).map(|_| normal()).collect()
}

/// A mean with its standard error.
struct Sample {
    mean: f64,
    error: f64,
}

fn sample(values: &[f64]) -> Sample {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Sample { mean, error: (variance / n).sqrt() }
}

/// Every report on K labels, with its probability under `truth` and its label vector.
fn reports(mechanism: &LabelMechanism, truth: u32) -> Vec<(f64, LabelVectors)> {
    let channel = crate::labels::Channel::of_mechanism(mechanism);
    let sets = (0..1u32 << mechanism.labels())
        .map(|bits| (0..mechanism.labels()).filter(|k| bits >> k & 1 == 1).collect());
    let report = |set: Vec<u32>| {
        let p = mechanism.ln_probability(&LabelSet::new(set.clone()), truth).exp();
        let mut vectors = LabelVectors::new();
        (p > 0.0).then(|| channel.push_unbiased(&set, &[], &mut vectors).unwrap())?;
        Some((p, vectors))
    };
    sets.filter_map(report).collect()
}

fn mechanisms(labels: u32, value: f64) -> Vec<LabelMechanism> {
    LabelKind::ALL.iter().map(|kind| kind.mechanism(labels, epsilon(value)).unwrap()).collect()
}

fn gradients<L: ConvexLoss>(loss: &L, w: &[f64], x: &L::Features) -> Vec<Vec<f64>> {
    let gradient = |k| {
        let mut gradient = vec![0.0; loss.dimension()];
        loss.add_gradient(w, x, k, 1.0, &mut gradient);
        gradient
    };
    (0..loss.labels()).map(gradient).collect()
}

fn linear(loss: Loss) -> LinearLoss {
    LinearLoss::new(loss, 4, 3, 1.5, 4.0).unwrap()
}

/// Some weights for four labels and three features, and a row of length below 1.5.
fn weights_and_row(seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut draws = normals(seed, 15);
    let mut x = draws.split_off(12);
    let norm = dot(&x, &x).sqrt();
    for x in &mut x {
        *x *= 1.3 / norm;
    }
    (draws, x)
}
