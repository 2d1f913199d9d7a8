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
/// No category has more levels: their numbers are floats, too.
const MOST_LEVELS: u32 = 1 << 20;
/// Of sparse features, which are mostly zero, so many are told apart: the most frequent.
pub(crate) const SPARSE: usize = 64;

/// One axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The feature, numbered as in [`Rows`]
    pub feature: u32,
    /// How its values are scaled
    pub scale: AxisScale,
    /// How many features after it are levels of the same category, of which a row has one at most: the axis then has a value for
    /// each of them, and one for none
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Where a public domain says that a column lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// A number, from here to there
    Range(f32, f32),
    /// One of so many levels, or none of them: as many features, which are zero or one
    Levels(u32),
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
#[serde(try_from = "Document")]
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
            AxisScale::of_sorted(&values).map(|scale| Axis { feature, scale, others: 0 })
        };
        Ok(Self { dense, axes: features.filter_map(axis).collect() })
    }

    /// Dense features in a public box, one (low, high) for each: cells of equal width, whatever the data are.
    pub fn of_box(sides: &[(f32, f32)]) -> Result<Self, LearnError> {
        Self::of_domain(&sides.iter().map(|&(low, high)| Side::Range(low, high)).collect::<Vec<_>>())
    }

    /// The same with categories: one axis for each column, whose features follow each other.
    pub fn of_domain(sides: &[Side]) -> Result<Self, LearnError> {
        let (mut feature, mut axes) = (0, Vec::with_capacity(sides.len()));
        for &side in sides {
            let (scale, levels) = match side {
                Side::Range(low, high) if low < high && low.is_finite() && high.is_finite() => {
                    (AxisScale::Quantiles(vec![low, high]), 1)
                }
                Side::Range(low, high) => {
                    let (what, value) = ("the width of the box", f64::from(high) - f64::from(low));
                    return Err(LearnError::Parameter { what, value, expected: "positive and finite" });
                }
                Side::Levels(levels) if (1..=MOST_LEVELS).contains(&levels) => {
                    (AxisScale::Level(1.0), levels)
                }
                Side::Levels(levels) => {
                    let (what, value) = ("the number of levels of a category", f64::from(levels));
                    return Err(LearnError::Parameter { what, value, expected: "from 1 to 2^20" });
                }
            };
            axes.push(Axis { feature, scale, others: levels - 1 });
            feature += levels;
        }
        Ok(Self { dense: feature as usize, axes })
    }

    /// What no data have: axes may come from a file.
    fn problem(&self) -> Option<String> {
        self.axes.iter().find_map(|axis| {
            let feature = axis.feature;
            let sound = match &axis.scale {
                AxisScale::Quantiles(knots) => {
                    let rising = knots.windows(2).all(|pair| pair[0] <= pair[1]);
                    let (Some(first), Some(last)) = (knots.first(), knots.last()) else {
                        return Some(format!("feature {feature} has no quantiles, two at least are needed"));
                    };
                    rising && first < last && first.is_finite() && last.is_finite() && axis.others == 0
                }
                AxisScale::Level(from) => from.is_finite() && axis.others < MOST_LEVELS,
            };
            let last = feature.checked_add(axis.others).is_some_and(|last| last < u32::MAX);
            (!sound || !last)
                .then(|| format!("the scale of feature {feature} is none: its values have to rise"))
        })
    }

    /// The number of dense features.
    pub(super) fn dense(&self) -> usize {
        self.dense
    }

    /// The axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// How many axes are numbers.
    pub fn numbers(&self) -> u32 {
        let number = |axis: &&Axis| matches!(axis.scale, AxisScale::Quantiles(_));
        self.axes.iter().filter(number).count() as u32
    }

    /// d, the number of axes that are numbers; at least one.
    pub fn dimension(&self) -> u32 {
        self.numbers().max(1)
    }

    /// The value of a row on an axis: of a category which of its levels it is, from one on, or zero for none.
    #[inline]
    pub fn value(&self, row: Row<'_>, axis: usize) -> f32 {
        match &self.axes[axis] {
            Axis { feature, others: 0, .. } => value(row, self.dense, *feature),
            Axis { feature, others, .. } => {
                let level = (0..=*others).find(|other| value(row, self.dense, feature + other) > 0.0);
                level.map_or(0.0, |level| (level + 1) as f32)
            }
        }
    }

    /// Whether rows of these widths can be placed.
    pub fn check(&self, rows: &Rows) -> Result<(), LearnError> {
        let width = rows.width();
        let last = self.axes.iter().map(|axis| axis.feature as usize + axis.others as usize + 1);
        let needed = last.max().unwrap_or(0).max(self.dense);
        if rows.dense_width() == self.dense && needed <= width {
            return Ok(());
        }
        Err(LearnError::Columns { found: width, expected: needed })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    dense: usize,
    axes: Vec<Axis>,
}

impl TryFrom<Document> for Axes {
    type Error = LearnError;

    fn try_from(Document { dense, axes }: Document) -> Result<Self, LearnError> {
        let axes = Self { dense, axes };
        match axes.problem() {
            Some(problem) => Err(LearnError::Model { problem }),
            None => Ok(axes),
        }
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
    fn a_category_of_a_domain_is_one_axis_with_a_value_for_none() {
        let axes = Axes::of_domain(&[Side::Levels(3), Side::Range(0.0, 1.0), Side::Levels(1)]).unwrap();
        assert_eq!((axes.axes().len(), axes.dense(), axes.numbers()), (3, 5, 1));
        let rows = Rows::dense(5, vec![0.0, 0.0, 1.0, 0.3, 1.0, 0.0, 0.0, 0.0, 0.3, 0.0]);
        let values = |row| [0, 1, 2].map(|axis| axes.value(rows.get(row), axis));
        assert_eq!((values(0), values(1)), ([3.0, 0.3, 1.0], [0.0, 0.3, 0.0]));
        assert!(axes.check(&rows).is_ok() && axes.check(&Rows::dense(3, vec![0.0; 3])).is_err());
    }

    #[test]
    fn a_file_whose_scales_are_none_is_refused() {
        let read = |scale: &str| {
            let text = format!(r#"{{"dense":2,"axes":[{{"feature":1,"scale":{scale}}}]}}"#);
            serde_json::from_str::<Axes>(&text)
        };
        assert!(read(r#"{"quantiles":[0.0,0.5,0.5,1.0]}"#).is_ok() && read(r#"{"level":1.0}"#).is_ok());
        let empty = read(r#"{"quantiles":[]}"#).unwrap_err().to_string();
        assert!(empty.contains("feature 1 has no quantiles"), "{empty}");
        for scale in ["[1.0]", "[1.0,1.0]", "[0.0,2.0,1.0]", "[0.0,1e39]", "[-1e39,0.0]"] {
            assert!(read(&format!(r#"{{"quantiles":{scale}}}"#)).is_err(), "{scale}");
        }
        assert!(read(r#"{"level":1e39}"#).is_err());
        for others in ["4294967295", "1048576"] {
            let axis = format!(r#"{{"feature":1,"scale":{{"level":1.0}},"others":{others}}}"#);
            assert!(serde_json::from_str::<Axes>(&format!(r#"{{"dense":2,"axes":[{axis}]}}"#)).is_err());
        }
        let number = r#"{"feature":0,"scale":{"quantiles":[0.0,1.0]},"others":1}"#;
        assert!(serde_json::from_str::<Axes>(&format!(r#"{{"dense":2,"axes":[{number}]}}"#)).is_err());
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_row() {
        let rows = Rows::dense(1, vec![0.0, f32::NAN]);
        assert!(Axes::fit(&rows).unwrap_err().to_string().starts_with("row 2"));
        assert!(Axes::fit(&Rows::new(1, 0)).is_err());
        assert!(Axes::of_box(&[(1.0, 1.0)]).is_err());
    }
}
