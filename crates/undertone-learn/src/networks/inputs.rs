//! Rows of features as a network takes them.

use crate::features::Row;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is put into a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Inputs {
    /// All features side by side, zeros included
    #[default]
    Features,
    /// Two numbers: which feature is one of those of a first category, and of a second. They count from one; zero is for a level that has no feature
    Names([Range<usize>; 2]),
}

impl Inputs {
    /// Writes a row into zeros.
    pub(super) fn write(&self, row: Row<'_>, into: &mut [f32]) {
        let dense = row.dense.len();
        match self {
            Self::Features => {
                into[..dense].copy_from_slice(row.dense);
                row.sparse.iter().for_each(|&(feature, x)| into[dense + feature as usize] = x);
            }
            Self::Names(ranges) => {
                let dense_ones = row.dense.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(at, _)| at);
                let sparse_ones = row.sparse.iter().map(|&(feature, _)| dense + feature as usize);
                for feature in dense_ones.chain(sparse_ones) {
                    for (into, range) in into.iter_mut().zip(ranges) {
                        if range.contains(&feature) {
                            *into = (feature - range.start + 1) as f32;
                        }
                    }
                }
            }
        }
    }

    /// Numbers that are put in, of rows with so many features; none if a category lies outside of them.
    pub(super) fn width(&self, features: usize) -> Option<usize> {
        match self {
            Self::Features => Some(features),
            Self::Names(ranges) => {
                let inside = |range: &Range<usize>| range.start <= range.end && range.end <= features;
                ranges.iter().all(inside).then_some(2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(inputs: &Inputs, row: Row<'_>, width: usize) -> Vec<f32> {
        let mut into = vec![0.0; width];
        inputs.write(row, &mut into);
        into
    }

    #[test]
    fn sparse_features_stand_behind_the_dense_ones() {
        let row = Row { dense: &[5.0], sparse: &[(2, 7.0)] };
        assert_eq!(written(&Inputs::Features, row, 4), [5.0, 0.0, 0.0, 7.0]);
    }

    #[test]
    fn a_name_is_the_place_of_its_one_and_zero_if_it_has_none() {
        let names = Inputs::Names([0..3, 3..1000]);
        let of = |dense: &[f32; 3], sparse: &[(u32, f32)]| written(&names, Row { dense, sparse }, 2);
        assert_eq!(of(&[0.0, 0.0, 1.0], &[(500, 1.0)]), [3.0, 501.0]);
        assert_eq!(of(&[1.0, 0.0, 0.0], &[]), [1.0, 0.0]);
        assert_eq!(of(&[0.0; 3], &[(0, 1.0)]), [0.0, 1.0]);
        assert_eq!((names.width(1000), names.width(999)), (Some(2), None));
    }
}
