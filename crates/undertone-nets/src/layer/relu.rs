//! What is below zero becomes zero.

use super::{Backward, Layer, Mode};
use serde::{Deserialize, Serialize};

/// y = max(x, 0), number by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        for ((back, slope), y) in back.iter_mut().zip(pass.slope).zip(pass.output) {
            *back += if *y > 0.0 { *slope } else { 0.0 };
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
