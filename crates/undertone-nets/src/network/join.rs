//! Two nodes become one.

use crate::NetError;

/// How.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// The numbers of one and then those of the other, for each example
    SideBySide,
    /// The same for each of so many pixels of an example: channels side by side
    Channels(usize),
    /// Number by number
    Product,
}

impl Join {
    /// Numbers that come out.
    pub(super) fn width(self, [left, right]: [usize; 2]) -> Result<usize, NetError> {
        match self {
            Self::Product if left != right => {
                Err(NetError::Shape { what: "the second factor", found: right, expected: left })
            }
            Self::Product => Ok(left),
            Self::Channels(pixels) if !left.is_multiple_of(pixels) || !right.is_multiple_of(pixels) => {
                Err(NetError::Shape {
                    what: "an image with such channels",
                    found: left + right,
                    expected: pixels,
                })
            }
            Self::SideBySide | Self::Channels(_) => Ok(left + right),
        }
    }

    /// How many numbers of either side alternate.
    fn runs(self, widths: [usize; 2]) -> [usize; 2] {
        let pixels = if let Self::Channels(pixels) = self { pixels } else { 1 };
        widths.map(|width| width / pixels)
    }

    /// Of two inputs and their numbers for each example.
    pub(super) fn forward(self, [(left, a), (right, b)]: [(&[f32], usize); 2], output: &mut [f32]) {
        if self == Self::Product {
            for (y, (left, right)) in output.iter_mut().zip(left.iter().zip(right)) {
                *y = left * right;
            }
            return;
        }
        let [a, b] = self.runs([a, b]);
        let pairs = left.chunks_exact(a).zip(right.chunks_exact(b));
        for (y, (left, right)) in output.chunks_exact_mut(a + b).zip(pairs) {
            y[..a].copy_from_slice(left);
            y[a..].copy_from_slice(right);
        }
    }

    /// Adds the slopes of both inputs.
    pub(super) fn backward(
        self,
        [(left, a), (right, b)]: [(&[f32], usize); 2],
        slope: &[f32],
        [to_left, to_right]: [&mut Vec<f32>; 2],
    ) {
        if self == Self::Product {
            for (at, slope) in slope.iter().enumerate() {
                to_left[at] += slope * right[at];
                to_right[at] += slope * left[at];
            }
            return;
        }
        let [a, b] = self.runs([a, b]);
        let pairs = to_left.chunks_exact_mut(a).zip(to_right.chunks_exact_mut(b));
        for (slope, (left, right)) in slope.chunks_exact(a + b).zip(pairs) {
            left.iter_mut().zip(&slope[..a]).for_each(|(to, from)| *to += from);
            right.iter_mut().zip(&slope[a..]).for_each(|(to, from)| *to += from);
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "copied numbers are the same")]
mod tests {
    use super::*;

    #[test]
    fn channels_of_the_same_pixel_stand_side_by_side() {
        // One example of two pixels, with two channels and with one
        let (left, right) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]);
        let mut output = [0.0; 6];
        Join::Channels(2).forward([(&left, 4), (&right, 2)], &mut output);
        assert_eq!(output, [1.0, 2.0, 5.0, 3.0, 4.0, 6.0]);
        let (mut a, mut b) = (vec![0.0; 4], vec![1.0; 2]);
        Join::Channels(2).backward([(&left, 4), (&right, 2)], &output, [&mut a, &mut b]);
        assert_eq!((&a[..], &b[..]), (&left[..], &[6.0, 7.0][..]));
    }
}
