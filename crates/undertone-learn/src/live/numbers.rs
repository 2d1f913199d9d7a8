//! Numbers while their reports arrive: the mean, and a line.
//!
//! Everything adds up: the moments of z, and the sums that least squares needs. So the line is that of all reports at once, and not
//! of one pass over them. Its penalty is a fixed one; `train` with the collected reports chooses it.

use super::{REACH, table};
use crate::evaluation::{Figure, Moments};
use crate::features::{Encoder, Rows};
use crate::numbers::{NumberChannel, NumberValues};
use crate::regression::NormalEquations;
use crate::{LearnError, Model, NumberPredictor, Training};
use serde::{Deserialize, Serialize};
use undertone_privacy::Epsilon;
use undertone_report::{LearnerWords, NumberWords, Report, Task, TaskError};

/// λ: small beside the features' variance of about one, and enough where some follow from others.
const L2: f64 = 1e-2;

/// What is learnt from the reports of one task about numbers.
#[derive(Clone, Debug)]
pub struct LiveNumbers {
    task: Task,
    number: NumberWords,
    encoder: Encoder,
    /// Of each tier
    channels: Vec<NumberChannel>,
    state: State,
    rows: Rows,
    values: NumberValues,
}

/// All that changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct State {
    values: Moments,
    sums: Option<NormalEquations>,
}

impl LiveNumbers {
    /// Before any report of a task that has a collection.
    pub fn new(task: &Task) -> Result<Self, LearnError> {
        let collection = task.collection.as_ref().ok_or(TaskError::NoCollection)?;
        let number = task.number.ok_or(TaskError::NotNumbers)?;
        let encoder = Encoder::from_words(&task.features, &collection.encoding)?;
        let channel =
            |&tier: &f64| Ok(NumberChannel::of_mechanism(task.number_mechanism_at(Epsilon::new(tier)?)?));
        let channels = collection.tiers.iter().map(channel).collect::<Result<_, LearnError>>()?;
        let bounds = number.bounds()?;
        let sums = (collection.learner == LearnerWords::Linear)
            .then(|| NormalEquations::new(encoder.width(), bounds.value_of(bounds.middle())));
        Ok(Self {
            task: task.clone(),
            number,
            channels,
            state: State { values: Moments::default(), sums: sums.transpose()? },
            rows: encoder.rows(),
            values: NumberValues::new(),
            encoder,
        })
    }

    /// Takes in the next reports of the log, as the task's format has decoded them. After an error nothing has changed.
    pub fn observe(&mut self, reports: &[Report]) -> Result<(), LearnError> {
        self.rows.clear();
        self.values.clear();
        self.encoder.encode(&table::of(reports, &self.task.features), &mut self.rows)?;
        self.rows.clamp(REACH);
        for report in reports {
            let said = report.number.ok_or(TaskError::NotNumbers)?;
            self.channels[usize::from(report.tier)].push(said, &mut self.values)?;
        }
        for (row, (value, variance)) in self.rows.iter().zip(self.values.iter()) {
            self.state.values.add(value);
            if let Some(sums) = &mut self.state.sums {
                sums.observe(row, (value, variance));
            }
        }
        Ok(())
    }

    /// How many reports it has seen.
    pub fn reports(&self) -> u64 {
        self.state.values.count
    }

    /// The mean of people's numbers: unbiased, whichever tiers they chose; none if nobody has reported.
    pub fn mean(&self) -> Option<Figure> {
        (self.reports() > 0).then(|| self.state.values.figure())
    }

    /// The line so far; none if nobody has reported or nothing but the mean is learnt.
    pub fn model(&self) -> Option<Model> {
        let line = self.state.sums.as_ref()?.solve(L2).ok()?;
        let training = Training {
            reports: self.reports(),
            method: "ridge".into(),
            l2: Some(L2),
            seed: 0,
            // Nobody but a device knows where its coins come from.
            simulation: false,
            parts: Vec::new(),
            expected: None,
            curator: None,
        };
        let about = (self.task.label.clone(), self.number);
        let (tasks, predictor) = (vec![self.task.clone()], NumberPredictor::Linear(line));
        Some(Model::of_number(about, tasks, self.encoder.clone(), predictor, training))
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
        let same = match (&state.sums, &fresh.state.sums) {
            (Some(a), Some(b)) => a.is_of_the_same_shape(b) && a.count() == state.values.count,
            (a, b) => a.is_none() && b.is_none(),
        };
        if !same {
            return Err(LearnError::Snapshot);
        }
        Ok(Self { state, ..fresh })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_report::{
        Cell, Collection, ColumnKind, EncodingWords, FeatureColumn, MechanismWords, Stretch,
    };

    fn task(learner: LearnerWords) -> Task {
        let stretch = Stretch::Range { low: 0.0, high: 100.0, missing: false };
        Task {
            version: undertone_report::TASK_VERSION,
            label: "cost".into(),
            classes: Vec::new(),
            number: Some(NumberWords { low: 0.0, high: 10.0 }),
            mechanism: MechanismWords {
                kind: "hybrid-best".into(),
                epsilon: Some(2.0),
                ..MechanismWords::default()
            },
            features: vec![FeatureColumn { name: "age".into(), kind: ColumnKind::Number }],
            record: None,
            survey: None,
            collection: Some(Collection {
                name: "Costs".into(),
                min_reports: 10,
                opens: 0,
                closes: 3600,
                time_precision: 60,
                expiry_age: 600,
                clock_skew: 60,
                learner,
                encoding: vec![EncodingWords::Number(stretch)],
                tiers: vec![2.0, 0.5],
                admission: false,
            }),
        }
    }

    /// People of all ages, who cost a tenth of it, in two tiers.
    fn reports(task: &Task, count: u32) -> Vec<Report> {
        let mut rng = ChaCha12Rng::seed_from_u64(9);
        let tiers = [2.0, 0.5].map(|tier| task.number_mechanism_at(Epsilon::new(tier).unwrap()).unwrap());
        let bounds = task.number.unwrap().bounds().unwrap();
        let report = |person: u32| {
            let (age, tier) = (f64::from(person % 101), u8::from(person.is_multiple_of(4)));
            let place = bounds.place(age / 10.0).unwrap();
            let number = tiers[usize::from(tier)].report(&place, &mut rng).ok();
            Report { tier, features: vec![Cell::Number(age)], number, ..Report::default() }
        };
        (0..count).map(report).collect()
    }

    #[test]
    fn the_mean_and_the_line_approach_what_is_true() {
        let task = task(LearnerWords::Linear);
        let mut live = LiveNumbers::new(&task).unwrap();
        assert!(live.mean().is_none() && live.model().is_none());
        live.observe(&reports(&task, 40_400)).unwrap();
        let mean = live.mean().unwrap();
        assert!(
            (mean.value - 5.0).abs() < 5.0 * mean.standard_error && mean.standard_error < 0.1,
            "{mean:?}"
        );
        let model = live.model().unwrap();
        let mut rows = model.encoder.rows();
        let ages = crate::features::Column::Numbers(vec![20.0, 80.0]);
        model.encoder.encode(&crate::features::Batch { columns: vec![ages], rows: 2 }, &mut rows).unwrap();
        let predicted = model.numbers(&rows);
        // Four of the reports' standard errors of a line, and the shrinkage by λ
        assert!((predicted[0] - 2.0).abs() < 0.5 && (predicted[1] - 8.0).abs() < 0.5, "{predicted:?}");
    }

    #[test]
    fn a_snapshot_and_the_reports_after_it_are_all_reports() {
        for learner in [LearnerWords::Linear, LearnerWords::MeanOnly] {
            let task = task(learner);
            let all = reports(&task, 300);
            let (mut whole, mut first) = (LiveNumbers::new(&task).unwrap(), LiveNumbers::new(&task).unwrap());
            whole.observe(&all).unwrap();
            first.observe(&all[..123]).unwrap();
            let mut rest = LiveNumbers::restore(&task, &first.snapshot().unwrap()).unwrap();
            rest.observe(&all[123..200]).unwrap();
            rest.observe(&all[200..]).unwrap();
            assert_eq!(rest.snapshot().unwrap(), whole.snapshot().unwrap());
            assert_eq!(rest.model().is_some(), learner == LearnerWords::Linear);
        }
        let other = LiveNumbers::new(&task(LearnerWords::MeanOnly)).unwrap().snapshot().unwrap();
        assert!(LiveNumbers::restore(&task(LearnerWords::Linear), &other).is_err());
    }

    #[test]
    fn a_report_that_says_nothing_changes_nothing() {
        let task = task(LearnerWords::Linear);
        let mut live = LiveNumbers::new(&task).unwrap();
        let good = reports(&task, 3);
        let before = live.snapshot().unwrap();
        let silent = Report { number: None, ..good[0].clone() };
        assert!(live.observe(&[good[1].clone(), silent]).is_err());
        assert_eq!(live.snapshot().unwrap(), before);
    }
}
