//! Bytes from strangers become a log one can trust: replays refused, appended durably, read in order.
//!
//! The service checks what arrives, and hands [`Submission`]s to a [`Log`]. A log keeps what is new and says what became of
//! each ([`Outcome`]), after it is safe. Learners read it in order ([`Stored`]), so that what is learnt is a function of the
//! log alone.
//!
//! [`SegmentLog`] is a folder on this machine. `PostgresLog` (with the feature `postgres`) is a database that several
//! collectors share. [`GroupCommit`] commits together what many submit at the same time, to either of them.

mod error;
mod folder_lock;
mod group_commit;
mod log;
#[cfg(feature = "postgres")]
mod postgres_log;
#[cfg(test)]
mod scratch;
mod seen;
pub mod segment;
mod submission;

pub use error::LogError;
pub use folder_lock::FolderLock;
pub use group_commit::{Busy, CommitOptions, GroupCommit};
pub use log::{Log, LogReader, Reports};
#[cfg(feature = "postgres")]
pub use postgres_log::PostgresLog;
pub use segment::{SegmentLog, SegmentOptions, Torn};
pub use submission::{Admission, MAX_BODY, MAX_TIME, Outcome, Stored, Submission};
