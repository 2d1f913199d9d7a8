//! What is believed about each person's label before it is asked for.
//!
//! A prior makes a report more often right: the person answers among the labels that are worth naming
//! ([`RrWithPrior`]), at the same ε whatever the prior is. The prior itself must not give the label away. It may be
//! public, or a model of *other* people's reports; a curator who counts true labels may make one too, at a price of its own
//! and only where somebody is trusted with them.

use crate::features::{Row, Rows};
use crate::{Classifier, LearnError};
use undertone_privacy::accounting::compose;
use undertone_privacy::label::RrWithPrior;
use undertone_privacy::{Epsilon, Guarantee, PrivacyError};

/// Who sees true labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Nobody but each person's own device
    Local,
    /// A curator
    Central,
}

/// A belief about everybody's label, made without looking at it.
pub trait Prior {
    /// K.
    fn classes(&self) -> usize;

    /// K probabilities for each row, one row after the other.
    fn of(&self, rows: &Rows) -> Result<Vec<f64>, LearnError>;

    /// Who had to be trusted for it.
    fn trust(&self) -> Trust {
        Trust::Local
    }

    /// What it has cost the people it is about, beyond their own reports.
    fn cost(&self) -> Option<Guarantee> {
        None
    }
}

impl<P: Prior + ?Sized> Prior for &P {
    fn classes(&self) -> usize {
        (**self).classes()
    }

    fn of(&self, rows: &Rows) -> Result<Vec<f64>, LearnError> {
        (**self).of(rows)
    }

    fn trust(&self) -> Trust {
        (**self).trust()
    }

    fn cost(&self) -> Option<Guarantee> {
        (**self).cost()
    }
}

/// The probabilities that a model gives, sharpened or flattened by a temperature.
///
/// > prior_k = p_k^(1/T) / Σ_j p_j^(1/T)
///
/// which for a softmax is the one of its scores over T. The model has to come from other people's reports.
#[derive(Clone, Copy, Debug)]
pub struct ModelPrior<'a, M> {
    model: &'a M,
    temperature: f64,
}

impl<'a, M: Classifier> ModelPrior<'a, M> {
    /// Of `model` at this temperature: one leaves the probabilities as they are, less sharpens them.
    pub fn new(model: &'a M, temperature: f64) -> Result<Self, LearnError> {
        check_temperature(temperature)?;
        Ok(Self { model, temperature })
    }
}

pub(super) fn check_temperature(value: f64) -> Result<(), LearnError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(LearnError::Parameter { what: "the temperature", value, expected: "positive and finite" })
    }
}

impl<M: Classifier> Prior for ModelPrior<'_, M> {
    fn classes(&self) -> usize {
        self.model.classes()
    }

    fn of(&self, rows: &Rows) -> Result<Vec<f64>, LearnError> {
        let mut prior: Vec<f64> = self.model.probabilities(rows).into_iter().map(f64::from).collect();
        for (row, p) in (1..).zip(prior.chunks_exact_mut(self.model.classes())) {
            sharpen(p, self.temperature).map_err(|value| LearnError::Probabilities {
                row,
                problem: format!("have {value} among them"),
            })?;
        }
        Ok(prior)
    }
}

/// p^(1/T), made to sum to one; the offending value if p is no distribution.
fn sharpen(p: &mut [f64], temperature: f64) -> Result<(), f64> {
    if let Some(&value) = p.iter().find(|p| !(**p >= 0.0 && p.is_finite())) {
        return Err(value);
    }
    let top = p.iter().copied().fold(0.0, f64::max);
    if top == 0.0 {
        return Err(top);
    }
    // Relative to the largest, so that nothing overflows and not everything underflows
    for p in p.iter_mut() {
        *p = (*p / top).powf(1.0 / temperature);
    }
    let sum: f64 = p.iter().sum();
    for p in p.iter_mut() {
        *p /= sum;
    }
    Ok(())
}

/// Which of several groups a person belongs to, by public features.
pub trait Grouping {
    /// The group of a row.
    fn group(&self, row: Row<'_>) -> usize;
}

impl<F: Fn(Row<'_>) -> usize> Grouping for F {
    fn group(&self, row: Row<'_>) -> usize {
        self(row)
    }
}

/// A public belief about each of several groups, such as official statistics by region.
#[derive(Clone, Debug)]
pub struct GroupPriors<G> {
    grouping: G,
    classes: usize,
    /// K for each group
    priors: Vec<f64>,
}

impl<G: Grouping> GroupPriors<G> {
    /// K numbers for each group, a distribution each.
    pub fn new(grouping: G, priors: &[Vec<f64>]) -> Result<Self, LearnError> {
        let classes = priors.first().map_or(0, Vec::len);
        for prior in priors {
            // Whatever ε is: a mechanism with this prior has to exist, and all of them have K classes.
            RrWithPrior::new(prior, Epsilon::new(1.0)?)?;
            if prior.len() != classes {
                return Err(PrivacyError::WrongLength { length: prior.len(), dimension: classes }.into());
            }
        }
        if priors.is_empty() {
            return Err(PrivacyError::TooFewLabels { labels: 0 }.into());
        }
        Ok(Self { grouping, classes, priors: priors.concat() })
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.priors.len() / self.classes
    }

    /// The prior of a group.
    pub fn group(&self, group: usize) -> &[f64] {
        &self.priors[group * self.classes..(group + 1) * self.classes]
    }
}

impl<G: Grouping> Prior for GroupPriors<G> {
    fn classes(&self) -> usize {
        self.classes
    }

    fn of(&self, rows: &Rows) -> Result<Vec<f64>, LearnError> {
        let mut all = Vec::with_capacity(rows.len() * self.classes);
        for row in rows.iter() {
            let group = self.grouping.group(row);
            if group >= self.groups() {
                let (what, expected) = ("the group of a row", "one of those with a prior");
                return Err(LearnError::Parameter { what, value: group as f64, expected });
            }
            all.extend_from_slice(self.group(group));
        }
        Ok(all)
    }
}

/// Refuses a prior that needs more trust than there is.
pub fn check_trust(prior: &dyn Prior, available: Trust) -> Result<(), LearnError> {
    match (prior.trust(), available) {
        (Trust::Central, Trust::Local) => Err(LearnError::Central { what: "the prior" }),
        _ => Ok(()),
    }
}

/// What a person is promised who reports once at `epsilon` under this prior: both costs together.
pub fn promise(prior: Option<&dyn Prior>, epsilon: Epsilon) -> Result<Guarantee, LearnError> {
    let promises: Vec<Guarantee> =
        prior.and_then(Prior::cost).into_iter().chain([Guarantee::Pure(epsilon)]).collect();
    Ok(compose(&promises)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Vec<f32>);

    impl Classifier for Fixed {
        fn classes(&self) -> usize {
            self.0.len()
        }
        fn probabilities(&self, rows: &Rows) -> Vec<f32> {
            self.0.repeat(rows.len())
        }
    }

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
        }
    }

    #[test]
    fn half_the_temperature_squares_the_odds() {
        let (model, rows) = (Fixed(vec![0.8, 0.2]), Rows::dense(1, vec![0.0, 1.0]));
        let prior = |temperature| ModelPrior::new(&model, temperature).unwrap().of(&rows).unwrap();
        close(&prior(1.0), &[0.8, 0.2, 0.8, 0.2]);
        close(&prior(0.5), &[0.64 / 0.68, 0.04 / 0.68, 0.64 / 0.68, 0.04 / 0.68]);
        close(&prior(2.0)[..2], &[2.0 / 3.0, 1.0 / 3.0]);
        // Cold enough, only the likeliest is left, and nothing is lost to underflow.
        close(&prior(1e-9)[..2], &[1.0, 0.0]);
    }

    #[test]
    fn a_model_without_probabilities_and_a_temperature_without_meaning_are_refused() {
        let rows = Rows::dense(1, vec![0.0]);
        let broken = Fixed(vec![0.5, f32::NAN]);
        let error = ModelPrior::new(&broken, 1.0).unwrap().of(&rows).unwrap_err().to_string();
        assert!(error.contains("row 1 have NaN"), "{error}");
        for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(ModelPrior::new(&broken, temperature).is_err());
        }
    }

    #[test]
    fn each_group_has_the_prior_it_was_given() {
        let by_sign = |row: Row<'_>| usize::from(row.dense[0] > 0.0);
        let priors = GroupPriors::new(by_sign, &[vec![0.5, 0.5], vec![0.1, 0.9]]).unwrap();
        close(&priors.of(&Rows::dense(1, vec![3.0, -1.0])).unwrap(), &[0.1, 0.9, 0.5, 0.5]);
        assert_eq!((priors.trust(), priors.cost()), (Trust::Local, None));
        let error = GroupPriors::new(by_sign, &[vec![0.5, 0.4]]).err().unwrap().to_string();
        assert!(error.contains("0.9"), "{error}");
        assert!(GroupPriors::new(by_sign, &[vec![0.5, 0.5], vec![0.2, 0.3, 0.5]]).is_err());
        let one = GroupPriors::new(by_sign, &[vec![0.5, 0.5]]).unwrap();
        assert!(one.of(&Rows::dense(1, vec![3.0])).unwrap_err().to_string().contains("group of a row is 1"));
    }
}
