use crate::{MAX_BODY, MAX_TIME};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is wrong with a log, or with what it was given.
///
/// One error may have to be told to everybody whose reports were waiting for the same commit; hence it can be cloned.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The disk or the system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// What was read or written
        path: PathBuf,
        /// What the system said
        error: Arc<io::Error>,
    },
    /// Two processes would write into one log.
    #[error("{}: another process has this log open", path.display())]
    Locked {
        /// The folder
        path: PathBuf,
    },
    /// Something that was acknowledged is not there as it was written.
    #[error("{}: damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The segment
        path: PathBuf,
        /// Where the first part begins that cannot be trusted
        offset: u64,
        /// What is wrong there
        what: &'static str,
    },
    /// The end of the log is missing.
    #[error("{}: the log was closed with {closed_with} reports and now ends after {found}", path.display())]
    Shorter {
        /// The folder
        path: PathBuf,
        /// What it says about its last closing
        closed_with: u64,
        /// What is there
        found: u64,
    },
    /// The log belongs to another task.
    #[error("{}: this is the log of task {}, not of {}", path.display(), Hex(found), Hex(expected))]
    OtherTask {
        /// The segment
        path: PathBuf,
        /// The id of its task
        found: [u8; 32],
        /// The id of the task it was opened for
        expected: [u8; 32],
    },
    /// After an error nothing is appended until the log is opened again.
    #[error("the log stopped at an error and has to be opened again: {cause}")]
    Stopped {
        /// That error
        cause: Arc<LogError>,
    },
    /// A body that is larger than any report.
    #[error("a report of {bytes} bytes; at most {MAX_BODY} are kept")]
    Body {
        /// Its length
        bytes: usize,
    },
    /// A time or horizon out of range.
    #[error("time {time} is beyond {MAX_TIME}, the last there is")]
    Time {
        /// That time
        time: u64,
    },
    /// The database refused, or is out of reach.
    #[cfg(feature = "postgres")]
    #[error("database: {message}")]
    Database {
        /// What it said
        message: String,
    },
}

/// The id of a task, as people write it.
struct Hex<'a>(&'a [u8; 32]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl LogError {
    /// Whether the same may succeed later, though nobody opens the log again.
    pub fn may_pass(&self) -> bool {
        #[cfg(feature = "postgres")]
        if matches!(self, Self::Database { .. }) {
            return true;
        }
        false
    }

    /// For `map_err`: says which file it was.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |error| Self::Io { path, error: Arc::new(error) }
    }
}
