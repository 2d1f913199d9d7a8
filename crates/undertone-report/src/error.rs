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
    #[error("`{kind}` is no mechanism of such a task; one of {known}")]
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
    /// Not a task in TOML
    #[error("this is not a task document: {problem}")]
    MalformedToml {
        /// Where and why
        problem: String,
    },
    /// Something wrong with the collection
    #[error("the {field} of the collection {problem}")]
    Collection {
        /// Its name
        field: &'static str,
        /// The value, and what it should be
        problem: String,
    },
    /// A prior that the devices of a collection cannot find
    #[error("the prior is in the column `{name}`, which is no public column of numbers")]
    PriorColumn {
        /// Its name
        name: String,
    },
    /// Something wrong with what is asked of a record
    #[error("the {field} of the record {problem}")]
    Record {
        /// Its name
        field: &'static str,
        /// What is wrong with it
        problem: String,
    },
    /// A task about labels, where one about records is needed
    #[error("the task asks for labels, not for whole records")]
    NotRecords,
    /// A task about records, where one about labels is needed
    #[error("the task asks for whole records, not for labels")]
    NotLabels,
    /// A task about numbers, where one about classes is needed
    #[error("the task asks for a number, not for one of several classes")]
    NotClasses,
    /// A task about classes, where one about numbers is needed
    #[error("the task asks for no number within bounds")]
    NotNumbers,
    /// Something wrong with what everybody is asked once
    #[error("the {field} of the survey {problem}")]
    Survey {
        /// Its name
        field: &'static str,
        /// What is wrong with it
        problem: String,
    },
    /// A task that asks something else than one question of everybody
    #[error("the task is no survey: it does not ask everybody one question about the whole record")]
    NotSurvey,
    /// A task that no collector runs
    #[error("the task has no collection, so nothing is collected for it")]
    NoCollection,
    /// Reports that would be too long
    #[error("a report of this task has at least {least} bytes, but may have {most}")]
    LongReports {
        /// What the columns and the classes take
        least: usize,
        /// What is accepted
        most: usize,
    },
    /// A promise or a parameter out of range
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
}
