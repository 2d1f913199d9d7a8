//! Networks by name.

mod inception;
mod rating;

use crate::NetError;
use crate::layer::{Convolution, Dense, Image, MaxPool, Relu};
use crate::network::{Network, Node};
use serde::{Deserialize, Serialize};

/// What a network looks like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        let at_least = |what, value: usize, least: usize, expected| {
            if value < least {
                return Err(NetError::Parameter { what, value: value as f64, expected });
            }
            Ok(())
        };
        at_least("the number of classes", classes, 2, "at least two")?;
        if let Some(Image { height, width, channels }) = self.image() {
            at_least("the height of an image", height, 8, "at least eight pixels")?;
            at_least("the width of an image", width, 8, "at least eight pixels")?;
            at_least("the number of channels", channels, 1, "positive")?;
        }
        match self {
            Self::Mlp { inputs, hidden } => {
                at_least("the number of inputs", *inputs, 1, "positive")?;
                hidden.iter().try_for_each(|&width| at_least("the width of a layer", width, 1, "positive"))
            }
            Self::SmallCnn { .. } => Ok(()),
            Self::Inception { narrower, .. } => {
                at_least("the divisor of the filters", *narrower, 1, "from 1 to 16")?;
                at_least(
                    "sixteen less the divisor of the filters",
                    17usize.saturating_sub(*narrower),
                    1,
                    "positive",
                )
            }
            Self::Rating { people, things, width } => {
                at_least("the number of people", *people, 1, "positive")?;
                at_least("the number of things", *things, 1, "positive")?;
                at_least("the length of a vector", *width, 1, "positive")
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
    }
}
