//! Rows of numbers, one after the other, and their products.

use crate::RepresentError;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// A matrix in single precision, row after row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    columns: usize,
    values: Vec<f32>,
}

impl Matrix {
    /// All zero.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { columns, values: vec![0.0; rows * columns] }
    }

    /// Of values in the order of rows.
    pub fn new(columns: usize, values: Vec<f32>) -> Result<Self, RepresentError> {
        if columns == 0 || !values.len().is_multiple_of(columns) {
            let found = values.len() % columns.max(1);
            return Err(RepresentError::Shape {
                what: "the last row",
                unit: "values",
                found,
                expected: columns,
            });
        }
        Ok(Self { columns, values })
    }

    /// Of a function of row and column.
    pub fn from_fn(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f32) -> Self {
        let values = (0..rows * columns).map(|i| value(i / columns, i % columns)).collect();
        Self { columns, values }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..][..self.columns]
    }

    /// One row, to be changed.
    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.values[row * self.columns..][..self.columns]
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values, to be changed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The values of some rows.
    pub fn block(&self, rows: std::ops::Range<usize>) -> &[f32] {
        &self.values[rows.start * self.columns..rows.end * self.columns]
    }

    /// Copies of all rows, so many at a time.
    pub(crate) fn blocks(&self, rows: usize) -> impl Iterator<Item = Self> {
        let values = self.values.chunks((rows * self.columns).max(1));
        values.map(|values| Self { columns: self.columns, values: values.to_vec() })
    }

    /// Some rows, in the order that is asked for.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let values = rows.iter().flat_map(|&row| self.row(row)).copied().collect();
        Self { columns: self.columns, values }
    }

    /// The first columns.
    #[must_use]
    pub fn first_columns(&self, columns: usize) -> Self {
        self.columns_from(0, columns.min(self.columns))
    }

    /// Some columns.
    pub(crate) fn columns_from(&self, start: usize, count: usize) -> Self {
        let values = self.values.chunks_exact(self.columns).flat_map(|row| &row[start..start + count]);
        Self { columns: count, values: values.copied().collect() }
    }

    pub(crate) fn view(&self) -> MatRef<'_, f32> {
        MatRef::from_row_major_slice(&self.values, self.rows(), self.columns)
    }

    /// A·B on all cores.
    pub(crate) fn times(&self, other: &Self) -> Self {
        product(self.view(), other.view())
    }

    /// A·B in the place of A, for a B that is not wider than it is high: rows of the product end before those that are still to be
    /// multiplied begin.
    pub(crate) fn times_in_place(mut self, other: MatRef<'_, f32>) -> Self {
        let (from, to, rows) = (self.columns, other.ncols(), self.rows());
        assert!(to <= from && from == other.nrows(), "{from} columns times {} by {to}", other.nrows());
        for start in (0..rows).step_by(IN_PLACE) {
            let count = IN_PLACE.min(rows - start);
            let block = MatRef::from_row_major_slice(self.block(start..start + count), count, from);
            let made = product(block, other);
            self.values[start * to..][..count * to].copy_from_slice(&made.values);
        }
        self.columns = to;
        self.values.truncate(rows * to);
        self
    }

    /// A'·B on all cores.
    pub(crate) fn transposed_times(&self, other: &Self) -> Self {
        product(self.view().transpose(), other.view())
    }

    /// A'A, of which one half is made and the other is its mirror image.
    #[must_use]
    pub fn gram(&self) -> Self {
        let mut out = Self::zeros(self.columns, self.columns);
        self.add_gram(&mut out, 1.0);
        out.mirror();
        out
    }

    /// The lower half of A'A times a factor, added to `sum` in stripes: what is right of the diagonal is not made.
    pub(crate) fn add_gram(&self, sum: &mut Self, factor: f32) {
        let (view, width) = (self.view(), self.columns);
        sum.values.par_chunks_mut((ROWS * width).max(1)).enumerate().for_each(|(stripe, out)| {
            let (start, rows) = (stripe * ROWS, out.len() / width);
            let out = MatMut::from_row_major_slice_mut(out, rows, width).subcols_mut(0, start + rows);
            let (left, right) = (view.subcols(start, rows), view.subcols(0, start + rows));
            matmul(out, Accum::Add, left.transpose(), right, factor, Par::Seq);
        });
    }

    /// Writes the lower half of a square into the upper one.
    pub(crate) fn mirror(&mut self) {
        for row in 0..self.columns {
            for column in row + 1..self.columns {
                self.values[row * self.columns + column] = self.values[column * self.columns + row];
            }
        }
    }

    /// Whether everything is a number.
    pub(crate) fn check_finite(&self, what: &'static str) -> Result<(), RepresentError> {
        self.check_finite_from(what, 0)
    }

    /// The same of rows that so many others stand before.
    pub(crate) fn check_finite_from(&self, what: &'static str, before: usize) -> Result<(), RepresentError> {
        let row = |at: usize| before + at / self.columns + 1;
        match self.values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(RepresentError::NotFinite { what, row: row(at), value: self.values[at] }),
            None => Ok(()),
        }
    }
}

/// Rows of a product that a core makes at once.
const ROWS: usize = 256;
/// Rows of a product that are made before they take the place of others.
pub(crate) const IN_PLACE: usize = 4096;

/// A·B on all cores: each takes some rows of it, and none waits for another, as it would if all worked on one block.
pub(crate) fn product(left: MatRef<'_, f32>, right: MatRef<'_, f32>) -> Matrix {
    let width = right.ncols();
    let mut out = Matrix::zeros(left.nrows(), width);
    out.values.par_chunks_mut((ROWS * width).max(1)).enumerate().for_each(|(block, out)| {
        let rows = out.len() / width;
        let left = left.subrows(block * ROWS, rows);
        multiply(MatMut::from_row_major_slice_mut(out, rows, width), left, right, Par::Seq);
    });
    out
}

/// The product into `out`.
pub(crate) fn multiply(out: MatMut<'_, f32>, left: MatRef<'_, f32>, right: MatRef<'_, f32>, par: Par) {
    matmul(out, Accum::Replace, left, right, 1.0, par);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_sums_of_products() {
        let a = Matrix::from_fn(3, 2, |i, j| (i + 2 * j) as f32);
        let b = Matrix::from_fn(2, 4, |i, j| (3 * i) as f32 - j as f32);
        let naive = Matrix::from_fn(3, 4, |i, j| (0..2).map(|k| a.row(i)[k] * b.row(k)[j]).sum());
        assert_eq!(a.times(&b), naive);
        let turned = Matrix::from_fn(2, 3, |i, j| a.row(j)[i]);
        assert_eq!(turned.transposed_times(&b), naive);
        // More columns than a stripe has rows
        let wide = Matrix::from_fn(3, ROWS + 40, |i, j| ((i * 5 + j) % 7) as f32);
        assert_eq!(wide.gram(), wide.transposed_times(&wide));
    }

    #[test]
    fn a_product_takes_the_place_of_its_left_side() {
        let a = Matrix::from_fn(2 * IN_PLACE + 5, 3, |i, j| ((i + j) % 11) as f32);
        for width in 1..=3 {
            let b = Matrix::from_fn(3, width, |i, j| (i as f32) - 2.0 * j as f32);
            assert_eq!(a.clone().times_in_place(b.view()), a.times(&b));
        }
    }

    #[test]
    fn a_ragged_matrix_and_what_is_no_number_are_refused() {
        assert!(matches!(
            Matrix::new(3, vec![0.0; 7]),
            Err(RepresentError::Shape { found: 1, expected: 3, .. })
        ));
        let matrix = Matrix::new(2, vec![0.0, 1.0, f32::NAN, 0.0]).unwrap();
        assert!(matches!(matrix.check_finite("a pixel"), Err(RepresentError::NotFinite { row: 2, .. })));
    }
}
