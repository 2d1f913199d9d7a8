//! People as points: numbers by their rank, levels such that two different ones are one apart.
//!
//! > |x - x'|² = Σ over numbers (rank difference)² + Σ over categories \[levels differ\]
//!
//! Two levels of a category differ in two marks, hence each mark counts a half. A level that nobody had has no mark at all
//! and is half as far from all others.

use crate::features::{Row, Rows};
use crate::nonparametric::cells::{Axes, AxisScale};

/// Where a row lies, appended to `point`.
pub(super) fn place(axes: &Axes, row: Row<'_>, point: &mut Vec<f32>) {
    for (index, axis) in axes.axes().iter().enumerate() {
        let rank = axis.scale.rank(axes.value(row, index));
        point.push(match axis.scale {
            AxisScale::Quantiles(_) => rank,
            AxisScale::Level(_) => rank * std::f32::consts::FRAC_1_SQRT_2,
        });
    }
}

/// All rows, one after the other.
pub(super) fn points(axes: &Axes, rows: &Rows) -> Vec<f32> {
    let mut points = Vec::with_capacity(rows.len() * axes.axes().len());
    rows.iter().for_each(|row| place(axes, row, &mut points));
    points
}
