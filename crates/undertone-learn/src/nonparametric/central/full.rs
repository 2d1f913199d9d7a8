//! A curator who keeps whole records: nothing about anybody's features may show, so the box, the grid and T are fixed
//! beforehand, **every** cell answers with the same noise, and how many people a cell holds is never said.
//!
//! Classes: eq. 31, and the same with the whole budget ([`CellVotes`]). Numbers: eq. 33–36 ([`FlooredMeans`]), the same with
//! the noise that is needed, and the two-sided sums, which are the default ([`TwoSidedSums`]). Neighbouring data sets differ in
//! one record; N is public.

use super::label::same_length;
use crate::LearnError;
use crate::features::Rows;
use crate::nonparametric::cells::{Axes, Axis, AxisScale, CubeGrid, Partition, check_finite};
use crate::nonparametric::sums::Sums;
use crate::nonparametric::targets::{Output, place};
use crate::nonparametric::{CellModel, TrustModel};
use rand_core::CryptoRng;
use undertone_privacy::central::{CellVotes, FlooredMeans, TwoSidedSums};
use undertone_privacy::number::Bounds;
use undertone_privacy::{Epsilon, Randomizer};

/// As many cells answer at most.
pub const MOST_CELLS: u32 = 10_000_000;

/// A grid that was fixed before anybody was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicGrid {
    partition: Partition,
    first: usize,
    cells: u32,
}

/// How the numbers of a public grid are released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullNumbers {
    /// Two sums for each cell
    TwoSided,
    /// Means of at least n₀ people, with the least noise that keeps the promise
    Floored(u32),
    /// The same with the noise that was published
    FlooredAsPublished(u32),
}

impl PublicGrid {
    /// Each side of a box, (low, high), cut into `parts`; what lies outside belongs to the nearest cell. Too many cells are
    /// refused.
    pub fn new(sides: &[(f32, f32)], parts: u32) -> Result<Self, LearnError> {
        Self::of_axes(Axes::of_box(sides)?, parts)
    }

    /// The same over axes of a public domain ([`Axes::of_domain`]): levels are matched exactly, and a category of L levels has L + 1
    /// parts, of which one is for none of them. A cell that backs off does so to the cells without the last category.
    pub fn of_axes(axes: Axes, parts: u32) -> Result<Self, LearnError> {
        let too_many = |cells: f64| LearnError::Parameter {
            what: "the number of cells, which all have to answer,",
            value: cells,
            expected: "at most 10 million",
        };
        let parts_of = |axis: &Axis| match axis.scale {
            AxisScale::Level(_) => f64::from(axis.others) + 2.0,
            AxisScale::Quantiles(_) => f64::from(parts),
        };
        let expected: f64 = axes.axes().iter().map(parts_of).product();
        // Before their keys run out of bits
        if expected > f64::from(MOST_CELLS) {
            return Err(too_many(expected));
        }
        let grid = CubeGrid::new(axes, parts)?;
        let cells = grid.all_cells();
        if cells > f64::from(MOST_CELLS) {
            return Err(too_many(cells));
        }
        let partition = Partition::all_cubes(grid);
        let cells = cells as u32;
        Ok(Self { first: partition.nodes() - cells as usize, partition, cells })
    }

    /// The number of cells.
    pub fn cells(&self) -> u32 {
        self.cells
    }

    /// The cell of each row.
    fn cells_of(&self, rows: &Rows) -> Result<Vec<u32>, LearnError> {
        self.partition.axes().check(rows)?;
        check_finite(rows)?;
        Ok(rows.iter().map(|row| (self.partition.locate(row) - self.first) as u32).collect())
    }

    /// A class for each cell; `published` is eq. 31, which spends half of the budget.
    pub fn release_classes(
        &self,
        rows: &Rows,
        labels: &[u32],
        classes: u32,
        published: bool,
        epsilon: Epsilon,
        rng: &mut impl CryptoRng,
    ) -> Result<CellModel, LearnError> {
        same_length(labels.len(), rows)?;
        let new = if published { CellVotes::as_published } else { CellVotes::new };
        let votes = self.cells_of(rows)?.into_iter().zip(labels.iter().copied()).collect();
        let chosen = new(self.cells, classes, epsilon)?.randomize(&votes, rng)?;
        let k = classes as usize;
        // A parent says what most of its cells say.
        let mut sums = Sums::new(self.partition.nodes(), k);
        for (cell, class) in chosen.into_iter().enumerate() {
            sums.people[self.first + cell] = 1.0;
            sums.node_mut(self.first + cell)[class as usize] = 1.0;
        }
        sums.roll_up(&self.partition);
        let output = Output::Classes(k);
        let values = sums.settle(&self.partition, |_| true, |means, into| output.settle(means, into));
        Ok(CellModel::released(TrustModel::FullCentral, output, self.partition.clone(), values))
    }

    /// A mean for each cell, of numbers that are clipped to the bounds; the curator, and nobody else, is told how many
    /// were.
    pub fn release_numbers(
        &self,
        rows: &Rows,
        labels: &[f64],
        bounds: Bounds,
        release: FullNumbers,
        epsilon: Epsilon,
        rng: &mut impl CryptoRng,
    ) -> Result<(CellModel, u64), LearnError> {
        same_length(labels.len(), rows)?;
        let (numbers, clipped) = place(bounds, labels)?;
        let people = self.cells_of(rows)?.into_iter().zip(numbers).collect();
        let output = Output::Number { low: bounds.low(), high: bounds.high() };
        let floored = |mechanism: &FlooredMeans, rng: &mut _| -> Result<_, LearnError> {
            let mut sums = Sums::new(self.partition.nodes(), 1);
            for (cell, report) in mechanism.randomize(&people, rng)?.into_iter().enumerate() {
                sums.people[self.first + cell] = 1.0;
                sums.node_mut(self.first + cell)[0] = mechanism.decode(report);
            }
            sums.roll_up(&self.partition);
            Ok(sums.settle(&self.partition, |_| true, |means, into| output.settle(means, into)))
        };
        let values = match release {
            FullNumbers::TwoSided => {
                let mechanism = TwoSidedSums::new(self.cells, bounds, epsilon)?;
                self.two_sided(&mechanism.randomize(&people, rng)?, bounds, output, epsilon)
            }
            FullNumbers::Floored(n) => floored(&FlooredMeans::new(self.cells, bounds, n, epsilon)?, rng)?,
            FullNumbers::FlooredAsPublished(n) => {
                floored(&FlooredMeans::as_published(self.cells, bounds, n, epsilon)?, rng)?
            }
        };
        let model = CellModel::released(TrustModel::FullCentral, output, self.partition.clone(), values);
        Ok((model, clipped))
    }

    /// Means from (A, B): a node whose A + B is within the noise of its cells, 4/ε times the root of their number, says what
    /// its parent says.
    fn two_sided(&self, reports: &[[i64; 2]], bounds: Bounds, output: Output, epsilon: Epsilon) -> Vec<f32> {
        let steps = f64::from(bounds.steps());
        // A and the number of cells are summed, and A + B takes the place of the people.
        let mut sums = Sums::new(self.partition.nodes(), 2);
        for (cell, [up, down]) in reports.iter().enumerate() {
            sums.people[self.first + cell] = (up.saturating_add(*down)) as f64 / steps;
            sums.node_mut(self.first + cell).copy_from_slice(&[*up as f64 / steps, 1.0]);
        }
        sums.roll_up(&self.partition);
        let mut means = Sums::new(self.partition.nodes(), 1);
        let width = bounds.high() - bounds.low();
        for node in 0..self.partition.nodes() {
            let (up, people) = (sums.node(node)[0], sums.people[node]);
            means.people[node] = 1.0;
            // Without anybody to speak of, the middle.
            let share = if people > 1.0 { up / people } else { 0.5 };
            means.node_mut(node)[0] = bounds.low() + width * share;
        }
        let enough = |node: usize| sums.people[node] > 4.0 / epsilon.get() * sums.node(node)[1].sqrt();
        means.settle(&self.partition, enough, |means, into| output.settle(means, into))
    }
}
