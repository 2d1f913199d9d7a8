//! Examples as a network takes them: all features of a row side by side, and what its report says.

use crate::{Loss, NetError};
use serde::{Deserialize, Serialize};
use undertone_learn::features::{Row, Rows};
use undertone_learn::held_out::HELD_OUT;
use undertone_learn::labels::LabelVectors;
use undertone_learn::split::is_held_out;
use undertone_learn::{LearnError, Source};

/// Features may take so much memory: 8 GB.
const MOST_BYTES: usize = 8 << 30;

/// One number for the mean and one for the deviation of all public features, which networks see as 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scale {
    mean: f32,
    factor: f32,
}

impl Scale {
    /// Leaves numbers as they are.
    pub(crate) const NONE: Self = Self { mean: 0.0, factor: 1.0 };

    fn of(values: &[f32]) -> Self {
        let n = values.len().max(1) as f64;
        let mean = values.iter().copied().map(f64::from).sum::<f64>() / n;
        let variance = values.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / n;
        let factor = if variance > 0.0 { 1.0 / variance.sqrt() } else { 1.0 };
        Self { mean: mean as f32, factor: factor as f32 }
    }

    pub(crate) fn apply(self, x: f32) -> f32 {
        (x - self.mean) * self.factor
    }
}

/// What is trained on.
pub(crate) struct Dataset {
    /// Numbers of a row
    pub(crate) width: usize,
    /// Row after row, scaled
    pub(crate) features: Vec<f32>,
    /// K numbers of each row: [`Loss`]
    pub(crate) targets: Vec<f32>,
    pub(crate) classes: usize,
    pub(crate) scale: Scale,
    /// Rows to train on
    pub(crate) training: Vec<usize>,
    /// Rows that are kept aside
    pub(crate) held_out: Vec<usize>,
    /// P(S | ·) of those
    pub(crate) likelihood: LabelVectors,
}

impl Dataset {
    /// Reads all examples. One in eight is kept aside if `keep` says so; features are scaled by `scale`, or by their own mean and deviation.
    pub(crate) fn read(
        examples: &mut dyn Source,
        (width, classes): (usize, usize),
        loss: Loss,
        keep: bool,
        scale: Option<Scale>,
    ) -> Result<Self, NetError> {
        let mut data = Self {
            width,
            features: Vec::new(),
            targets: Vec::new(),
            classes,
            scale: scale.unwrap_or(Scale::NONE),
            training: Vec::new(),
            held_out: Vec::new(),
            likelihood: LabelVectors::new(),
        };
        examples.pass(&mut |block| {
            data.check(&block.rows)?;
            let first = data.len();
            block.rows.iter().for_each(|row| write_dense(row, &block.rows, &mut data.features));
            loss.push_targets(block, classes, &mut data.targets);
            if data.targets.len() != data.len() * classes {
                let (found, expected) = (data.targets.len(), data.len() * classes);
                return Err(NetError::Shape { what: "what reports say", found, expected }.into());
            }
            for row in 0..block.rows.len() {
                if keep && is_held_out((first + row) as u64, HELD_OUT) {
                    let vector = block.likelihood.get(row);
                    data.held_out.push(first + row);
                    data.likelihood.push(vector.base, vector.entries.iter().copied());
                } else {
                    data.training.push(first + row);
                }
            }
            Ok(())
        })?;
        if data.training.is_empty() {
            return Err(LearnError::NoReports.into());
        }
        if keep && data.held_out.is_empty() {
            return Err(LearnError::TooFewReports.into());
        }
        if scale.is_none() {
            data.scale = Scale::of(&data.features);
        }
        let scale = data.scale;
        data.features.iter_mut().for_each(|x| *x = scale.apply(*x));
        Ok(data)
    }

    /// Rows so far.
    pub(crate) fn len(&self) -> usize {
        self.features.len() / self.width
    }

    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.features[row * self.width..][..self.width]
    }

    pub(crate) fn target(&self, row: usize) -> &[f32] {
        &self.targets[row * self.classes..][..self.classes]
    }

    fn check(&self, rows: &Rows) -> Result<(), LearnError> {
        let (found, expected) = (rows.width(), self.width);
        if found != expected {
            return Err(NetError::Shape { what: "a row of features", found, expected }.into());
        }
        let count = self.len() + rows.len();
        let bytes = 4 * count * self.width;
        if bytes > MOST_BYTES {
            return Err(NetError::TooWide { rows: count, width: found, bytes, most: MOST_BYTES }.into());
        }
        if let Some(row) = rows.iter().position(|row| !row.is_finite()) {
            let problem = "has a feature that is no finite number".into();
            return Err(LearnError::Report { row: (self.len() + row) as u64 + 1, problem });
        }
        Ok(())
    }
}

/// Appends all features of a row, zeros included.
pub(crate) fn write_dense(row: Row<'_>, of: &Rows, into: &mut Vec<f32>) {
    into.extend_from_slice(row.dense);
    let start = into.len();
    into.resize(start + of.sparse_width(), 0.0);
    for &(feature, value) in row.sparse {
        into[start + feature as usize] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_learn::Examples;

    fn read(examples: Examples, width: usize, keep: bool, scale: Option<Scale>) -> Result<Dataset, NetError> {
        Dataset::read(&mut vec![examples], (width, 3), Loss::Plain, keep, scale)
    }

    #[test]
    fn sparse_features_stand_behind_the_dense_ones() {
        let mut rows = Rows::new(1, 3);
        rows.push_with(|dense, sparse| {
            dense.push(5.0);
            sparse.push((2, 7.0));
        });
        let data = read(Examples::certain(rows, [1]), 4, false, Some(Scale::NONE)).unwrap();
        assert_eq!(data.row(0), [5.0, 0.0, 0.0, 7.0]);
        assert_eq!(data.target(0), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn features_get_mean_zero_and_deviation_one_and_the_same_later() {
        let rows = Rows::dense(2, vec![1.0, 3.0, 5.0, 7.0]);
        let data = read(Examples::certain(rows, [0, 2]), 2, false, None).unwrap();
        // Mean 4, variance 5
        for (found, x) in data.features.iter().zip([1.0f32, 3.0, 5.0, 7.0]) {
            assert!((found - (x - 4.0) / 5f32.sqrt()).abs() < 1e-6);
        }
        let constant = read(Examples::certain(Rows::dense(1, vec![2.0; 3]), [0, 1, 2]), 1, false, None);
        assert_eq!(constant.unwrap().features, [0.0; 3]);
        let again = read(Examples::certain(Rows::dense(2, vec![4.0, 4.0]), [0]), 2, false, Some(data.scale));
        assert_eq!(again.unwrap().features, [0.0, 0.0]);
    }

    #[test]
    fn one_in_eight_is_kept_aside_and_not_trained_on() {
        let examples = Examples::certain(Rows::dense(1, vec![1.0; 800]), (0..800).map(|row| row % 3));
        let data = read(examples, 1, true, None).unwrap();
        assert_eq!(data.held_out.len() + data.training.len(), 800);
        assert_eq!(data.likelihood.len(), data.held_out.len());
        assert!(data.held_out.iter().all(|row| is_held_out(*row as u64, HELD_OUT)));
        assert!(data.training.iter().all(|row| !is_held_out(*row as u64, HELD_OUT)));
    }

    #[test]
    fn more_features_than_memory_are_refused_before_they_are_laid_out() {
        let mut rows = Rows::new(0, 1 << 31);
        (0..2).for_each(|_| rows.push_with(|_, _| ()));
        let error = read(Examples::certain(rows, [0, 1]), 1 << 31, false, None).err().unwrap();
        assert!(matches!(error, NetError::TooWide { rows: 2, .. }));
        assert!(error.to_string().contains("17179869184 bytes"), "{error}");
    }
}
