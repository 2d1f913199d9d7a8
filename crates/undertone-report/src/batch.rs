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
    let (mut reports, mut rest) = (Vec::new(), batch);
    while !rest.is_empty() {
        let truncated = || ReportError::Truncated { length: batch.len() };
        let (length, after) = rest.split_first_chunk().ok_or_else(truncated)?;
        let length = u32::from_be_bytes(*length) as usize;
        if length > MOST_BYTES {
            return Err(ReportError::TooLong { length, most: MOST_BYTES });
        }
        let (report, after) = after.split_at_checked(length).ok_or_else(truncated)?;
        reports.push(report);
        rest = after;
    }
    Ok(reports)
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
