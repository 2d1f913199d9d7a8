//! Randomized response that uses what is publicly believed about a person's label.
//!
//! With the labels sorted by their prior probability (ties by the smaller label) and P_k the mass of the first k,
//! randomized response among the first k says the truth with probability
//!
//! > w_k = P_k / (1 + (k-1)·t)
//!
//! and k* maximises it, the smallest on ties. No ε-private mechanism is right more often under this prior.
//!
//! **Privacy.** k* and Y_k depend on the prior alone, so the loss is that of [`RrTopK`]; the prior must be public
//! or made of other people's reports.
//!
//! Ghazi, Golowich, Kumar, Manurangsi, Zhang, *Deep Learning with Label Differential Privacy* (2021).

use super::{Covariance, Decoder, LabelRandomizer, LabelSet, RrTopK, Words};
use crate::exact::SetMemory;
use crate::{Epsilon, PrivacyError};
use alloc::vec::Vec;
use rand_core::Rng;

/// Randomized response among the labels that a prior makes worth naming.
#[derive(Clone, Debug, PartialEq)]
pub struct RrWithPrior {
    top_k: RrTopK,
    p_correct: f64,
}

impl RrWithPrior {
    /// For a person whose label is believed to follow `prior`.
    pub fn new(prior: &[f64], epsilon: Epsilon) -> Result<Self, PrivacyError> {
        if let Some((index, &value)) = prior.iter().enumerate().find(|(_, p)| !(0.0..=1.0).contains(*p)) {
            return Err(PrivacyError::PriorEntry { index, value });
        }
        let sum: f64 = prior.iter().sum();
        if !prior.is_empty() && (sum - 1.0).abs() > 1e-6 {
            return Err(PrivacyError::PriorSum { sum });
        }
        let mut order: Vec<u32> = (0..prior.len() as u32).collect();
        // A stable sort keeps the smaller label first among equals.
        order.sort_by(|&a, &b| prior[b as usize].total_cmp(&prior[a as usize]));
        let (mut mass, mut best, mut p_correct) = (0.0, 0, 0.0);
        for (earlier, &label) in order.iter().enumerate() {
            mass += prior[label as usize];
            let w = mass / (1.0 + earlier as f64 * epsilon.t());
            if w > p_correct {
                (best, p_correct) = (earlier + 1, w);
            }
        }
        order.truncate(best);
        let top_k = RrTopK::new(prior.len() as u32, order, epsilon)?;
        Ok(Self { top_k, p_correct })
    }

    /// Y_k*, in rising order.
    pub fn top(&self) -> &[u32] {
        self.top_k.top()
    }

    /// w_k*, the probability that a report is right if the prior is.
    pub fn p_correct(&self) -> f64 {
        self.p_correct
    }
}

impl LabelRandomizer for RrWithPrior {
    fn labels(&self) -> u32 {
        self.top_k.labels()
    }

    fn epsilon(&self) -> Epsilon {
        self.top_k.epsilon()
    }

    fn realised_epsilon(&self) -> f64 {
        self.top_k.realised_epsilon()
    }

    fn draw(&self, truth: u32, memory: &mut SetMemory, members: &mut Vec<u32>, rng: &mut impl Rng) {
        self.top_k.draw(truth, memory, members, rng);
    }

    fn ln_probability(&self, report: &LabelSet, truth: u32) -> f64 {
        self.top_k.ln_probability(report, truth)
    }

    fn inclusion(&self) -> (f64, f64) {
        self.top_k.inclusion()
    }

    fn words(&self) -> Words {
        self.top_k.words()
    }

    fn decoder(&self) -> Decoder {
        self.top_k.decoder()
    }

    fn covariance(&self) -> Covariance {
        self.top_k.covariance()
    }

    fn support(&self) -> Option<&[u32]> {
        self.top_k.support()
    }

    fn expected_members(&self) -> f64 {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn half_three_tenths_two_tenths_at_one_keeps_all_three() {
        // t = 0.3679: w_1 = 0.5, w_2 = 0.8/1.3679 = 0.5848, w_3 = 1/1.7358 = 0.5761
        let mechanism = RrWithPrior::new(&[0.5, 0.3, 0.2], epsilon(1.0)).unwrap();
        assert_eq!(mechanism.top(), [0, 1]);
        assert!((mechanism.p_correct() - 0.8 / (1.0 + (-1f64).exp())).abs() < 1e-12);
    }

    #[test]
    fn a_flat_prior_keeps_every_label_and_a_sharp_one_only_its_own() {
        assert_eq!(RrWithPrior::new(&[0.25; 4], epsilon(1.0)).unwrap().top(), [0, 1, 2, 3]);
        assert_eq!(RrWithPrior::new(&[0.01, 0.98, 0.01], epsilon(1.0)).unwrap().top(), [1]);
    }

    #[test]
    fn no_number_of_labels_is_right_more_often() {
        let prior = [0.05, 0.4, 0.1, 0.25, 0.2];
        for value in [0.1, 0.5, 1.0, 2.0, 5.0] {
            let ours = RrWithPrior::new(&prior, epsilon(value)).unwrap();
            let sorted = [0.4, 0.25, 0.2, 0.1, 0.05];
            let best = (1..=5u8)
                .map(|k| {
                    let mass: f64 = sorted[..k as usize].iter().sum();
                    mass / (1.0 + f64::from(k - 1) * (-value).exp())
                })
                .fold(0.0, f64::max);
            assert!((ours.p_correct() - best).abs() < 1e-12);
        }
    }

    #[test]
    fn a_prior_that_is_no_distribution_is_refused() {
        let new = |prior: &[f64]| RrWithPrior::new(prior, epsilon(1.0)).unwrap_err();
        assert_eq!(new(&[0.5, -0.1, 0.6]), PrivacyError::PriorEntry { index: 1, value: -0.1 });
        assert!(matches!(new(&[0.5, f64::NAN]), PrivacyError::PriorEntry { index: 1, .. }));
        assert_eq!(new(&[0.5, 0.25]), PrivacyError::PriorSum { sum: 0.75 });
        assert_eq!(new(&[]), PrivacyError::TooFewLabels { labels: 0 });
    }
}
