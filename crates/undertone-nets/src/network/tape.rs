//! The numbers of all nodes for some examples, and their slopes.

use super::Network;

/// Memory for one pass through a network, to be used again.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    pub(super) values: Vec<Vec<f32>>,
    pub(super) slopes: Vec<Vec<f32>>,
    pub(super) room: Vec<f32>,
}

impl Tape {
    /// For so many examples at a time.
    pub fn new(network: &Network, examples: usize) -> Self {
        let mut tape = Self::default();
        tape.set_examples(network, examples);
        tape
    }

    /// For another number of examples.
    pub(crate) fn set_examples(&mut self, network: &Network, examples: usize) {
        self.values.resize(network.widths.len(), Vec::new());
        self.slopes.resize(network.widths.len(), Vec::new());
        for (vectors, first) in [(&mut self.values, 0), (&mut self.slopes, 1)] {
            // The input has no slopes.
            for (vector, width) in vectors.iter_mut().zip(&network.widths).skip(first) {
                vector.resize(width * examples, 0.0);
            }
        }
    }

    /// Numbers that it holds, and has room for.
    #[cfg(test)]
    pub(crate) fn numbers(&self) -> usize {
        self.values.iter().chain(&self.slopes).map(Vec::len).sum::<usize>() + self.room.len()
    }

    /// Whether all nodes of each example are finite. Only all of them tell: the largest of some numbers, or what is above zero, may hide one
    /// that is none.
    pub(crate) fn finite(&self, examples: usize) -> Vec<bool> {
        let mut finite = vec![true; examples];
        for node in &self.values {
            for (finite, values) in finite.iter_mut().zip(node.chunks_exact(node.len() / examples)) {
                // To the end of each, without a branch: several numbers at a time
                *finite &= values.iter().fold(true, |all, x| all & x.is_finite());
            }
        }
        finite
    }

    /// The examples, one after the other.
    pub fn input(&mut self) -> &mut [f32] {
        &mut self.values[0]
    }

    /// The scores of the classes, example after example.
    pub fn scores(&self) -> &[f32] {
        &self.values[self.values.len() - 1]
    }

    /// The scores, and what is to be their slopes.
    pub(crate) fn scores_and_slopes(&mut self) -> (&[f32], &mut [f32]) {
        let last = self.values.len() - 1;
        (&self.values[last], &mut self.slopes[last])
    }
}
