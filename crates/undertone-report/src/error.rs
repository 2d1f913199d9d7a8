//! What can be wrong with a task.

use undertone_privacy::PrivacyError;

/// Why a task is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// Not a task at all
    #[error("this is not a task document: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Written by a later program
    #[error("the task has version {found}, this program reads version {supported}")]
    Version {
        /// As written
        found: u32,
        /// As understood here
        supported: u32,
    },
    /// A name that occurs twice
    #[error("the {what} `{name}` occurs twice")]
    Repeated {
        /// Class or column
        what: &'static str,
        /// Which
        name: String,
    },
    /// A mechanism that does not exist
    #[error("`{kind}` is no label mechanism; one of {known}")]
    UnknownMechanism {
        /// As written
        kind: String,
        /// The names there are
        known: String,
    },
    /// Parameters that are given without use or needed and absent
    #[error("a task with the mechanism {kind} {problem}")]
    Parameters {
        /// The mechanism
        kind: &'static str,
        /// What is wrong
        problem: &'static str,
    },
    /// A promise or a parameter out of range
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
}
