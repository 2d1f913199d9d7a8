//! Numbers to be learnt, as rough as β = 1/2 allows: waves of all octaves, in each axis by itself (after Weierstrass).
//!
//! > η(x) = A·Σ_axes Σ_k 2^(-k/2)·cos(2π·2^k·x + φ_k), A such that |η| ≤ 1
//!
//! Phases φ are drawn. Over a cell of width 1/m the mean of a wave of frequency f is the wave in the middle, shrunk by
//! sinc(f/m) = sin(πf/m)/(πf/m); so what cells cannot show is, over the phases,
//!
//! > B(m) = d·A²/2·Σ_k 2^-k·(1 - sinc²(2^k/m))

use super::places::unit;
use crate::features::Row;
use rand_core::Rng;
use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

/// β
pub(super) const BETA: f64 = 0.5;
/// Frequencies are 1, 2, 4, …, 2^19.
const OCTAVES: usize = 20;

/// The number to be learnt at any place.
#[derive(Clone, Debug)]
pub(super) struct Waves {
    height: f64,
    /// For each axis, (cos φ_k, sin φ_k)
    turns: Vec<[(f64, f64); OCTAVES]>,
}

/// A, for d axes.
fn height(dimension: u32) -> f64 {
    let sum: f64 = (0..OCTAVES).map(|k| FRAC_1_SQRT_2.powi(k as i32)).sum();
    1.0 / (f64::from(dimension) * sum)
}

/// sin(πx)/(πx)
fn sinc(x: f64) -> f64 {
    (PI * x).sin() / (PI * x)
}

/// The mean of η² over places and phases.
pub(super) fn square(dimension: u32) -> f64 {
    let powers: f64 = (0..OCTAVES).map(|k| 0.5f64.powi(k as i32)).sum();
    f64::from(dimension) * height(dimension).powi(2) / 2.0 * powers
}

/// B(m).
pub(super) fn unresolved(parts: u32, dimension: u32) -> f64 {
    let lost = |k: usize| {
        let frequency = 2f64.powi(k as i32);
        (1.0 - sinc(frequency / f64::from(parts)).powi(2)) / frequency
    };
    f64::from(dimension) * height(dimension).powi(2) / 2.0 * (0..OCTAVES).map(lost).sum::<f64>()
}

impl Waves {
    pub(super) fn draw(dimension: u32, rng: &mut impl Rng) -> Self {
        let mut turn = || {
            let (sine, cosine) = (TAU * unit(rng)).sin_cos();
            (cosine, sine)
        };
        let turns = (0..dimension).map(|_| std::array::from_fn(|_| turn())).collect();
        Self { height: height(dimension), turns }
    }

    /// η(x).
    pub(super) fn at(&self, row: Row<'_>) -> f64 {
        let each = self.turns.iter().zip(row.dense);
        each.map(|(turns, &x)| self.along(turns, f64::from(x), |_| 1.0)).sum()
    }

    /// The mean of η over the cell with these steps along the axes, of `parts` each.
    pub(super) fn cell_means(&self, parts: u32) -> Vec<Vec<f64>> {
        let shrink: Vec<f64> = (0..OCTAVES).map(|k| sinc(2f64.powi(k as i32) / f64::from(parts))).collect();
        let middle = |step: u32| (f64::from(step) + 0.5) / f64::from(parts);
        let axis = |turns| (0..parts).map(|step| self.along(turns, middle(step), |k| shrink[k])).collect();
        self.turns.iter().map(axis).collect()
    }

    /// The waves of an axis, of which each octave counts as `weight` says.
    fn along(&self, turns: &[(f64, f64); OCTAVES], x: f64, weight: impl Fn(usize) -> f64) -> f64 {
        let (mut sine, mut cosine) = (TAU * x).sin_cos();
        let (mut sum, mut size) = (0.0, 1.0);
        for (k, &(turn_cosine, turn_sine)) in turns.iter().enumerate() {
            sum += size * weight(k) * (cosine * turn_cosine - sine * turn_sine);
            // The next octave, by doubling the angle
            (cosine, sine) = (cosine * cosine - sine * sine, 2.0 * cosine * sine);
            size *= FRAC_1_SQRT_2;
        }
        self.height * sum
    }
}
