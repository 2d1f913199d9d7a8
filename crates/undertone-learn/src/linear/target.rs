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

/// Which label vector a report is taken for.
#[derive(Clone, Debug, Default, PartialEq)]
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
        self.entries.extend(likelihood.entries.iter().filter(|(_, value)| *value == top));
        let share = 1.0 / self.entries.len() as f32;
        self.entries.iter_mut().for_each(|(_, value)| *value = share);
        Some(LabelVector { base: 0.0, entries: &self.entries })
    }
}
