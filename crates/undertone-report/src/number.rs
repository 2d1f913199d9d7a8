//! What is asked where the label is a number: where it lies, and hence how it is randomized.
//!
//! A device clips its number to the public bounds, places it on their grid and randomizes the place, so that what leaves it is one
//! integer. Everything that the noise is made of follows from these words.

use crate::{Task, TaskError};
use serde::{Deserialize, Serialize};
use undertone_privacy::Epsilon;
use undertone_privacy::number::{Bounds, NumberKind, NumberMechanism};

/// Where a label that is a number lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberWords {
    /// Smaller numbers count as this one
    pub low: f64,
    /// Larger numbers count as this one
    pub high: f64,
}

impl NumberWords {
    /// The bounds, checked.
    pub fn bounds(&self) -> Result<Bounds, TaskError> {
        Ok(Bounds::new(self.low, self.high)?)
    }
}

impl Task {
    /// Whether the label is a number, and not a class.
    pub fn asks_for_numbers(&self) -> bool {
        self.number.is_some()
    }

    /// The mechanism for numbers that everybody runs.
    pub fn number_mechanism(&self) -> Result<NumberMechanism, TaskError> {
        self.number_mechanism_at(self.epsilon()?)
    }

    /// The same for people who have chosen another ε.
    pub fn number_mechanism_at(&self, epsilon: Epsilon) -> Result<NumberMechanism, TaskError> {
        let words = self.number.as_ref().ok_or(TaskError::NotNumbers)?;
        let kind = NumberKind::ALL.into_iter().find(|kind| kind.name() == self.mechanism.kind);
        let kind = kind.ok_or_else(|| TaskError::UnknownMechanism {
            kind: self.mechanism.kind.clone(),
            known: NumberKind::ALL.map(NumberKind::name).join(", "),
        })?;
        let mechanism = NumberMechanism::new(kind, words.bounds()?, epsilon)?;
        if mechanism.fits_a_report() {
            return Ok(mechanism);
        }
        let problem = "has more noise at this ε than the integers of a report hold";
        Err(TaskError::Parameters { kind: kind.name(), problem })
    }

    /// Refuses words that do not go with a number, and a mechanism that no device should run at this ε.
    pub(crate) fn check_number(&self, level: f64) -> Result<(), TaskError> {
        let kind = self.number_mechanism_at(Epsilon::new(level)?)?.kind().name();
        let problem = |problem| Err(TaskError::Parameters { kind, problem });
        let words = &self.mechanism;
        if self.asks_for_records() {
            return problem("asks for a number, and cannot also ask for a whole record");
        }
        if !self.classes.is_empty() {
            return problem("asks for a number, which has no classes");
        }
        if words.delta.is_some() || words.mu.is_some() {
            return problem("promises ε, and neither δ nor μ");
        }
        if words.set_size.is_some() || words.top.is_some() || words.prior.is_some() {
            return problem("has no use for parameters of a label mechanism");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{number_task, task};

    #[test]
    fn every_kind_makes_a_task_that_reads_back_as_itself() {
        for kind in NumberKind::ALL {
            let task = number_task(kind.name());
            assert_eq!(Task::from_json(&task.to_json()).unwrap(), task);
            assert_eq!(Task::from_toml(&task.to_toml()).unwrap(), task);
            assert_eq!(task.number_mechanism().unwrap().kind(), kind);
            assert!(task.mechanism().is_err() && task.asks_for_numbers());
        }
        let classes = task("rr");
        assert!(classes.to_json().contains(r#""e"],"mechanism""#) && classes.number_mechanism().is_err());
    }

    #[test]
    fn what_does_not_go_with_a_number_is_refused_by_name() {
        let refused = |change: fn(&mut Task)| {
            let mut task = number_task("one-bit");
            change(&mut task);
            Task::from_json(&task.to_json()).unwrap_err().to_string()
        };
        let words = |task: &mut Task, low, high| task.number = Some(NumberWords { low, high });
        assert!(refused(|task| task.classes = vec!["a".into(), "b".into()]).contains("has no classes"));
        assert!(refused(|task| task.mechanism.kind = "rr".into()).contains("laplace, one-bit"));
        assert!(refused(|task| task.mechanism.set_size = Some(2)).contains("no use"));
        assert!(refused(|task| task.mechanism.delta = Some(1e-6)).contains("neither δ"));
        assert!(refused(|task| task.mechanism.epsilon = Some(0.0)).contains("epsilon"));
        let mut upside_down = number_task("one-bit");
        words(&mut upside_down, 2.0, 1.0);
        assert!(Task::from_json(&upside_down.to_json()).unwrap_err().to_string().contains('2'));
        let mut faint = number_task("laplace");
        faint.mechanism.epsilon = Some(2e-9);
        faint.collection.as_mut().unwrap().tiers = vec![2e-9];
        assert!(faint.check().unwrap_err().to_string().contains("more noise"));
    }
}
