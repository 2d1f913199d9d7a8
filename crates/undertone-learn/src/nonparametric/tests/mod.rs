//! What has to hold across the files: estimators against what they estimate, and the paper's mistakes shown to be mistakes.

mod beyond;
mod curator;
mod local;

use super::cells::*;
use super::*;
use crate::features::Rows;
use crate::labels::{Channel, LabelVectors};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::label::{Label, LabelKind};
use undertone_privacy::number::{Bounds, NumberKind, NumberMechanism};
use undertone_privacy::{Epsilon, Randomizer};

pub(super) fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

pub(super) fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

pub(super) fn uniform_rows(n: usize, width: usize, rng: &mut impl Rng) -> Rows {
    Rows::dense(width, (0..n * width).map(|_| unit(rng) as f32).collect())
}

/// P(y = 1 | x) of the first feature: between 0.1 and 0.9, steep in the middle.
pub(super) fn chance(x: f32) -> f64 {
    0.5 + 0.4 * (f64::from(x) * 2.0 * std::f64::consts::PI).sin()
}

/// True labels of two classes.
pub(super) fn labels(rows: &Rows, rng: &mut impl Rng) -> Vec<u32> {
    rows.iter().map(|row| u32::from(unit(rng) < chance(row.dense[0]))).collect()
}

/// What devices report about labels, as label vectors.
pub(super) fn reports(
    kind: LabelKind,
    classes: u32,
    value: f64,
    labels: &[u32],
    rng: &mut ChaCha12Rng,
) -> LabelVectors {
    let mechanism = kind.mechanism(classes, epsilon(value)).unwrap();
    let channel = Channel::of_mechanism(&mechanism);
    let mut vectors = LabelVectors::new();
    for &label in labels {
        let report = mechanism.randomize(&Label(label), rng).unwrap();
        channel.push_unbiased(report.members(), &[], &mut vectors).unwrap();
    }
    vectors
}
