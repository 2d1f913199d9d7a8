//! Reports laid end to end, each behind its length: four bytes, big-endian.

use crate::{MOST_BYTES, ReportError};

/// The media type of a batch.
pub const MEDIA_TYPE: &str = "application/vnd.undertone.reports;version=1";

/// One batch of these reports.
pub fn join<R: AsRef<[u8]>>(reports: impl IntoIterator<Item = R>) -> Vec<u8> {
    let mut batch = Vec::new();
    for report in reports {
        let report = report.as_ref();
        // No report is longer than a mebibyte.
        batch.extend_from_slice(&(report.len() as u32).to_be_bytes());
        batch.extend_from_slice(report);
    }
    batch
}

/// The reports of a batch, whatever is in them. If one ends too late, none is given.
pub fn split(batch: &[u8]) -> Result<Vec<&[u8]>, ReportError> {
    reports(batch).collect()
}

/// The reports of a batch one after the other. After an error there are no more.
pub fn reports(batch: &[u8]) -> impl Iterator<Item = Result<&[u8], ReportError>> {
    let mut rest = batch;
    std::iter::from_fn(move || {
        let next = (!rest.is_empty()).then(|| take(&mut rest, batch.len()))?;
        Some(next.inspect_err(|_| rest = &[]))
    })
}

/// Takes the next report off the front of a batch that had `length` bytes.
fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], ReportError> {
    let truncated = || ReportError::Truncated { length };
    let (bytes, after) = rest.split_first_chunk().ok_or_else(truncated)?;
    let bytes = u32::from_be_bytes(*bytes) as usize;
    if bytes > MOST_BYTES {
        return Err(ReportError::TooLong { length: bytes, most: MOST_BYTES });
    }
    let (report, after) = after.split_at_checked(bytes).ok_or_else(truncated)?;
    *rest = after;
    Ok(report)
}

/// Why a whole batch is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// It cannot be cut into reports
    #[error(transparent)]
    Cut(#[from] ReportError),
    /// There are more reports in it than the collector takes at once
    #[error("more than {most} reports at once")]
    TooMany {
        /// As allowed
        most: usize,
    },
    /// It was to be JSON
    #[error("the batch is not an array of reports: {problem}")]
    NoArray {
        /// Where and why
        problem: String,
    },
}

impl BatchError {
    /// The name of the reason, which stays the same from version to version.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Cut(error) => error.reason(),
            Self::TooMany { .. } => "long-batch",
            Self::NoArray { .. } => "no-json",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_joined_is_split_again() {
        let reports = [&b"one"[..], b"", b"three"];
        let batch = join(reports);
        assert_eq!(batch, b"\0\0\0\x03one\0\0\0\0\0\0\0\x05three");
        assert_eq!(split(&batch).unwrap(), reports);
        assert_eq!(split(b"").unwrap(), [b""; 0]);
    }

    #[test]
    fn a_batch_that_ends_within_a_report_has_none() {
        let batch = join([b"one", b"two"]);
        for length in (1..batch.len()).filter(|length| *length != 7) {
            assert_eq!(split(&batch[..length]), Err(ReportError::Truncated { length }));
        }
        assert_eq!(split(b"\xff\xff\xff\xff").unwrap_err().reason(), "too-long");
    }
}
