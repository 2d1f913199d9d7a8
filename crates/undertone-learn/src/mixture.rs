//! Several models of classes that speak together: with chances w_m what the m-th says is believed.
//!
//! > π = Σ_m w_m·π_m,   π_m ∝ p_m^β_m
//!
//! β_m makes a cautious model as sure as it may be, and a rash one less so. The weights are those that make reports likeliest which no
//! model has been shown: with L_im = Σ_k π_m(k | x_i)·P(S_i | k),
//!
//! > maximise  Σ_i ln Σ_m w_m·L_im   over  w ≥ 0, Σ_m w_m = 1,
//!
//! which is concave in w, so that every path upwards leads to the same top. A step of expectation-maximisation goes upwards: a model's
//! new weight is the mean share that it has in making the reports likely.
//!
//! It goes a part I of the way that is left: for two models, near the top,
//!
//! > I = w·(1 - w)·J,   J = mean of ((L_i1 - L_i2) / Σ_m w_m·L_im)²
//!
//! where J is what one report tells of w. So t steps from even weights go 1 - (1 - I)^t of the way, about as far as n judges would move
//! somebody who believes beforehand that weights are even, up to a variance of t·w·(1 - w)/n. Steps are few on purpose: where reports
//! hardly tell models apart, as with small ε, the top is mostly noise, and weights stay between it and even ones.
//!
//! A choice of one model loses all of what it is wrong by; where noise hides which is best, as with small ε, a mixture is mostly
//! about as good as the best, and better where models err about different people. It is not always: `docs/measured.md` has a set of 150
//! classes that loses by it.

use crate::evaluation::terms::PROBABILITY_FLOOR;
use crate::features::Rows;
use crate::{Classifier, LearnError, Predictor};
use serde::{Deserialize, Serialize};

/// Steps upwards, from even weights: t.
const STEPS: usize = 1000;
/// What has less weight than this says nothing that others do not, and is left out.
const LEAST: f64 = 0.1;
/// Weights sum to one up to this.
const ROUNDING: f64 = 1e-9;

/// Models and how much each counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixture {
    members: Vec<Member>,
}

/// One of the models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// w
    pub weight: f64,
    /// β
    pub sharpness: f64,
    /// p
    pub predictor: Predictor,
}

impl Mixture {
    /// Of these members; one alone is itself.
    pub fn of(members: Vec<Member>) -> Predictor {
        match <[Member; 1]>::try_from(members) {
            Ok([only]) => only.predictor,
            Err(members) => Predictor::Mixture(Self { members }),
        }
    }

    /// Which models they are.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Refuses weights that are no chances; whether a member fits is asked of each.
    pub(crate) fn check(
        &self,
        member: impl Fn(&Predictor) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let sum: f64 = self.members.iter().map(|member| member.weight).sum();
        if !self.members.iter().all(|member| positive(member.weight) && positive(member.sharpness))
            || (sum - 1.0).abs() > ROUNDING
        {
            let problem = "the weights of its members are no chances that sum to one".into();
            return Err(LearnError::Model { problem });
        }
        self.members.iter().try_for_each(|one| member(&one.predictor))
    }
}

impl Classifier for Mixture {
    fn classes(&self) -> usize {
        self.members.first().map_or(0, |member| member.predictor.classes())
    }

    fn probabilities(&self, rows: &Rows) -> Vec<f32> {
        let said = self
            .members
            .iter()
            .map(|member| (member.weight, member.sharpness, member.predictor.probabilities(rows)));
        mixed(said, self.classes())
    }
}

/// Σ_m w_m·π_m of some people, from (w, β, p) of each model.
pub(crate) fn mixed(said: impl Iterator<Item = (f64, f64, impl AsRef<[f32]>)>, classes: usize) -> Vec<f32> {
    let mut sums: Vec<f64> = Vec::new();
    for (weight, sharpness, p) in said {
        let p = p.as_ref();
        sums.resize(p.len(), 0.0);
        for (sums, p) in sums.chunks_exact_mut(classes).zip(p.chunks_exact(classes)) {
            sums.iter_mut().zip(sharpened(p, sharpness)).for_each(|(sum, p)| *sum += weight * p);
        }
    }
    sums.into_iter().map(|sum| sum as f32).collect()
}

/// p^β, made to sum to one. Nothing is impossible: a zero may be what a float has no room for.
pub(crate) fn sharpened(p: &[f32], beta: f64) -> Vec<f64> {
    let logs: Vec<f64> = p.iter().map(|&p| f64::from(p).max(PROBABILITY_FLOOR).ln()).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = logs.into_iter().map(|log| (beta * (log - most)).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// How much each model counts; `likelihoods` has L_im, model by model. What would count for little does not count. Of fewer than ten models
/// one always has more than that.
pub(crate) fn weights(likelihoods: &[Vec<f64>]) -> Vec<f64> {
    let mut counts = vec![true; likelihoods.len()];
    loop {
        let weights = climb(likelihoods, &counts);
        let still: Vec<bool> = weights.iter().map(|&weight| weight >= LEAST).collect();
        if still == counts {
            return weights;
        }
        counts = still;
    }
}

/// Steps upwards from even weights of what counts: w_m ← w_m · mean of L_im / Σ_l w_l·L_il.
fn climb(likelihoods: &[Vec<f64>], counts: &[bool]) -> Vec<f64> {
    let even = 1.0 / counts.iter().filter(|counts| **counts).count() as f64;
    let mut weights: Vec<f64> = counts.iter().map(|&counts| if counts { even } else { 0.0 }).collect();
    let people = likelihoods.first().map_or(0, Vec::len);
    let mut together = vec![0.0; people];
    for _ in 0..STEPS {
        together.fill(0.0);
        for (weight, likely) in weights.iter().zip(likelihoods) {
            together.iter_mut().zip(likely).for_each(|(sum, likely)| *sum += weight * likely);
        }
        for (weight, likely) in weights.iter_mut().zip(likelihoods) {
            let shares: f64 = likely.iter().zip(&together).map(|(likely, sum)| likely / sum).sum();
            *weight *= shares / people as f64;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LinearModel, Weights};
    use crate::loss::Loss;

    /// Two models of 1000 people, of whom the first is right about the first so many, and the second about all others: 0.9 and 0.1.
    fn about(first: usize) -> Vec<Vec<f64>> {
        let says =
            |right: &dyn Fn(usize) -> bool| (0..1000).map(|i| if right(i) { 0.9 } else { 0.1 }).collect();
        vec![says(&|i| i < first), says(&|i| i >= first)]
    }

    #[test]
    fn models_count_for_as_much_as_makes_reports_likeliest() {
        // a·ln(0.1 + 0.8·w) + (1 - a)·ln(0.9 - 0.8·w) is greatest where 0.1 + 0.8·w = a
        let found = weights(&about(600));
        assert!((found[0] - 0.625).abs() < 1e-9 && (found[1] - 0.375).abs() < 1e-9, "{found:?}");
        // Nine in ten: w = 1, and what is beyond counts for all as well
        for first in [900, 950] {
            assert_eq!(weights(&about(first)), [1.0, 0.0]);
        }
        // 0.15 = 0.1 + 0.8·w: a sixteenth is left out
        assert_eq!(weights(&about(150)), [0.0, 1.0]);
    }

    #[test]
    fn weights_leave_even_ones_only_as_far_as_reports_tell() {
        // Models that are apart by ±δ: α·ln(1 - δ + 2·δ·w) + (1 - α)·ln(1 + δ - 2·δ·w) is greatest at w = 1/2 + (α - 1/2)/δ
        let found = |delta: f64, first: usize| {
            let says = |sign: f64| {
                (0..1000).map(|i| 1.0 + if i < first { sign * delta } else { -sign * delta }).collect()
            };
            weights(&[says(1.0), says(-1.0)])[0]
        };
        assert!((found(0.1, 510) - 0.6).abs() < 1e-5);
        // I = δ² = 10^-4: of the way to 0.9 a tenth is done, 1 - (1 - I)^1000
        assert!((found(0.01, 504) - (0.5 + 0.4 * (1.0 - (-0.1f64).exp()))).abs() < 1e-3);
    }

    #[test]
    fn what_is_left_out_leaves_its_weight_to_others_until_all_count_for_something() {
        // Each of the first two knows 480 of 1000, and the third one the other 40
        let says = |knows: std::ops::Range<usize>| {
            (0..1000).map(|i| if knows.contains(&i) { 0.9 } else { 0.1 }).collect()
        };
        let found = weights(&[says(0..480), says(480..960), says(960..1000)]);
        assert!(found[2].abs() < 1e-12 && (found[0] - 0.5).abs() < 1e-6, "{found:?}");
        assert!(found.iter().all(|&weight| weight == 0.0 || weight >= LEAST));
    }

    #[test]
    fn what_says_the_same_counts_alike() {
        let once = about(600).swap_remove(0);
        let found = weights(&[once.clone(), once.clone(), once]);
        assert!(found.iter().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn odds_are_raised_to_a_power_and_nothing_is_impossible() {
        let found = sharpened(&[0.6, 0.3, 0.1, 0.0], 2.0);
        let expected = [36.0 / 46.0, 9.0 / 46.0, 1.0 / 46.0, 0.0];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?}");
        assert!(sharpened(&[1.0, 0.0], 8.0)[1] > 0.0);
    }

    fn line(slope: f32) -> Predictor {
        let mut weights = Weights::zero(1, 2);
        weights.values_mut()[1] = slope;
        Predictor::Linear(LinearModel { loss: Loss::Softmax, weights, scale_back: None })
    }

    fn member(weight: f64, sharpness: f64, slope: f32) -> Member {
        Member { weight, sharpness, predictor: line(slope) }
    }

    #[test]
    fn a_mixture_says_what_its_members_say_by_their_weights_and_one_alone_is_itself() {
        let rows = Rows::dense(1, vec![2.0, -1.0]);
        // β of a softmax is a factor of its scores
        let mixture = Mixture::of(vec![member(0.25, 3.0, 1.0), member(0.75, 1.0, -0.5)]);
        let [first, second] = [line(3.0), line(-0.5)].map(|line| line.probabilities(&rows));
        let expected = first.iter().zip(&second).map(|(a, b)| 0.25 * a + 0.75 * b);
        let found = mixture.probabilities(&rows);
        assert_eq!((mixture.classes(), found.len()), (2, 4));
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        assert_eq!(Mixture::of(vec![member(1.0, 3.0, 1.0)]), line(1.0));
    }

    #[test]
    fn weights_that_are_no_chances_are_refused() {
        let check = |members: Vec<Member>| Mixture { members }.check(|_| Ok(()));
        assert!(check(vec![member(0.25, 3.0, 1.0), member(0.75, 1.0, 1.0)]).is_ok());
        for (weight, sharpness) in
            [(0.5, 1.0), (-0.75, 1.0), (f64::NAN, 1.0), (0.75, 0.0), (0.75, f64::INFINITY)]
        {
            assert!(check(vec![member(0.25, 3.0, 1.0), member(weight, sharpness, 1.0)]).is_err());
        }
        assert!(check(Vec::new()).is_err());
    }
}
