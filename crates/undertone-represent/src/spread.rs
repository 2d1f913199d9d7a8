//! Where rows lie on average, and how they spread around that, from blocks of them that need not be in memory together.
//!
//! With c the mean of the first block,
//!
//! > Σ(x - m)(x - m)'/n = Σ(x - c)(x - c)'/n - (m - c)(m - c)'
//!
//! **Rounding.** What is subtracted is at most n/b times the difference, for a first block of b rows: along any direction these alone
//! spread by (b/n)·(m - c)² around m. Around zero instead of c it could be any number of times as much.

use crate::{Matrix, RepresentError};
use rayon::prelude::*;

/// Rows that are in memory a second time while they are added.
pub(crate) const BLOCK: usize = 2048;

/// Sums over the rows so far.
pub(crate) struct Sums {
    rows: usize,
    /// c
    centre: Vec<f32>,
    /// Σ(x - c)
    away: Vec<f64>,
    /// Σ(x - c)(x - c)', of which the lower half is made
    products: Matrix,
}

/// Mean and covariances of rows.
pub(crate) struct Spread {
    pub(crate) rows: usize,
    pub(crate) mean: Vec<f32>,
    pub(crate) covariance: Matrix,
}

impl Sums {
    /// Of no rows yet.
    pub(crate) fn new(columns: usize) -> Self {
        let products = Matrix::zeros(columns, columns);
        Self { rows: 0, centre: Vec::new(), away: vec![0.0; columns], products }
    }

    /// Adds the next rows; refuses what is no number.
    pub(crate) fn add(&mut self, mut block: Matrix) -> Result<(), RepresentError> {
        block.check_finite_from("a feature", self.rows)?;
        if self.rows == 0 {
            self.centre = column_means(&block);
        }
        let centre = &self.centre;
        block.values_mut().par_chunks_mut(centre.len()).for_each(|row| {
            row.iter_mut().zip(centre).for_each(|(x, centre)| *x -= centre);
        });
        for row in block.values().chunks_exact(centre.len()) {
            self.away.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
        }
        block.add_gram(&mut self.products, 1.0);
        self.rows += block.rows();
        Ok(())
    }

    /// What they tell of all rows.
    pub(crate) fn finish(self) -> Spread {
        let Self { rows, centre, away, mut products } = self;
        let share = 1.0 / rows as f64;
        let away: Vec<f64> = away.iter().map(|sum| sum * share).collect();
        products.mirror();
        products.values_mut().par_chunks_mut(away.len().max(1)).zip(&away).for_each(|(row, own)| {
            for (value, other) in row.iter_mut().zip(&away) {
                *value = (f64::from(*value) * share - own * other) as f32;
            }
        });
        let mean = centre.iter().zip(&away).map(|(&c, away)| (f64::from(c) + away) as f32).collect();
        Spread { rows, mean, covariance: products }
    }
}

impl Spread {
    /// Of rows that are in memory.
    pub(crate) fn of(rows: &Matrix) -> Result<Self, RepresentError> {
        let mut sums = Sums::new(rows.columns());
        rows.blocks(BLOCK).try_for_each(|block| sums.add(block))?;
        Ok(sums.finish())
    }

    /// The same of rows whose columns are multiplied by these numbers.
    pub(crate) fn scale(&mut self, scale: &[f32]) {
        self.mean.iter_mut().zip(scale).for_each(|(mean, scale)| *mean *= scale);
        self.covariance.values_mut().par_chunks_mut(scale.len().max(1)).zip(scale).for_each(|(row, own)| {
            row.iter_mut().zip(scale).for_each(|(value, scale)| *value *= own * scale);
        });
    }

    /// The mean of a column, and its variance.
    pub(crate) fn column(&self, column: usize) -> (f64, f64) {
        (f64::from(self.mean[column]), f64::from(self.covariance.row(column)[column]))
    }
}

fn column_means(rows: &Matrix) -> Vec<f32> {
    let mut sums = vec![0.0f64; rows.columns()];
    for row in rows.values().chunks_exact(rows.columns()) {
        sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    sums.iter().map(|sum| (sum / rows.rows() as f64) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows whose mean drifts, so that the first block is not like the others, far from zero.
    fn drifting(rows: usize) -> Matrix {
        Matrix::from_fn(rows, 3, |i, j| {
            1000.0 + i as f32 * (j as f32 - 0.5) / 40.0 + ((i * (j + 2)) as f32).sin()
        })
    }

    #[test]
    fn blocks_tell_what_all_rows_together_do() {
        let rows = drifting(900);
        let mut sums = Sums::new(3);
        for block in rows.blocks(100) {
            sums.add(block).unwrap();
        }
        let found = sums.finish();
        // By the definition, in double precision
        let value = |i: usize, j: usize| f64::from(rows.row(i)[j]);
        let mean = |j: usize| (0..900).map(|i| value(i, j)).sum::<f64>() / 900.0;
        for j in 0..3 {
            assert!((f64::from(found.mean[j]) - mean(j)).abs() < 1e-4);
            for k in 0..3 {
                let both = |i: usize| (value(i, j) - mean(j)) * (value(i, k) - mean(k));
                let expected = (0..900).map(both).sum::<f64>() / 900.0;
                let value = f64::from(found.covariance.row(j)[k]);
                assert!((value - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{value} for {expected}");
            }
        }
    }

    #[test]
    fn scaled_it_is_that_of_scaled_rows() {
        let scale = [0.5, 3.0, 0.0];
        let mut found = Spread::of(&drifting(50)).unwrap();
        found.scale(&scale);
        let rows = drifting(50);
        let expected = Spread::of(&Matrix::from_fn(50, 3, |i, j| rows.row(i)[j] * scale[j])).unwrap();
        let near =
            |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-4 * (1.0 + b.abs()));
        assert!(near(&found.mean, &expected.mean));
        assert!(near(found.covariance.values(), expected.covariance.values()));
        assert_eq!(found.column(2), (0.0, 0.0));
    }

    #[test]
    fn what_is_no_number_is_named_by_its_row_among_all() {
        let mut sums = Sums::new(2);
        sums.add(Matrix::zeros(5, 2)).unwrap();
        let bad = Matrix::new(2, vec![0.0, 1.0, f32::NAN, 0.0]).unwrap();
        assert!(matches!(sums.add(bad), Err(RepresentError::NotFinite { row: 7, .. })));
    }
}
