//! What a report asks of the scores of its person.
//!
//! With z the scores, π the probabilities that they stand for and S the report, a gradient in z is formed from one of:
//!
//! > unbiased    Σ_k a_k·∂ℓ(z, k), whose mean over the reports is ∂ℓ(z, y)
//! > likelihood  ∂ℓ(z, ·) against the posterior q_k ∝ π_k·P(S | k); for the softmax that is π - q, the gradient of
//! >             -ln Σ_k π_k·P(S | k)
//! > posterior   ∂ℓ(z, ·) against q_k ∝ prior_k·P(S | k), which stays the same
//! > naive       ∂ℓ(z, ·) against the report at its word, 1/|S| for each label that it names

use crate::LearnError;
use crate::labels::{LabelVector, LabelVectors};
use crate::loss::Loss;
use serde::{Deserialize, Serialize};

/// Which label vector a report is taken for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Target {
    /// The unbiased vector a(S): the debiased loss
    #[default]
    Unbiased,
    /// The posterior under the model itself: maximum likelihood
    Likelihood,
    /// The posterior under a public prior, one number for each class; flat if none is given
    Posterior(Option<Vec<f32>>),
    /// The labels that the report names, as if it were the truth
    Naive,
}

impl Target {
    /// Whether a prior, if there is one, is a distribution over the classes up to a factor.
    pub(super) fn check(&self, classes: usize) -> Result<(), LearnError> {
        let Self::Posterior(Some(prior)) = self else { return Ok(()) };
        if prior.len() != classes {
            let expected = "one number for each class";
            return Err(LearnError::Parameter {
                what: "the length of the prior",
                value: prior.len() as f64,
                expected,
            });
        }
        match prior.iter().find(|p| !(p.is_finite() && **p >= 0.0)) {
            Some(&p) => {
                let expected = "finite and not negative";
                Err(LearnError::Parameter { what: "a prior probability", value: f64::from(p), expected })
            }
            None if prior.iter().all(|p| *p == 0.0) => {
                let expected = "positive";
                Err(LearnError::Parameter { what: "the sum of the prior", value: 0.0, expected })
            }
            None => Ok(()),
        }
    }

    /// The vectors that it reads.
    pub(super) fn vectors<'a>(
        &self,
        unbiased: &'a LabelVectors,
        likelihood: &'a LabelVectors,
    ) -> &'a LabelVectors {
        if *self == Self::Unbiased { unbiased } else { likelihood }
    }

    /// Turns the scores z into the gradient in z, where `report` is from [`Self::vectors`].
    #[inline]
    pub(super) fn gradient(
        &self,
        loss: Loss,
        scores: &mut [f32],
        report: LabelVector<'_>,
        soft: &mut SoftLabel,
    ) {
        match self {
            Self::Unbiased => loss.gradient(scores, report),
            Self::Likelihood => {
                soft.chances.clear();
                soft.chances.extend_from_slice(scores);
                loss.probabilities(&mut soft.chances);
                loss.gradient(scores, soft.posterior(report));
            }
            Self::Posterior(prior) => {
                soft.chances.clear();
                match prior {
                    Some(prior) => soft.chances.extend_from_slice(prior),
                    None => soft.chances.resize(scores.len(), 1.0),
                }
                loss.gradient(scores, soft.posterior(report));
            }
            Self::Naive => match soft.named(report) {
                Some(label) => loss.gradient(scores, label),
                None => scores.fill(0.0),
            },
        }
    }
}

/// Room for one label vector that is made on the way.
#[derive(Clone, Debug, Default)]
pub(super) struct SoftLabel {
    chances: Vec<f32>,
    entries: Vec<(u32, f32)>,
}

impl SoftLabel {
    /// q_k ∝ chance_k·P(S | k).
    fn posterior(&mut self, likelihood: LabelVector<'_>) -> LabelVector<'_> {
        self.entries.clear();
        self.entries.extend((0..).zip(&self.chances).map(|(k, &p)| (k, p * likelihood.base)));
        for &(k, value) in likelihood.entries {
            self.entries[k as usize].1 = self.chances[k as usize] * value;
        }
        let sum: f32 = self.entries.iter().map(|(_, q)| q).sum();
        // A report that is impossible under every class that has a chance says nothing: the chances stay as they are.
        let impossible = !(sum > 0.0 && sum.is_finite());
        let whole = if impossible { self.chances.iter().sum::<f32>() } else { sum };
        for ((_, q), p) in self.entries.iter_mut().zip(&self.chances) {
            *q = if impossible { *p } else { *q } / whole;
        }
        LabelVector { base: 0.0, entries: &self.entries }
    }

    /// 1/|S| for each label that the report names: those that make it likeliest. None for a report that names none.
    fn named(&mut self, likelihood: LabelVector<'_>) -> Option<LabelVector<'_>> {
        let top = likelihood.entries.iter().map(|&(_, value)| value).reduce(f32::max)?;
        self.entries.clear();
        self.entries.extend(likelihood.entries.iter().filter(|(_, value)| *value >= top));
        let share = 1.0 / self.entries.len() as f32;
        self.entries.iter_mut().for_each(|(_, value)| *value = share);
        Some(LabelVector { base: 0.0, entries: &self.entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f32; 4] = [0.3, -1.2, 0.9, 0.1];

    fn gradient(target: &Target, loss: Loss, report: LabelVector<'_>) -> [f32; 4] {
        let mut scores = SCORES;
        target.gradient(loss, &mut scores, report, &mut SoftLabel::default());
        scores
    }

    fn close(found: [f32; 4], expected: [f32; 4]) {
        let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-5, "{found:?} for {expected:?}");
    }

    /// P(S | ·) of a report that names 1 and 2, which makes them three times as likely.
    fn report() -> LabelVectors {
        let mut vectors = LabelVectors::new();
        vectors.push(1.0, [(1, 3.0), (2, 3.0)]);
        vectors
    }

    #[test]
    fn the_gradient_of_the_likelihood_is_the_slope_of_its_logarithm() {
        let (vectors, h) = (report(), 1.0 / 256.0);
        let minus_log = |scores: [f32; 4]| {
            let e = scores.map(|z| f64::from(z).exp());
            -((e[0] + 3.0 * e[1] + 3.0 * e[2] + e[3]) / e.iter().sum::<f64>()).ln()
        };
        let found = gradient(&Target::Likelihood, Loss::Softmax, vectors.get(0));
        for k in 0..4 {
            let at = |shift: f32| {
                let mut moved = SCORES;
                moved[k] += shift;
                minus_log(moved)
            };
            let slope = (at(h) - at(-h)) / f64::from(2.0 * h);
            assert!((f64::from(found[k]) - slope).abs() < 1e-5, "{k}: {} for {slope}", found[k]);
        }
    }

    #[test]
    fn a_posterior_weighs_the_report_with_the_prior() {
        let vectors = report();
        // 0.5·1, 0.1·3, 0.1·3, 0.3·1 of 1.4
        let soft = LabelVector {
            base: 0.0,
            entries: &[(0, 5.0 / 14.0), (1, 3.0 / 14.0), (2, 3.0 / 14.0), (3, 3.0 / 14.0)],
        };
        let flat = LabelVector { base: 1.0 / 8.0, entries: &[(1, 3.0 / 8.0), (2, 3.0 / 8.0)] };
        for loss in Loss::ALL {
            let prior = Target::Posterior(Some(vec![0.5, 0.1, 0.1, 0.3]));
            close(gradient(&prior, loss, vectors.get(0)), gradient(&Target::Unbiased, loss, soft));
            let none = Target::Posterior(None);
            close(gradient(&none, loss, vectors.get(0)), gradient(&Target::Unbiased, loss, flat));
        }
    }

    #[test]
    fn at_its_word_a_report_means_the_labels_that_it_names() {
        let vectors = report();
        let halves = LabelVector { base: 0.0, entries: &[(1, 0.5), (2, 0.5)] };
        for loss in Loss::ALL {
            close(gradient(&Target::Naive, loss, vectors.get(0)), gradient(&Target::Unbiased, loss, halves));
            // An answer 3 among 0, 1 and 3
            let top = LabelVector { base: 1.2, entries: &[(0, 1.0), (1, 1.0), (3, 3.0)] };
            let three = LabelVector { base: 0.0, entries: &[(3, 1.0)] };
            close(gradient(&Target::Naive, loss, top), gradient(&Target::Unbiased, loss, three));
            let nothing = LabelVector { base: 1.0, entries: &[] };
            close(gradient(&Target::Naive, loss, nothing), [0.0; 4]);
        }
    }

    #[test]
    fn a_certain_label_is_the_same_for_all() {
        let vectors = LabelVectors::certain([2]);
        for loss in Loss::ALL {
            let plain = gradient(&Target::Unbiased, loss, vectors.get(0));
            for target in [Target::Likelihood, Target::Posterior(None), Target::Naive] {
                close(gradient(&target, loss, vectors.get(0)), plain);
            }
        }
    }

    #[test]
    fn a_report_that_the_prior_rules_out_leaves_the_prior() {
        let prior = Target::Posterior(Some(vec![1.0, 0.0, 0.0, 1.0]));
        let vectors = LabelVectors::certain([1]);
        let halves = LabelVector { base: 0.0, entries: &[(0, 0.5), (3, 0.5)] };
        close(
            gradient(&prior, Loss::Softmax, vectors.get(0)),
            gradient(&Target::Unbiased, Loss::Softmax, halves),
        );
    }

    #[test]
    fn a_prior_that_is_none_is_refused() {
        for (prior, message) in [
            (vec![0.5, 0.5], "length of the prior is 2"),
            (vec![0.5, -0.5, 1.0], "probability is -0.5"),
            (vec![0.0; 3], "sum of the prior is 0"),
        ] {
            let error = Target::Posterior(Some(prior)).check(3).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
