//! Three classes around a circle:
//!
//! > P(y = j | x) = 1/3 + 0.3·cos(2π·(u - j/3)), u = φ + x_1 + … + x_d, j = 0, 1, 2
//!
//! β = 1; two classes meet where their difference passes through zero with a slope, so that γ = 1. φ is drawn.

use super::places::unit;
use crate::features::Row;
use rand_core::Rng;
use std::f64::consts::{FRAC_PI_3, TAU};

/// K
pub(super) const CLASSES: usize = 3;
/// How far chances leave one third
const HEIGHT: f64 = 0.3;

/// The chances of the three classes at any place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circle {
    phase: f64,
}

impl Circle {
    pub(super) fn draw(rng: &mut impl Rng) -> Self {
        Self { phase: unit(rng) }
    }

    pub(super) fn chances(self, row: Row<'_>) -> [f64; CLASSES] {
        let turn = TAU * row.dense.iter().fold(self.phase, |sum, &x| sum + f64::from(x));
        let (sine, cosine) = turn.sin_cos();
        let (a, b) = (0.5 * cosine, FRAC_PI_3.sin() * sine);
        // cos(θ - 2π/3) = -cos θ/2 + sin(π/3)·sin θ
        [cosine, b - a, -b - a].map(|wave| 1.0 / 3.0 + HEIGHT * wave)
    }

    /// A label of somebody there.
    pub(super) fn label(self, row: Row<'_>, rng: &mut impl Rng) -> u32 {
        let [first, second, _] = self.chances(row);
        let draw = unit(rng);
        u32::from(draw >= first) + u32::from(draw >= first + second)
    }

    /// By how much the chance of being right falls short of the best: η* - η_c.
    pub(super) fn excess(self, row: Row<'_>, prediction: &[f32]) -> f64 {
        let chances = self.chances(row);
        let chosen = (1..CLASSES).fold(0, |best, j| if prediction[j] > prediction[best] { j } else { best });
        chances.iter().copied().fold(f64::MIN, f64::max) - chances[chosen]
    }
}
