//! Choosing among candidates by their scores on held-out reports, not by anybody's true label.
//!
//! All candidates are scored on the same rows, so two of them differ by the mean of their differences row by row, whose
//! standard error is that of the differences: most of the noise of a report is common to both and cancels.
//!
//! **The rule.** The candidate with the best mean is chosen; the earlier one on ties. If no candidate is favoured
//! beforehand, this has the best expected performance: what is to be expected of a candidate rises with its mean, whatever
//! the noise. A `margin` of m > 0 standard errors favours the earlier candidates, which should then be the simpler ones: the
//! first one whose distance to the best is within m standard errors of that distance is taken. The familiar rule of one
//! standard error is m = 1.
//!
//! **The score.** [`Score::LogLikelihood`] needs no debiasing and varies least. The debiased scores are unbiased for
//! what they are called, at the price of the noise that debiasing adds.
//!
//! Scores on held-out rows after the choice flatter the chosen one; judge it by rows that had no part in the choice.

use crate::evaluation::{Figure, Moments, terms};
use crate::{Examples, LearnError};
use serde::Serialize;

/// What is compared; larger is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Score {
    /// The log-likelihood of the report under the model
    #[default]
    LogLikelihood,
    /// The debiased log loss, negated
    LogLoss,
    /// The debiased accuracy
    Accuracy,
    /// The debiased Brier score, negated
    Brier,
}

impl Score {
    /// The score of each row, for K probabilities a row.
    pub fn rows(self, examples: &Examples, probabilities: &[f32]) -> Vec<f64> {
        let Some(classes) = probabilities.len().checked_div(examples.len()).filter(|&k| k > 0) else {
            return Vec::new();
        };
        let labels = examples.unbiased.iter().zip(examples.likelihood.iter());
        probabilities
            .chunks_exact(classes)
            .zip(labels)
            .map(|(p, (a, likelihood))| match self {
                Self::LogLikelihood => terms::log_likelihood(p, likelihood),
                Self::LogLoss => -terms::log_loss(p, a),
                Self::Accuracy => terms::accuracy(p, a),
                Self::Brier => -terms::brier(p, a),
            })
            .collect()
    }
}

/// The scores of some candidates, added up.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    scores: Vec<Moments>,
    /// Of candidate i minus candidate j for i < j, row after row of that triangle
    differences: Vec<Moments>,
}

/// What was chosen, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The place of the chosen candidate
    pub chosen: usize,
    /// All of them, in order
    pub candidates: Vec<Standing>,
}

/// How one candidate did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Its mean score
    pub score: Figure,
    /// By how much it is behind the chosen one, with the standard error of the paired difference
    pub behind: Figure,
}

impl Selection {
    /// Among so many candidates, of which the earlier ones are preferred on ties.
    pub fn among(candidates: usize) -> Self {
        let pairs = candidates * candidates.saturating_sub(1) / 2;
        Self { scores: vec![Moments::default(); candidates], differences: vec![Moments::default(); pairs] }
    }

    /// Takes in the scores of some rows: for each candidate, those of the same rows in the same order.
    pub fn observe(&mut self, scores: &[Vec<f64>]) {
        assert_eq!(scores.len(), self.scores.len(), "scores of every candidate");
        let rows = scores.first().map_or(0, Vec::len);
        assert!(scores.iter().all(|own| own.len() == rows), "scores of the same rows");
        for row in 0..rows {
            let mut pair = 0;
            for (i, own) in scores.iter().enumerate() {
                self.scores[i].add(own[row]);
                for other in &scores[i + 1..] {
                    self.differences[pair].add(own[row] - other[row]);
                    pair += 1;
                }
            }
        }
    }

    /// Leaves `self` as if it had also seen the rows of `other`, of the same candidates.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.scores.len(), other.scores.len(), "the same candidates");
        let own = self.scores.iter_mut().chain(&mut self.differences);
        for (own, more) in own.zip(other.scores.iter().chain(&other.differences)) {
            own.merge(*more);
        }
    }

    /// The mean of candidate i minus candidate j.
    fn difference(&self, i: usize, j: usize) -> Figure {
        let (first, second) = (i.min(j), i.max(j));
        if first == second {
            return Figure { value: 0.0, standard_error: 0.0 };
        }
        // Rows 0..first of the triangle have c-1, c-2, … pairs.
        let before = first * (2 * self.scores.len() - first - 1) / 2;
        let figure = self.differences[before + second - first - 1].figure();
        Figure { value: if i < j { figure.value } else { -figure.value }, ..figure }
    }

    /// The best mean, or the first candidate that is behind it by no more than `margin` standard errors.
    ///
    /// A candidate whose scores are not numbers is never chosen; if there is no other, that is an error.
    pub fn choose(&self, margin: f64) -> Result<Choice, LearnError> {
        if !(margin >= 0.0 && margin.is_finite()) {
            let (what, expected) = ("the margin", "zero or more standard errors");
            return Err(LearnError::Parameter { what, value: margin, expected });
        }
        let rows = self.scores.first().map_or(0, |score| score.count);
        if rows == 0 {
            return Err(LearnError::NoReports);
        }
        let sound = || (0..self.scores.len()).filter(|&i| self.scores[i].mean.is_finite());
        let better =
            |best: usize, i: usize| if self.scores[i].mean > self.scores[best].mean { i } else { best };
        let Some(best) = sound().reduce(better) else {
            let (what, expected) = ("the score of every candidate", "a number");
            return Err(LearnError::Parameter { what, value: f64::NAN, expected });
        };
        let near = |&i: &usize| {
            let behind = self.difference(best, i);
            behind.value <= margin * behind.standard_error
        };
        let chosen = sound().find(near).unwrap_or(best);
        let standing =
            |i: usize| Standing { score: self.scores[i].figure(), behind: self.difference(chosen, i) };
        Ok(Choice { chosen, candidates: (0..self.scores.len()).map(standing).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(scores: &[&[f64]]) -> Selection {
        let mut selection = Selection::among(scores.len());
        selection.observe(&scores.iter().map(|own| own.to_vec()).collect::<Vec<_>>());
        selection
    }

    #[test]
    fn the_best_mean_is_chosen_and_the_earlier_on_ties() {
        let three = selection(&[&[1.0, 2.0], &[3.0, 1.0], &[0.0, 4.0]]);
        assert_eq!(three.choose(0.0).unwrap().chosen, 1);
    }

    #[test]
    fn differences_are_paired_row_by_row() {
        // Large common noise, and a difference of 1 and 3: mean 2, se = √(2/2) = 1
        let two = selection(&[&[100.0, -50.0], &[101.0, -47.0]]);
        let choice = two.choose(0.0).unwrap();
        assert_eq!(choice.chosen, 1);
        let behind = choice.candidates[0].behind;
        assert!((behind.value - 2.0).abs() < 1e-12 && (behind.standard_error - 1.0).abs() < 1e-12);
        // Two standard errors behind: within a margin of 2.5, not of 1.
        assert_eq!(two.choose(2.5).unwrap().chosen, 0);
        assert_eq!(two.choose(1.0).unwrap().chosen, 1);
    }

    #[test]
    fn every_pair_is_found_in_the_triangle() {
        let scores: Vec<Vec<f64>> = (0..5).map(|i| vec![f64::from(i * i), f64::from(3 * i)]).collect();
        let all = selection(&scores.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for i in 0..5 {
            for j in 0..5 {
                let expected = all.scores[i].mean - all.scores[j].mean;
                assert!((all.difference(i, j).value - expected).abs() < 1e-12, "{i}, {j}");
            }
        }
    }

    #[test]
    fn a_candidate_without_numbers_is_never_chosen() {
        let two = selection(&[&[f64::NAN, 5.0], &[1.0, 1.0]]);
        assert_eq!(two.choose(3.0).unwrap().chosen, 1);
        assert!(selection(&[&[f64::NAN]]).choose(0.0).is_err());
        assert!(matches!(Selection::among(2).choose(0.0), Err(LearnError::NoReports)));
        assert!(two.choose(-1.0).unwrap_err().to_string().contains("-1"));
    }

    #[test]
    fn splitting_the_rows_between_machines_changes_nothing() {
        let mut parts = selection(&[&[1.0, 2.0], &[0.5, 4.0]]);
        parts.merge(&selection(&[&[6.0], &[2.0]]));
        let whole = selection(&[&[1.0, 2.0, 6.0], &[0.5, 4.0, 2.0]]);
        let (parts, whole) = (parts.choose(0.0).unwrap(), whole.choose(0.0).unwrap());
        assert_eq!(parts.chosen, whole.chosen);
        for (part, whole) in parts.candidates.iter().zip(&whole.candidates) {
            assert!((part.score.value - whole.score.value).abs() < 1e-12);
            assert!((part.behind.standard_error - whole.behind.standard_error).abs() < 1e-12);
        }
    }
}
