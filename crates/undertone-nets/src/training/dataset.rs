//! People as a network takes them: all features of a row side by side, and what a report says.

use crate::NetError;
use serde::{Deserialize, Serialize};

/// Features may take so much memory unless somebody allows more: 8 GB.
const MOST_BYTES: u64 = 8 << 30;

/// One number for the mean and one for the deviation of all public features, which networks see as 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

    pub(crate) fn check(self) -> Result<(), NetError> {
        if !self.mean.is_finite() {
            let (what, value) = ("the mean of all features", f64::from(self.mean));
            return Err(NetError::Parameter { what, value, expected: "finite" });
        }
        if !(self.factor.is_finite() && self.factor > 0.0) {
            let (what, value) = ("what features are multiplied by", f64::from(self.factor));
            return Err(NetError::Parameter { what, value, expected: "positive and finite" });
        }
        Ok(())
    }
}

/// What is trained on.
#[derive(Debug)]
pub struct Dataset {
    /// Numbers of a row
    pub(crate) width: usize,
    pub(crate) classes: usize,
    /// Row after row
    pub(crate) features: Vec<f32>,
    /// K numbers of each row: [`Loss`](crate::Loss)
    pub(crate) targets: Vec<f32>,
    /// Rows to train on
    pub(crate) training: Vec<usize>,
    /// Rows that are kept aside, to judge by
    pub(crate) aside: Vec<usize>,
    /// As features were scaled
    pub(crate) scale: Scale,
    /// Bytes that features may take
    most: u64,
}

impl Dataset {
    /// Nobody yet; rows will have so many numbers, and there are so many classes.
    pub fn new(width: usize, classes: usize) -> Self {
        Self {
            width,
            classes,
            features: Vec::new(),
            targets: Vec::new(),
            training: Vec::new(),
            aside: Vec::new(),
            scale: Scale::NONE,
            most: MOST_BYTES,
        }
    }

    /// The same, whose features may take so many bytes.
    #[must_use]
    pub fn within(self, bytes: u64) -> Self {
        Self { most: bytes, ..self }
    }

    /// One more person, to be trained on or kept aside. `write` puts the features into zeros; `target` is t of the [`Loss`](crate::Loss).
    pub fn push(
        &mut self,
        write: impl FnOnce(&mut [f32]),
        target: &[f32],
        aside: bool,
    ) -> Result<(), NetError> {
        let (row, width) = (self.len(), self.width);
        if target.len() != self.classes {
            let (found, expected) = (target.len(), self.classes);
            return Err(NetError::Shape { what: "what a report says", found, expected });
        }
        let bytes = (row as u64 + 1).saturating_mul(width as u64).saturating_mul(4);
        if bytes > self.most {
            return Err(NetError::TooWide { rows: row + 1, width, bytes, most: self.most });
        }
        self.features.resize((row + 1) * width, 0.0);
        let features = &mut self.features[row * width..];
        write(features);
        if !features.iter().all(|x| x.is_finite()) {
            return Err(NetError::NotFinite { row: row + 1 });
        }
        self.targets.extend_from_slice(target);
        let part = if aside { &mut self.aside } else { &mut self.training };
        part.push(row);
        Ok(())
    }

    /// Numbers of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many people.
    pub fn len(&self) -> usize {
        self.training.len() + self.aside.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Scales all features by `scale`, or by their own mean and deviation; once.
    pub(crate) fn rescale(&mut self, scale: Option<Scale>) {
        let scale = scale.unwrap_or_else(|| Scale::of(&self.features));
        self.features.iter_mut().for_each(|x| *x = scale.apply(*x));
        self.scale = scale;
    }

    /// √(mean |t|²) of those who are trained on: one for labels, more for vectors that are unbiased and noisy.
    pub(crate) fn length(&self) -> f64 {
        let squares = self.training.iter().flat_map(|&row| self.target(row)).map(|t| f64::from(*t).powi(2));
        (squares.sum::<f64>() / self.training.len() as f64).sqrt()
    }

    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.features[row * self.width..][..self.width]
    }

    pub(crate) fn target(&self, row: usize) -> &[f32] {
        &self.targets[row * self.classes..][..self.classes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(width: usize, values: &[f32]) -> Dataset {
        let mut data = Dataset::new(width, 2);
        for row in values.chunks_exact(width) {
            data.push(|into| into.copy_from_slice(row), &[0.0, 1.0], false).unwrap();
        }
        data
    }

    #[test]
    fn features_get_mean_zero_and_deviation_one_and_the_same_later() {
        let mut data = of(2, &[1.0, 3.0, 5.0, 7.0]);
        data.rescale(None);
        // Mean 4, variance 5
        for (found, x) in data.features.iter().zip([1.0f32, 3.0, 5.0, 7.0]) {
            assert!((found - (x - 4.0) / 5f32.sqrt()).abs() < 1e-6);
        }
        let mut constant = of(1, &[2.0; 3]);
        constant.rescale(None);
        assert_eq!(constant.features, [0.0; 3]);
        let mut again = of(2, &[4.0, 4.0]);
        again.rescale(Some(data.scale));
        assert_eq!(again.features, [0.0, 0.0]);
    }

    #[test]
    fn what_does_not_fit_is_refused_before_it_is_laid_out() {
        let mut data = Dataset::new(1 << 31, 2);
        // One such row is all the memory there may be.
        let error = Dataset { training: vec![0], ..Dataset::new(1 << 31, 2) }.push(|_| (), &[0.0; 2], false);
        assert!(matches!(error, Err(NetError::TooWide { rows: 2, .. })));
        assert!(error.unwrap_err().to_string().contains("17179869184 bytes"));
        let error = data.push(|_| (), &[0.0; 3], false).unwrap_err();
        assert!(matches!(error, NetError::Shape { found: 3, expected: 2, .. }), "{error}");
        let mut data = of(1, &[1.0]);
        let error = data.push(|into| into.fill(f32::NAN), &[0.0; 2], false).unwrap_err();
        assert!(matches!(error, NetError::NotFinite { row: 2 }), "{error}");
    }
}
