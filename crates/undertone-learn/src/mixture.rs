//! Several models of classes that speak together: with chances w_m what the m-th says is believed.
//!
//! > π = w_0/K + Σ_m w_m·π_m,   π_m ∝ p_m^β_m,   w_0 = 1 - Σ_m w_m
//!
//! β_m makes a cautious model as sure as it may be, and a rash one less so. w_0 is for even chances, which change no order of classes. Without them
//! a model that is rash about some people would be tempered by another one, however little that one knows: of 150 classes a line
//! that was right about one person in eight counted for a third, and took away three of hundred right answers.
//!
//! The weights are those that make reports likeliest which no model has been shown: with L_im = K·Σ_k π_m(k | x_i)·P(S_i | k) / Σ_k P(S_i | k), how
//! much likelier the m-th makes the i-th report than even chances do, and of those models whose mean L is not below one by more than a standard error,
//!
//! > maximise  Σ_i ln (w_0 + Σ_m w_m·L_im)   over  w ≥ 0,
//!
//! which is concave in w, so that every path upwards leads to the top. A step of expectation-maximisation goes upwards: a model's
//! new weight is the mean share that it has in making the reports likely.
//!
//! It goes a part I of the way that is left: for two that speak, near the top,
//!
//! > I = w·(1 - w)·J,   J = mean of ((L_i1 - L_i2) / (w·L_i1 + (1 - w)·L_i2))²
//!
//! where J is what one report tells of w. So t steps from even weights go 1 - (1 - I)^t of the way, about as far as n judges would move
//! somebody who believes beforehand that weights are even, up to a variance of t·w·(1 - w)/n. Steps are few on purpose: where reports
//! hardly tell models apart, as with small ε, the top is mostly noise, and weights stay between it and even ones.
//!
//! A choice of one model loses all of what it is wrong by; where noise hides which is best, as with small ε, a mixture is mostly
//! about as good as the best, and better where models err about different people.

use crate::evaluation::terms::PROBABILITY_FLOOR;
use crate::evaluation::{Figure, mean};
use crate::features::Rows;
use crate::{Classifier, LearnError, Predictor};
use serde::{Deserialize, Serialize};

/// Steps upwards, from weights that are even for all models and even chances: t.
const STEPS: usize = 1000;
/// What has less than this part of the weight of all models says nothing that others do not, and is left out. And all together have at least this,
/// or a float would not tell what they say from even chances.
const LEAST: f64 = 0.1;
/// Halvings, after which a share is known.
const HALVINGS: usize = 30;
/// Weights sum to at most one up to this.
const ROUNDING: f64 = 1e-9;

/// Models and how much each counts; what is missing to one is for even chances.
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
            || self.members.is_empty()
            || sum > 1.0 + ROUNDING
        {
            let problem = "the weights of its members are no chances that sum to one at most".into();
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

/// w_0/K + Σ_m w_m·π_m of some people, from (w, β, p) of each model.
pub(crate) fn mixed(said: impl Iterator<Item = (f64, f64, impl AsRef<[f32]>)>, classes: usize) -> Vec<f32> {
    let (mut sums, mut even): (Vec<f64>, f64) = (Vec::new(), 1.0);
    for (weight, sharpness, p) in said {
        let p = p.as_ref();
        sums.resize(p.len(), 0.0);
        for (sums, p) in sums.chunks_exact_mut(classes).zip(p.chunks_exact(classes)) {
            sums.iter_mut().zip(sharpened(p, sharpness)).for_each(|(sum, p)| *sum += weight * p);
        }
        even -= weight;
    }
    let even = even.max(0.0) / classes as f64;
    sums.into_iter().map(|sum| (even + sum) as f32).collect()
}

/// p^β, made to sum to one. Nothing is impossible: a zero may be what a float has no room for.
pub(crate) fn sharpened(p: &[f32], beta: f64) -> Vec<f64> {
    let logs: Vec<f64> = p.iter().map(|&p| f64::from(p).max(PROBABILITY_FLOOR).ln()).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = logs.into_iter().map(|log| (beta * (log - most)).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// How much each model counts; `likelihoods` has L_im, model by model. What would count for little does not count, nor does what reports clearly
/// speak against, unless nothing else is there. One alone counts for all. Of fewer than ten models one always counts.
pub(crate) fn weights(likelihoods: &[&[f64]]) -> Vec<f64> {
    let mut kept = telling(likelihoods);
    loop {
        let found = climb(&kept.iter().map(|&model| likelihoods[model]).collect::<Vec<_>>());
        let sum: f64 = found.iter().sum();
        let still: Vec<usize> = kept
            .iter()
            .zip(&found)
            .filter(|(_, weight)| **weight >= LEAST * sum)
            .map(|(&model, _)| model)
            .collect();
        if still == kept {
            let all = if kept.len() == 1 { 1.0 } else { sum.max(LEAST) };
            let mut weights = vec![0.0; likelihoods.len()];
            kept.iter().zip(found).for_each(|(&model, weight)| weights[model] = weight / sum * all);
            return weights;
        }
        kept = still;
    }
}

/// The models that reports do not clearly speak against beside even chances, or else the one that makes them likeliest.
///
/// A little of a model beside even chances makes reports likelier if the mean of L is above one, the slope at w = 0. Where it is not, by no more than a standard
/// error, it may be: the model takes part, and the steps weigh it. What is left out by luck would lose all of what it tells.
fn telling(likelihoods: &[&[f64]]) -> Vec<usize> {
    let figures: Vec<Figure> = likelihoods.iter().map(|likely| mean(likely)).collect();
    let may = |figure: &Figure| figure.value + figure.standard_error > 1.0;
    let telling: Vec<usize> = (0..figures.len()).filter(|&model| may(&figures[model])).collect();
    if !telling.is_empty() {
        return telling;
    }
    let value = |model: usize| figures[model].value;
    (0..figures.len()).max_by(|&a, &b| value(a).total_cmp(&value(b))).into_iter().collect()
}

/// Steps upwards: w_m ← w_m · mean of L_im / (w_0 + Σ_l w_l·L_il).
fn climb(likelihoods: &[&[f64]]) -> Vec<f64> {
    let mut weights = vec![1.0 / (1 + likelihoods.len()) as f64; likelihoods.len()];
    let people = likelihoods.first().map_or(0, |first| first.len());
    let mut together = vec![0.0; people];
    for _ in 0..STEPS {
        together.fill((1.0 - weights.iter().sum::<f64>()).max(0.0));
        for (weight, likely) in weights.iter().zip(likelihoods) {
            together.iter_mut().zip(*likely).for_each(|(sum, likely)| *sum += weight * likely);
        }
        for (weight, likely) in weights.iter_mut().zip(likelihoods) {
            let shares: f64 = likely.iter().zip(&together).map(|(likely, sum)| likely / sum).sum();
            // Not zero, or nobody could say which of several vanishing weights is the largest
            *weight = (*weight * shares / people as f64).max(f64::MIN_POSITIVE);
        }
    }
    weights
}

/// How much one model counts beside even chances: the top of Σ_i ln (1 - w + w·L_i), whose slope falls.
pub(crate) fn share(likelihoods: &[f64]) -> f64 {
    let slope =
        |w: f64| likelihoods.iter().map(|likely| (likely - 1.0) / (1.0 - w + w * likely)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if slope(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LinearModel, Weights};
    use crate::loss::Loss;

    /// How likely two models of two classes make 1000 people, beside even chances: the first is right about the first so many, and
    /// the second about all others, both in nine words of ten.
    fn about(first: usize) -> [Vec<f64>; 2] {
        let says =
            |right: &dyn Fn(usize) -> bool| (0..1000).map(|i| if right(i) { 1.8 } else { 0.2 }).collect();
        [says(&|i| i < first), says(&|i| i >= first)]
    }

    fn weights_of(models: &[Vec<f64>]) -> Vec<f64> {
        weights(&models.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// So likely for the first so many of 1000 people, and so for all others.
    fn likely(first: usize, [these, others]: [f64; 2]) -> Vec<f64> {
        (0..1000).map(|i| if i < first { these } else { others }).collect()
    }

    #[test]
    fn models_count_for_as_much_as_makes_reports_likeliest() {
        // a·ln(0.6 + 1.2·w) + (1 - a)·ln(1.8 - 1.2·w) is greatest at w = 2·a - 1/2; the mean of 1/L is then below one, so that even chances
        // have no weight
        for (first, expected) in [(600, 0.7), (450, 0.4)] {
            let found = weights_of(&[likely(first, [1.8, 0.6]), likely(first, [0.6, 1.8])]);
            assert!(
                (found[0] - expected).abs() < 1e-9 && (found[1] - 1.0 + expected).abs() < 1e-9,
                "{found:?}"
            );
        }
        // 0.9·ln(1.8 - 0.3·w) + 0.1·ln(0.6 + y·w) is greatest at w = 0.2 for y = 1.35, and at 0.05 for 0.9818: a twentieth is left out
        let beside = |y: f64| weights_of(&[likely(900, [1.8, 0.6]), likely(900, [1.5, 0.6 + y])]);
        assert!((beside(1.35)[1] - 0.2).abs() < 1e-3, "{:?}", beside(1.35));
        assert_eq!(beside(0.9818), [1.0, 0.0]);
    }

    #[test]
    fn beside_even_chances_a_model_counts_for_as_much_as_a_bet() {
        // a·ln(1 + 0.8·w) + (1 - a)·ln(1 - 0.8·w) is greatest where 0.8·w = 2·a - 1
        for (first, expected) in [(600, 0.25), (950, 1.0), (500, 0.0), (300, 0.0)] {
            let found = share(&about(first)[0]);
            assert!((found - expected).abs() < 1e-8, "{first}: {found}");
        }
    }

    #[test]
    fn a_model_that_knows_nothing_does_not_temper_a_rash_one() {
        // The first is right about six in ten and too sure of it; another says nothing of anybody, or knows one in a hundred only
        let [rash, _] = about(600);
        let silent = vec![1.0; 1000];
        let little: Vec<f64> = (0..1000).map(|i| if i % 100 == 0 { 1.8 } else { 0.9 }).collect();
        for other in [silent, little] {
            assert_eq!(weights_of(&[rash.clone(), other]), [1.0, 0.0]);
        }
    }

    #[test]
    fn what_reports_do_not_clearly_speak_against_is_weighed() {
        // Two that say little of anybody make reports less likely than even chances do, by so many standard errors
        let says = |errors: f64| {
            let mean = 1.0 - 0.02 * errors / 1000f64.sqrt();
            (0..1000).map(|i| if i % 2 == 0 { mean + 0.02 } else { mean - 0.02 }).collect()
        };
        let found = weights_of(&[about(600)[0].clone(), says(0.5), says(1.5)]);
        assert!(found[1] > 0.1 && found[2].abs() < 1e-12, "{found:?}");
        // One that is as rash as the first takes part, too, and the steps take its share
        let wrong: Vec<f64> = (0..1000).map(|i| if i % 100 < 49 { 1.8 } else { 0.2 }).collect();
        assert_eq!(weights_of(&[about(600)[0].clone(), wrong]), [1.0, 0.0]);
    }

    #[test]
    fn of_models_that_are_all_worse_than_even_chances_the_least_bad_is_heard() {
        assert_eq!(weights_of(&[about(400)[0].clone(), about(450)[0].clone()]), [0.0, 1.0]);
        assert_eq!(weights_of(&[vec![0.0; 10], vec![0.0; 10]]).iter().sum::<f64>().to_bits(), 1f64.to_bits());
    }

    #[test]
    fn models_are_heard_however_little_they_count() {
        // Right about 501 and 502 of 1000: 0.0025 and 0.005 beside even chances
        let found = weights_of(&[about(501)[0].clone(), about(502)[0].clone()]);
        assert!((found.iter().sum::<f64>() - LEAST).abs() < 1e-12 && found[1] > found[0], "{found:?}");
    }

    #[test]
    fn weights_leave_even_ones_only_as_far_as_reports_tell() {
        // Models that are apart by ±δ: α·ln(1 - δ + 2·δ·w) + (1 - α)·ln(1 + δ - 2·δ·w) is greatest at w = 1/2 + (α - 1/2)/δ
        let found = |delta: f64, first: usize| {
            let says = |delta: f64| likely(first, [1.5 * (1.0 + delta), 1.5 * (1.0 - delta)]);
            weights_of(&[says(delta), says(-delta)])[0]
        };
        assert!((found(0.1, 510) - 0.6).abs() < 1e-4, "{}", found(0.1, 510));
        // I = δ² = 10^-4: of the way to 0.9 a tenth is done, 1 - (1 - I)^1000
        assert!((found(0.01, 504) - (0.5 + 0.4 * (1.0 - (-0.1f64).exp()))).abs() < 1e-3);
    }

    #[test]
    fn what_is_left_out_leaves_its_weight_to_others_until_all_count_for_something() {
        // Each of the first two knows 480 of 1000, and the third one the other 40, and all know a little of everybody
        let says = |knows: std::ops::Range<usize>| {
            (0..1000).map(|i| if knows.contains(&i) { 3.0 } else { 1.1 }).collect()
        };
        let found = weights_of(&[says(0..480), says(480..960), says(960..1000)]);
        assert!(found[2].abs() < 1e-12 && (found[0] - 0.5).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn what_says_the_same_counts_alike() {
        // Together for as much as one of them would, a quarter
        let once = about(600)[0].clone();
        let found = weights_of(&[once.clone(), once.clone(), once]);
        assert!(found.iter().all(|weight| (weight - 0.25 / 3.0).abs() < 1e-9), "{found:?}");
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
        // What is missing to one says nothing: half of it for each of two classes
        let silent = Mixture::of(vec![member(0.125, 3.0, 1.0), member(0.375, 1.0, -0.5)]);
        let tempered = silent.probabilities(&rows);
        assert!(tempered.iter().zip(found).all(|(a, b)| (a - (0.25 + b / 2.0)).abs() < 1e-6), "{tempered:?}");
    }

    #[test]
    fn weights_that_are_no_chances_are_refused() {
        let check = |members: Vec<Member>| Mixture { members }.check(|_| Ok(()));
        for weight in [0.75, 0.5] {
            assert!(check(vec![member(0.25, 3.0, 1.0), member(weight, 1.0, 1.0)]).is_ok());
        }
        for (weight, sharpness) in
            [(0.8, 1.0), (-0.75, 1.0), (f64::NAN, 1.0), (0.75, 0.0), (0.75, f64::INFINITY)]
        {
            assert!(check(vec![member(0.25, 3.0, 1.0), member(weight, sharpness, 1.0)]).is_err());
        }
        assert!(check(Vec::new()).is_err());
    }
}
