//! What is given to a representation: rows in full, or only what is not zero of them, and vectors over the classes in full.

use crate::LearnError;
use crate::features::Rows;
use crate::labels::LabelVectors;
use std::ops::Range;
use undertone_represent::{Coordinates, Kind, Matrix, RepresentError, SparseRows};

/// The most features that are written in full. Of more, the square of their covariances would take more memory than what is not zero.
pub(super) const WIDEST: usize = 4096;

/// Some rows.
pub(super) enum Given {
    Full(Matrix),
    /// Texts, many categories, or more columns than are written in full
    Sparse(SparseRows),
}

/// Whether only what is not zero is kept of such rows.
pub(super) fn is_sparse(rows: &Rows) -> bool {
    rows.sparse_width() > 0 || rows.dense_width() > WIDEST
}

/// Whether a column has more than two values, so that ranks say something else than the column.
pub(super) fn has_numbers(rows: &Rows) -> bool {
    let more_than_two = |column: usize| {
        let mut values = rows.iter().map(|row| row.dense[column]);
        let first = values.next();
        let second = values.find(|x| Some(*x) != first);
        second.is_some() && values.any(|x| Some(x) != first && Some(x) != second)
    };
    !is_sparse(rows) && (0..rows.dense_width()).any(more_than_two)
}

impl Given {
    pub(super) fn new(rows: &Rows, range: Range<usize>) -> Result<Self, LearnError> {
        Ok(if is_sparse(rows) { Self::Sparse(sparse(rows, range)?) } else { Self::Full(full(rows, range)) })
    }

    /// The map that the rows suggest, and where they are.
    pub(super) fn fit(&self, kind: Kind, count: usize) -> Result<(Coordinates, Matrix), RepresentError> {
        match self {
            Self::Full(rows) => Coordinates::fit(kind, rows, count),
            Self::Sparse(rows) => Coordinates::fit_sparse(rows, count),
        }
    }

    /// Where the rows are on a map.
    pub(super) fn on(&self, map: &Coordinates) -> Result<Matrix, RepresentError> {
        match self {
            Self::Full(rows) => map.project(rows),
            Self::Sparse(rows) => map.project_sparse(rows),
        }
    }
}

fn full(rows: &Rows, range: Range<usize>) -> Matrix {
    let mut all = Matrix::zeros(range.len(), rows.width());
    for (place, row) in range.enumerate() {
        all.row_mut(place).copy_from_slice(rows.get(row).dense);
    }
    all
}

/// Dense features first, as [`Rows`] numbers them.
fn sparse(rows: &Rows, range: Range<usize>) -> Result<SparseRows, LearnError> {
    let first = rows.dense_width() as u32;
    let not_zero = |dense: &[f32]| dense.iter().filter(|x| **x != 0.0).count();
    let values =
        range.clone().map(|row| rows.get(row)).map(|row| not_zero(row.dense) + row.sparse.len()).sum();
    let mut all = SparseRows::new(rows.width()).with_room(values);
    for row in range {
        let row = rows.get(row);
        let dense = row.dense.iter().zip(0..).filter(|(x, _)| **x != 0.0).map(|(&x, feature)| (feature, x));
        all.push(dense.chain(row.sparse.iter().map(|&(feature, x)| (first + feature, x))))?;
    }
    Ok(all)
}

/// Vectors over the classes in full, with `silence` in the place of those who are kept aside.
pub(super) fn matrix(
    vectors: &LabelVectors,
    classes: usize,
    aside: impl Fn(usize) -> bool,
    silence: f32,
) -> Result<Matrix, LearnError> {
    let mut all = Matrix::zeros(vectors.len(), classes);
    for (row, vector) in vectors.iter().enumerate() {
        let into = all.row_mut(row);
        if aside(row) {
            into.fill(silence);
            continue;
        }
        into.fill(vector.base);
        for &(class, value) in vector.entries {
            let found = class as usize + 1;
            *into.get_mut(class as usize).ok_or(LearnError::Columns { found, expected: classes })? = value;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three numbers and words from so many.
    fn mixed(words: usize) -> Rows {
        let mut rows = Rows::new(3, words);
        for row in 0..200u32 {
            rows.push_with(|dense, sparse| {
                dense.extend((0..3).map(|j| ((row * 3 + j) as f32 * 0.7).sin()));
                sparse.extend([(row % 7, 0.8), (7 + row % 5, 0.6)]);
            });
        }
        rows
    }

    #[test]
    fn numbers_beside_words_are_where_they_are_if_written_in_full() {
        let rows = mixed(20);
        let Given::Sparse(sparse) = Given::new(&rows, 0..200).unwrap() else { panic!("words are sparse") };
        let mut full = Matrix::zeros(200, 23);
        for row in 0..200 {
            sparse.row(row).iter().for_each(|&(feature, x)| full.row_mut(row)[feature as usize] = x);
            assert_eq!(full.row(row)[..3], *rows.get(row).dense);
        }
        let (map, found) = Given::Sparse(sparse).fit(Kind::Columns, 8).unwrap();
        let expected = map.project(&full).unwrap();
        assert!(found.values().iter().zip(expected.values()).all(|(a, b)| (a - b).abs() < 1e-4));
    }

    #[test]
    fn rows_are_sparse_where_they_are_wide() {
        assert!(is_sparse(&mixed(20)) && is_sparse(&Rows::new(WIDEST + 1, 0)));
        assert!(!is_sparse(&Rows::new(WIDEST, 0)));
    }
}
