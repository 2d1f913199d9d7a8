//! A vector for each of many things, learnt.

use super::{Backward, Layer, Mode};
use crate::coins::Coins;

/// y = row x_c of a table, where x_c is a whole number in column c of the input. What is not in the table is its first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Embedding {
    /// Numbers that come in
    pub inputs: usize,
    /// Which of them counts
    pub column: usize,
    /// Rows of the table
    pub things: usize,
    /// Columns of the table
    pub width: usize,
}

impl Embedding {
    /// Where the row of this example begins.
    fn start(&self, input: &[f32]) -> usize {
        // Nothing behind the point counts; what is below zero, or no number, is zero.
        let thing = input[self.column] as usize;
        if thing < self.things { thing * self.width } else { 0 }
    }
}

impl Layer for Embedding {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.width
    }

    fn weights(&self) -> usize {
        self.things * self.width
    }

    /// Of length one, about.
    fn initialise(&self, weights: &mut [f32], coins: &mut Coins) {
        coins.fill_normal(weights, (1.0 / self.width as f64).sqrt());
    }

    fn forward(&self, weights: &[f32], input: &[f32], output: &mut [f32], _: Mode, _: &mut Vec<f32>) {
        for (input, y) in input.chunks_exact(self.inputs).zip(output.chunks_exact_mut(self.width)) {
            y.copy_from_slice(&weights[self.start(input)..][..self.width]);
        }
    }

    /// A number of a thing has no slope of its own.
    fn backward(&self, pass: Backward<'_>) {
        for (input, slope) in pass.input.chunks_exact(self.inputs).zip(pass.slope.chunks_exact(self.width)) {
            let row = &mut pass.gradient[self.start(input)..][..self.width];
            row.iter_mut().zip(slope).for_each(|(row, slope)| *row += slope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gradient_check::check;
    use super::*;

    #[test]
    fn its_gradient_is_the_difference() {
        // In the middle between two things, so that a step does not lead to another
        let input = [9.0, 0.5, 9.0, 2.5, 9.0, 1.5, 9.0, 2.5];
        check(&Embedding { inputs: 2, column: 1, things: 4, width: 3 }, &input);
    }

    #[test]
    fn what_is_not_in_the_table_is_its_first_row() {
        let layer = Embedding { inputs: 1, column: 0, things: 3, width: 2 };
        assert_eq!([2.0, 3.0, -1.0, f32::NAN].map(|x| layer.start(&[x])), [4, 0, 0, 0]);
    }
}
