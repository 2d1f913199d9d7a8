//! One row as the list of its features that are not zero.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into `vectorized` is compiled for the least of processors"
)]

use super::kernels::{LANES, Lanes, total, vectorized};
use crate::features::Row;
use serde::{Deserialize, Serialize};

/// (feature, x) for each x ≠ 0, and the constant one of the intercept last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Gathered {
    features: usize,
    /// With room for all features, whatever the length
    entries: Vec<(u32, f32)>,
    length: usize,
    norm_squared: f32,
}

impl Gathered {
    /// Room for rows of so many features.
    pub(super) fn new(features: usize) -> Self {
        Self { features, entries: vec![(0, 0.0); features + 1], length: 0, norm_squared: 0.0 }
    }

    /// The list.
    pub(super) fn entries(&self) -> &[(u32, f32)] {
        &self.entries[..self.length]
    }

    /// |x|², with the constant one.
    pub(super) fn norm_squared(&self) -> f32 {
        self.norm_squared
    }

    /// Lists the features of a row.
    pub(super) fn gather(&mut self, row: Row<'_>) {
        (self.length, self.norm_squared) =
            vectorized(Gather { dense: row.dense, entries: &mut self.entries });
        let offset = row.dense.len() as u32;
        let sparse = row.sparse.iter().map(|&(feature, x)| (offset + feature, x));
        for (feature, x) in sparse.chain([(self.features as u32, 1.0)]) {
            self.entries[self.length] = (feature, x);
            self.length += 1;
            self.norm_squared += x * x;
        }
    }
}

/// Writes the entries of dense features to the front, and tells their number and the sum of their squares.
struct Gather<'a> {
    dense: &'a [f32],
    entries: &'a mut [(u32, f32)],
}

impl pulp::NullaryFnOnce for Gather<'_> {
    type Output = (usize, f32);

    #[inline(always)]
    fn call(self) -> (usize, f32) {
        let (mut length, mut squares): (usize, Lanes) = (0, [0.0; LANES]);
        // Every x is written, and the place moves on if it was not zero: a branch would often be foreseen wrongly.
        let mut write = |feature: usize, x: f32| {
            self.entries[length] = (feature as u32, x);
            length += usize::from(x != 0.0);
        };
        let (groups, rest) = self.dense.as_chunks::<LANES>();
        for (index, group) in groups.iter().enumerate() {
            if group.iter().fold(0, |bits, x| bits | x.to_bits()) != 0 {
                for (lane, x) in group.iter().enumerate() {
                    squares[lane] += x * x;
                    write(LANES * index + lane, *x);
                }
            }
        }
        for (lane, x) in rest.iter().enumerate() {
            squares[lane] += x * x;
            write(LANES * groups.len() + lane, *x);
        }
        (length, total(squares))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_zero_is_listed_and_nothing_else() {
        for width in [0, 1, 7, 8, 9, 30] {
            let dense: Vec<f32> =
                (0..width).map(|j| if j % 3 == 1 || j > 19 { 0.0 } else { j as f32 + 1.0 }).collect();
            let mut gathered = Gathered::new(width + 4);
            for sparse in [&[(1, 2.0), (3, -1.0)][..], &[]] {
                gathered.gather(Row { dense: &dense, sparse });
                let mut expected: Vec<(u32, f32)> =
                    (0..).zip(dense.iter().copied()).filter(|(_, x)| *x != 0.0).collect();
                expected.extend(sparse.iter().map(|&(j, x)| (width as u32 + j, x)));
                expected.push((width as u32 + 4, 1.0));
                assert_eq!(gathered.entries(), expected);
                assert_eq!(gathered.norm_squared(), expected.iter().map(|(_, x)| x * x).sum::<f32>());
            }
        }
    }
}
