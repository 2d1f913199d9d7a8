//! What a network is punished for, given reports instead of labels.
//!
//! With p the softmax of the scores, a report becomes a vector t over the classes.
//!
//! | loss | t | value | slope by the scores |
//! |---|---|---|---|
//! | plain | even on the labels that the report names | -Σ t_k·ln p_k | (Σ t)·p - t |
//! | debiased | a(S), E\[a \| y\] = e_y | the same, whose mean over reports is the loss of the true label | the same |
//! | soft | any beliefs, such as those of a model and a report together | the same | the same |
//! | forward | P(S \| ·) | -ln Σ p_k·t_k | p - q, q_k = p_k·t_k/Σ p_j·t_j |
//!
//! The debiased loss is not bounded below: a network that can learn each report by heart does so with endless gain. The forward
//! loss is the likelihood of what was seen: G. Patrini, A. Rozza, A. Menon, R. Nock, L. Qu, *Making deep neural networks robust to
//! label noise* (2017).

use serde::{Deserialize, Serialize};
use undertone_learn::Examples;
use undertone_learn::labels::LabelVector;

/// How reports are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Loss {
    /// As if they were labels, as published
    Plain,
    /// By their unbiased label vectors
    Debiased,
    /// By their likelihood
    #[default]
    Forward,
    /// By beliefs that stand in the place of the unbiased vectors: [`relabel`](crate::relabel())
    Soft,
}

impl Loss {
    /// Appends t for each example.
    pub(crate) fn push_targets(self, examples: &Examples, classes: usize, into: &mut Vec<f32>) {
        let source = match self {
            Self::Debiased | Self::Soft => &examples.unbiased,
            Self::Plain | Self::Forward => &examples.likelihood,
        };
        for vector in source.iter() {
            let start = into.len();
            push(vector, classes, into);
            let t = &mut into[start..];
            let top = t.iter().copied().fold(f32::MIN, f32::max);
            match self {
                Self::Plain => name(t, top),
                // Up to a factor, so that no sum of likelihoods leaves 32 bits
                Self::Forward => t.iter_mut().for_each(|t| *t /= top),
                Self::Debiased | Self::Soft => {}
            }
        }
    }

    /// Adds the slope of `weight` times the loss at probabilities `p`; that loss.
    pub(crate) fn add_slope(self, p: &[f32], t: &[f32], weight: f32, slope: &mut [f32]) -> f64 {
        if self == Self::Forward {
            let likelihood: f32 = p.iter().zip(t).map(|(p, t)| p * t).sum::<f32>().max(f32::MIN_POSITIVE);
            for ((slope, p), t) in slope.iter_mut().zip(p).zip(t) {
                *slope += weight * p * (1.0 - t / likelihood);
            }
            return f64::from(-weight * likelihood.ln());
        }
        let sum: f32 = t.iter().sum();
        let mut value = 0.0;
        for ((slope, p), t) in slope.iter_mut().zip(p).zip(t) {
            *slope += weight * (sum * p - t);
            value -= t * p.max(f32::MIN_POSITIVE).ln();
        }
        f64::from(weight * value)
    }
}

/// All K numbers of a sparse vector.
fn push(vector: LabelVector<'_>, classes: usize, into: &mut Vec<f32>) {
    let start = into.len();
    into.resize(start + classes, vector.base);
    for &(class, value) in vector.entries {
        into[start + class as usize] = value;
    }
}

/// Even on the likeliest labels; nothing at all if that is everything.
fn name(t: &mut [f32], top: f32) {
    let named = t.iter().filter(|t| **t >= top).count();
    let share = if named == t.len() { 0.0 } else { 1.0 / named as f32 };
    for t in t.iter_mut() {
        *t = if *t >= top { share } else { 0.0 };
    }
}

/// Scores become probabilities.
pub(crate) fn softmax(scores: &[f32], p: &mut [f32]) {
    let top = scores.iter().copied().fold(f32::MIN, f32::max);
    let mut sum = 0.0;
    for (p, z) in p.iter_mut().zip(scores) {
        *p = (z - top).exp();
        sum += *p;
    }
    for p in p.iter_mut() {
        *p /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_learn::features::Rows;
    use undertone_learn::labels::{Channel, LabelVectors};
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::{LabelKind, LabelRandomizer, LabelSet};

    const ALL: [Loss; 4] = [Loss::Plain, Loss::Debiased, Loss::Forward, Loss::Soft];
    const SCORES: [f32; 4] = [0.3, -1.0, 0.8, 0.1];

    /// All reports of randomized response, one after the other, and P(report | truth).
    fn reports(epsilon: f64, truth: u32) -> (Examples, Vec<f64>) {
        let mechanism = LabelKind::Rr.mechanism(4, Epsilon::new(epsilon).unwrap()).unwrap();
        let channel = Channel::of_mechanism(&mechanism);
        let (mut unbiased, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
        for label in 0..4 {
            channel.push_unbiased(&[label], &[], &mut unbiased).unwrap();
            channel.push_likelihood(&[label], &[], &mut likelihood).unwrap();
        }
        let chance = |label| mechanism.ln_probability(&LabelSet::new(vec![label]), truth).exp();
        let rows = Rows::dense(1, vec![0.0; 4]);
        let examples = Examples { rows, unbiased, likelihood, ..Examples::default() };
        (examples, (0..4).map(chance).collect())
    }

    fn value_and_slope(loss: Loss, scores: &[f32; 4], t: &[f32]) -> (f64, [f32; 4]) {
        let (mut p, mut slope) = ([0.0; 4], [0.0; 4]);
        softmax(scores, &mut p);
        let value = loss.add_slope(&p, t, 1.0, &mut slope);
        (value, slope)
    }

    fn targets(loss: Loss, examples: &Examples) -> Vec<f32> {
        let mut into = Vec::new();
        loss.push_targets(examples, 4, &mut into);
        into
    }

    #[test]
    fn the_slope_is_the_difference() {
        let (examples, _) = reports(1.0, 0);
        for loss in ALL {
            for t in targets(loss, &examples).chunks_exact(4) {
                let (_, slope) = value_and_slope(loss, &SCORES, t);
                for (k, found) in slope.into_iter().enumerate() {
                    let at = |h: f32| {
                        let mut scores = SCORES;
                        scores[k] += h;
                        value_and_slope(loss, &scores, t).0
                    };
                    let expected = (at(4e-3) - at(-4e-3)) / 8e-3;
                    assert!((f64::from(found) - expected).abs() < 1e-3, "{loss:?}: {found} for {expected}");
                }
            }
        }
    }

    #[test]
    fn the_mean_of_the_debiased_loss_over_all_reports_is_that_of_the_label() {
        for truth in 0..4 {
            let (examples, chances) = reports(0.7, truth);
            let all = targets(Loss::Debiased, &examples);
            let mean: f64 = (all.chunks_exact(4).zip(chances))
                .map(|(t, chance)| chance * value_and_slope(Loss::Debiased, &SCORES, t).0)
                .sum();
            let mut p = [0.0; 4];
            softmax(&SCORES, &mut p);
            let expected = -f64::from(p[truth as usize]).ln();
            assert!((mean - expected).abs() < 1e-5, "{mean} for {expected}");
        }
    }

    #[test]
    fn the_mean_slope_of_the_forward_loss_vanishes_at_the_truth() {
        // Where p are the chances of the labels, Σ_y p_y·Σ_S P(S | y)·slope(S) = 0: the score of a likelihood
        let mut p = [0.0; 4];
        softmax(&SCORES, &mut p);
        let mut mean = [0.0; 4];
        for (truth, share) in (0..4).zip(p) {
            let (examples, chances) = reports(0.7, truth);
            for (t, chance) in targets(Loss::Forward, &examples).chunks_exact(4).zip(chances) {
                let (_, slope) = value_and_slope(Loss::Forward, &SCORES, t);
                mean.iter_mut().zip(slope).for_each(|(m, s)| *m += f64::from(share) * chance * f64::from(s));
            }
        }
        assert!(mean.iter().all(|m| m.abs() < 1e-6), "{mean:?}");
    }

    #[test]
    fn a_certain_label_is_the_same_to_all_losses_and_a_report_that_says_nothing_has_no_slope() {
        let certain = Examples::certain(Rows::dense(1, vec![0.0]), [2]);
        let all = ALL.map(|loss| value_and_slope(loss, &SCORES, &targets(loss, &certain)));
        for (value, slope) in all {
            assert!((value - all[0].0).abs() < 1e-6);
            assert!(slope.iter().zip(all[0].1).all(|(a, b)| (a - b).abs() < 1e-6), "{all:?}");
        }
        let mut nothing = LabelVectors::new();
        nothing.push(1.0, []);
        let examples =
            Examples { rows: Rows::dense(1, vec![0.0]), likelihood: nothing, ..Examples::default() };
        for loss in [Loss::Plain, Loss::Forward] {
            let (_, slope) = value_and_slope(loss, &SCORES, &targets(loss, &examples));
            assert!(slope.iter().all(|s| s.abs() < 1e-6), "{loss:?}: {slope:?}");
        }
    }
}
