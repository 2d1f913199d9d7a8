//! Reports as Parquet, so that any engine can read them.
//!
//! | column | type | what it holds |
//! |---|---|---|
//! | each public column | as in the table | what it held there |
//! | `report` | `uint32` | the label that the person reported, if the mechanism always reports one |
//! | `report` | `uint64` | the labels that the person reported, if there are at most 64: bit k is set if k is one of them |
//! | `report` | `list<uint32>` | the labels that the person reported, in rising order, otherwise |
//! | `report` | `int64` | what the person said about a number, if the label is one |
//! | `report` | `list<int64>` | to a survey: the number of the question, and the words of the answer |
//! | `among` | `list<uint32>` | the labels that the person chose among, in rising order; only with priors |
//! | `report_id` | `fixed_size_binary(16)` | the id of the report; only from a collector, and ignored here |
//! | `report_time` | `timestamp(ms, UTC)` | when its unit of time begins; only from a collector, and ignored here |
//!
//! A label is the place of its class in the task. Lists are the exception, since they take five times as long to write
//! as numbers.
//!
//! The task is in the file's key-value metadata, as JSON under `undertone.task` and its id under `undertone.task_id`.
//! Reports that were drawn from a seed also have `undertone.simulation` there, those of a part of the rows
//! `undertone.part`, those whose classes were read from the labels `undertone.classes`, and those of a segment of a
//! collector's log `undertone.segment`.

mod answers;
mod block;
mod difference;
mod file;
mod label_lists;
mod layout;
mod settings;
mod word_lists;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use answers::Answers;
pub(crate) use block::ReportBlock;
pub(crate) use file::{ReportsFile, marks_of};
pub(crate) use label_lists::LabelLists;
pub(crate) use layout::{Form, Layout};
pub(crate) use writer::ReportsWriter;

/// The key of the task's document.
const TASK: &str = "undertone.task";
/// The key of its id.
const TASK_ID: &str = "undertone.task_id";
/// The key that marks reports without any privacy.
const SIMULATION: &str = "undertone.simulation";
/// The key of the part of the rows that was asked.
const PART: &str = "undertone.part";
/// The key that marks classes that were read from the labels.
const CLASSES: &str = "undertone.classes";

/// The key of the segment of a log.
const SEGMENT: &str = "undertone.segment";

/// What else a file says about how its reports came to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Drawn from a seed: no privacy
    pub(crate) simulation: bool,
    /// Only this part of the rows was asked, such as 1/2
    pub(crate) part: Option<String>,
    /// That a class occurs was read from the labels, and is not private
    pub(crate) classes_from_labels: bool,
    /// The segment of a collector's log that they come from: the ids of its first and its last report
    pub(crate) segment: Option<String>,
}
