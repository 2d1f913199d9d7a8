//! What the paper prints: widths (their constants, of which it says nothing, are one), neighbours, clips, and means of cells.

use super::pareto::ORDER;
use super::setting::Setting;
use super::waves::BETA;
use crate::LearnError;
use crate::features::{Row, Rows};
use crate::nonparametric::TrustModel;
use crate::nonparametric::rates::{Task, cells_per_axis, neighbours};
use crate::nonparametric::targets::place;
use rand_core::CryptoRng;
use undertone_privacy::Randomizer;
use undertone_privacy::central::NoisySum;
use undertone_privacy::number::Bounds;

impl Setting {
    /// h of Theorems 2, 4, 8 and 12, below one. The exponent of the last lacks a factor p - 1.
    ///
    /// > classes: (N(ε² ∧ 1)/ln K)^(-1/(2β+d)), or (ln K/(εN))^(1/(β+d)) + (ln K/N)^(1/(2β+d)) with a curator;
    /// > numbers: N^(-1/(2β+d)) + (εN)^(-1/(β+d)), or … + (εN)^(-1/(pβ+d(p-1))) for heavy tails
    pub(super) fn printed_width(&self, people: u64) -> f64 {
        let problem = self.problem(people);
        let (b, d, n, epsilon) = (problem.beta, f64::from(self.dimension), people as f64, self.epsilon.get());
        let ln_k = f64::from(problem.classes).ln();
        let width = match (self.task, self.trust) {
            (Task::Classification, TrustModel::LabelLocal) => {
                (n * (epsilon * epsilon).min(1.0) / ln_k).powf(-1.0 / (2.0 * b + d))
            }
            (Task::Classification, _) => {
                (ln_k / (epsilon * n)).powf(1.0 / (b + d)) + (ln_k / n).powf(1.0 / (2.0 * b + d))
            }
            (Task::Regression, _) => n.powf(-1.0 / (2.0 * b + d)) + (epsilon * n).powf(-1.0 / (b + d)),
            (Task::Heavy, _) => {
                let private = (epsilon * n).powf(-1.0 / (ORDER * b + d * (ORDER - 1.0)));
                n.powf(-1.0 / (2.0 * b + d)) + private
            }
        };
        width.min(0.999)
    }

    /// k of Theorems 6 and 10, which say nothing about constants: with that which minimises the bound for Laplace noise, and with ours
    /// for heavy tails.
    ///
    /// > N^(2β/(d+2β))·(ε ∧ 1)^(-2d/(d+2β)), and (Nε²)^(2β/(2pβ+d(p-1))) ∨ N^(2β/(2β+d)) for heavy tails
    pub(super) fn printed_neighbours(&self, people: u64) -> f64 {
        let (d, n, epsilon) = (f64::from(self.dimension), people as f64, self.epsilon.get());
        if self.task != Task::Heavy {
            return neighbours(people, self.dimension, BETA, 1.0 + 8.0 / (epsilon * epsilon));
        }
        let power = 2.0 * BETA / (2.0 * ORDER * BETA + d * (ORDER - 1.0));
        let alone = n.powf(2.0 * BETA / (d + 2.0 * BETA));
        (self.constant * (n * epsilon * epsilon).powf(power).max(alone)).round().clamp(1.0, n)
    }
}

/// Means of the occupied cells of a regular grid with noise (eq. 23 with the T that it lacks, eq. 28); an empty cell says zero.
pub(super) struct CellMeans {
    parts: u32,
    means: Vec<f64>,
}

impl CellMeans {
    pub(super) fn release(
        width: f64,
        rows: &Rows,
        labels: &[f64],
        bounds: Bounds,
        setting: &Setting,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, LearnError> {
        let parts = cells_per_axis(width)?;
        let mut cells = vec![Vec::new(); parts.pow(setting.dimension) as usize];
        let (numbers, _) = place(bounds, labels)?;
        for (row, number) in rows.iter().zip(numbers) {
            cells[cell(parts, row)].push(number);
        }
        let sum = NoisySum::new(bounds, setting.epsilon)?;
        let mut mean = |numbers: &Vec<_>| -> Result<f64, LearnError> {
            if numbers.is_empty() {
                return Ok(0.0);
            }
            let total = sum.decode(sum.randomize(numbers, rng)?, numbers.len() as u64);
            Ok(total / numbers.len() as f64)
        };
        let means = cells.iter().map(&mut mean).collect::<Result<_, _>>()?;
        Ok(Self { parts, means })
    }

    pub(super) fn at(&self, row: Row<'_>) -> f64 {
        self.means[cell(self.parts, row)]
    }
}

/// Which of `parts`^d cubes a place is in.
fn cell(parts: u32, row: Row<'_>) -> usize {
    let step = |x: f32| ((f64::from(x) * f64::from(parts)) as u32).min(parts - 1);
    row.dense.iter().fold(0, |cell, &x| cell * parts as usize + step(x) as usize)
}
