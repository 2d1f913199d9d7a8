//! Layers, joined.
//!
//! Node 0 is the input; every other node is a layer of an earlier node, or joins two of them. All weights are one vector.

mod join;
mod tape;

pub use join::Join;
pub use tape::Tape;

use crate::NetError;
use crate::coins::{Coins, Purpose};
use crate::layer::{Backward, Mode, Operation};
use std::ops::Range;

/// A place in a network whose numbers other places take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(usize);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Input,
    Layer { operation: Operation, input: usize, weights: Range<usize> },
    Join { join: Join, inputs: [usize; 2] },
}

/// What is computed, whatever the weights are. Its last node has the scores of the classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    parts: Vec<Part>,
    /// Numbers of each node, for each example
    widths: Vec<usize>,
    weights: usize,
}

impl Network {
    /// Takes examples of so many numbers, and does nothing with them yet.
    pub fn new(inputs: usize) -> (Self, Node) {
        (Self { parts: vec![Part::Input], widths: vec![inputs], weights: 0 }, Node(0))
    }

    /// One more layer; an error if it does not take what `input` gives.
    pub fn layer(&mut self, operation: impl Into<Operation>, input: Node) -> Result<Node, NetError> {
        let operation = operation.into();
        let layer = operation.layer();
        let (found, expected) = (self.widths[input.0], layer.inputs());
        if found != expected {
            return Err(NetError::Shape { what: "the input of a layer", found, expected });
        }
        let (end, width) = (self.weights + layer.weights(), layer.outputs());
        let weights = self.weights..end;
        self.weights = end;
        Ok(self.push(Part::Layer { operation, input: input.0, weights }, width))
    }

    /// Joins two nodes that are not the same.
    pub fn join(&mut self, join: Join, inputs: [Node; 2]) -> Result<Node, NetError> {
        let inputs = inputs.map(|node| node.0);
        let widths = inputs.map(|node| self.widths[node]);
        if inputs[0] == inputs[1] {
            return Err(NetError::Parameter {
                what: "the second of two joined nodes",
                value: inputs[1] as f64,
                expected: "another than the first",
            });
        }
        let width = join.width(widths)?;
        Ok(self.push(Part::Join { join, inputs }, width))
    }

    fn push(&mut self, part: Part, width: usize) -> Node {
        self.parts.push(part);
        self.widths.push(width);
        Node(self.parts.len() - 1)
    }

    /// Numbers of an example.
    pub fn inputs(&self) -> usize {
        self.widths[0]
    }

    /// Scores of an example: one for each class.
    pub fn outputs(&self) -> usize {
        // There is the input at least.
        self.widths[self.widths.len() - 1]
    }

    /// How many weights.
    pub fn weights(&self) -> usize {
        self.weights
    }

    /// Numbers of all nodes, for each example.
    pub(crate) fn numbers(&self) -> usize {
        self.widths.iter().sum()
    }

    /// Numbers of a [`Tape`] for so many examples: all nodes, their slopes but for those of the input, and the room that the layer with
    /// the most of it uses.
    pub(crate) fn tape(&self, examples: usize) -> usize {
        let room = |part: &Part| match part {
            Part::Layer { operation, .. } => operation.layer().room(examples),
            Part::Input | Part::Join { .. } => 0,
        };
        let nodes = (2 * self.numbers() - self.inputs()).saturating_mul(examples);
        nodes.saturating_add(self.parts.iter().map(room).max().unwrap_or(0))
    }

    /// Which weights are statistics of the layers' inputs, and not moved by gradients.
    pub fn statistics(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Layer { operation, weights, .. } => {
                let range = operation.layer().statistics();
                (!range.is_empty()).then(|| weights.start + range.start..weights.start + range.end)
            }
            _ => None,
        })
    }

    /// The first weights, for this seed. Those of the last layer are a tenth of what they would be elsewhere, so that all classes begin
    /// nearly even: a likelihood of reports has no slope where a network is sure and wrong.
    pub fn initial(&self, seed: u64) -> Vec<f32> {
        let mut all = vec![0.0; self.weights];
        for (number, part) in (0u64..).zip(&self.parts) {
            if let Part::Layer { operation, weights, .. } = part {
                let mut coins = Coins::new(seed, Purpose::Weights, number, 0);
                operation.layer().initialise(&mut all[weights.clone()], &mut coins);
            }
        }
        if let Some(Part::Layer { weights, .. }) = self.parts.last() {
            for weight in &mut all[weights.clone()] {
                *weight *= 0.1;
            }
        }
        all
    }

    /// Computes all nodes from the input of the tape.
    pub fn forward(&self, all: &[f32], tape: &mut Tape, mode: Mode) {
        for (number, part) in self.parts.iter().enumerate() {
            let (before, rest) = tape.values.split_at_mut(number);
            let output = &mut rest[0];
            match part {
                Part::Input => {}
                Part::Layer { operation, input, weights } => {
                    let (weights, input) = (&all[weights.clone()], &before[*input]);
                    operation.layer().forward(weights, input, output, mode, &mut tape.room);
                }
                Part::Join { join, inputs } => {
                    join.forward(inputs.map(|node| (&before[node][..], self.widths[node])), output);
                }
            }
        }
    }

    /// Adds the gradient to `gradient`, given that of the scores in the tape.
    pub fn backward(&self, all: &[f32], tape: &mut Tape, gradient: &mut [f32]) {
        let last = self.parts.len() - 1;
        tape.slopes[..last].iter_mut().for_each(|slope| slope.fill(0.0));
        for (number, part) in self.parts.iter().enumerate().rev() {
            let (before, rest) = tape.slopes.split_at_mut(number);
            let slope = &rest[0][..];
            match part {
                Part::Input => {}
                Part::Layer { operation, input, weights } => operation.layer().backward(Backward {
                    weights: &all[weights.clone()],
                    input: &tape.values[*input],
                    output: &tape.values[number],
                    slope,
                    gradient: &mut gradient[weights.clone()],
                    // Nobody asks for the slope of the input.
                    back: (*input > 0).then(|| &mut before[*input][..]),
                    room: &mut tape.room,
                }),
                Part::Join { join, inputs } => {
                    let values = inputs.map(|node| (&tape.values[node][..], self.widths[node]));
                    // Two different nodes, both earlier: checked when they were joined
                    let Ok(back) = before.get_disjoint_mut(*inputs) else {
                        unreachable!("joined nodes differ")
                    };
                    join.backward(values, slope, back);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::gradient_check::normal;
    use crate::layer::{Dense, Relu};

    /// Two branches of the same input that are joined twice.
    fn two_branches() -> Network {
        let (mut network, input) = Network::new(3);
        let left = network.layer(Dense { inputs: 3, outputs: 4 }, input).unwrap();
        let right = network.layer(Dense { inputs: 3, outputs: 4 }, input).unwrap();
        let curved = network.layer(Relu { width: 4 }, left).unwrap();
        let product = network.join(Join::Product, [curved, right]).unwrap();
        let both = network.join(Join::SideBySide, [product, left]).unwrap();
        network.layer(Dense { inputs: 8, outputs: 2 }, both).unwrap();
        network
    }

    #[test]
    fn the_gradient_of_a_network_with_two_branches_is_the_difference() {
        let network = two_branches();
        let weights: Vec<f32> =
            network.initial(1).iter().zip(normal(network.weights(), 1)).map(|(w, x)| w + 0.1 * x).collect();
        let (input, c) = (normal(5 * 3, 0), normal(5 * 2, 2));
        let mut tape = Tape::new(&network, 5);
        tape.input().copy_from_slice(&input);
        let mut value = |weights: &[f32]| {
            network.forward(weights, &mut tape, Mode::Training);
            tape.scores().iter().zip(&c).map(|(y, c)| f64::from(y * c)).sum::<f64>()
        };
        let h = 4e-3;
        let differences: Vec<f64> = (0..weights.len())
            .map(|at| {
                let mut moved = weights.clone();
                moved[at] += h;
                let above = value(&moved);
                moved[at] -= 2.0 * h;
                (above - value(&moved)) / f64::from(2.0 * h)
            })
            .collect();
        value(&weights);
        tape.scores_and_slopes().1.copy_from_slice(&c);
        let mut gradient = vec![0.0; weights.len()];
        network.backward(&weights, &mut tape, &mut gradient);
        for (found, expected) in gradient.iter().zip(differences) {
            let error = (f64::from(*found) - expected).abs();
            assert!(error < 4e-3 * expected.abs().max(1.0), "{found} for {expected}");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let (mut network, input) = Network::new(3);
        let error = network.layer(Dense { inputs: 4, outputs: 1 }, input).unwrap_err();
        assert!(matches!(error, NetError::Shape { found: 3, expected: 4, .. }), "{error}");
        let wide = network.layer(Dense { inputs: 3, outputs: 2 }, input).unwrap();
        assert!(network.join(Join::Product, [input, wide]).is_err());
        assert!(network.join(Join::SideBySide, [wide, wide]).is_err());
    }
}
