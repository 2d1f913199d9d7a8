//! Randomized response among the k labels that are likeliest, Y_k.
//!
//! A truth in Y_k is answered by randomized response among Y_k, any other truth by an even draw **from Y_k**:
//!
//! > P(r | y) = 1/(1 + (k-1)·t) if r = y, t/(1 + (k-1)·t) if r ≠ y ∈ Y_k, 1/k if y ∉ Y_k
//!
//! **Privacy.** The even share 1/k lies between the other two, whose ratio is e^ε. Answering the outsiders from
//! all K labels instead, as can be seen in public code, reports labels that no insider can: its loss is infinite.
//!
//! Ghazi, Golowich, Kumar, Manurangsi, Zhang, *Deep Learning with Label Differential Privacy* (2021).

use super::{Covariance, Decoder, LabelRandomizer, LabelSet, RandomizedResponse, Words, at_least_two};
use crate::exact::{SetMemory, uniform_below};
use crate::{Epsilon, PrivacyError};
use alloc::vec::Vec;
use rand_core::Rng;

/// Randomized response among k of K labels.
#[derive(Clone, Debug, PartialEq)]
pub struct RrTopK {
    labels: u32,
    epsilon: Epsilon,
    /// Y_k in rising order
    top: Vec<u32>,
    /// None for k = 1, where the answer is always the same.
    within: Option<RandomizedResponse>,
}

impl RrTopK {
    /// Answers among `top`, given in any order, which must be public.
    pub fn new(labels: u32, mut top: Vec<u32>, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        at_least_two(labels)?;
        let size = u32::try_from(top.len()).unwrap_or(u32::MAX);
        if size == 0 || size > labels {
            return Err(PrivacyError::TopSize { size, labels });
        }
        top.sort_unstable();
        if let Some(&label) = top.iter().find(|&&label| label >= labels) {
            return Err(PrivacyError::UnknownLabel { label, labels });
        }
        if let Some(pair) = top.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PrivacyError::RepeatedLabel { label: pair[0] });
        }
        let within = (size > 1).then(|| RandomizedResponse::new(size, epsilon)).transpose()?;
        Ok(Self { labels, epsilon, top, within })
    }

    /// Y_k in rising order.
    pub fn top(&self) -> &[u32] {
        &self.top
    }

    /// p and q among Y_k.
    fn probabilities(&self) -> (f64, f64) {
        self.within.map_or((1.0, 0.0), |within| within.probabilities())
    }
}

impl LabelRandomizer for RrTopK {
    fn labels(&self) -> u32 {
        self.labels
    }

    fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    fn realised_epsilon(&self) -> f64 {
        self.within.map_or(0.0, |within| within.realised_epsilon())
    }

    fn draw(&self, truth: u32, _memory: &mut SetMemory, members: &mut Vec<u32>, rng: &mut impl Rng) {
        // Both answers are drawn, and every label of Y_k is looked at, whether the truth is among them or not.
        let (mut rank, mut inside) = (0u32, 0u32);
        for (place, &label) in (0u32..).zip(&self.top) {
            let here = u32::from(label == truth).wrapping_neg();
            rank |= place & here;
            inside |= here;
        }
        let as_insider = self.within.map_or(0, |within| within.answer(rank, rng.next_u64()));
        let as_outsider = uniform_below(self.top.len() as u64, rng) as u32;
        let place = (as_insider & inside) | (as_outsider & !inside);
        members.push(self.top[place as usize]);
    }

    fn ln_probability(&self, report: &LabelSet, truth: u32) -> f64 {
        let [member] = *report.members() else { return f64::NEG_INFINITY };
        if self.top.binary_search(&member).is_err() {
            return f64::NEG_INFINITY;
        }
        let (p, q) = self.probabilities();
        let inside = self.top.binary_search(&truth).is_ok();
        libm::log(if member == truth {
            p
        } else if inside {
            q
        } else {
            1.0 / self.top.len() as f64
        })
    }

    fn inclusion(&self) -> (f64, f64) {
        self.probabilities()
    }

    fn words(&self) -> Words {
        self.within.map_or(Words { truth: 1 << 64, other: Some(0) }, |within| within.words())
    }

    fn decoder(&self) -> Decoder {
        self.within.map_or(Decoder { in_value: 1.0, out_value: 0.0 }, |within| within.decoder())
    }

    fn covariance(&self) -> Covariance {
        let none = Covariance { labels: 1, own: 0.0, cross: 0.0, other: 0.0, pair: 0.0 };
        self.within.map_or(none, |within| within.covariance())
    }

    fn support(&self) -> Option<&[u32]> {
        Some(&self.top)
    }

    fn expected_members(&self) -> f64 {
        1.0
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;
    use crate::Randomizer;
    use crate::label::Label;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn outsiders_answered_over_all_labels_would_lose_everything() {
        // K = 4, Y_k = {0, 1}: under the mistaken rule an outsider reports label 2 a quarter of the time, while the
        // insiders' mechanism never does, so the log-ratio of the two is infinite; ours gives label 2 to nobody.
        let mechanism = RrTopK::new(4, Vec::from([0, 1]), epsilon(1.0)).unwrap();
        let report = LabelSet::new(Vec::from([2]));
        let insider = mechanism.ln_likelihood(&report, &Label(0));
        let mistaken_outsider = (1.0f64 / 4.0).ln();
        assert_eq!(mistaken_outsider - insider, f64::INFINITY);
        assert_eq!(mechanism.ln_likelihood(&report, &Label(3)), f64::NEG_INFINITY);
    }

    #[test]
    fn one_likely_label_is_always_the_answer() {
        let mechanism = RrTopK::new(5, Vec::from([3]), epsilon(1.0)).unwrap();
        for truth in 0..5 {
            assert_eq!(mechanism.ln_probability(&LabelSet::new(Vec::from([3])), truth), 0.0);
        }
        assert_eq!(mechanism.realised_epsilon(), 0.0);
    }

    #[test]
    fn a_top_that_is_no_set_of_labels_is_refused() {
        let new = |top: &[u32]| RrTopK::new(4, top.to_vec(), epsilon(1.0)).unwrap_err();
        assert_eq!(new(&[]), PrivacyError::TopSize { size: 0, labels: 4 });
        assert_eq!(new(&[0, 4]), PrivacyError::UnknownLabel { label: 4, labels: 4 });
        assert_eq!(new(&[2, 1, 2]), PrivacyError::RepeatedLabel { label: 2 });
        assert_eq!(new(&[0, 1, 2, 3, 0]), PrivacyError::TopSize { size: 5, labels: 4 });
    }
}
