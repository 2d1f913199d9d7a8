//! The excess risk of means of cells under label privacy with a curator, in closed form.
//!
//! With m cells along each axis, n = N/m^d people in each, labels ±R clipped at T and noise of scale 2T/(n·ε),
//!
//! > B(m) + (1 - E min(R, T))²·E η̄² + (E min(R, T)² - …)/n + 8T²/(n·ε)²
//!
//! where η̄ is the mean of η over a cell. Nothing is bounded here: every term is what it is for the problem that is run. (n is
//! taken as fixed; its spread adds a share of about 1/n. That answers are clipped to ±T is left out, as |η| ≤ 1.)

use super::pareto::{self, MOMENT, ORDER};
use super::setting::Setting;
use super::waves;
use crate::LearnError;
use crate::nonparametric::rates::{Task, cells_per_axis, central_clip};
use serde::Serialize;

/// What the excess is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Terms {
    /// m, the cells along each axis
    pub parts: u32,
    /// n, the people in a cell
    pub people: f64,
    /// T
    pub clip: f64,
    /// What cells are too coarse to show
    pub approximation: f64,
    /// What clipping takes away, squared
    pub clipping: f64,
    /// The variance of labels
    pub sampling: f64,
    /// The variance of the noise
    pub noise: f64,
}

impl Terms {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.approximation + self.clipping + self.sampling + self.noise
    }
}

impl Setting {
    /// The terms for numbers and a curator.
    pub fn terms(&self, people: u64) -> Result<Terms, LearnError> {
        let parts = cells_per_axis(self.width(people)?)?;
        let in_cell = people as f64 / f64::from(parts).powf(f64::from(self.dimension));
        let clip = self.cell_clip(in_cell);
        let (first, second) = self.label_moments(clip);
        let approximation = waves::unresolved(parts, self.dimension);
        let seen = waves::square(self.dimension) - approximation;
        Ok(Terms {
            parts,
            people: in_cell,
            clip,
            approximation,
            clipping: (1.0 - first).powi(2) * seen,
            sampling: (second - first * first * seen) / in_cell,
            noise: 8.0 * (clip / (in_cell * self.epsilon.get())).powi(2),
        })
    }

    /// T of a cell.
    pub(super) fn cell_clip(&self, in_cell: f64) -> f64 {
        match self.task {
            Task::Heavy => central_clip(ORDER, MOMENT, in_cell, self.epsilon.get()),
            _ => 1.0,
        }
    }

    /// E min(R, T) and E min(R, T)².
    pub(super) fn label_moments(&self, clip: f64) -> (f64, f64) {
        match self.task {
            Task::Heavy => (pareto::clipped(clip, 1), pareto::clipped(clip, 2)),
            _ => (1.0, 1.0),
        }
    }
}
