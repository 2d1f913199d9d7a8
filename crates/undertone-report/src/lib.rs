//! What is asked, of whom, under which promise: the public document that every report is bound to.
//!
//! A [`Task`] is read by devices, which rebuild their mechanism from it, and by learners, which decode by it. Two
//! tasks are the same if and only if their canonical bytes are, and so if their [ids](Task::id) are.

mod error;
mod task;

pub use error::TaskError;
pub use task::{
    ColumnKind, FeatureColumn, MechanismWords, PriorWords, TASK_VERSION, Task, TaskId, sha256_of,
};
