//! What an operator sees: everything that may be shown, in one document.

use super::Collector;
use super::learning::{Influence, View};
use crate::finding::{Finding, Outcome};
use crate::promise;
use serde::Serialize;
use undertone_learn::live::{CurvePoint, RecordEstimate};
use undertone_report::Task;
use utoipa::ToSchema;

/// The state of a collection.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Status {
    name: String,
    task_id: String,
    label: String,
    classes: Vec<String>,
    /// What is private: `label`, or the whole `record`
    secret: &'static str,
    mechanism: String,
    tiers: Vec<f64>,
    /// Which loss tiers and audit are about: ε or μ
    currency: &'static str,
    /// The promise in plain words
    promise: String,
    /// Nothing is shown below so many reports
    minimum: u64,
    pub(crate) reports: u64,
    shown: bool,
    per_second: f64,
    /// Seconds of the Unix epoch, and the reports that were in then
    over_time: Vec<(u64, u64)>,
    refusals: Vec<Count>,
    pub(crate) shares: Option<Vec<ClassShare>>,
    influence: Option<Influence>,
    pub(crate) curve: Option<Vec<Point>>,
    model: Option<ModelVersion>,
    /// Of whole records, each parameter; of numbers, their mean
    parameters: Option<Vec<Parameter>>,
    /// What speaks against their intervals, or why there are none
    doubts: Vec<String>,
    audit: Audit,
    closes: u64,
    closed: bool,
    now: u64,
}

/// How often something was refused.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Count {
    reason: &'static str,
    count: u64,
}

/// The share of a class.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ClassShare {
    pub(crate) class: String,
    /// Of the reports, that name it
    noisy: f64,
    /// Of the people, that have it: unbiased
    pub(crate) estimate: f64,
    /// The 95 % interval
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The accuracy of an earlier model, on reports that came after it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Point {
    pub(crate) reports: u64,
    pub(crate) accuracy: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// A parameter that whole records have taught.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Parameter {
    name: String,
    /// The mean of the points, or the last one before the burn-in is over
    estimate: f64,
    /// The 95 % interval, if there can be one
    low: Option<f64>,
    high: Option<f64>,
}

/// Which model there is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ModelVersion {
    /// The number of reports of the log that it has learnt from
    version: u64,
    reports: u64,
    learner: &'static str,
}

/// What the auditor says about the mechanism that devices run, at the tier where it is worst.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Audit {
    #[schema(value_type = String)]
    verdict: Outcome,
    claimed: f64,
    exact: Option<f64>,
    lower_bound: f64,
    confidence: f64,
}

impl Status {
    pub(super) fn of(collector: &Collector, view: &View, time: u64) -> Self {
        let (task, collection) = (&collector.task, collector.collection());
        let shown = collector.is_shown(view);
        let counts = collector.tally.counts();
        Self {
            name: collection.name.clone(),
            task_id: task.id().to_string(),
            label: task.label.clone(),
            classes: task.classes.clone(),
            secret: task.secret(),
            mechanism: task.mechanism.kind.clone(),
            tiers: collection.tiers.clone(),
            currency: if task.mechanism.mu.is_some() { "μ" } else { "ε" },
            promise: promise_of(task, &collection.tiers),
            minimum: collection.min_reports,
            reports: view.reports,
            shown,
            per_second: collector.history.per_second(),
            over_time: collector.history.points(),
            refusals: counts.refused.into_iter().map(|(reason, count)| Count { reason, count }).collect(),
            shares: shares(&task.classes, view).filter(|_| shown),
            influence: (shown && view.records.is_none() && view.mean.is_none())
                .then(|| view.influence(collection.min_reports)),
            curve: shown.then(|| view.judged_by(collection.min_reports).map(point).collect()),
            model: view.model.as_ref().filter(|_| shown).map(|_| ModelVersion {
                version: view.reports,
                reports: view.reports,
                learner: collection.learner.name(),
            }),
            parameters: learnt(&task.label, view).filter(|_| shown),
            doubts: view.records.as_ref().filter(|_| shown).map(doubts).unwrap_or_default(),
            audit: audit(collector),
            closes: collection.closes,
            closed: collector.is_closed() || !collection.is_open(time),
            now: time,
        }
    }
}

/// The share of each class, if there is one to be told.
pub(super) fn shares(classes: &[String], view: &View) -> Option<Vec<ClassShare>> {
    let shares = view.shares.as_ref()?;
    let share = |(class, share): (&String, &undertone_learn::live::LiveShare)| {
        let (low, high) = share.estimate.interval();
        ClassShare { class: class.clone(), noisy: share.noisy, estimate: share.estimate.value, low, high }
    };
    Some(classes.iter().zip(shares).map(share).collect())
}

/// The mean of numbers, or the parameters of whole records.
fn learnt(label: &str, view: &View) -> Option<Vec<Parameter>> {
    let mean = view.mean.map(|mean| {
        // Of one report there is no interval.
        let interval = Some(mean.interval()).filter(|(low, _)| low.is_finite());
        let (low, high) = (interval.map(|ends| ends.0), interval.map(|ends| ends.1));
        vec![Parameter { name: format!("mean of {label}"), estimate: mean.value, low, high }]
    });
    mean.or_else(|| view.records.as_ref().map(parameters))
}

fn doubts(records: &RecordEstimate) -> Vec<String> {
    let doubts = match &records.intervals {
        Ok(intervals) => &intervals.doubts,
        Err(refused) => &refused.doubts,
    };
    doubts.iter().map(ToString::to_string).collect()
}

fn parameters(records: &RecordEstimate) -> Vec<Parameter> {
    let estimates = records.mean.as_ref().unwrap_or(&records.point);
    let interval = |place: usize| records.intervals.as_ref().ok().map(|found| found.coordinates[place]);
    let parameter = |(place, (name, &estimate)): (usize, (&String, &f64))| Parameter {
        name: name.clone(),
        estimate,
        low: interval(place).map(|found| found.estimate - found.half_width),
        high: interval(place).map(|found| found.estimate + found.half_width),
    };
    records.names.iter().zip(estimates).enumerate().map(parameter).collect()
}

fn point(point: &CurvePoint) -> Point {
    let (low, high) = point.accuracy.interval();
    Point { reports: point.reports, accuracy: point.accuracy.value, low, high }
}

/// The weakest promise that anybody may choose.
fn promise_of(task: &Task, tiers: &[f64]) -> String {
    let weakest = tiers.iter().copied().fold(0.0, f64::max);
    task.promise_at(weakest)
        .map_or_else(|_| String::new(), |promise| promise::in_words(&promise, task.secret()))
}

fn audit(collector: &Collector) -> Audit {
    let doubt = |finding: &&Finding| match finding.verdict {
        Outcome::Kept => 0,
        Outcome::NotRefuted => 1,
        Outcome::SimulationOnly => 2,
        Outcome::Broken => 3,
    };
    let worse = |a: &&Finding, b: &&Finding| doubt(a).cmp(&doubt(b)).then(a.claimed.total_cmp(&b.claimed));
    // A task has at least one tier, and each was audited.
    let finding = collector.audit.iter().max_by(worse).unwrap_or(&collector.audit[0]);
    Audit {
        verdict: finding.verdict,
        claimed: finding.claimed,
        exact: finding.exact,
        lower_bound: finding.lower_bound,
        confidence: finding.confidence,
    }
}
