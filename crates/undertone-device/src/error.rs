//! Why a device does not answer.

use std::io;
use std::path::PathBuf;
use undertone_privacy::{Guarantee, PrivacyError};
use undertone_report::{ReportError, TaskError, TaskId};

/// Why nothing is said. Nothing has left the device when it is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A task that no device should answer
    #[error(transparent)]
    Task(#[from] TaskError),
    /// Features or a tier that the task does not ask for
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A label outside the classes, a prior that is none, or a budget that is used up
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// Too early or too late
    #[error("the task is open from second {opens} to {closes} of the Unix epoch, and it is {now}")]
    Closed {
        /// What the clock says
        now: u64,
        /// The first second
        opens: u64,
        /// The first after
        closes: u64,
    },
    /// A prior that this crate cannot compute
    #[error("the task takes each person's prior from a model, which a device cannot compute")]
    ModelPrior,
    /// A prior that is not there
    #[error("the prior of this person is not in the column `{column}`")]
    NoPrior {
        /// Its name
        column: String,
    },
    /// A file that cannot be read or written
    #[error("the ledger {path} cannot be {action}: {source}")]
    Ledger {
        /// Where it is
        path: PathBuf,
        /// What was tried
        action: &'static str,
        /// Why it failed
        source: io::Error,
    },
    /// A file that is not what was written: nobody knows what was spent
    #[error("the ledger {path} is damaged, so nothing may be said any more: {problem}")]
    Damaged {
        /// Where it is
        path: PathBuf,
        /// What is wrong with it
        problem: String,
    },
    /// A file that was there once: nobody knows what was spent
    #[error("the ledger {path} was there and is gone, so nothing may be said any more")]
    Gone {
        /// Where it was
        path: PathBuf,
    },
    /// A file that is older than what is known of it: nobody knows what was spent
    #[error(
        "the ledger {path} was written {written} times, and {counted} were counted: it or its counter comes from a backup, so \
         nothing may be said any more"
    )]
    Restored {
        /// Where it is
        path: PathBuf,
        /// As the ledger says
        written: u64,
        /// As its counter says
        counted: u64,
    },
    /// A task that was not answered, so that nothing can have become of the answer
    #[error("the task {task} was not answered here")]
    NotSaid {
        /// Its id
        task: TaskId,
    },
    /// Two programs for one person
    #[error("the ledger {path} is used by another program")]
    InUse {
        /// Where it is
        path: PathBuf,
    },
    /// A budget other than the one that the ledger was made with
    #[error("the ledger has a budget of {found}, not of {asked}")]
    OtherCap {
        /// As it is in the ledger
        found: Guarantee,
        /// As it was given
        asked: Guarantee,
    },
    /// An earlier write failed: what is on the disk has to be looked at again
    #[error("the ledger could not be written before; open it again")]
    Stopped,
    /// The operating system's generator does not work
    #[error("the operating system gives no randomness: {problem}")]
    NoRandomness {
        /// As it says
        problem: String,
    },
}
