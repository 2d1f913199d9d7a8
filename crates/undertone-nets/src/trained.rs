//! A trained network.

use crate::training::{Scale, predict};
use crate::written::Weights;
use crate::{Architecture, NetError, Network};
use serde::{Deserialize, Serialize};

/// A network and its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Trained {
    pub(crate) network: Network,
    architecture: Architecture,
    pub(crate) scale: Scale,
    weights: Vec<f32>,
}

/// All that a document has to have.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    architecture: Architecture,
    classes: usize,
    scale: Scale,
    weights: Weights,
}

impl Trained {
    pub(crate) fn new(
        architecture: Architecture,
        classes: usize,
        scale: Scale,
        weights: Vec<f32>,
    ) -> Result<Self, NetError> {
        let network = architecture.network(classes)?;
        let (found, expected) = (weights.len(), network.weights());
        if found != expected {
            return Err(NetError::Shape { what: "the vector of all weights", found, expected });
        }
        if let Some(weight) = weights.iter().find(|weight| !weight.is_finite()) {
            let (what, value) = ("a weight", f64::from(*weight));
            return Err(NetError::Parameter { what, value, expected: "finite" });
        }
        scale.check()?;
        Ok(Self { network, architecture, scale, weights })
    }

    /// What it looks like.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// All weights.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Numbers of a row.
    pub fn inputs(&self) -> usize {
        self.network.inputs()
    }

    /// K.
    pub fn classes(&self) -> usize {
        self.network.outputs()
    }

    /// The K probabilities of each of `count` rows, which `write` puts into zeros. Of a row that is beyond all numbers on its way through nothing is known: all classes
    /// are as likely.
    pub fn probabilities(&self, count: usize, write: impl Fn(usize, &mut [f32]) + Sync) -> Vec<f32> {
        predict(&self.network, &self.weights, count, |row, into| {
            into.fill(0.0);
            write(row, into);
            for x in into {
                *x = self.scale.apply(*x);
            }
        })
    }
}

impl TryFrom<Saved> for Trained {
    type Error = NetError;

    fn try_from(saved: Saved) -> Result<Self, NetError> {
        Self::new(saved.architecture, saved.classes, saved.scale, saved.weights.0)
    }
}

impl From<Trained> for Saved {
    fn from(trained: Trained) -> Self {
        let classes = trained.classes();
        let Trained { architecture, scale, weights, .. } = trained;
        Self { architecture, classes, scale, weights: Weights(weights) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trained() -> Trained {
        let architecture = Architecture::Mlp { inputs: 3, hidden: vec![2] };
        let weights = architecture.network(2).unwrap().initial(1);
        Trained::new(architecture, 2, Scale::NONE, weights).unwrap()
    }

    #[test]
    fn what_is_written_reads_back_as_itself() {
        let trained = trained();
        let text = serde_json::to_string(&trained).unwrap();
        let again: Trained = serde_json::from_str(&text).unwrap();
        assert_eq!(again, trained);
        let row = |_: usize, into: &mut [f32]| into.copy_from_slice(&[0.1, -2.0, 3.0]);
        assert_eq!(again.probabilities(1, row), trained.probabilities(1, row));
    }

    #[test]
    fn a_document_whose_parts_do_not_fit_is_refused() {
        let text = serde_json::to_string(&trained()).unwrap();
        for (from, to) in [
            (r#""inputs":3"#, r#""inputs":4"#),
            (r#""inputs":3"#, r#""inputs":18446744073709551615"#),
            (r#""hidden":[2]"#, r#""hidden":[4294967295,4294967295]"#),
            (r#""classes":2"#, r#""classes":1"#),
            (r#""factor":1.0"#, r#""factor":-1.0"#),
            (r#""weights":""#, r#""weights":"A"#),
            (r#""weights":""#, r#""weights":"AADAfwAA"#),
        ] {
            assert!(text.contains(from), "{from} in {text}");
            let broken = text.replacen(from, to, 1);
            assert!(serde_json::from_str::<Trained>(&broken).is_err(), "{to}");
        }
        // A weight that is no number: the first four bytes
        let start = text.find(r#""weights":""#).unwrap() + 11;
        let broken = format!("{}AADA{}", &text[..start], &text[start + 4..]);
        let broken = broken.replacen(&broken[start + 4..start + 6], "fw", 1);
        assert!(serde_json::from_str::<Trained>(&broken).is_err());
    }

    #[test]
    fn a_row_beyond_all_numbers_says_nothing_and_takes_nothing_from_others() {
        let mut trained = trained();
        // Weights of the first layer by which the largest float is beyond all of them
        for (weight, value) in trained.weights.iter_mut().zip([2.0, -2.0, 2.0, 2.0, -2.0, 2.0]) {
            *weight = value;
        }
        let usual = trained.probabilities(1, |_, into| into.fill(1.0));
        // Whatever comes of it: infinite, infinite below zero where it is hidden by the next layer, or no number
        for signs in 0..8u8 {
            let sign = |place: usize| if signs >> place & 1 == 1 { -1.0 } else { 1.0 };
            let both = trained.probabilities(2, |row, into| {
                for (place, x) in into.iter_mut().enumerate() {
                    *x = [1.0, f32::MAX * sign(place)][row];
                }
            });
            assert_eq!(both[..2], usual);
            assert_eq!(both[2..], [0.5, 0.5], "{signs:b}");
        }
    }
}
