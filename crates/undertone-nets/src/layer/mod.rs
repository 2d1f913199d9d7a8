//! Layers: functions of a batch that have weights and a gradient.
//!
//! A layer holds shapes only. Its weights are a slice of the one vector of all weights of a [`Network`](crate::Network), and so are their gradients,
//! which makes steps, checkpoints and gradients of several cores plain arithmetic on vectors. Images are stored pixel after pixel, the
//! channels of a pixel side by side.

mod batch_norm;
mod convolution;
mod dense;
mod embedding;
mod global_pool;
#[cfg(test)]
pub(crate) mod gradient_check;
mod max_pool;
mod patches;
mod relu;

pub use batch_norm::BatchNorm;
pub use convolution::Convolution;
pub use dense::Dense;
pub use embedding::Embedding;
pub use global_pool::GlobalPool;
pub use max_pool::MaxPool;
pub use relu::Relu;

use crate::coins::Coins;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The shape of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Rows of pixels
    pub height: usize,
    /// Pixels in a row
    pub width: usize,
    /// Numbers in a pixel
    pub channels: usize,
}

impl Image {
    /// Its numbers.
    pub fn len(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a pass is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Statistics are those of the batch
    Training,
    /// Statistics are those of training
    Prediction,
}

/// What a layer is given to compute its gradient: y = f(x; w) and ∂L/∂y.
pub(crate) struct Backward<'a> {
    /// w
    pub(crate) weights: &'a [f32],
    /// x
    pub(crate) input: &'a [f32],
    /// y
    pub(crate) output: &'a [f32],
    /// ∂L/∂y
    pub(crate) slope: &'a [f32],
    /// ∂L/∂w is added to it
    pub(crate) gradient: &'a mut [f32],
    /// ∂L/∂x is added to it, if anybody wants to know
    pub(crate) back: Option<&'a mut [f32]>,
    /// Memory to use
    pub(crate) room: &'a mut Vec<f32>,
}

/// A function of one batch, example after example.
pub(crate) trait Layer {
    /// Numbers in, for each example.
    fn inputs(&self) -> usize;

    /// Numbers out, for each example.
    fn outputs(&self) -> usize;

    /// How many weights.
    fn weights(&self) -> usize {
        0
    }

    /// Which of them are statistics: not moved by gradients but to the mean of what [`backward`](Self::backward) adds for them.
    fn statistics(&self) -> Range<usize> {
        0..0
    }

    /// Numbers of the memory that it uses for so many examples at a time.
    fn room(&self, examples: usize) -> usize {
        let _ = examples;
        0
    }

    /// The first weights.
    fn initialise(&self, weights: &mut [f32], coins: &mut Coins) {
        let _ = (weights, coins);
    }

    /// output = f(input; weights).
    fn forward(&self, weights: &[f32], input: &[f32], output: &mut [f32], mode: Mode, room: &mut Vec<f32>);

    /// The gradient, of a forward pass in training.
    fn backward(&self, pass: Backward<'_>);
}

/// Some layer.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// x·W + b
    Dense(Dense),
    /// Images with filters
    Convolution(Convolution),
    /// Mean zero, variance one
    BatchNorm(BatchNorm),
    /// max(x, 0)
    Relu(Relu),
    /// The largest of four pixels
    MaxPool(MaxPool),
    /// One pixel of a whole image
    GlobalPool(GlobalPool),
    /// A vector for each of many things
    Embedding(Embedding),
}

impl Operation {
    pub(crate) fn layer(&self) -> &dyn Layer {
        match self {
            Self::Dense(layer) => layer,
            Self::Convolution(layer) => layer,
            Self::BatchNorm(layer) => layer,
            Self::Relu(layer) => layer,
            Self::MaxPool(layer) => layer,
            Self::GlobalPool(layer) => layer,
            Self::Embedding(layer) => layer,
        }
    }
}

macro_rules! operations {
    ($($layer:ident),*) => {$(
        impl From<$layer> for Operation {
            fn from(layer: $layer) -> Self {
                Self::$layer(layer)
            }
        }
    )*};
}
operations!(Dense, Convolution, BatchNorm, Relu, MaxPool, GlobalPool, Embedding);

/// Memory for so many numbers, whatever is in it.
pub(crate) fn sized(room: &mut Vec<f32>, count: usize) -> &mut [f32] {
    if room.len() < count {
        room.resize(count, 0.0);
    }
    &mut room[..count]
}
