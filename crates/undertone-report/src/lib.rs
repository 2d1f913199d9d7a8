//! What is asked, of whom, under which promise, and what is answered: tasks and reports as bytes, and back.
//!
//! A [`Task`] is the public document that every report is bound to. It is read by devices, which rebuild their mechanism
//! from it, and by learners, which decode by it. Two tasks are the same if and only if their canonical bytes are, and so
//! if their [ids](Task::id) are. A [`ReportFormat`] turns [`Report`]s into bytes and back, strictly.

pub mod batch;
mod collection;
mod document;
mod encoding;
mod error;
mod format;
mod functional;
pub mod hexadecimal;
mod incoming;
mod maps;
mod number;
mod point;
mod record;
mod record_ball;
mod report;
mod report_error;
mod survey;
mod task;
mod task_id;
#[cfg(test)]
mod testing;

pub use collection::{Collection, LearnerWords};
pub use encoding::{CategoryWords, EncodingWords, Stretch, TextWords};
pub use error::TaskError;
pub use format::{Header, JSON_MEDIA_TYPE, MEDIA_TYPE, MOST_BYTES, MOST_WORDS, REPORT_VERSION, ReportFormat};
pub use functional::{FunctionalTerm, FunctionalWords, MOST_JOINT};
pub use incoming::Spelling;
pub use number::NumberWords;
pub use point::{POINT_MEDIA_TYPE, Point};
pub use record::{HuberWords, LossWords, OnlineWords, RecordWords, ResponseWords, SHARES_TOLERANCE};
pub use record_ball::BallWords;
pub use report::{Cell, GradientReport, Report, ReportId};
pub use report_error::ReportError;
pub use survey::{
    CopyWords, CosineWords, GridLoss, LossGridWords, MomentWords, OrderWords, SurveyWords, TermWords,
    ViewWords,
};
pub use task::{ColumnKind, FeatureColumn, MechanismWords, PriorWords, TASK_VERSION, Task};
pub use task_id::{IdError, TaskId, sha256_of};
