//! Rows that are mostly zero: words of texts, categories, and who is near whom.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatch is compiled without its vector instructions"
)]

use crate::{Matrix, RepresentError};
use pulp::Arch;
use rayon::prelude::*;

/// Rows that a core treats together.
const ROWS: usize = 512;

/// Rows of which only what is not zero is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseRows {
    columns: usize,
    /// Where each row begins, and where the last ends
    starts: Vec<usize>,
    /// Column and value
    entries: Vec<(u32, f32)>,
}

impl SparseRows {
    /// No rows yet, of so many columns.
    pub fn new(columns: usize) -> Self {
        Self { columns, starts: vec![0], entries: Vec::new() }
    }

    /// The same, with room for so many values.
    #[must_use]
    pub fn with_room(mut self, values: usize) -> Self {
        self.entries.reserve_exact(values);
        self
    }

    /// One more row; a column that is given twice counts twice.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (u32, f32)>) -> Result<(), RepresentError> {
        let first = self.entries.len();
        self.entries.extend(entries);
        let wrong = self.entries[first..].iter().find_map(|&(column, value)| {
            let (found, expected) = (column as usize + 1, self.columns);
            if found > expected {
                return Some(RepresentError::Shape { what: "a row", unit: "columns", found, expected });
            }
            let row = self.rows() + 1;
            (!value.is_finite()).then_some(RepresentError::NotFinite { what: "a feature", row, value })
        });
        if let Some(error) = wrong {
            self.entries.truncate(first);
            return Err(error);
        }
        self.starts.push(self.entries.len());
        Ok(())
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// What is not zero in a row.
    pub fn row(&self, row: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[row]..self.starts[row + 1]]
    }

    /// With all zeros.
    pub(crate) fn full(&self) -> Matrix {
        let mut full = Matrix::zeros(self.rows(), self.columns);
        for row in 0..self.rows() {
            let into = full.row_mut(row);
            self.row(row).iter().for_each(|&(column, value)| into[column as usize] += value);
        }
        full
    }

    /// Columns become rows.
    pub(crate) fn transposed(&self) -> Self {
        let mut starts = vec![0; self.columns + 1];
        self.entries.iter().for_each(|&(column, _)| starts[column as usize + 1] += 1);
        for column in 0..self.columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); self.entries.len()];
        for row in 0..self.rows() {
            for &(column, value) in self.row(row) {
                entries[next[column as usize]] = (row as u32, value);
                next[column as usize] += 1;
            }
        }
        Self { columns: self.rows(), starts, entries }
    }

    /// The product with a matrix, on all cores.
    pub(crate) fn times(&self, right: &Matrix) -> Matrix {
        let width = right.columns();
        let mut out = Matrix::zeros(self.rows(), width);
        out.values_mut().par_chunks_mut(ROWS * width).enumerate().for_each(|(block, out)| {
            Arch::new().dispatch(
                #[inline(always)]
                || self.some(right, block * ROWS, out),
            );
        });
        out
    }

    /// Some rows of the product.
    #[inline(always)]
    fn some(&self, right: &Matrix, first: usize, out: &mut [f32]) {
        for (row, out) in out.chunks_exact_mut(right.columns()).enumerate() {
            for &(column, value) in self.row(first + row) {
                for (sum, x) in out.iter_mut().zip(right.row(column as usize)) {
                    *sum += value * x;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> (SparseRows, Matrix) {
        let dense =
            Matrix::from_fn(ROWS + 5, 7, |i, j| if (i + 2 * j) % 3 == 0 { (i + j) as f32 } else { 0.0 });
        let mut sparse = SparseRows::new(7);
        for i in 0..dense.rows() {
            let row = dense.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0);
            sparse.push(row.map(|(j, &x)| (j as u32, x))).unwrap();
        }
        (sparse, dense)
    }

    #[test]
    fn products_are_those_of_the_matrix_with_its_zeros() {
        let (sparse, dense) = some();
        let right = Matrix::from_fn(7, 3, |i, j| (i * 3 + j) as f32 - 8.0);
        assert_eq!(sparse.times(&right), dense.times(&right));
        let right = Matrix::from_fn(dense.rows(), 2, |i, j| ((i + j) % 5) as f32);
        assert_eq!(sparse.transposed().times(&right), dense.transposed_times(&right));
        assert_eq!(sparse.transposed().transposed(), sparse);
    }

    #[test]
    fn a_column_beyond_the_last_and_what_is_no_number_are_refused() {
        let mut sparse = SparseRows::new(3);
        assert!(matches!(sparse.push([(3, 1.0)]), Err(RepresentError::Shape { found: 4, expected: 3, .. })));
        assert!(matches!(
            sparse.push([(0, 1.0), (1, f32::NAN)]),
            Err(RepresentError::NotFinite { row: 1, .. })
        ));
        assert_eq!(sparse.rows(), 0);
        sparse.push([(2, 1.0)]).unwrap();
        assert_eq!(sparse.row(0), [(2, 1.0)]);
    }
}
