//! What a network is punished for, given reports instead of labels.
//!
//! A report says a(S) with E\[a | y\] = e_y, and P(S | ·) up to a factor. With p the softmax of the scores, it becomes a vector t over the classes.
//!
//! | loss | t | value | slope by the scores |
//! |---|---|---|---|
//! | plain | even on the labels that the report names | -Σ t_k·ln p_k | (Σ t)·p - t |
//! | debiased | a(S) | the same, whose mean over reports is the loss of the true label | the same |
//! | soft | P(S \| ·)/Σ P(S \| k), the posterior under even chances; or any beliefs in its place | the same | the same |
//! | forward | P(S \| ·) | -ln Σ p_k·t_k | p - q, q_k = p_k·t_k/Σ p_j·t_j |
//!
//! The debiased loss is not bounded below: a network that can learn each report by heart does so with endless gain. The forward
//! loss is the likelihood of what was seen: G. Patrini, A. Rozza, A. Menon, R. Nock, L. Qu, *Making deep neural networks robust to
//! label noise* (2017).

use serde::{Deserialize, Serialize};

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
    /// By what is believed after them
    Soft,
}

impl Loss {
    /// Whether t is made of the likelihood, and of the unbiased vector otherwise.
    pub fn takes_likelihood(self) -> bool {
        self != Self::Debiased
    }

    /// What is [taken](Self::takes_likelihood) becomes t.
    pub fn target(self, t: &mut [f32]) {
        let top = t.iter().copied().fold(f32::MIN, f32::max);
        match self {
            Self::Plain => name(t, top),
            // Up to a factor, so that no sum of likelihoods leaves 32 bits
            Self::Forward => t.iter_mut().for_each(|t| *t /= top),
            Self::Soft => {
                let sum: f32 = t.iter().map(|t| t / top).sum();
                for t in t {
                    *t = *t / top / sum;
                }
            }
            Self::Debiased => {}
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

    const ALL: [Loss; 4] = [Loss::Plain, Loss::Debiased, Loss::Forward, Loss::Soft];
    const SCORES: [f32; 4] = [0.3, -1.0, 0.8, 0.1];

    /// P(report | truth) of randomized response, if they are the same and if not.
    fn chances(epsilon: f64) -> [f64; 2] {
        let p = epsilon.exp() / (epsilon.exp() + 3.0);
        [p, (1.0 - p) / 3.0]
    }

    /// t of each report in turn, and P(report | truth).
    fn reports(loss: Loss, epsilon: f64, truth: usize) -> Vec<([f32; 4], f64)> {
        let [p, q] = chances(epsilon);
        let report = |label: usize| {
            let likelihood = |k| if k == label { p } else { q };
            // (1{k = label} - q)/(p - q), whose mean is 1{k = truth}
            let unbiased = |k| (f64::from(u8::from(k == label)) - q) / (p - q);
            let mut t = [0, 1, 2, 3]
                .map(|k| (if loss.takes_likelihood() { likelihood(k) } else { unbiased(k) }) as f32);
            loss.target(&mut t);
            (t, likelihood(truth))
        };
        (0..4).map(report).collect()
    }

    fn value_and_slope(loss: Loss, scores: &[f32; 4], t: &[f32]) -> (f64, [f32; 4]) {
        let (mut p, mut slope) = ([0.0; 4], [0.0; 4]);
        softmax(scores, &mut p);
        let value = loss.add_slope(&p, t, 1.0, &mut slope);
        (value, slope)
    }

    #[test]
    fn the_slope_is_the_difference() {
        for loss in ALL {
            for (t, _) in reports(loss, 1.0, 0) {
                let (_, slope) = value_and_slope(loss, &SCORES, &t);
                for (k, found) in slope.into_iter().enumerate() {
                    let at = |h: f32| {
                        let mut scores = SCORES;
                        scores[k] += h;
                        value_and_slope(loss, &scores, &t).0
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
            let mean: f64 = (reports(Loss::Debiased, 0.7, truth).iter())
                .map(|(t, chance)| chance * value_and_slope(Loss::Debiased, &SCORES, t).0)
                .sum();
            let mut p = [0.0; 4];
            softmax(&SCORES, &mut p);
            let expected = -f64::from(p[truth]).ln();
            assert!((mean - expected).abs() < 1e-5, "{mean} for {expected}");
        }
    }

    #[test]
    fn the_mean_slope_of_the_forward_loss_vanishes_at_the_truth() {
        // Where p are the chances of the labels, Σ_y p_y·Σ_S P(S | y)·slope(S) = 0: the score of a likelihood
        let mut p = [0.0; 4];
        softmax(&SCORES, &mut p);
        let mut mean = [0.0; 4];
        for (truth, share) in p.into_iter().enumerate() {
            for (t, chance) in reports(Loss::Forward, 0.7, truth) {
                let (_, slope) = value_and_slope(Loss::Forward, &SCORES, &t);
                mean.iter_mut().zip(slope).for_each(|(m, s)| *m += f64::from(share) * chance * f64::from(s));
            }
        }
        assert!(mean.iter().all(|m| m.abs() < 1e-6), "{mean:?}");
    }

    #[test]
    fn soft_labels_are_the_posterior_under_even_chances() {
        let [p, q] = chances(1.0);
        for (label, (t, _)) in reports(Loss::Soft, 1.0, 0).into_iter().enumerate() {
            for (k, t) in t.into_iter().enumerate() {
                // P(S | k)/Σ P(S | j), where the sum is one for randomized response
                let expected = if k == label { p } else { q };
                assert!((f64::from(t) - expected).abs() < 1e-6, "{t} for {expected}");
            }
        }
    }

    #[test]
    fn a_certain_label_is_the_same_to_all_losses_and_a_report_that_says_nothing_has_no_slope() {
        let target = |loss: Loss, mut t: [f32; 4]| {
            loss.target(&mut t);
            t
        };
        let all = ALL.map(|loss| value_and_slope(loss, &SCORES, &target(loss, [0.0, 0.0, 1.0, 0.0])));
        for (value, slope) in all {
            assert!((value - all[0].0).abs() < 1e-6);
            assert!(slope.iter().zip(all[0].1).all(|(a, b)| (a - b).abs() < 1e-6), "{all:?}");
        }
        for loss in [Loss::Plain, Loss::Forward] {
            let (_, slope) = value_and_slope(loss, &SCORES, &target(loss, [1.0; 4]));
            assert!(slope.iter().all(|s| s.abs() < 1e-6), "{loss:?}: {slope:?}");
        }
    }
}
