//! Many trees whose cuts are told by reports, averaged; for numbers, what they add to a line.
//!
//! Under local label privacy everything after the reports is free: to cut by them, and to use them once for each tree. (A curator would
//! have to divide ε by the number of trees: better one partition, [`super::central`].)
//!
//! Of numbers a line is learnt first, and trees of what is left. As a line is what few people can teach, and trees what many can add, this
//! is hardly ever worse than either: diamonds at ε = 4 err by 1067 with a line, by 720 with both.

mod fitting;
mod growing;
mod places;
mod shrinkage;

pub(super) use fitting::MOST_CUTTING;
pub use fitting::fit_forest;

use super::TrustModel;
use super::choice::Tried;
use super::targets::Output;
use super::trust::trust_and_output;
use crate::LearnError;
use crate::features::{Row, Rows};
use crate::nonparametric::cells::value;
use crate::regression::LinearNumber;
use serde::{Deserialize, Serialize};

/// A forest and how far its cells are drawn to their parents.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedForest {
    /// Fitted to everybody
    pub model: Forest,
    /// λ, rounded down
    pub chosen: u64,
    /// Each λ that was tried, the largest first
    pub tried: Vec<Tried>,
}

/// The average of many trees, and a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Document", into = "Document")]
pub struct Forest {
    document: Box<Document>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    trust: TrustModel,
    output: Output,
    /// Features that are dense, and all
    features: [usize; 2],
    /// Of a number: what the trees add to
    line: Option<LinearNumber>,
    trees: Vec<Grown>,
}

/// A tree, parents before children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Grown {
    nodes: Vec<Node>,
    /// Of each leaf, one after the other
    means: Vec<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Node {
    /// Whose feature is below goes to the first child, the rest to the one that follows it
    #[serde(rename = "c")]
    Cut(u32, f32, u32),
    /// The number of a leaf
    #[serde(rename = "l")]
    Leaf(u32),
}

impl Grown {
    #[inline]
    fn leaf(&self, row: Row<'_>, dense: usize) -> usize {
        let mut node = 0;
        loop {
            match self.nodes[node] {
                Node::Leaf(leaf) => return leaf as usize,
                Node::Cut(feature, at, child) => {
                    node = child as usize + usize::from(value(row, dense, feature) >= at);
                }
            }
        }
    }

    fn is_sound(&self, features: usize, width: usize) -> bool {
        let leaves = self.means.len() / width;
        let sound = |(place, node): (usize, &Node)| match *node {
            Node::Leaf(leaf) => (leaf as usize) < leaves,
            Node::Cut(feature, at, child) => {
                let child = child as usize;
                (feature as usize) < features
                    && at.is_finite()
                    && child > place
                    && child + 1 < self.nodes.len()
            }
        };
        !self.nodes.is_empty()
            && leaves * width == self.means.len()
            && self.nodes.iter().enumerate().all(sound)
            && self.means.iter().all(|mean| mean.is_finite())
    }
}

trust_and_output!(Forest, document);

impl Forest {
    /// Predictions of each row, one after the other; rows of other columns are refused.
    pub fn predict(&self, rows: &Rows) -> Result<Vec<f32>, LearnError> {
        let Document { output, features: [dense, features], line, trees, .. } = &*self.document;
        if (rows.dense_width(), rows.width()) != (*dense, *features) {
            return Err(LearnError::Columns { found: rows.width(), expected: *features });
        }
        let width = output.width();
        let mut sums = vec![0.0f64; rows.len() * width];
        for tree in trees {
            for (row, sum) in rows.iter().zip(sums.chunks_exact_mut(width)) {
                let means = &tree.means[tree.leaf(row, *dense) * width..][..width];
                sum.iter_mut().zip(means).for_each(|(sum, mean)| *sum += f64::from(*mean));
            }
        }
        let mut predictions = vec![0.0; rows.len() * width];
        let each = rows.iter().zip(sums.chunks_exact_mut(width)).zip(predictions.chunks_exact_mut(width));
        for ((row, sum), prediction) in each {
            for sum in sum.iter_mut() {
                *sum /= trees.len() as f64;
            }
            if let Some(line) = line {
                sum[0] += line.at(row);
            }
            output.settle(sum, prediction);
        }
        Ok(predictions)
    }
}

impl From<Forest> for Document {
    fn from(forest: Forest) -> Self {
        *forest.document
    }
}

impl TryFrom<Document> for Forest {
    type Error = LearnError;

    fn try_from(document: Document) -> Result<Self, LearnError> {
        let Document { output, features: [dense, features], line, trees, .. } = &document;
        let width = output.width();
        let lined = match (output, line) {
            (Output::Number { .. }, Some(line)) => line.check(*features).is_ok(),
            (_, line) => line.is_none(),
        };
        let sound = |tree: &Grown| tree.is_sound(*features, width);
        if trees.is_empty() || width == 0 || dense > features || !lined || !trees.iter().all(sound) {
            return Err(LearnError::Model { problem: "its trees have no means of their own".into() });
        }
        Ok(Self { document: Box::new(document) })
    }
}
