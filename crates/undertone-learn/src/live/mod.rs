//! Learning while reports arrive.
//!
//! The state is a function of the task and of the reports in the order of the log, and of nothing else: not of when they
//! came, nor in which blocks. So a snapshot and the reports after it give, to the last bit, what all reports give.
//!
//! Each block of reports does three things. Labels are counted, for the shares. The model as it was at the last
//! *checkpoint* is judged by reports that it has not learnt from, for the curve. The reports are learnt from, one after
//! the other ([`OnlineLinear`]).

mod chains;
mod curve;
mod numbers;
mod records;
mod table;

pub use curve::CurvePoint;
pub use numbers::LiveNumbers;
pub use records::{ChainsEstimate, FunctionalEstimate, Headline, LiveRecords, RecordEstimate};

use crate::evaluation::Figure;
use crate::features::{Encoder, Rows};
use crate::labels::{Channel, LabelCounts, LabelShares, LabelVectors};
use crate::linear::{OnlineLinear, Step};
use crate::loss::Loss;
use crate::{Examples, LearnError, Model, Predictor, Training};
use curve::Curve;
use serde::{Deserialize, Serialize};
use undertone_privacy::Epsilon;
use undertone_privacy::label::{LabelMechanism, LabelRandomizer};
use undertone_report::{LearnerWords, Report, Task, TaskError};

/// The largest feature that one pass learns from. Features of honest people are of the order of one; a stranger's may be
/// as large as a number can be, and one such report would shorten all later steps to nothing.
const REACH: f32 = 8.0;

/// What is learnt from the reports of one task.
#[derive(Clone, Debug)]
pub struct Live {
    task: Task,
    encoder: Encoder,
    /// Of each tier
    channels: Vec<Channel>,
    mechanisms: Vec<LabelMechanism>,
    state: State,
    rows: Rows,
    labels: LabelVectors,
}

/// All that changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    reports: u64,
    /// Of each tier
    counts: Vec<LabelCounts>,
    learner: Option<OnlineLinear>,
    curve: Curve,
}

/// The share of one class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LiveShare {
    /// The share of reports that name it
    pub noisy: f64,
    /// The share of people who have it: unbiased, hence at times below zero
    pub estimate: Figure,
}

impl Live {
    /// Before any report of a task that has a collection.
    pub fn new(task: &Task) -> Result<Self, LearnError> {
        let collection = task.collection.as_ref().ok_or(TaskError::NoCollection)?;
        let encoder = Encoder::from_words(&task.features, &collection.encoding)?;
        let mechanisms = collection.tiers.iter().map(|&tier| Ok(task.mechanism_at(Epsilon::new(tier)?)?));
        let mechanisms = mechanisms.collect::<Result<Vec<_>, LearnError>>()?;
        let loss = match collection.learner {
            LearnerWords::Softmax => Some(Loss::Softmax),
            LearnerWords::Logistic => Some(Loss::Logistic),
            LearnerWords::Hinge => Some(Loss::Hinge),
            LearnerWords::Linear => Some(Loss::Squared),
            LearnerWords::SharesOnly => None,
            LearnerWords::MeanOnly => return Err(TaskError::NotClasses.into()),
            LearnerWords::Later | LearnerWords::Online(_) => return Err(TaskError::NotLabels.into()),
        };
        let learner =
            |loss| OnlineLinear::new(encoder.width(), task.classes.len(), loss, Step::default(), None);
        let state = State {
            reports: 0,
            counts: vec![LabelCounts::new(task.labels()); mechanisms.len()],
            learner: loss.map(learner).transpose()?,
            curve: Curve::default(),
        };
        Ok(Self {
            task: task.clone(),
            channels: mechanisms.iter().map(Channel::of_mechanism).collect(),
            mechanisms,
            rows: encoder.rows(),
            labels: LabelVectors::new(),
            encoder,
            state,
        })
    }

    /// Takes in the next reports of the log, as the task's format has decoded them. After an error nothing has changed.
    pub fn observe(&mut self, reports: &[Report]) -> Result<(), LearnError> {
        self.rows.clear();
        self.labels.clear();
        self.encoder.encode(&table::of(reports, &self.task.features), &mut self.rows)?;
        self.rows.clamp(REACH);
        for report in reports {
            let channel = &self.channels[usize::from(report.tier)];
            channel.push_unbiased(&report.members, &report.among, &mut self.labels)?;
        }
        for (place, report) in reports.iter().enumerate() {
            self.state.reports += 1;
            self.state.counts[usize::from(report.tier)].observe(&report.members);
            if let Some(learner) = &mut self.state.learner {
                let (row, label) = (self.rows.get(place), self.labels.get(place));
                self.state.curve.judge(row, label);
                learner.observe(row, label);
                self.state.curve.advance(self.state.reports, learner)?;
            }
        }
        Ok(())
    }

    /// The same reports as learners of many passes see them.
    pub fn examples(&self, reports: &[Report]) -> Result<Examples, LearnError> {
        let mut examples = Examples::new(self.encoder.rows());
        self.encoder.encode(&table::of(reports, &self.task.features), &mut examples.rows)?;
        for Report { tier, members, among, .. } in reports {
            let channel = &self.channels[usize::from(*tier)];
            channel.push_unbiased(members, among, &mut examples.unbiased)?;
            channel.push_likelihood(members, among, &mut examples.likelihood)?;
        }
        Ok(examples)
    }

    /// How many reports it has seen.
    pub fn reports(&self) -> u64 {
        self.state.reports
    }

    /// The share of each class; none if nobody has reported, or if people answer among some classes only.
    pub fn shares(&self) -> Option<Vec<LiveShare>> {
        let n = self.state.reports as f64;
        if self.state.reports == 0 || self.mechanisms.iter().any(|mechanism| mechanism.support().is_some()) {
            return None;
        }
        // People of all tiers together: (1/n)·Σ_t n_t·estimate_t, whose variances add up
        let mut sums = vec![(0.0, 0.0, 0.0); self.task.classes.len()];
        let tiers = self.mechanisms.iter().zip(&self.state.counts);
        for (mechanism, counts) in tiers.filter(|(_, counts)| counts.reports() > 0) {
            let weight = counts.reports() as f64 / n;
            let shares = LabelShares::of(mechanism, counts.clone()).shares();
            for ((sum, share), noisy) in sums.iter_mut().zip(shares).zip(counts.noisy()) {
                sum.0 += weight * noisy;
                sum.1 += weight * share.estimate;
                sum.2 += (weight * share.standard_error).powi(2);
            }
        }
        let share = |(noisy, value, variance): (f64, f64, f64)| LiveShare {
            noisy,
            estimate: Figure { value, standard_error: variance.sqrt() },
        };
        Some(sums.into_iter().map(share).collect())
    }

    /// How far one of `count` reports can move a mean of a_k over them at most, whatever it says.
    ///
    /// a_k is `out_value` or `in_value` of the tier. A liar may stand in any tier where an honest person stood in any other,
    /// so that the largest `in_value` and the smallest `out_value` need not be of the same. Shares are such means over all
    /// reports, and a point of the curve is one over those that judged it.
    pub fn influence(&self, count: u64) -> f64 {
        let decoders = self.mechanisms.iter().map(LabelRandomizer::decoder);
        let reach = decoders.fold((0.0, 0.0), |(low, high): (f64, f64), decoder| {
            (low.min(decoder.out_value), high.max(decoder.in_value))
        });
        (reach.1 - reach.0) / count.max(1) as f64
    }

    /// The debiased accuracy of earlier models on the reports that came after them.
    pub fn curve(&self) -> Vec<CurvePoint> {
        self.state.curve.points()
    }

    /// The model so far; none if nobody has reported or nothing but shares is learnt.
    pub fn model(&self) -> Option<Model> {
        let model = self.state.learner.as_ref()?.model().ok()?;
        let training = Training {
            reports: self.state.reports,
            method: "sgd".into(),
            l2: None,
            seed: 0,
            // Nobody but a device knows where its coins come from.
            simulation: false,
            parts: Vec::new(),
            expected: None,
            curator: None,
        };
        let about = (self.task.label.clone(), self.task.classes.clone());
        let predictor = Predictor::Linear(model);
        Some(Model::new(about, vec![self.task.clone()], self.encoder.clone(), predictor, training))
    }

    /// The state, to be given to [`restore`](Self::restore).
    pub fn snapshot(&self) -> Result<Vec<u8>, LearnError> {
        postcard::to_stdvec(&self.state).map_err(|error| LearnError::Source(Box::new(error)))
    }

    /// The state that a snapshot of the same task holds.
    pub fn restore(task: &Task, snapshot: &[u8]) -> Result<Self, LearnError> {
        let fresh = Self::new(task)?;
        let state: State =
            postcard::from_bytes(snapshot).map_err(|error| LearnError::Source(Box::new(error)))?;
        let labels = |state: &State| state.counts.iter().map(LabelCounts::labels).collect::<Vec<_>>();
        let same = labels(&state) == labels(&fresh.state)
            && match (&state.learner, &fresh.state.learner) {
                (Some(a), Some(b)) => a.is_of_the_same_shape(b),
                (a, b) => a.is_none() && b.is_none(),
            };
        if !same {
            return Err(LearnError::Snapshot);
        }
        Ok(Self { state, ..fresh })
    }
}

#[cfg(test)]
mod record_tests;
#[cfg(test)]
mod tests;
