//! A matrix and an intercept.

use super::{Backward, Layer, Mode};
use crate::coins::Coins;
use crate::product::{add, add_rows, fill_rows, rows};

/// y = x·W + b, W before b among the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dense {
    /// Length of x
    pub inputs: usize,
    /// Length of y
    pub outputs: usize,
}

impl Layer for Dense {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn weights(&self) -> usize {
        (self.inputs + 1) * self.outputs
    }

    /// Variance 2/inputs, which keeps that of the values behind a [`Relu`](super::Relu): K. He, X. Zhang, S. Ren, J. Sun, *Delving
    /// deep into rectifiers* (2015).
    fn initialise(&self, weights: &mut [f32], coins: &mut Coins) {
        let (matrix, intercept) = weights.split_at_mut(self.inputs * self.outputs);
        coins.fill_normal(matrix, (2.0 / self.inputs as f64).sqrt());
        intercept.fill(0.0);
    }

    fn forward(&self, weights: &[f32], input: &[f32], output: &mut [f32], _: Mode, _: &mut Vec<f32>) {
        let (matrix, intercept) = weights.split_at(self.inputs * self.outputs);
        fill_rows(output, intercept);
        add(output, rows(input, self.inputs), rows(matrix, self.outputs));
    }

    fn backward(&self, pass: Backward<'_>) {
        let (matrix, _) = pass.weights.split_at(self.inputs * self.outputs);
        let (of_matrix, of_intercept) = pass.gradient.split_at_mut(self.inputs * self.outputs);
        let slope = rows(pass.slope, self.outputs);
        // ∂L/∂W = x'·∂L/∂y, ∂L/∂b = Σ ∂L/∂y, ∂L/∂x = ∂L/∂y·W'
        add(of_matrix, rows(pass.input, self.inputs).transpose(), slope);
        add_rows(of_intercept, pass.slope);
        if let Some(back) = pass.back {
            add(back, slope, rows(matrix, self.outputs).transpose());
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small integers are exact")]
mod tests {
    use super::super::gradient_check::{check, normal};
    use super::*;

    #[test]
    fn two_inputs_and_one_output_by_hand() {
        let (layer, mut output) = (Dense { inputs: 2, outputs: 1 }, [0.0; 2]);
        layer.forward(&[2.0, 3.0, 1.0], &[1.0, 1.0, 0.0, -1.0], &mut output, Mode::Training, &mut Vec::new());
        assert_eq!(output, [6.0, -2.0]);
    }

    #[test]
    fn its_gradient_is_the_difference() {
        check(&Dense { inputs: 4, outputs: 3 }, &normal(5 * 4, 0));
    }
}
