//! What a log owes to those who trust it.

use crate::{LogError, MAX_BODY, MAX_TIME, Outcome, Stored, Submission};
use std::ops::Range;
use std::sync::Arc;

/// A durable sequence of reports, each of which is in it once.
///
/// An implementation owes three things.
///
/// **Nothing acknowledged is lost.** When [`append`](Self::append) returns [`Outcome::Accepted`] or
/// [`Outcome::Duplicate`], the report is where a crash of the process, of the system or of the power cannot reach it.
///
/// **Nothing is counted twice.** Of all submissions with the same time and id, at most one is ever accepted; those with the
/// same body are [duplicates](Outcome::Duplicate), and the others [equivocations](Outcome::Equivocation). Ids older
/// than the horizon are forgotten, and so that this opens no door, nothing older than the horizon is accepted. The horizon
/// is part of the log and never goes back, whatever the clock or the caller says.
///
/// **Everybody reads the same.** Positions have no gaps, and what is at a position never changes: what is learnt from a
/// prefix of the log is the same for every reader, before and after a crash.
///
/// An error means: *perhaps*. Of a batch that failed, any part may turn out to be in the log once it is open again. Who
/// sends the same reports again under the same ids loses nothing and doubles nothing.
pub trait Log: Send {
    /// Appends what is new, in the order given, and returns after it is durable: one outcome for each submission.
    ///
    /// Reports of times before `horizon` are refused, and so they are before any larger horizon of the past. A report
    /// that was counted before is a duplicate even if its token is spent: the device that tries again is told the truth.
    fn append(&mut self, batch: &[Submission], horizon: u64) -> Result<Vec<Outcome>, LogError>;

    /// Closes the segment that is being appended to, if it has a report, and returns the position where it ends.
    ///
    /// A log is cut into segments, so that it can be copied piece by piece while it grows. A segment that is closed gets
    /// no more reports, and where it begins and ends ([`LogReader::closed`]) never changes.
    fn close_segment(&mut self) -> Result<u64, LogError>;

    /// A way to read the log from other threads, while this one appends.
    fn reader(&self) -> Arc<dyn LogReader>;

    /// The number of reports that are known to be durable.
    fn len(&self) -> u64 {
        self.reader().len()
    }

    /// Whether there is no report yet.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The reports from this position to the present end, in order.
    fn read(&self, from: u64) -> Result<Reports, LogError> {
        self.reader().read(from)
    }
}

/// Reads a log, from any thread, whoever appends meanwhile.
pub trait LogReader: Send + Sync {
    /// The number of reports that are known to be durable.
    fn len(&self) -> u64;

    /// Whether there is no report yet.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The reports from this position to the present end, in order. Beyond the end there are none.
    fn read(&self, from: u64) -> Result<Reports, LogError>;

    /// The positions of each closed segment, in order: from zero on, without gaps, and none is empty.
    fn closed(&self) -> Result<Vec<Range<u64>>, LogError>;
}

impl<L: Log + ?Sized> Log for Box<L> {
    fn append(&mut self, batch: &[Submission], horizon: u64) -> Result<Vec<Outcome>, LogError> {
        (**self).append(batch, horizon)
    }

    fn close_segment(&mut self) -> Result<u64, LogError> {
        (**self).close_segment()
    }

    fn reader(&self) -> Arc<dyn LogReader> {
        (**self).reader()
    }
}

/// The segments that end at these positions, in rising order.
pub(crate) fn between(ends: impl IntoIterator<Item = u64>) -> Vec<Range<u64>> {
    let begin = |first: &mut u64, end| Some(std::mem::replace(first, end)..end);
    ends.into_iter().scan(0, begin).collect()
}

/// Reports in the order of the log. After an error there are no more.
pub type Reports = Box<dyn Iterator<Item = Result<Stored, LogError>> + Send>;

/// Refuses what no log can hold, before anything has changed.
pub(crate) fn check(batch: &[Submission], horizon: u64) -> Result<(), LogError> {
    for time in batch.iter().map(|submission| submission.time).chain([horizon]) {
        if time > MAX_TIME {
            return Err(LogError::Time { time });
        }
    }
    match batch.iter().map(|submission| submission.body.len()).find(|&bytes| bytes > MAX_BODY) {
        Some(bytes) => Err(LogError::Body { bytes }),
        None => Ok(()),
    }
}
