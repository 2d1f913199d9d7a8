//! Everybody's place on every axis as one byte: how many of the axis's quantiles do not lie above it.
//!
//! A cut between two bytes is a cut at a quantile, so what grows on bytes can be looked up with features:
//!
//! > byte < b ⟺ x < the b-th quantile

use super::super::cells::{Axes, AxisScale};
use crate::features::Rows;

/// A byte tells apart at most so many quantiles.
const MOST: usize = u8::MAX as usize;

/// Bytes of all people on all axes.
pub(super) struct Places {
    axes: usize,
    features: Vec<u32>,
    quantiles: Vec<Vec<f32>>,
    /// Person by person
    bytes: Vec<u8>,
}

/// Values at which a cut tells people apart, in rising order.
fn quantiles(scale: &AxisScale) -> Vec<f32> {
    match scale {
        AxisScale::Level(from) => vec![*from],
        AxisScale::Quantiles(knots) => {
            let mut above: Vec<f32> = knots.iter().copied().filter(|&knot| knot > knots[0]).collect();
            above.dedup();
            // Of one too many, the largest tells the fewest apart.
            above.truncate(MOST);
            above
        }
    }
}

impl Places {
    pub(super) fn new(axes: &Axes, rows: &Rows) -> Self {
        let quantiles: Vec<Vec<f32>> = axes.axes().iter().map(|axis| quantiles(&axis.scale)).collect();
        let mut bytes = Vec::with_capacity(rows.len() * quantiles.len());
        for row in rows.iter() {
            for (axis, quantiles) in quantiles.iter().enumerate() {
                let x = axes.value(row, axis);
                bytes.push(quantiles.partition_point(|&quantile| quantile <= x) as u8);
            }
        }
        let features = axes.axes().iter().map(|axis| axis.feature).collect();
        Self { axes: quantiles.len(), features, quantiles, bytes }
    }

    /// The number of axes.
    pub(super) fn axes(&self) -> usize {
        self.axes
    }

    /// The bytes of a person, axis by axis.
    #[inline]
    pub(super) fn of(&self, person: u32) -> &[u8] {
        &self.bytes[person as usize * self.axes..(person as usize + 1) * self.axes]
    }

    /// The feature of an axis, and the value below which its byte is below `byte`, which is not zero.
    pub(super) fn cut(&self, axis: usize, byte: u8) -> (u32, f32) {
        (self.features[axis], self.quantiles[axis][usize::from(byte) - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_below_another_where_the_value_is_below_the_cut() {
        let values: Vec<f32> =
            (0..1000u16).flat_map(|i| [f32::from(i % 337), f32::from(i % 3 / 2)]).collect();
        let rows = Rows::dense(2, values);
        let places = Places::new(&Axes::fit(&rows).unwrap(), &rows);
        assert_eq!(places.axes(), 2);
        for (axis, bytes) in [(0, 1..=255), (1, 1..=1)] {
            for byte in bytes.step_by(7) {
                let (feature, at) = places.cut(axis, byte);
                assert_eq!(feature as usize, axis);
                for (person, row) in (0..).zip(rows.iter()) {
                    assert_eq!(places.of(person)[axis] < byte, row.dense[axis] < at);
                }
            }
        }
    }
}
