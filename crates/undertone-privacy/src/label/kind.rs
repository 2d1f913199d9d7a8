//! The label mechanisms by the names that people type.

use super::{Bits, LabelMechanism, RandomizedResponse, RrTopK, RrWithPrior, SubsetSelection};
use crate::kinds::kinds;
use crate::{Epsilon, PrivacyError};
use alloc::vec::Vec;

kinds! {
    /// A label mechanism with its choice of parameters.
    LabelKind {
        /// K-ary randomized response
        Rr = "rr",
        /// Subset selection with the d of least worst-case second moment: the default
        Subset = "subset",
        /// Subset selection with the published d
        SubsetPaper = "subset-paper",
        /// Independent bits as published, p = 1/2
        BitsPaper = "bits-paper",
        /// Independent bits with the best p and q
        Bits = "bits",
        /// Symmetric bits, ε/2 each
        Unary = "unary",
        /// Optimized unary encoding, the older name of the published bits
        Oue = "oue",
        /// Randomized response among given labels
        RrTopK = "rr-top-k",
        /// Randomized response with a prior
        RrPrior = "rr-prior",
    }
}

impl LabelKind {
    /// Whether all labels are treated alike, so that nobody has to say which are likelier.
    pub fn is_symmetric(self) -> bool {
        !matches!(self, Self::RrTopK | Self::RrPrior)
    }

    /// The mechanism of this kind for K labels that are all alike; the two kinds that need to know which labels
    /// are likelier take the first half of them as [`top`](RrTopK::top) and a flat prior.
    pub fn mechanism(self, labels: u32, epsilon: Epsilon) -> Result<LabelMechanism, PrivacyError> {
        super::at_least_two(labels)?;
        Ok(match self {
            Self::Rr => LabelMechanism::RandomizedResponse(RandomizedResponse::new(labels, epsilon)?),
            Self::Subset => LabelMechanism::Subset(SubsetSelection::new(labels, epsilon)?),
            Self::SubsetPaper => LabelMechanism::Subset(SubsetSelection::as_published(labels, epsilon)?),
            Self::BitsPaper | Self::Oue => LabelMechanism::Bits(Bits::as_published(labels, epsilon)?),
            Self::Bits => LabelMechanism::Bits(Bits::optimal(labels, epsilon)?),
            Self::Unary => LabelMechanism::Bits(Bits::symmetric(labels, epsilon)?),
            Self::RrTopK => {
                let top = (0..labels.div_ceil(2)).collect();
                LabelMechanism::TopK(RrTopK::new(labels, top, epsilon)?)
            }
            Self::RrPrior => {
                let flat: Vec<f64> = (0..labels).map(|_| 1.0 / f64::from(labels)).collect();
                LabelMechanism::WithPrior(RrWithPrior::new(&flat, epsilon)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_realised_loss_is_never_stated_above_the_promise_nor_far_below() {
        for kind in LabelKind::ALL {
            for labels in [2, 3, 10, 1000] {
                for value in [1e-6, 0.5, 1.0, 3.0, 8.0, 20.0] {
                    let mechanism = kind.mechanism(labels, Epsilon::new(value).unwrap()).unwrap();
                    let (realised, silent) =
                        (mechanism.realised_epsilon(), mechanism.support().is_some_and(|s| s.len() == 1));
                    assert!(realised <= value, "{kind}, K = {labels}: {realised} of {value}");
                    assert!(
                        silent || realised > value * (1.0 - 1e-4),
                        "{kind}, K = {labels}: {realised} of {value}"
                    );
                }
            }
        }
    }
    use crate::label::{LabelRandomizer, Words};

    #[test]
    fn the_words_that_run_are_the_probabilities_that_are_stated() {
        let probability = |words: u128| libm::ldexp(words as f64, -64);
        for kind in LabelKind::ALL {
            for labels in [2, 3, 10] {
                let mechanism = kind.mechanism(labels, Epsilon::new(1.0).unwrap()).unwrap();
                let (Words { truth, other }, (p, q)) = (mechanism.words(), mechanism.inclusion());
                assert!((probability(truth) - p).abs() < 1e-15, "{kind:?}");
                // Where members fill places evenly, all K inclusions share the d places.
                let q_words = other.map(probability);
                let q_places = mechanism.set_size().map(|d| (f64::from(d) - p) / f64::from(labels - 1));
                assert!((q_words.or(q_places).unwrap() - q).abs() < 1e-15, "{kind:?}");
            }
        }
    }
}
