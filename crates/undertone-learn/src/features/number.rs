//! A number becomes a feature of mean zero and variance one.
//!
//! > z = (x - mean) / deviation, with mean and deviation of the cells that the fit saw
//!
//! An empty cell becomes z = 0, the mean; a second feature marks it with a one, if the fit saw empty cells. A column that
//! never changes becomes z = 0 throughout.

use serde::{Deserialize, Serialize};
use undertone_report::Stretch;

/// No fitted cell is farther from the mean, in deviations, than √n; what is farther than this is not told apart.
const FARTHEST: f64 = 1e6;

/// A fitted column of numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Number {
    mean: f64,
    /// One over the deviation; zero where there is none
    scale: f64,
    /// Whether there is a feature that marks empty cells
    missing: bool,
}

/// Mean and sum of squared distances from it, one cell after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NumberFit {
    count: u64,
    mean: f64,
    squares: f64,
    missing: bool,
}

impl NumberFit {
    /// Welford's update: mean += (x - mean) / n, squares += (x - old mean)·(x - new mean).
    pub(super) fn observe(&mut self, x: f64) {
        if x.is_nan() {
            self.missing = true;
            return;
        }
        self.count += 1;
        let from_old = x - self.mean;
        self.mean += from_old / self.count as f64;
        self.squares += from_old * (x - self.mean);
    }

    pub(super) fn finish(self) -> Number {
        let deviation = (self.squares / self.count.max(1) as f64).sqrt();
        let scale = deviation.recip();
        // A deviation of zero has no reciprocal, one that is too large to be written down has no use.
        let known = deviation.is_finite() && scale.is_finite() && self.mean.is_finite();
        let (mean, scale) = if known { (self.mean, scale) } else { (0.0, 0.0) };
        Number { mean, scale, missing: self.missing }
    }
}

impl Number {
    /// As a document says it.
    pub(super) fn from_words(stretch: Stretch) -> Self {
        let (mean, scale) = stretch.mean_and_scale();
        Self { mean, scale, missing: stretch.missing() }
    }

    /// The words for it.
    pub(super) fn words(&self) -> Stretch {
        Stretch::Standard { mean: self.mean, scale: self.scale, missing: self.missing }
    }

    pub(super) fn width(&self) -> usize {
        1 + usize::from(self.missing)
    }

    pub(super) fn write(&self, x: f64, dense: &mut Vec<f32>) {
        let z = if x.is_nan() { 0.0 } else { ((x - self.mean) * self.scale).clamp(-FARTHEST, FARTHEST) };
        dense.push(z as f32);
        if self.missing {
            dense.push(f32::from(x.is_nan()));
        }
    }

    pub(super) fn names(&self, column: &str) -> Vec<String> {
        let marker = self.missing.then(|| format!("{column} is missing"));
        [column.to_owned()].into_iter().chain(marker).collect()
    }

    pub(super) fn problem(&self) -> Option<&'static str> {
        let sound = self.mean.is_finite() && self.scale.is_finite() && self.scale >= 0.0;
        (!sound).then_some("mean and scale have to be finite")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(cells: &[f64]) -> Number {
        let mut fit = NumberFit::default();
        for &x in cells {
            fit.observe(x);
        }
        fit.finish()
    }

    fn encode(number: &Number, x: f64) -> Vec<f32> {
        let mut dense = Vec::new();
        number.write(x, &mut dense);
        dense
    }

    #[test]
    fn one_and_five_have_mean_three_and_deviation_two() {
        let number = fit(&[1.0, 5.0]);
        assert_eq!((number.mean, number.scale), (3.0, 0.5));
        assert_eq!(encode(&number, 4.0), [0.5]);
        assert_eq!(encode(&number, f64::NAN), [0.0]);
        assert_eq!(number.names("age"), ["age"]);
    }

    #[test]
    fn empty_cells_get_a_marker_only_where_the_fit_saw_some() {
        let number = fit(&[1.0, f64::NAN, 5.0]);
        assert_eq!(encode(&number, f64::NAN), [0.0, 1.0]);
        assert_eq!(encode(&number, 1.0), [-1.0, 0.0]);
        assert_eq!(number.names("age"), ["age", "age is missing"]);
    }

    #[test]
    fn a_column_that_never_changes_says_nothing() {
        for cells in [&[0.1; 1000][..], &[7.0], &[], &[f64::NAN]] {
            assert_eq!(encode(&fit(cells), 123.0)[..1], [0.0], "{cells:?}");
        }
    }

    #[test]
    fn a_large_mean_does_not_drown_the_deviation() {
        let number = fit(&[1e9 + 1.0, 1e9 + 5.0, 1e9 + 1.0, 1e9 + 5.0]);
        assert_eq!((number.mean, number.scale), (1e9 + 3.0, 0.5));
    }

    #[test]
    fn no_number_leaves_the_range_of_features() {
        assert_eq!(encode(&fit(&[1.0, 5.0]), f64::MAX), [1e6]);
        let wide = fit(&[-1e300, 1e300]);
        assert!(encode(&wide, 1e300)[0].is_finite());
        assert_eq!(wide.problem(), None);
    }
}
