//! Networks by name.

mod inception;
mod rating;

use crate::NetError;
use crate::layer::{Convolution, Dense, Image, MaxPool, Relu};
use crate::network::{Network, Node};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// Sides of images. Smaller ones vanish on the way through the layers, larger ones are too much for a processor.
const SIDES: RangeInclusive<usize> = 8..=256;
/// Whatever else is counted may not be more: products of three of these numbers are still numbers.
const MOST: usize = 1 << 20;

/// What a network looks like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Architecture {
    /// Dense layers of these widths, with [`Relu`] between them
    Mlp {
        /// Numbers of an example
        inputs: usize,
        /// Widths of the layers before the last
        hidden: Vec<usize>,
    },
    /// 3×3 with 32 filters, 3×3 with 64 filters, the largest of 2×2, a dense layer of 128, and one for the classes
    SmallCnn {
        /// What it looks at
        image: Image,
    },
    /// Blocks of 1×1 and 3×3 filters side by side
    Inception {
        /// What it looks at
        image: Image,
        /// The published numbers of filters are divided by it; one for the published network
        narrower: usize,
    },
    /// Ratings of things by people: the product of two vectors, beside a network of two others
    Rating {
        /// Numbers of people, from zero, are in column 0
        people: usize,
        /// Numbers of things, from zero, are in column 1
        things: usize,
        /// Length of the vectors
        width: usize,
    },
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = |image: &Image| format!("{}×{}×{}", image.height, image.width, image.channels);
        match self {
            Self::Mlp { inputs, hidden } => {
                write!(f, "a network of dense layers {inputs}")?;
                hidden.iter().try_for_each(|width| write!(f, "-{width}"))
            }
            Self::SmallCnn { image } => write!(f, "a small network of filters on images of {}", shape(image)),
            Self::Inception { image, narrower } => {
                write!(f, "Inception with 1/{narrower} of its filters on images of {}", shape(image))
            }
            Self::Rating { people, things, width } => {
                write!(f, "a network of ratings of {things} things by {people} people, in vectors of {width}")
            }
        }
    }
}

impl Architecture {
    /// The network, for so many classes.
    pub fn network(&self, classes: usize) -> Result<Network, NetError> {
        self.check(classes)?;
        match self {
            Self::Mlp { inputs, hidden } => mlp(*inputs, hidden, classes),
            Self::SmallCnn { image } => small_cnn(*image, classes),
            Self::Inception { image, narrower } => inception::network(*image, *narrower, classes),
            Self::Rating { people, things, width } => rating::network(*people, *things, *width, classes),
        }
    }

    /// The shape of the images, if it looks at images.
    pub fn image(&self) -> Option<Image> {
        match self {
            Self::SmallCnn { image } | Self::Inception { image, .. } => Some(*image),
            Self::Mlp { .. } | Self::Rating { .. } => None,
        }
    }

    /// Whether the numbers that come in are the names of things.
    pub fn takes_names(&self) -> bool {
        matches!(self, Self::Rating { .. })
    }

    fn check(&self, classes: usize) -> Result<(), NetError> {
        let within = |what, value: usize, range: RangeInclusive<usize>, expected| {
            if range.contains(&value) {
                return Ok(());
            }
            Err(NetError::Parameter { what, value: value as f64, expected })
        };
        let count = |what, value| within(what, value, 1..=MOST, "from 1 to 2^20");
        within("the number of classes", classes, 2..=MOST, "from 2 to 2^20")?;
        if let Some(Image { height, width, channels }) = self.image() {
            within("the height of an image", height, SIDES, "from 8 to 256 pixels")?;
            within("the width of an image", width, SIDES, "from 8 to 256 pixels")?;
            within("the number of channels", channels, 1..=16, "from 1 to 16")?;
        }
        match self {
            Self::Mlp { inputs, hidden } => {
                count("the number of inputs", *inputs)?;
                within("the number of layers", hidden.len(), 0..=64, "at most 64")?;
                hidden.iter().try_for_each(|&width| count("the width of a layer", width))
            }
            Self::SmallCnn { .. } => Ok(()),
            Self::Inception { narrower, .. } => {
                within("the divisor of the filters", *narrower, 1..=16, "from 1 to 16")
            }
            Self::Rating { people, things, width } => {
                count("the number of people", *people)?;
                count("the number of things", *things)?;
                count("the length of a vector", *width)
            }
        }
    }
}

/// A dense layer and [`Relu`].
fn dense_relu(network: &mut Network, input: Node, inputs: usize, outputs: usize) -> Result<Node, NetError> {
    let dense = network.layer(Dense { inputs, outputs }, input)?;
    network.layer(Relu { width: outputs }, dense)
}

fn mlp(inputs: usize, hidden: &[usize], classes: usize) -> Result<Network, NetError> {
    let (mut network, mut node) = Network::new(inputs);
    let mut width = inputs;
    for &next in hidden {
        node = dense_relu(&mut network, node, width, next)?;
        width = next;
    }
    network.layer(Dense { inputs: width, outputs: classes }, node)?;
    Ok(network)
}

/// The second [`Relu`] stands behind the pooling, where it does the same to a quarter of the numbers: max(max(x, y), 0) = max(max(x, 0), max(y, 0)).
fn small_cnn(image: Image, classes: usize) -> Result<Network, NetError> {
    let (mut network, input) = Network::new(image.len());
    let first = Convolution::new(image, 32, 3, 1, 0);
    let node = network.layer(first, input)?;
    let node = network.layer(Relu { width: first.output().len() }, node)?;
    let second = Convolution::new(first.output(), 64, 3, 1, 0);
    let node = network.layer(second, node)?;
    let pool = MaxPool { image: second.output() };
    let node = network.layer(pool, node)?;
    let width = pool.output().len();
    let node = network.layer(Relu { width }, node)?;
    let node = dense_relu(&mut network, node, width, 128)?;
    network.layer(Dense { inputs: 128, outputs: classes }, node)?;
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGIT: Image = Image { height: 28, width: 28, channels: 1 };

    #[test]
    fn the_small_network_for_digits_has_as_many_weights_as_on_paper() {
        let network = Architecture::SmallCnn { image: DIGIT }.network(10).unwrap();
        let filters = (9 + 1) * 32 + (9 * 32 + 1) * 64;
        assert_eq!(network.weights(), filters + (12 * 12 * 64 + 1) * 128 + 129 * 10);
        let network = Architecture::Mlp { inputs: 784, hidden: vec![256] }.network(10).unwrap();
        assert_eq!(network.weights(), 785 * 256 + 257 * 10);
    }

    #[test]
    fn what_makes_no_network_is_refused() {
        let tiny = Image { height: 4, ..DIGIT };
        assert!(Architecture::SmallCnn { image: tiny }.network(10).unwrap_err().to_string().contains('4'));
        assert!(Architecture::SmallCnn { image: DIGIT }.network(1).is_err());
        assert!(Architecture::Mlp { inputs: 3, hidden: vec![0] }.network(2).is_err());
        assert!(Architecture::Inception { image: DIGIT, narrower: 17 }.network(2).is_err());
        assert!(Architecture::Rating { people: 0, things: 3, width: 2 }.network(5).is_err());
        let huge = Architecture::Mlp { inputs: usize::MAX, hidden: vec![usize::MAX] };
        assert!(huge.network(2).unwrap_err().to_string().contains("from 1 to 2^20"));
    }
}
