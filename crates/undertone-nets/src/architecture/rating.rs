//! Who likes what: two branches on numbers of people and things.
//!
//! Each person and each thing has two vectors. One pair is multiplied number by number, a generalised factorization; the other
//! goes side by side through dense layers, each half as wide as the one before; a last layer sees both: X. He, L. Liao, H. Zhang, L. Nie, X. Hu, T.-S. Chua, *Neural
//! Collaborative Filtering* (2017). Intercepts of people and things come of vectors that are constant on the other side.

use super::dense_relu;
use crate::NetError;
use crate::layer::{Dense, Embedding};
use crate::network::{Join, Network};

pub(super) fn network(
    people: usize,
    things: usize,
    width: usize,
    classes: usize,
) -> Result<Network, NetError> {
    let (mut network, input) = Network::new(2);
    let person = Embedding { inputs: 2, column: 0, things: people, width };
    let thing = Embedding { inputs: 2, column: 1, things, width };
    let factors = [network.layer(person, input)?, network.layer(thing, input)?];
    let product = network.join(Join::Product, factors)?;
    let beside = [network.layer(person, input)?, network.layer(thing, input)?];
    let mut node = network.join(Join::SideBySide, beside)?;
    let mut inputs = 2 * width;
    for divisor in [1, 2, 4] {
        let outputs = (2 * width / divisor).max(4);
        node = dense_relu(&mut network, node, inputs, outputs)?;
        inputs = outputs;
    }
    let both = network.join(Join::SideBySide, [product, node])?;
    network.layer(Dense { inputs: width + inputs, outputs: classes }, both)?;
    Ok(network)
}
