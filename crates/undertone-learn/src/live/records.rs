//! Learning from whole records while their gradients arrive.
//!
//! A device takes its gradient at a point that was public: θ as it was after v reports of the log, v being the version that
//! comes with the report. So the points of the last versions are kept, each with the ball of all gradients at it, in whose
//! units the report is read. The version is a place in the log, and nothing depends on when anything came: the same log gives
//! the same θ, to the last bit, on every collector that reads it.
//!
//! No gradient takes a place in the log that is more than τ after its point: the log itself sees to that. A minibatch needs no
//! rule of its own: b reports at one version are reports 0 to b - 1 versions behind, each of which keeps its index and so its
//! step. Unless one of them is projected, θ comes out as from [`OnlineSgd::observe_batch`].

use super::chains::Chains;
use crate::LearnError;
use crate::online::{Budget, Comparison, Estimate, Intervals, Level, OnlineOptions, Refused, Steps, Tiers};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use undertone_privacy::Guarantee;
use undertone_privacy::accounting::headline;
use undertone_privacy::gradient::{CentredBall, RecordModel};
use undertone_privacy::vector::VectorMechanism;
use undertone_report::{LearnerWords, Report, Task, TaskError};

/// What is learnt from the gradients of one task.
#[derive(Clone, Debug)]
pub struct LiveRecords {
    task: Task,
    model: RecordModel,
    /// Of each tier, on the ball that holds all gradients
    mechanisms: Vec<VectorMechanism>,
    /// Of each tier
    promises: Vec<Guarantee>,
    /// Versions that are kept
    window: u64,
    /// m, if the task says
    curvature: Option<f64>,
    /// l of each function of θ that the task wants, with its name
    functionals: Vec<(String, Vec<f64>)>,
    descent: Chains,
    /// Of the versions up to the present one, which is the last
    points: VecDeque<PublicPoint>,
    counts: Counts,
}

/// A point that devices were told, and the ball of the gradients at it.
#[derive(Clone, Debug)]
struct PublicPoint {
    parameters: Vec<f64>,
    around: CentredBall,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Counts {
    reports: u64,
    /// Of each tier
    tiers: Vec<u64>,
}

/// All that changes.
#[derive(Serialize, Deserialize)]
struct State {
    descent: Vec<u8>,
    points: Vec<Vec<f64>>,
    counts: Counts,
}

/// What is known so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordEstimate {
    /// Reports in the log that it comes from
    pub reports: u64,
    /// Reports of each tier
    pub tiers: Vec<u64>,
    /// What each parameter belongs to
    pub names: Vec<String>,
    /// θ, the last point
    pub point: Vec<f64>,
    /// The mean of the points, once the burn-in is over
    pub mean: Option<Vec<f64>>,
    /// Intervals around the mean; or why there are none
    pub intervals: Result<Intervals, Refused>,
    /// Each linear function of the parameters that the task names
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functionals: Vec<FunctionalEstimate>,
    /// How many points intervals are made of: those since the burn-in, or since the mix of budgets changed
    pub interval_points: Option<u64>,
    /// What two chains show, where the task has them
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chains: Option<ChainsEstimate>,
    /// What was promised to everybody who has reported: the largest over the tiers that somebody chose
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promise: Option<Headline>,
    /// How far one fake report can move the point now, at most
    pub reach: f64,
}

/// What is known about l'θ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionalEstimate {
    /// What the task calls it
    pub name: String,
    /// l'θ̄, once the burn-in is over
    pub estimate: Option<f64>,
    /// The only one of its coordinates is the interval of l'θ; or why there is none
    pub intervals: Result<Intervals, Refused>,
}

/// The mean of the chain with η against that of the chain with η/2.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainsEstimate {
    /// Whether some parameter differs by more than chance explains
    pub biased: bool,
    /// Each parameter; or why there is nothing to compare
    pub comparison: Result<Vec<Comparison>, Refused>,
}

/// A promise in numbers, of which it has one or two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Headline {
    /// ε
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// δ
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// μ
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// ρ
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
}

impl From<Guarantee> for Headline {
    fn from(promise: Guarantee) -> Self {
        let none = Self { epsilon: None, delta: None, mu: None, rho: None };
        match promise {
            Guarantee::Pure(epsilon) => Self { epsilon: Some(epsilon.get()), ..none },
            Guarantee::Approximate(epsilon, delta) => {
                Self { epsilon: Some(epsilon.get()), delta: Some(delta.get()), ..none }
            }
            Guarantee::Gaussian(mu) => Self { mu: Some(mu.get()), ..none },
            Guarantee::Concentrated(rho) => Self { rho: Some(rho.get()), ..none },
        }
    }
}

impl LiveRecords {
    /// Before any report of a task that asks for records.
    pub fn new(task: &Task) -> Result<Self, LearnError> {
        let collection = task.collection.as_ref().ok_or(TaskError::NoCollection)?;
        let LearnerWords::Online(words) = collection.learner else {
            return Err(TaskError::NotRecords.into());
        };
        let model = task.record_model()?;
        let mechanisms = collection.tiers.iter().map(|&level| task.vector_mechanism(level));
        let mechanisms = mechanisms.collect::<Result<Vec<_>, TaskError>>()?;
        let options = OnlineOptions {
            steps: Steps::new(words.eta, words.alpha, words.offset)?,
            burn_in: words.burn_in,
            decay: words.decay.unwrap_or(0.0),
            tiers: tiers(task, &model, &mechanisms)?,
        };
        let promises = collection.tiers.iter().map(|&level| task.promise_at(level));
        let promises = promises.collect::<Result<Vec<_>, TaskError>>()?;
        let descent = Chains::new(model, options, words.two_chains)?;
        let functionals = functionals(task, &descent)?;
        let first = PublicPoint::at(&model, descent.point())?;
        let counts = Counts { reports: 0, tiers: vec![0; mechanisms.len()] };
        Ok(Self {
            task: task.clone(),
            model,
            mechanisms,
            promises,
            window: words.stale,
            curvature: words.curvature,
            functionals,
            descent,
            points: VecDeque::from([first]),
            counts,
        })
    }

    /// Takes in the next reports of the log, as the task's format has decoded them.
    pub fn observe(&mut self, reports: &[Report]) -> Result<(), LearnError> {
        reports.iter().try_for_each(|report| self.observe_one(report))
    }

    fn observe_one(&mut self, report: &Report) -> Result<(), LearnError> {
        let (place, number) = (usize::from(report.tier), self.counts.reports + 1);
        let wrong = |problem: &str| LearnError::Report { row: number, problem: problem.into() };
        let gradient = report.gradient.as_ref().ok_or_else(|| wrong("it has no gradient"))?;
        let mechanism = *self.mechanisms.get(place).ok_or_else(|| wrong("its tier is none of the task's"))?;
        let point =
            self.point_of(gradient.version).ok_or_else(|| wrong("its point is too old, or yet to come"))?;
        let mut estimate = mechanism.estimate(&gradient.said)?;
        point.around.place(&mechanism, &mut estimate);
        self.descent.observe(gradient.version, Estimate { gradient: &estimate, tier: place })?;
        self.counts.reports = number;
        self.counts.tiers[place] += 1;
        self.points.push_back(PublicPoint::at(&self.model, self.descent.point())?);
        while self.points.len() as u64 > self.window + 1 {
            self.points.pop_front();
        }
        Ok(())
    }

    /// The point of a version, if there is one and it is not too old.
    fn point_of(&self, version: u64) -> Option<&PublicPoint> {
        let age = self.counts.reports.checked_sub(version)? as usize;
        self.points.len().checked_sub(1 + age).and_then(|place| self.points.get(place))
    }

    /// How many reports of the log it has seen: the version of [`point`](Self::point).
    pub fn reports(&self) -> u64 {
        self.counts.reports
    }

    /// θ: where devices take their gradients now.
    pub fn point(&self) -> &[f64] {
        self.descent.point()
    }

    /// What is known so far, with intervals at this level.
    pub fn estimate(&self, level: Level) -> RecordEstimate {
        let first = self.descent.first();
        RecordEstimate {
            reports: self.counts.reports,
            tiers: self.counts.tiers.clone(),
            names: self.task.parameter_names(),
            point: self.descent.point().to_vec(),
            mean: first.mean().map(<[f64]>::to_vec),
            intervals: first.intervals(level, self.curvature),
            functionals: self
                .functionals
                .iter()
                .map(|(name, l)| self.functional_of(name, l, level))
                .collect(),
            interval_points: first.interval_iterates(),
            chains: self.chains(level),
            promise: self.promise(),
            reach: self.reach(),
        }
    }

    /// The interval of l'θ, where l is as long as [`point`](Self::point): a linear function that was fixed before anybody looked.
    pub fn functional(&self, l: &[f64], level: Level) -> Result<Intervals, LearnError> {
        self.descent.first().functional(l, level, self.curvature)
    }

    fn functional_of(&self, name: &str, l: &[f64], level: Level) -> FunctionalEstimate {
        let intervals = self.functional(l, level).map_err(|error| match error {
            LearnError::NoInterval(refused) => refused,
            // The lengths were checked when the descent was made.
            error => unreachable!("{error}"),
        });
        let dot = |mean: &[f64]| l.iter().zip(mean).map(|(l, mean)| l * mean).sum();
        FunctionalEstimate {
            name: name.to_owned(),
            estimate: self.descent.first().mean().map(dot),
            intervals,
        }
    }

    fn chains(&self, level: Level) -> Option<ChainsEstimate> {
        let Chains::Two(chains) = &self.descent else { return None };
        let comparison = chains.compare(level, self.curvature);
        let biased = comparison.as_ref().is_ok_and(|all| all.iter().any(Comparison::is_biased));
        Some(ChainsEstimate { biased, comparison })
    }

    /// The largest promise of the tiers that somebody chose.
    fn promise(&self) -> Option<Headline> {
        let chosen = self.promises.iter().zip(&self.counts.tiers).filter(|(_, count)| **count > 0);
        let chosen: Vec<Guarantee> = chosen.map(|(promise, _)| *promise).collect();
        headline(&chosen).ok().map(Headline::from)
    }

    /// η·a·|ĝ| of the next report, at its largest over all tiers: at whatever point that is kept; the length of its
    /// centre is added to that of its noise.
    fn reach(&self) -> f64 {
        let (options, step) = (self.descent.first().options(), self.descent.next_step());
        let length = |point: &PublicPoint| point.around.centre.iter().map(|x| x * x).sum::<f64>().sqrt();
        let centre = self.points.iter().map(length).fold(0.0, f64::max);
        let of_tier = |(tier, mechanism): (usize, &VectorMechanism)| {
            options.tiers.factor(tier).unwrap_or(1.0) * (centre + mechanism.reach())
        };
        step * self.mechanisms.iter().enumerate().map(of_tier).fold(0.0, f64::max)
    }

    /// The state, to be given to [`restore`](Self::restore).
    pub fn snapshot(&self) -> Result<Vec<u8>, LearnError> {
        let state = State {
            descent: self.descent.snapshot()?,
            points: self.points.iter().map(|point| point.parameters.clone()).collect(),
            counts: self.counts.clone(),
        };
        postcard::to_stdvec(&state).map_err(|error| LearnError::Source(Box::new(error)))
    }

    /// The state that a snapshot of the same task holds.
    pub fn restore(task: &Task, snapshot: &[u8]) -> Result<Self, LearnError> {
        let fresh = Self::new(task)?;
        let State { descent, points, counts } =
            postcard::from_bytes(snapshot).map_err(|error| LearnError::Source(Box::new(error)))?;
        let descent = fresh.descent.restored(fresh.model, &descent)?;
        let kept = counts.reports.min(fresh.window) + 1;
        let last = points.last().is_some_and(|point| point == descent.point());
        let counted =
            counts.reports == descent.reports() && counts.tiers.iter().sum::<u64>() == counts.reports;
        if counts.tiers.len() != fresh.mechanisms.len() || points.len() as u64 != kept || !last || !counted {
            return Err(LearnError::Snapshot);
        }
        let points = points.iter().map(|point| PublicPoint::at(&fresh.model, point));
        let points = points.collect::<Result<_, _>>()?;
        Ok(Self { descent, points, counts, ..fresh })
    }
}

impl PublicPoint {
    fn at(model: &RecordModel, parameters: &[f64]) -> Result<Self, LearnError> {
        Ok(Self { parameters: parameters.to_vec(), around: model.ball_at(parameters)? })
    }
}

/// l of each function of θ that a task wants; an error if there is one that the descent has no interval of.
fn functionals(task: &Task, descent: &Chains) -> Result<Vec<(String, Vec<f64>)>, LearnError> {
    let (names, words) = (task.parameter_names(), task.record.iter().flat_map(|record| &record.functionals));
    let rows = words.map(|words| {
        let problem = || format!("of `{}` name no parameters", words.name);
        let unknown = || TaskError::Record { field: "functionals", problem: problem() };
        let l = words.factors(&names).ok_or_else(unknown)?;
        match descent.first().functional(&l, Level::NINETY_FIVE, None) {
            Ok(_) | Err(LearnError::NoInterval(_)) => Ok((words.name.clone(), l)),
            Err(error) => Err(error),
        }
    });
    rows.collect()
}

/// Steps that weigh each tier by the noise of its mechanism, where the task says how many people are in each.
fn tiers(task: &Task, model: &RecordModel, mechanisms: &[VectorMechanism]) -> Result<Tiers, LearnError> {
    let shares = task.record.as_ref().and_then(|record| record.shares.as_ref());
    let Some(shares) = shares else { return Tiers::alike(mechanisms.len()) };
    let p = model.parameters() as f64;
    let budget = |(mechanism, &share): (&VectorMechanism, &f64)| Budget {
        share,
        noise: mechanism.variance_at_norm(0.0) / p,
    };
    let budgets: Vec<Budget> = mechanisms.iter().zip(shares).map(budget).collect();
    // What records scatter themselves is not known; it is at most r² in all coordinates together.
    Tiers::by_budget(model.radius() * model.radius() / p, &budgets)
}
