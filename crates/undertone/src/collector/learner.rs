//! What learns from the log of a task: from labels, from numbers, or from the gradients of whole records; or nothing yet.

use undertone_learn::LearnError;
use undertone_learn::live::{Live, LiveNumbers, LiveRecords};
use undertone_report::{Report, Task};

/// A learner whose state is a function of the task and a prefix of the log.
#[derive(Clone, Debug)]
pub(super) enum Learner {
    Labels(Box<Live>),
    Numbers(Box<LiveNumbers>),
    Records(Box<LiveRecords>),
    /// Nothing is learnt from a survey before somebody asks: its answers are counted
    Later(u64),
}

impl Learner {
    /// Before any report.
    pub(super) fn new(task: &Task) -> Result<Self, LearnError> {
        Ok(if task.asks_once() {
            Self::Later(0)
        } else if task.asks_for_records() {
            Self::Records(Box::new(LiveRecords::new(task)?))
        } else if task.asks_for_numbers() {
            Self::Numbers(Box::new(LiveNumbers::new(task)?))
        } else {
            Self::Labels(Box::new(Live::new(task)?))
        })
    }

    /// As it was when it left this snapshot.
    pub(super) fn restore(task: &Task, snapshot: &[u8]) -> Result<Self, LearnError> {
        Ok(if task.asks_once() {
            Self::Later(u64::from_be_bytes(snapshot.try_into().map_err(|_| LearnError::Snapshot)?))
        } else if task.asks_for_records() {
            Self::Records(Box::new(LiveRecords::restore(task, snapshot)?))
        } else if task.asks_for_numbers() {
            Self::Numbers(Box::new(LiveNumbers::restore(task, snapshot)?))
        } else {
            Self::Labels(Box::new(Live::restore(task, snapshot)?))
        })
    }

    pub(super) fn snapshot(&self) -> Result<Vec<u8>, LearnError> {
        match self {
            Self::Labels(live) => live.snapshot(),
            Self::Numbers(live) => live.snapshot(),
            Self::Records(live) => live.snapshot(),
            Self::Later(reports) => Ok(reports.to_be_bytes().to_vec()),
        }
    }

    /// Takes in the next reports of the log.
    pub(super) fn observe(&mut self, reports: &[Report]) -> Result<(), LearnError> {
        match self {
            Self::Labels(live) => live.observe(reports),
            Self::Numbers(live) => live.observe(reports),
            Self::Records(live) => live.observe(reports),
            Self::Later(count) => {
                *count += reports.len() as u64;
                Ok(())
            }
        }
    }

    /// How many reports it has seen.
    pub(super) fn reports(&self) -> u64 {
        match self {
            Self::Labels(live) => live.reports(),
            Self::Numbers(live) => live.reports(),
            Self::Records(live) => live.reports(),
            Self::Later(reports) => *reports,
        }
    }
}
