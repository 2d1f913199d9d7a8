//! The simplified Inception for small images of Ghazi, Golowich, Kumar, Manurangsi, Zhang, *Deep Learning with Label Differential Privacy*
//! (2021), appendix B.
//!
//! > Conv(3×3, 96) → S1 → S2 → S3 → the largest pixel → Dense
//!
//! where Conv is a convolution, [`BatchNorm`] and [`Relu`], Block(a, b) is Conv(1×1, a) beside Conv(3×3, b), and S1, S2 end in a Conv of stride two.
//! It needs about 1.3 GFLOP for a step on an image of 28×28, so that the numbers of filters can be divided.

use crate::NetError;
use crate::layer::{BatchNorm, Convolution, Dense, GlobalPool, Image, Relu};
use crate::network::{Join, Network, Node};

/// A part of the network.
#[derive(Clone, Copy)]
enum Stage {
    Conv { filters: usize, stride: usize },
    Block(usize, usize),
}

/// As published.
const STAGES: [Stage; 11] = [
    Stage::Conv { filters: 96, stride: 1 },
    Stage::Block(32, 32),
    Stage::Block(32, 48),
    Stage::Conv { filters: 160, stride: 2 },
    Stage::Block(112, 48),
    Stage::Block(96, 64),
    Stage::Block(80, 80),
    Stage::Block(48, 96),
    Stage::Conv { filters: 240, stride: 2 },
    Stage::Block(176, 160),
    Stage::Block(176, 160),
];

pub(super) fn network(image: Image, narrower: usize, classes: usize) -> Result<Network, NetError> {
    let (mut network, mut node) = Network::new(image.len());
    let mut image = image;
    for stage in STAGES {
        (node, image) = match stage {
            Stage::Conv { filters, stride } => {
                let layer = Convolution::new(image, filters / narrower, 3, stride, 1);
                conv(&mut network, node, layer)?
            }
            Stage::Block(a, b) => {
                let (left, of_left) =
                    conv(&mut network, node, Convolution::new(image, a / narrower, 1, 1, 0))?;
                let (right, of_right) =
                    conv(&mut network, node, Convolution::new(image, b / narrower, 3, 1, 1))?;
                let joined = network.join(Join::Channels(image.height * image.width), [left, right])?;
                (joined, Image { channels: of_left.channels + of_right.channels, ..image })
            }
        };
    }
    let pooled = network.layer(GlobalPool { image }, node)?;
    network.layer(Dense { inputs: image.channels, outputs: classes }, pooled)?;
    Ok(network)
}

/// A convolution, [`BatchNorm`], [`Relu`].
fn conv(network: &mut Network, node: Node, layer: Convolution) -> Result<(Node, Image), NetError> {
    let image = layer.output();
    let node = network.layer(layer, node)?;
    let (pixels, channels) = (image.height * image.width, image.channels);
    let node = network.layer(BatchNorm { pixels, channels }, node)?;
    Ok((network.layer(Relu { width: image.len() }, node)?, image))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_network_ends_with_336_channels_of_seven_by_seven() {
        let network = network(Image { height: 28, width: 28, channels: 1 }, 1, 10).unwrap();
        // Filters with intercepts, and γ, β, mean, variance of each channel
        let conv = |size: usize, from: usize, to: usize| (size * size * from + 1 + 4) * to;
        let block = |from: usize, a: usize, b: usize| conv(1, from, a) + conv(3, from, b);
        let all = conv(3, 1, 96)
            + block(96, 32, 32)
            + block(64, 32, 48)
            + conv(3, 80, 160)
            + block(160, 112, 48)
            + block(160, 96, 64)
            + block(160, 80, 80)
            + block(160, 48, 96)
            + conv(3, 144, 240)
            + block(240, 176, 160)
            + block(336, 176, 160)
            + 337 * 10;
        assert_eq!(network.weights(), all);
        assert_eq!(network.statistics().count(), 19);
    }
}
