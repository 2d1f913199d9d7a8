//! A vector becomes as many features: its numbers divided by one constant, so that zeros stay zeros.
//!
//! The constant is the largest absolute value that the fit saw, or 255 where the numbers look like bytes: all of them
//! whole, from 0 to 255, one of them at least 128. A document may name another number than zero that becomes zero.
//!
//! Numbers of which one is negative are no pixels, nor are those that somebody says are none.

use serde::{Deserialize, Serialize};
use undertone_report::Stretch;

/// A fitted column of vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vector {
    width: u32,
    divisor: f32,
    /// What becomes zero
    #[serde(default, skip_serializing_if = "is_zero")]
    origin: f32,
    /// Whether they cannot be pixels
    #[serde(default, skip_serializing_if = "is_false")]
    plain: bool,
}

/// The largest value so far, and whether all were bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VectorFit {
    width: u32,
    largest: f32,
    bytes: bool,
    plain: bool,
}

impl VectorFit {
    pub(super) fn new(width: u32, plain: bool) -> Self {
        Self { width, largest: 0.0, bytes: true, plain }
    }

    pub(super) fn observe(&mut self, values: &[f32]) {
        for x in values {
            self.largest = self.largest.max(x.abs());
            self.bytes &= (0.0..=255.0).contains(x) && x.fract() == 0.0;
            self.plain |= *x < 0.0;
        }
    }

    pub(super) fn finish(self) -> Vector {
        let divisor = match self.largest {
            0.0 => 1.0,
            largest if self.bytes && largest >= 128.0 => 255.0,
            largest => largest,
        };
        Vector { width: self.width, divisor, origin: 0.0, plain: self.plain }
    }
}

impl Vector {
    /// As a document says it. A divisor that was written as its reciprocal comes back to the last bit: the error of two
    /// divisions in 53 bits is far below half a unit of 24.
    pub(super) fn from_words(width: u32, stretch: Stretch) -> Self {
        let (mean, scale) = stretch.mean_and_scale();
        Self { width, divisor: (1.0 / scale) as f32, origin: mean as f32, plain: false }
    }

    /// The words for it.
    pub(super) fn words(&self) -> Stretch {
        let scale = 1.0 / f64::from(self.divisor);
        Stretch::Standard { mean: f64::from(self.origin), scale, missing: false }
    }

    pub(super) fn width(&self) -> usize {
        self.width as usize
    }

    /// Whether they cannot be pixels.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    pub(super) fn write(&self, values: &[f32], dense: &mut Vec<f32>) {
        dense.extend(values.iter().map(|x| ((x - self.origin) / self.divisor).clamp(f32::MIN, f32::MAX)));
    }

    pub(super) fn names(&self, column: &str) -> Vec<String> {
        (0..self.width).map(|place| format!("{column}[{place}]")).collect()
    }

    pub(super) fn problem(&self) -> Option<&'static str> {
        let sound = self.divisor.is_finite() && self.divisor > 0.0 && self.origin.is_finite();
        (!sound).then_some("the divisor has to be positive and finite, and what becomes zero finite")
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(origin: &f32) -> bool {
    *origin == 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(values: &[f32]) -> Vector {
        let mut fit = VectorFit::new(1, false);
        fit.observe(values);
        fit.finish()
    }

    #[test]
    fn bytes_are_divided_by_255_and_the_rest_by_the_largest() {
        let columns = [&[0.0, 200.0][..], &[0.0, 15.0], &[0.5, 200.0], &[-300.0, 200.0], &[0.0, 0.0], &[]];
        let divided_by = [255.0, 15.0, 200.0, 300.0, 1.0, 1.0];
        // One that is negative is no pixel
        let plain = [false, false, false, true, false, false];
        let expected: Vec<Vector> = divided_by
            .iter()
            .zip(plain)
            .map(|(&divisor, plain)| Vector { width: 1, divisor, origin: 0.0, plain })
            .collect();
        assert_eq!(columns.map(fit).to_vec(), expected);
    }

    #[test]
    fn zeros_stay_zeros() {
        let mut dense = Vec::new();
        Vector { width: 3, divisor: 255.0, origin: 0.0, plain: false }.write(&[0.0, 51.0, 255.0], &mut dense);
        assert_eq!(dense, [0.0, 0.2, 1.0]);
    }

    #[test]
    fn no_number_leaves_the_range_of_features() {
        let mut dense = Vec::new();
        Vector { width: 1, divisor: 1e-30, origin: 0.0, plain: false }.write(&[f32::MAX], &mut dense);
        assert_eq!(dense, [f32::MAX]);
    }
}
