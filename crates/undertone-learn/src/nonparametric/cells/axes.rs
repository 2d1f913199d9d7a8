//! Public features as axes: numbers on a common scale, and levels, which are or are not.
//!
//! A number is replaced by its rank among the people, in [0, 1], so that the marginal density is one whatever the units were.
//! Features are public in the label models, so this is free; where they are private, the box is fixed before anybody is
//! seen ([`Axes::of_box`]).

use crate::LearnError;
use crate::features::{Row, Rows};
use serde::{Deserialize, Serialize};

/// Ranks are interpolated between so many quantiles.
const QUANTILES: usize = 256;
/// Quantiles are those of at most so many rows, evenly spread.
const SAMPLE: usize = 1 << 17;
/// Of sparse features, which are mostly zero, so many are told apart: the most frequent.
pub(crate) const SPARSE: usize = 64;

/// One axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The feature, numbered as in [`Rows`]
    pub feature: u32,
    /// How its values are scaled
    pub scale: AxisScale,
}

/// How the values of a feature lie on [0, 1].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisScale {
    /// Evenly spaced quantiles, in rising order: two at least
    Quantiles(Vec<f32>),
    /// Two values only: one from this number on, zero below
    Level(f32),
}

/// All axes of some features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axes {
    /// The number of dense features
    dense: usize,
    /// Features that vary
    axes: Vec<Axis>,
}

/// The value of a feature of a row.
#[inline]
pub(crate) fn value(row: Row<'_>, dense: usize, feature: u32) -> f32 {
    if let Some(&value) = row.dense.get(feature as usize) {
        return value;
    }
    let feature = feature - dense as u32;
    row.sparse
        .binary_search_by_key(&feature, |&(feature, _)| feature)
        .map_or(0.0, |place| row.sparse[place].1)
}

/// Refuses rows with a feature that is infinite or no number.
pub(crate) fn check_finite(rows: &Rows) -> Result<(), LearnError> {
    let Some(row) = rows.iter().position(|row| !row.is_finite()) else { return Ok(()) };
    let (row, column) = (row as u64 + 1, "features".into());
    Err(LearnError::Cell { row, column, problem: "a feature is infinite or no number".into() })
}

impl Axes {
    /// The axes of these rows, scaled by ranks. A feature that is no number anywhere is refused.
    pub fn fit(rows: &Rows) -> Result<Self, LearnError> {
        if rows.is_empty() {
            return Err(LearnError::NoReports);
        }
        check_finite(rows)?;
        let step = rows.len().div_ceil(SAMPLE);
        let sample: Vec<Row<'_>> = (0..rows.len()).step_by(step).map(|row| rows.get(row)).collect();
        let dense = rows.dense_width();
        let features = (0..dense as u32).chain(frequent(&sample, dense));
        let axis = |feature| {
            let mut values: Vec<f32> = sample.iter().map(|&row| value(row, dense, feature)).collect();
            values.sort_by(f32::total_cmp);
            AxisScale::of_sorted(&values).map(|scale| Axis { feature, scale })
        };
        Ok(Self { dense, axes: features.filter_map(axis).collect() })
    }

    /// Dense features in a public box, one (low, high) for each: cells of equal width, whatever the data are.
    pub fn of_box(sides: &[(f32, f32)]) -> Result<Self, LearnError> {
        Self::of_domain(&sides.iter().copied().map(Some).collect::<Vec<_>>())
    }

    /// The same, where a feature without a side is a level: zero or one.
    pub fn of_domain(sides: &[Option<(f32, f32)>]) -> Result<Self, LearnError> {
        let axis = |(feature, side): (usize, &Option<(f32, f32)>)| {
            let feature = feature as u32;
            let Some((low, high)) = *side else { return Ok(Axis { feature, scale: AxisScale::Level(1.0) }) };
            if low < high && low.is_finite() && high.is_finite() {
                return Ok(Axis { feature, scale: AxisScale::Quantiles(vec![low, high]) });
            }
            Err(LearnError::Parameter {
                what: "the width of the box",
                value: f64::from(high) - f64::from(low),
                expected: "positive and finite",
            })
        };
        let axes = sides.iter().enumerate().map(axis).collect::<Result<_, _>>()?;
        Ok(Self { dense: sides.len(), axes })
    }

    /// The number of dense features.
    pub(super) fn dense(&self) -> usize {
        self.dense
    }

    /// The axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// d, the number of axes that are numbers; at least one.
    pub fn dimension(&self) -> u32 {
        let number = |axis: &&Axis| matches!(axis.scale, AxisScale::Quantiles(_));
        self.axes.iter().filter(number).count().max(1) as u32
    }

    /// The value of a row on an axis.
    #[inline]
    pub fn value(&self, row: Row<'_>, axis: usize) -> f32 {
        value(row, self.dense, self.axes[axis].feature)
    }

    /// Whether rows of these widths can be placed.
    pub fn check(&self, rows: &Rows) -> Result<(), LearnError> {
        let width = rows.width();
        let needed =
            self.axes.iter().map(|axis| axis.feature as usize + 1).max().unwrap_or(0).max(self.dense);
        if rows.dense_width() == self.dense && needed <= width {
            return Ok(());
        }
        Err(LearnError::Columns { found: width, expected: needed })
    }
}

/// The most frequent sparse features, in order.
fn frequent(sample: &[Row<'_>], dense: usize) -> Vec<u32> {
    let mut counts = std::collections::BTreeMap::<u32, usize>::new();
    for (feature, _) in sample.iter().flat_map(|row| row.sparse) {
        *counts.entry(*feature).or_default() += 1;
    }
    let mut features: Vec<(usize, u32)> =
        counts.into_iter().map(|(feature, count)| (count, feature)).collect();
    features.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    features.truncate(SPARSE);
    let mut features: Vec<u32> = features.into_iter().map(|(_, feature)| dense as u32 + feature).collect();
    features.sort_unstable();
    features
}

impl AxisScale {
    /// None for a constant.
    fn of_sorted(values: &[f32]) -> Option<Self> {
        let (first, last) = (*values.first()?, *values.last()?);
        if first >= last {
            return None;
        }
        let rises = values.partition_point(|&value| value <= first);
        if values[rises] >= last {
            return Some(Self::Level(last));
        }
        let steps = QUANTILES.min(values.len() - 1);
        let quantile = |j: usize| values[j * (values.len() - 1) / steps];
        Some(Self::Quantiles((0..=steps).map(quantile).collect()))
    }

    /// The place of `x` on [0, 1]: its rank, the middle one among equals; the ends for what lies beyond them.
    pub fn rank(&self, x: f32) -> f32 {
        let knots = match self {
            Self::Level(from) => return f32::from(x >= *from),
            Self::Quantiles(knots) => knots,
        };
        let (before, upto) =
            (knots.partition_point(|&knot| knot < x), knots.partition_point(|&knot| knot <= x));
        let steps = (knots.len() - 1) as f32;
        if before == knots.len() {
            1.0
        } else if upto == 0 {
            0.0
        } else if before < upto {
            0.5 * (before + upto - 1) as f32 / steps
        } else {
            let (low, high) = (knots[before - 1], knots[before]);
            ((before - 1) as f32 + (x - low) / (high - low)) / steps
        }
    }

    /// The value at a share of the way from the first quantile to the last.
    pub fn quantile(&self, share: f64) -> f32 {
        match self {
            Self::Level(from) => *from,
            Self::Quantiles(knots) => {
                let place = share.clamp(0.0, 1.0) * (knots.len() - 1) as f64;
                let low = (place as usize).min(knots.len() - 2);
                let part = place - low as f64;
                (f64::from(knots[low]) * (1.0 - part) + f64::from(knots[low + 1]) * part) as f32
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_even_whatever_the_values_and_equal_values_share_the_middle_one() {
        let cubes: Vec<f32> = (0..=1024u16).map(|i| f32::from(i).powi(3)).collect();
        let scale = AxisScale::of_sorted(&cubes).unwrap();
        assert_eq!([0, 512, 1024].map(|i| scale.rank(cubes[i])), [0.0, 0.5, 1.0]);
        assert_eq!((scale.rank(-1.0), scale.rank(1e12)), (0.0, 1.0));
        assert!((scale.rank(scale.quantile(0.3)) - 0.3).abs() < 1e-3);
        let ties = AxisScale::of_sorted(&[0.0, 1.0, 1.0, 1.0, 2.0]).unwrap();
        assert_eq!([0.0, 1.0, 2.0].map(|x| ties.rank(x)), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn constants_are_no_axes_two_values_are_levels_and_rare_words_are_left_out() {
        let mut rows = Rows::new(3, 200);
        for row in 0..400u32 {
            rows.push_with(|dense, sparse| {
                dense.extend([row as f32, f32::from(row % 2 == 0), 7.0]);
                sparse.push((row % 100, 1.0));
                if row % 2 == 0 {
                    sparse.push((150, 1.0));
                }
            });
        }
        let axes = Axes::fit(&rows).unwrap();
        assert_eq!((axes.dimension(), axes.axes().len()), (1, 2 + SPARSE));
        assert_eq!(axes.axes()[1].scale, AxisScale::Level(1.0));
        assert!(axes.axes().iter().any(|axis| axis.feature == 153), "the most frequent word");
        let last = axes.axes().len() - 1;
        assert_eq!((axes.value(rows.get(0), last), axes.value(rows.get(1), last)), (1.0, 0.0));
        assert!(axes.check(&Rows::new(3, 10)).is_err() && axes.check(&rows).is_ok());
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_row() {
        let rows = Rows::dense(1, vec![0.0, f32::NAN]);
        assert!(Axes::fit(&rows).unwrap_err().to_string().starts_with("row 2"));
        assert!(Axes::fit(&Rows::new(1, 0)).is_err());
        assert!(Axes::of_box(&[(1.0, 1.0)]).is_err());
    }
}
