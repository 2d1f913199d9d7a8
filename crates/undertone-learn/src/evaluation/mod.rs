//! How good a model is, from reports alone.
//!
//! A figure of a true label, f(p, y), becomes Σ_k a_k·f(p, k) with the unbiased label vector a of a report ([`terms`]).
//! E\[a | y\] = e_y, so each mean is unbiased for the figure **among the people who reported**, and for the population if
//! they were drawn from it; intervals hold for the latter and are cautious for the former ([`Figure`]). True labels are
//! the special case a = e_y, the same code.
//!
//! Reports that answer among a person's top labels Y have E\[a | y\] = e_y only for y ∈ Y: people outside count as an even
//! mixture of Y, and every figure is off by at most the share of such people times the range of f. To judge a model, ask some
//! people with a mechanism that treats all labels alike.
//!
//! The model must not have been trained on these reports: their noise would be in both.

mod calibration;
mod confusion;
mod figure;
mod numbers;
pub mod terms;
#[cfg(test)]
mod tests;

pub use calibration::{BINS, Bin};
pub(crate) use figure::Moments;
pub use figure::{Figure, mean};
pub use numbers::{NumberBin, NumberEvaluation, NumberFigures, Ranged};

use crate::labels::LabelVector;
use crate::{Classifier, Examples, LearnError, Source};
use calibration::Calibration;
use confusion::ClassSums;
use serde::Serialize;

/// A confusion matrix is kept for at most so many classes: 24 MB.
pub const MOST_CONFUSED: usize = 1000;
/// The right class among so many is the last of the figures, where there are more classes than that.
const TOP: usize = 5;

/// Everything that is added up, in memory that does not grow with the people.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    classes: usize,
    accuracy: Moments,
    top_accuracy: Moments,
    log_loss: Moments,
    brier: Moments,
    log_likelihood: Moments,
    calibration: Calibration,
    everybody: ClassSums,
    /// How many are predicted k
    predictions: Vec<u64>,
    /// Of the people predicted k; empty for too many classes
    by_prediction: Vec<ClassSums>,
}

/// What an evaluation says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// How many people reported
    pub rows: u64,
    /// The share of people for whom the likeliest class is right
    pub accuracy: Figure,
    /// The share for whom one of the five likeliest is, given more classes than five
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_5_accuracy: Option<Figure>,
    /// The mean of -ln p_y, p not below [`terms::PROBABILITY_FLOOR`]
    pub log_loss: Figure,
    /// The mean of |p - e_y|², between 0 and 2
    pub brier: Figure,
    /// By how many nats a report is likelier under the model than under even chances: [`terms::log_likelihood`]
    pub report_log_likelihood: Figure,
    /// Σ w·|gap| over the bins, too large by noise
    pub expected_calibration_error: Figure,
    /// What the expected calibration error of a perfectly calibrated model would be, from noise alone
    pub expected_calibration_error_noise: f64,
    /// Σ w·gap² over the bins, without the bias of noise, hence at times negative
    pub squared_calibration_error: Figure,
    /// The bins that hold anybody
    pub calibration: Vec<Bin>,
    /// Of each class in order
    pub classes: Vec<ClassFigures>,
    /// Row j, column k: the share of all people who are of class j and predicted k; none for very many classes
    pub confusion: Option<Vec<Vec<Figure>>>,
}

/// What an evaluation says about one class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    /// Its share among the people
    pub share: Figure,
    /// The share of people predicted to be of it, which is public and exact
    pub predicted: f64,
    /// The part of the people predicted to be of it who are
    pub precision: Option<Figure>,
    /// The part of the people of it who are predicted to be; a ratio of two estimates, unbiased only in the limit
    pub recall: Option<Figure>,
}

impl Evaluation {
    /// Of nobody yet, for models with so many classes.
    pub fn new(classes: usize) -> Self {
        let matrix = if classes <= MOST_CONFUSED { classes } else { 0 };
        Self {
            classes,
            accuracy: Moments::default(),
            top_accuracy: Moments::default(),
            log_loss: Moments::default(),
            brier: Moments::default(),
            log_likelihood: Moments::default(),
            calibration: Calibration::default(),
            everybody: ClassSums::new(classes),
            predictions: vec![0; classes],
            by_prediction: vec![ClassSums::new(classes); matrix],
        }
    }

    /// Of a model on everybody in `source`.
    pub fn of(model: &impl Classifier, source: &mut dyn Source) -> Result<Self, LearnError> {
        let mut evaluation = Self::new(model.classes());
        source.pass(&mut |examples| evaluation.observe(examples, &model.probabilities(&examples.rows)))?;
        Ok(evaluation)
    }

    /// How many people so far.
    pub fn rows(&self) -> u64 {
        self.everybody.people()
    }

    /// Takes in some people and what the model says of them, K probabilities each. An error changes nothing.
    pub fn observe(&mut self, examples: &Examples, probabilities: &[f32]) -> Result<(), LearnError> {
        check(self.classes, self.rows(), examples, probabilities)?;
        let labels = examples.unbiased.iter().zip(examples.likelihood.iter());
        for (p, (a, likelihood)) in probabilities.chunks_exact(self.classes).zip(labels) {
            self.add(p, a, likelihood);
        }
        Ok(())
    }

    fn add(&mut self, p: &[f32], a: LabelVector<'_>, likelihood: LabelVector<'_>) {
        let predicted = terms::predicted(p);
        let correct = f64::from(a.at(predicted as u32));
        self.accuracy.add(correct);
        if self.classes > TOP {
            self.top_accuracy.add(terms::top_accuracy(p, a, TOP));
        }
        self.log_loss.add(terms::log_loss(p, a));
        self.brier.add(terms::brier(p, a));
        self.log_likelihood.add(terms::log_likelihood(p, likelihood));
        self.calibration.add(f64::from(p[predicted]), correct);
        self.everybody.add(a);
        self.predictions[predicted] += 1;
        if let Some(sums) = self.by_prediction.get_mut(predicted) {
            sums.add(a);
        }
    }

    /// Leaves `self` as if it had also seen everybody that `other` did. Both are for the same number of classes.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.classes, other.classes, "evaluations of models with the same classes");
        self.accuracy.merge(other.accuracy);
        self.top_accuracy.merge(other.top_accuracy);
        self.log_loss.merge(other.log_loss);
        self.brier.merge(other.brier);
        self.log_likelihood.merge(other.log_likelihood);
        self.calibration.merge(&other.calibration);
        self.everybody.merge(&other.everybody);
        for (own, more) in self.predictions.iter_mut().zip(&other.predictions) {
            *own += more;
        }
        for (own, more) in self.by_prediction.iter_mut().zip(&other.by_prediction) {
            own.merge(more);
        }
    }

    /// What has been found; an error if nobody reported.
    pub fn figures(&self) -> Result<Figures, LearnError> {
        let rows = self.rows();
        if rows == 0 {
            return Err(LearnError::NoReports);
        }
        let cells = |j| self.by_prediction.iter().map(|sums| sums.mean(j, rows)).collect();
        Ok(Figures {
            rows,
            accuracy: self.accuracy.figure(),
            top_5_accuracy: (self.classes > TOP).then(|| self.top_accuracy.figure()),
            log_loss: self.log_loss.figure(),
            brier: self.brier.figure(),
            report_log_likelihood: self.log_likelihood.figure(),
            expected_calibration_error: self.calibration.expected_error(),
            expected_calibration_error_noise: self.calibration.noise(),
            squared_calibration_error: self.calibration.squared_error(),
            calibration: self.calibration.bins(),
            classes: (0..self.classes).map(|class| self.class(class)).collect(),
            confusion: (!self.by_prediction.is_empty()).then(|| (0..self.classes).map(cells).collect()),
        })
    }

    /// The part of the people predicted `predicted` who are of `class`; none if nobody is, or for very many classes.
    ///
    /// Who is predicted what is public, so this is a mean over a known number of people, unbiased.
    pub fn among_predicted(&self, predicted: usize, class: usize) -> Option<Figure> {
        let people = self.predictions[predicted];
        self.by_prediction.get(predicted).filter(|_| people > 0).map(|sums| sums.mean(class, people))
    }

    /// K.
    pub fn classes(&self) -> usize {
        self.classes
    }

    fn class(&self, class: usize) -> ClassFigures {
        let (rows, people) = (self.rows(), self.predictions[class]);
        ClassFigures {
            share: self.everybody.mean(class, rows),
            predicted: people as f64 / rows as f64,
            precision: self.among_predicted(class, class),
            recall: self
                .by_prediction
                .get(class)
                .and_then(|found| confusion::recall(found, &self.everybody, class)),
        }
    }
}

/// Refuses what cannot be evaluated; `before` rows came earlier.
fn check(classes: usize, before: u64, examples: &Examples, probabilities: &[f32]) -> Result<(), LearnError> {
    let n = examples.len();
    let number = |index: usize| before + index as u64 + 1;
    if probabilities.len() != n * classes {
        let (row, found) = (number(0), probabilities.len());
        let problem =
            format!("and on are {found} numbers, {classes} for each of {n} rows are {}", n * classes);
        return Err(LearnError::Probabilities { row, problem });
    }
    for (index, p) in probabilities.chunks_exact(classes).enumerate() {
        let sum: f32 = p.iter().sum();
        let problem = if let Some(value) = p.iter().find(|p| !(0.0..=1.001).contains(*p)) {
            format!("have {value} among them")
        } else if (sum - 1.0).abs() > 1e-3 {
            format!("sum to {sum}, not to 1")
        } else {
            continue;
        };
        return Err(LearnError::Probabilities { row: number(index), problem });
    }
    for vectors in [&examples.unbiased, &examples.likelihood] {
        for (index, vector) in vectors.iter().enumerate() {
            if let Some((label, _)) = vector.entries.last().filter(|(label, _)| *label as usize >= classes) {
                let problem = format!("it names label {label}, the model has {classes} classes");
                return Err(LearnError::Report { row: number(index), problem });
            }
        }
    }
    Ok(())
}
