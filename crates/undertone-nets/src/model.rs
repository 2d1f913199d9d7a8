//! A trained network.

use crate::training::{Scale, predict, replace_file, write_dense};
use crate::{Architecture, NetError, Network};
use serde::{Deserialize, Serialize};
use std::path::Path;
use undertone_learn::Classifier;
use undertone_learn::features::Rows;

/// What a file begins with
const MAGIC: &[u8] = b"undertone network 1\n";

/// A network and its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct NetModel {
    pub(crate) network: Network,
    pub(crate) saved: Saved,
}

/// All that a file has to have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) architecture: Architecture,
    pub(crate) classes: usize,
    pub(crate) scale: Scale,
    pub(crate) weights: Vec<f32>,
}

impl NetModel {
    pub(crate) fn new(saved: Saved) -> Result<Self, NetError> {
        let network = saved.architecture.network(saved.classes)?;
        let (found, expected) = (saved.weights.len(), network.weights());
        if found != expected {
            return Err(NetError::Shape { what: "the vector of all weights", found, expected });
        }
        Ok(Self { network, saved })
    }

    /// What it looks like.
    pub fn architecture(&self) -> &Architecture {
        &self.saved.architecture
    }

    /// All weights.
    pub fn weights(&self) -> &[f32] {
        &self.saved.weights
    }

    /// Writes a file that [`load`](Self::load) reads back bit for bit, in the place of what was there.
    pub fn save(&self, path: &Path) -> Result<(), NetError> {
        let bytes = postcard::to_extend(&self.saved, MAGIC.to_vec());
        replace_file(path, &bytes.map_err(|error| NetError::file(path, error))?)
    }

    /// Reads what was saved.
    pub fn load(path: &Path) -> Result<Self, NetError> {
        let bytes = std::fs::read(path).map_err(|error| NetError::file(path, error))?;
        let Some(bytes) = bytes.strip_prefix(MAGIC) else {
            return Err(NetError::file(path, "is no network"));
        };
        Self::new(postcard::from_bytes(bytes).map_err(|error| NetError::file(path, error))?)
    }

    /// The mean of 1, …, K under the probabilities of each row: a rating.
    pub fn ratings(&self, rows: &Rows) -> Vec<f64> {
        let rating = |p: &[f32]| (1u32..).zip(p).map(|(k, p)| f64::from(k) * f64::from(*p)).sum();
        self.probabilities(rows).chunks_exact(self.classes()).map(rating).collect()
    }
}

impl Classifier for NetModel {
    fn classes(&self) -> usize {
        self.saved.classes
    }

    fn probabilities(&self, rows: &Rows) -> Vec<f32> {
        assert_eq!(rows.width(), self.network.inputs(), "rows like those of training");
        predict(&self.network, &self.saved.weights, rows.len(), |row, into| {
            let mut dense = Vec::with_capacity(into.len());
            write_dense(rows.get(row), rows, &mut dense);
            into.iter_mut().zip(dense).for_each(|(into, x)| *into = self.saved.scale.apply(x));
        })
    }
}
