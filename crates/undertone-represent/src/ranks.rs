//! Numbers by their rank among everybody.
//!
//! > x ↦ ln(r / (1 - r)), r the share of people below x and half of those at x,
//!
//! in a straight line between the values that are kept, and with the mean and the variance that the column had before.
//!
//! Where a few people are far from all others, a column that is only standardised is nearly the same for everybody else, and where most
//! are crowded near one end, they are all alike. By rank, what tells people apart in a crowd counts like what does in a desert; the
//! logarithm keeps the few at the ends apart, too. Ranks are of public features, and public. A column of two values stays as it
//! is: its ranks would say the same.

use crate::error::same;
use crate::{Matrix, RepresentError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Values are kept whose scores are farther apart than this: a few hundred, however many people there are.
const APART: f64 = 1.0 / 16.0;

/// What each column becomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<Place>>", into = "Vec<Vec<Place>>")]
pub(crate) struct Ranks {
    /// One for each column; without places it stays as it is
    columns: Vec<Vec<Place>>,
}

/// A value, and what it becomes.
type Place = (f32, f32);

impl Ranks {
    /// Of everybody.
    pub(crate) fn fit(rows: &Matrix) -> Result<Self, RepresentError> {
        rows.check_finite("a feature")?;
        let column = |j: usize| places((0..rows.rows()).map(|i| rows.row(i)[j]).collect());
        Ok(Self { columns: (0..rows.columns()).into_par_iter().map(column).collect() })
    }

    pub(crate) fn transform(&self, mut rows: Matrix) -> Result<Matrix, RepresentError> {
        same("a row", "features", rows.columns(), self.columns.len())?;
        rows.check_finite("a feature")?;
        rows.values_mut().par_chunks_mut(self.columns.len()).for_each(|row| {
            row.iter_mut().zip(&self.columns).for_each(|(x, places)| *x = between(places, *x));
        });
        Ok(rows)
    }
}

/// The places of a column of these values.
fn places(mut values: Vec<f32>) -> Vec<Place> {
    values.sort_unstable_by(f32::total_cmp);
    let (n, mut below) = (values.len() as f64, 0.0);
    let mut scores: Vec<(f32, f64, f64)> = Vec::new();
    // Those that do not rise are the same, as the two zeros are
    for alike in values.chunk_by(|a, b| a >= b) {
        let count = alike.len() as f64;
        let share = (below + 0.5 * count) / n;
        scores.push((alike[0], (share / (1.0 - share)).ln(), count));
        below += count;
    }
    if scores.len() <= 2 {
        return Vec::new();
    }
    let (mean, variance) = moments(n, scores.iter().map(|&(x, _, count)| (f64::from(x), count)));
    let (middle, spread) = moments(n, scores.iter().map(|&(_, score, count)| (score, count)));
    let stretch = (variance / spread).sqrt();
    let mut kept: Vec<Place> = Vec::new();
    let (mut last, end) = (f64::NEG_INFINITY, scores.len() - 1);
    for (at, &(x, score, _)) in scores.iter().enumerate() {
        if score - last >= APART || at == end {
            kept.push((x, (mean + (score - middle) * stretch) as f32));
            last = score;
        }
    }
    kept
}

/// Mean and variance of numbers that occur so often, n in all.
fn moments(n: f64, numbers: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let mean = numbers.clone().map(|(x, count)| x * count).sum::<f64>() / n;
    (mean, numbers.map(|(x, count)| (x - mean).powi(2) * count).sum::<f64>() / n)
}

/// In a straight line between two places; beyond the first and the last as they are.
fn between(places: &[Place], x: f32) -> f32 {
    let above = places.partition_point(|place| place.0 < x);
    match (above.checked_sub(1).map(|below| places[below]), places.get(above)) {
        (None, None) => x,
        (Some((_, y)), None) | (None, Some(&(_, y))) => y,
        (Some((low, at_low)), Some(&(high, at_high))) => {
            at_low + (at_high - at_low) * ((x - low) / (high - low))
        }
    }
}

impl TryFrom<Vec<Vec<Place>>> for Ranks {
    type Error = RepresentError;

    fn try_from(columns: Vec<Vec<Place>>) -> Result<Self, RepresentError> {
        let finite = |places: &Vec<Place>| places.iter().all(|(x, y)| x.is_finite() && y.is_finite());
        let rising = |places: &Vec<Place>| places.is_sorted_by(|a, b| a.0 < b.0);
        if columns.iter().all(|places| finite(places) && rising(places)) {
            return Ok(Self { columns });
        }
        Err(RepresentError::Written { problem: "the values of a column do not rise".into() })
    }
}

impl From<Ranks> for Vec<Vec<Place>> {
    fn from(ranks: Ranks) -> Self {
        ranks.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f32]) -> Matrix {
        Matrix::new(1, values.to_vec()).unwrap()
    }

    #[test]
    fn four_people_are_as_far_apart_as_their_ranks_and_as_wide_as_they_were() {
        let rows = column(&[0.0, 1.0, 2.0, 1000.0]);
        let found = Ranks::fit(&rows).unwrap().transform(rows.clone()).unwrap();
        // Shares 1/8, 3/8, 5/8, 7/8: scores ±ln 7 and ±ln(5/3)
        let (far, near) = (7f64.ln(), (5f64 / 3.0).ln());
        let [mean, variance] = [1003.0 / 4.0, (1.0 + 4.0 + 1e6) / 4.0 - (1003f64 / 4.0).powi(2)];
        let stretch = (variance / (0.5 * (far * far + near * near))).sqrt();
        for (found, score) in found.values().iter().zip([-far, -near, near, far]) {
            assert!((f64::from(*found) - mean - score * stretch).abs() < 1e-3, "{found}");
        }
    }

    #[test]
    fn order_is_kept_what_lies_between_too_and_the_ends_end() {
        let values: Vec<f32> =
            (0..5000u32).map(|i| (f64::from(i) * 0.618_033_98).fract().powi(9) as f32).collect();
        let ranks = Ranks::fit(&column(&values)).unwrap();
        assert!(ranks.columns[0].len() < 400, "{}", ranks.columns[0].len());
        let probes: Vec<f32> = (0..=1000u16).map(|i| f32::from(i) / 1000.0).collect();
        let found = ranks.transform(column(&probes)).unwrap();
        assert!(found.values().is_sorted());
        // Half of the people are below 0.002, and take half of the way
        let at = |x: f32| ranks.transform(column(&[x])).unwrap().values()[0];
        let (low, high) = (at(-5.0), at(5.0));
        assert_eq!((low, high), (at(values.iter().copied().fold(1.0, f32::min)), at(1.0)));
        let middle = (at(0.001_953) - low) / (high - low);
        assert!((0.4..0.6).contains(&middle), "{middle}");
    }

    #[test]
    fn columns_of_two_values_stay_and_what_is_no_number_is_refused() {
        let rows = Matrix::from_fn(10, 2, |i, j| if j == 0 { (i % 2) as f32 } else { i as f32 });
        let ranks = Ranks::fit(&rows).unwrap();
        let found = ranks.transform(rows.clone()).unwrap();
        assert_eq!(found.first_columns(1), rows.first_columns(1));
        assert!(ranks.transform(column(&[1.0])).is_err());
        assert!(Ranks::fit(&column(&[1.0, f32::NAN])).is_err());
        let text = serde_json::to_string(&ranks).unwrap();
        assert_eq!(serde_json::from_str::<Ranks>(&text).unwrap(), ranks);
        assert!(serde_json::from_str::<Ranks>("[[[1.0,0.0],[1.0,2.0]]]").is_err());
        // Two zeros are one value
        let zeros = Ranks::fit(&column(&[-0.0, 0.0, 1.0, 2.0])).unwrap();
        let text = serde_json::to_string(&zeros).unwrap();
        assert_eq!((zeros.columns[0].len(), serde_json::from_str::<Ranks>(&text).is_ok()), (3, true));
    }
}
