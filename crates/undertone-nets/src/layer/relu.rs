//! What is below zero becomes zero.

use super::{Backward, Layer, Mode};

/// y = max(x, 0), number by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relu {
    /// Length of x and y
    pub width: usize,
}

impl Layer for Relu {
    fn inputs(&self) -> usize {
        self.width
    }

    fn outputs(&self) -> usize {
        self.width
    }

    fn forward(&self, _: &[f32], input: &[f32], output: &mut [f32], _: Mode, _: &mut Vec<f32>) {
        for (y, x) in output.iter_mut().zip(input) {
            *y = x.max(0.0);
        }
    }

    fn backward(&self, pass: Backward<'_>) {
        let Some(back) = pass.back else { return };
        // Of the same length all three, and without a branch: several numbers at a time
        let (slope, y) = (&pass.slope[..back.len()], &pass.output[..back.len()]);
        for (k, back) in back.iter_mut().enumerate() {
            *back += slope[k] * f32::from(u8::from(y[k] > 0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gradient_check::{check, normal};
    use super::*;

    #[test]
    fn its_gradient_is_the_difference() {
        check(&Relu { width: 8 }, &normal(3 * 8, 0));
    }
}
