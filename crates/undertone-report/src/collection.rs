//! How a collector runs a task: from when to when, in which steps of time, for which learner, how many reports at least.
//!
//! Times in reports are whole units of [`time_precision`](Collection::time_precision), counted from the epoch, so that a
//! report tells nobody more than that about when it was made.

use crate::encoding::EncodingWords;
use crate::{OnlineWords, ReportError, Task, TaskError, maps};
use serde::{Deserialize, Serialize};

/// Whole numbers above this are no longer told apart by what reads JSON in a browser.
const LARGEST_TIME: u64 = 1 << 53;
/// The tier of a report is one byte.
const MOST_TIERS: usize = 255;
/// A name is shown in a line.
const LONGEST_NAME: usize = 200;

/// The part of a task that only a collection over time needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// What people call it
    pub name: String,
    /// Nothing is shown before so many reports are in
    pub min_reports: u64,
    /// From this second of the Unix epoch on, reports are made
    pub opens: u64,
    /// From this second on, no more
    pub closes: u64,
    /// Seconds in the unit of time that reports are dated in
    pub time_precision: u64,
    /// Reports are refused when they are older than so many seconds: their ids need not be kept
    pub expiry_age: u64,
    /// Seconds that a device's clock may be ahead of the collector's
    pub clock_skew: u64,
    /// What is learnt
    pub learner: LearnerWords,
    /// How each public column becomes features, by public constants
    pub encoding: Vec<EncodingWords>,
    /// Each ε, or μ, that a person may choose; the first is the task's own, and the default
    pub tiers: Vec<f64>,
    /// Whether a report needs a token of the collector's
    pub admission: bool,
}

/// What is learnt while reports arrive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnerWords {
    /// A linear model with the softmax loss
    Softmax,
    /// A linear model with a logistic loss for each class
    Logistic,
    /// A linear model with the hinge loss
    Hinge,
    /// A linear model with the squared loss
    Linear,
    /// How many people have each label, and nothing else
    SharesOnly,
    /// Of numbers: their mean, and nothing else
    MeanOnly,
    /// Nothing: the answers to a survey are kept, and asked later
    Later,
    /// Of whole records: one step of gradient descent for each report
    Online(#[serde(deserialize_with = "maps::one")] OnlineWords),
}

impl LearnerWords {
    /// All that learn from labels that are classes.
    pub const ALL: [Self; 5] = [Self::Softmax, Self::Logistic, Self::Hinge, Self::Linear, Self::SharesOnly];

    /// The reports that a point may be old at which gradients are taken; none where there are no points.
    pub fn stale(self) -> u64 {
        match self {
            Self::Online(words) => words.stale,
            _ => 0,
        }
    }

    /// The word of the document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Softmax => "softmax",
            Self::Logistic => "logistic",
            Self::Hinge => "hinge",
            Self::Linear => "linear",
            Self::SharesOnly => "shares-only",
            Self::MeanOnly => "mean-only",
            Self::Later => "later",
            Self::Online(_) => "online",
        }
    }
}

impl Collection {
    /// The unit of time that `now`, in seconds of the Unix epoch, falls into: the date of a report that is made now.
    pub fn unit_of(&self, now: u64) -> u64 {
        now / self.time_precision
    }

    /// The oldest unit of time that is not refused at `now`.
    pub fn horizon(&self, now: u64) -> u64 {
        self.unit_of(now).saturating_sub(self.expiry_age / self.time_precision)
    }

    /// Whether reports are made at `now`.
    pub fn is_open(&self, now: u64) -> bool {
        (self.opens..self.closes).contains(&now)
    }

    /// Refuses dates outside of the window, whatever the clock says.
    pub fn check_window(&self, time: u64) -> Result<(), ReportError> {
        let window = self.opens / self.time_precision..self.closes / self.time_precision;
        if window.contains(&time) {
            Ok(())
        } else {
            Err(ReportError::OutsideWindow { time, opens: window.start, closes: window.end })
        }
    }

    /// Refuses dates that are too old or too new at `now`, in seconds of the Unix epoch.
    pub fn check_age(&self, time: u64, now: u64) -> Result<(), ReportError> {
        let (horizon, newest) = (self.horizon(now), self.unit_of(now.saturating_add(self.clock_skew)));
        if time < horizon {
            Err(ReportError::TooOld { time, horizon })
        } else if time > newest {
            Err(ReportError::FromTheFuture { time, newest })
        } else {
            Ok(())
        }
    }

    /// Refuses what no collector should run.
    pub(crate) fn check(&self, task: &Task) -> Result<(), TaskError> {
        self.check_name()?;
        self.check_times()?;
        self.check_tiers(task)?;
        self.check_learner(task)?;
        if self.encoding.len() != task.features.len() {
            let (found, needed) = (self.encoding.len(), task.features.len());
            return wrong("encoding", format!("has {found} entries, but there are {needed} public columns"));
        }
        for (column, words) in task.features.iter().zip(&self.encoding) {
            words.check(column.kind).map_err(|problem| TaskError::Collection {
                field: "encoding",
                problem: format!("of the column `{}` {problem}", column.name),
            })?;
        }
        Ok(())
    }

    fn check_learner(&self, task: &Task) -> Result<(), TaskError> {
        let name = self.learner.name();
        match (self.learner, task.asks_for_numbers()) {
            (LearnerWords::Linear | LearnerWords::MeanOnly, true) => return Ok(()),
            (_, true) => return wrong("learner", format!("is {name}, which is not for numbers")),
            (LearnerWords::MeanOnly, false) => {
                return wrong("learner", format!("is {name}, which is for numbers"));
            }
            _ => {}
        }
        match (self.learner, task.asks_once()) {
            (LearnerWords::Later, true) => return Ok(()),
            (LearnerWords::Later, false) => return wrong("learner", "is later, which is for surveys".into()),
            (learner, true) => {
                return wrong(
                    "learner",
                    format!("is {}, but the answers to a survey are asked later", learner.name()),
                );
            }
            _ => {}
        }
        match (self.learner, task.asks_for_records()) {
            (LearnerWords::Online(words), true) => words.check(),
            (LearnerWords::Online(_), false) => {
                wrong("learner", "is online, which is for whole records".into())
            }
            (learner, true) => wrong("learner", format!("is {}, which is for labels", learner.name())),
            (_, false) => Ok(()),
        }
    }

    fn check_name(&self) -> Result<(), TaskError> {
        if self.name.trim().is_empty() || self.name.len() > LONGEST_NAME {
            let problem = format!("is `{}`, but has to have from 1 to {LONGEST_NAME} bytes", self.name);
            return wrong("name", problem);
        }
        if let Some(control) = self.name.chars().find(|character| character.is_control()) {
            return wrong("name", format!("holds the control character {control:?}"));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), TaskError> {
        if self.min_reports == 0 {
            return wrong("min_reports", "is 0, but has to be at least 1".into());
        }
        let unit = self.time_precision;
        if unit == 0 {
            return wrong("time_precision", "is 0, but has to be at least one second".into());
        }
        let times = [
            ("min_reports", self.min_reports),
            ("time_precision", unit),
            ("opens", self.opens),
            ("closes", self.closes),
            ("expiry_age", self.expiry_age),
            ("clock_skew", self.clock_skew),
        ];
        if let Some((field, value)) = times.into_iter().find(|&(_, value)| value > LARGEST_TIME) {
            return wrong(field, format!("is {value}, but has to be at most 2^53"));
        }
        let multiples = [("opens", self.opens), ("closes", self.closes), ("expiry_age", self.expiry_age)];
        if let Some((field, value)) = multiples.into_iter().find(|&(_, value)| value % unit != 0) {
            return wrong(
                field,
                format!("is {value}, but has to be a multiple of the time precision, {unit} s"),
            );
        }
        if self.closes <= self.opens {
            return wrong("closes", format!("is {}, but has to be after opens, {}", self.closes, self.opens));
        }
        if self.expiry_age < unit {
            return wrong(
                "expiry_age",
                format!("is {}, but has to be at least one unit of time, {unit} s", self.expiry_age),
            );
        }
        Ok(())
    }

    fn check_tiers(&self, task: &Task) -> Result<(), TaskError> {
        if self.tiers.is_empty() || self.tiers.len() > MOST_TIERS {
            let count = self.tiers.len();
            return wrong("tiers", format!("has {count} entries, but there have to be 1 to {MOST_TIERS}"));
        }
        for (place, &tier) in self.tiers.iter().enumerate() {
            if self.tiers[..place].contains(&tier) {
                return wrong("tiers", format!("names {tier} twice"));
            }
            // Also what is wrong with a tier alone, such as an ε too small to say anything
            task.check_level(tier)?;
        }
        if self.tiers[0].to_bits() != task.mechanism.level().to_bits() {
            let (first, own) = (self.tiers[0], task.mechanism.level());
            return wrong(
                "tiers",
                format!("begins with {first}, but has to begin with the level of the mechanism, {own}"),
            );
        }
        Ok(())
    }
}

pub(crate) fn wrong<T>(field: &'static str, problem: String) -> Result<T, TaskError> {
    Err(TaskError::Collection { field, problem })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;

    fn collection() -> Collection {
        task("rr").collection.unwrap()
    }

    #[test]
    fn a_report_of_two_hours_ago_is_the_oldest_that_is_taken() {
        // Units of an hour from 500 000 on, an expiry age of two of them, a minute of skew
        let (collection, now) = (collection(), 1_800_000_000 + 5 * 3600 + 1800);
        assert_eq!((collection.unit_of(now), collection.horizon(now)), (500_005, 500_003));
        let reason = |time| collection.check_age(time, now).map_err(|error| error.reason());
        assert_eq!(reason(500_002), Err("too-old"));
        assert_eq!([500_003, 500_004, 500_005].map(reason), [Ok(()); 3]);
        assert_eq!(reason(500_006), Err("from-the-future"));
        assert_eq!(collection.check_age(500_006, now + 1740), Ok(()));
        let end = collection.check_age(u64::MAX, u64::MAX).map_err(|error| error.reason());
        assert_eq!(end, Err("from-the-future"));
    }

    #[test]
    fn the_window_is_half_open() {
        let collection = collection();
        let seconds = [1_799_999_999, 1_800_000_000, 1_800_086_399, 1_800_086_400];
        assert_eq!(seconds.map(|now| collection.is_open(now)), [false, true, true, false]);
        let inside = [499_999, 500_000, 500_023, 500_024].map(|time| collection.check_window(time).is_ok());
        assert_eq!(inside, [false, true, true, false]);
    }

    #[test]
    fn a_collection_makes_another_task_and_none_leaves_the_id_as_it_was() {
        let with = task("rr");
        let without = Task { collection: None, ..with.clone() };
        assert_ne!(with.id(), without.id());
        assert!(!without.to_json().contains("collection"));
        assert_eq!(Task::from_json(&with.to_json()).unwrap(), with);
    }

    #[test]
    fn every_tier_has_to_have_a_mechanism() {
        let mut task = task("rr");
        task.collection.as_mut().unwrap().tiers.push(1e-30);
        assert!(task.check().unwrap_err().to_string().contains("too small"));
    }

    #[test]
    fn names_are_the_words_of_the_document() {
        for learner in LearnerWords::ALL {
            assert_eq!(serde_json::to_string(&learner).unwrap(), format!("\"{}\"", learner.name()));
        }
    }

    #[test]
    fn priors_have_to_be_in_public_columns_of_numbers() {
        let mut task = task("rr-prior");
        assert!(task.check().is_ok());
        let columns = ["age", "age2", "age3", "age4", "town"].map(String::from).to_vec();
        task.mechanism.prior = Some(crate::PriorWords::Columns(columns));
        assert!(task.check().unwrap_err().to_string().contains("`age2`"));
    }
}
