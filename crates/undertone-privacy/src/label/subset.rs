//! Subset selection: report a few labels, among which the true one is likelier than the rest.
//!
//! With K labels, a set S of d of them is reported with probability
//!
//! > P(S | y) = e^ε / Z if y ∈ S, else 1 / Z, where Z = C(K-1, d-1)·e^ε + C(K-1, d)
//!
//! **Privacy.** Two inputs share the same Z, so P(S | y) / P(S | y') is e^ε, 1 or e^-ε.
//!
//! **As it runs.** A coin of probability γ = P(y ∈ S | y) = d/(d + (K-d)·t), rounded down, puts the truth in; the
//! other places are filled evenly. The ratio is γ/(1-γ)·(K-d)/d, so a smaller γ only shrinks it.
//!
//! **Utility.** With the best d no ε-private mechanism has a smaller second moment on simplex gradients
//! (see [`lower_bound_second_moment`](super::lower_bound_second_moment)).
//!
//! Ye, Barg, *Optimal schemes for discrete distribution estimation under locally differential privacy* (2018);
//! Wang et al., *Mutual information optimally local private discrete distribution estimation* (2016).

use super::covariance::best_size_by_trace;
use super::{Covariance, Decoder, Label, LabelRandomizer, LabelSet, Words, at_least_two, known};
use crate::exact::{Coin, Members, SetMemory, SmallSets, WordBuffer, distinct_below, uniform_below_u32};
use crate::integer_ratio::rounded_up;
use crate::{Epsilon, PrivacyError, ln_ratio};
use alloc::vec::Vec;
use rand_core::{CryptoRng, Rng};

/// Up to this size a set that is sparse in the labels is built as a list, which is looked through for each member.
const FEW: u32 = 32;

/// Subset selection of d among K labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubsetSelection {
    labels: u32,
    set_size: u32,
    epsilon: Epsilon,
    keep: Coin,
    /// The sets of d other labels, if one word can draw them
    decoys: Option<SmallSets>,
}

impl SubsetSelection {
    /// With the d of least worst-case second moment, which lies within three of the d of least trace.
    pub fn new(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        at_least_two(labels)?;
        let middle = best_size_by_trace(labels, epsilon);
        let sizes = middle.saturating_sub(3).max(1)..=(middle + 3).min(labels - 1);
        let mut best = Self::with_size(labels, middle, epsilon)?;
        for size in sizes {
            let candidate = Self::with_size(labels, size, epsilon)?;
            if candidate.covariance().worst_case() < best.covariance().worst_case() {
                best = candidate;
            }
        }
        Ok(best)
    }

    /// With d = ⌈K/(2e^ε)⌉, as in *Convex Optimization with Local Label Differential Privacy*, Appendix A. It is
    /// up to two times smaller than the best d, at a cost of up to a tenth in the second moment.
    pub fn as_published(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        at_least_two(labels)?;
        let d = libm::ceil(f64::from(labels) * epsilon.t() / 2.0);
        Self::with_size(labels, (d as u32).clamp(1, labels - 1), epsilon)
    }

    /// With sets of `set_size` labels.
    pub fn with_size(labels: u32, set_size: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        at_least_two(labels)?;
        if set_size == 0 || set_size >= labels {
            return Err(PrivacyError::SetSize { size: set_size, labels });
        }
        let (k, d, t) = (f64::from(labels), f64::from(set_size), epsilon.t());
        let den = d + (k - d) * t;
        let gamma = d / den;
        let keep = if gamma < 0.5 { Coin::at_most(gamma) } else { Coin::leaving_at_least((k - d) * t / den) };
        // At the even share d/K a report says nothing.
        if u128::from(keep.heads()) * u128::from(labels) <= u128::from(set_size) << 64 {
            return Err(PrivacyError::NoInformation { epsilon: epsilon.get() });
        }
        let decoys = if labels <= u64::BITS { SmallSets::new(labels - 1, set_size) } else { None };
        Ok(Self { labels, set_size, epsilon, keep, decoys })
    }

    /// d, the number of labels in each report.
    pub fn set_size(&self) -> u32 {
        self.set_size
    }

    /// γ = P(y ∈ S | y), its complement, and ζ = P(k ∈ S | y) = (d - γ)/(K - 1).
    fn probabilities(&self) -> (f64, f64, f64) {
        // d - γ, exact in integers: for d = 1 it is the small complement of γ
        let rest = (u128::from(self.set_size) << 64) - u128::from(self.keep.heads());
        let zeta = libm::ldexp(rest as f64, -64) / f64::from(self.labels - 1);
        (self.keep.probability(), self.keep.complement(), zeta)
    }

    /// γ - ζ = (K·γ - d)/(K - 1), whose numerator is exact in integers.
    fn gap(&self) -> f64 {
        let numerator =
            u128::from(self.keep.heads()) * u128::from(self.labels) - (u128::from(self.set_size) << 64);
        libm::ldexp(numerator as f64, -64) / f64::from(self.labels - 1)
    }

    /// Draws a report as a mask of its members, in two words: the coin and the `decoys`.
    #[inline]
    fn mask(&self, truth: u32, decoys: &SmallSets, rng: &mut impl Rng) -> u64 {
        let kept = u64::from(self.keep.toss(rng));
        // All d places are filled evenly from the other K-1 labels, one of which, drawn evenly, gives way to the truth
        // if that is kept. What is drawn and done is the same whether it is or not.
        let (set, marked) = decoys.draw(rng);
        let set = set & !(kept << marked);
        // The other labels from the truth on are one larger than their number.
        let below = (1u64 << truth) - 1;
        (set & below) | (set & !below) << 1 | kept << truth
    }

    /// Draws a report through an empty `set`.
    #[inline]
    fn fill(&self, truth: u32, set: &mut impl Members, members: &mut Vec<u32>, rng: &mut impl Rng) {
        let kept = self.keep.toss(rng);
        let mut place = uniform_below_u32(self.set_size, rng);
        // All d places are filled evenly from the other K-1 labels …
        let skip_truth = |decoy: u32| decoy + u32::from(decoy >= truth);
        let mut victim = 0;
        distinct_below(
            self.labels - 1,
            self.set_size,
            set,
            rng,
            |set, draw| set.contains(skip_truth(draw)),
            |set, decoy| {
                let decoy = skip_truth(decoy);
                set.insert(decoy);
                victim = if place == 0 { decoy } else { victim };
                place = place.wrapping_sub(1);
            },
        );
        // … and one of them, drawn evenly, gives way to the truth if that is kept. What is drawn and done is the
        // same whether it is or not.
        set.replace(victim, truth, kept);
        set.drain_into(self.set_size, members);
    }
}

impl LabelRandomizer for SubsetSelection {
    fn labels(&self) -> u32 {
        self.labels
    }

    fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    fn realised_epsilon(&self) -> f64 {
        // γ/(1-γ)·(K-d)/d
        let above = u128::from(self.keep.heads()) * u128::from(self.labels - self.set_size);
        let below = self.keep.tails() * u128::from(self.set_size);
        rounded_up(ln_ratio(above, below), self.epsilon)
    }

    #[inline]
    fn draw(&self, truth: u32, memory: &mut SetMemory, members: &mut Vec<u32>, rng: &mut impl Rng) {
        if let Some(decoys) = &self.decoys {
            self.mask(truth, decoys, rng).drain_into(self.set_size, members);
        } else if self.labels <= u64::BITS {
            self.fill(truth, &mut 0u64, members, rng);
        } else if self.set_size <= FEW && self.labels > 32 * self.set_size {
            self.fill(truth, &mut memory.list, members, rng);
        } else {
            self.fill(truth, memory.map(self.labels), members, rng);
        }
    }

    fn ln_probability(&self, report: &LabelSet, truth: u32) -> f64 {
        let members = report.members();
        if members.len() != self.set_size as usize || members.iter().any(|&member| member >= self.labels) {
            return f64::NEG_INFINITY;
        }
        // One of C(K-1, d-1) sets with the truth, or of C(K-1, d) = C(K-1, d-1)·(K-d)/d without: by the same
        // logarithm for both, so that its error cancels in a ratio
        let (k, d) = (f64::from(self.labels), f64::from(self.set_size));
        let ln_sets = ln_choose(k - 1.0, d - 1.0);
        if report.contains(truth) {
            libm::log(self.keep.probability()) - ln_sets
        } else {
            libm::log(self.keep.complement() * d / (k - d)) - ln_sets
        }
    }

    fn inclusion(&self) -> (f64, f64) {
        let (gamma, _, zeta) = self.probabilities();
        (gamma, zeta)
    }

    fn words(&self) -> Words {
        Words { truth: self.keep.heads().into(), other: None }
    }

    fn decoder(&self) -> Decoder {
        Decoder::new(self.probabilities().2, self.gap())
    }

    fn covariance(&self) -> Covariance {
        let (gamma, not_gamma, zeta) = self.probabilities();
        Covariance::fixed_size(self.labels, gamma, not_gamma, zeta, self.gap())
    }

    fn randomize_masks(
        &self,
        labels: &[Label],
        masks: &mut Vec<u64>,
        rng: &mut impl CryptoRng,
    ) -> Result<(), PrivacyError> {
        let Some(decoys) = &self.decoys else { return super::masks_of_members(self, labels, masks, rng) };
        known(labels, self.labels)?;
        let mut rng = WordBuffer::new(rng);
        masks.extend(labels.iter().map(|&Label(truth)| self.mask(truth, decoys, &mut rng)));
        Ok(())
    }
}

/// ln C(n, k).
fn ln_choose(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn the_best_size_by_trace_is_the_best_of_all_sizes() {
        for labels in [2, 3, 10, 26, 100] {
            for value in [0.1, 0.5, 1.0, 2.0, 4.0] {
                let trace = |size| {
                    SubsetSelection::with_size(labels, size, epsilon(value)).unwrap().covariance().trace()
                };
                let best = (1..labels).map(trace).fold(f64::INFINITY, f64::min);
                let ours = trace(best_size_by_trace(labels, epsilon(value)));
                assert!(ours <= best * (1.0 + 1e-12), "K = {labels}, ε = {value}");
            }
        }
    }

    #[test]
    fn no_size_has_a_smaller_worst_case_than_the_one_chosen() {
        for labels in [2, 3, 10, 26, 100, 1000] {
            for value in [0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 8.0] {
                let worst = |size| {
                    SubsetSelection::with_size(labels, size, epsilon(value))
                        .unwrap()
                        .covariance()
                        .worst_case()
                };
                let best = (1..labels).map(worst).fold(f64::INFINITY, f64::min);
                let ours = SubsetSelection::new(labels, epsilon(value)).unwrap().covariance().worst_case();
                assert!(ours <= best * (1.0 + 1e-12), "K = {labels}, ε = {value}");
            }
        }
    }

    #[test]
    fn a_set_of_none_or_all_is_refused() {
        for size in [0, 5, 6] {
            assert_eq!(
                SubsetSelection::with_size(5, size, epsilon(1.0)),
                Err(PrivacyError::SetSize { size, labels: 5 })
            );
        }
    }
}
