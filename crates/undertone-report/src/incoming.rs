//! What strangers send, up to all that can be told about a report without looking at others.
//!
//! A body is cut into reports, each of which is brought into the one spelling that a log keeps, checked against the task, and
//! against the clock. None of that can fail in another way than by a refusal with a name.

use crate::batch::{self, BatchError};
use crate::format::Header;
use crate::{ReportError, ReportFormat};
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// How reports are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The bytes of `docs/wire-format.md`
    Binary,
    /// The same as JSON; a batch is an array
    Json,
}

impl ReportFormat {
    /// The bytes of each report of a batch, or why it has none. More than `most` are refused before any is looked into.
    pub fn read_batch(
        &self,
        body: &[u8],
        spelling: Spelling,
        most: usize,
    ) -> Result<Vec<Result<Vec<u8>, ReportError>>, BatchError> {
        let reports = match spelling {
            Spelling::Binary => {
                batch::reports(body).take(most.saturating_add(1)).collect::<Result<_, _>>()?
            }
            Spelling::Json => documents(body, most)?,
        };
        if reports.len() > most {
            return Err(BatchError::TooMany { most });
        }
        Ok(reports.into_iter().map(|report| self.read_one(report, spelling)).collect())
    }

    /// The bytes of a report, which are still to be [accepted](Self::accept).
    pub fn read_one(&self, report: &[u8], spelling: Spelling) -> Result<Vec<u8>, ReportError> {
        match spelling {
            Spelling::Binary => Ok(report.to_vec()),
            Spelling::Json => self.encode(&self.from_json(report)?),
        }
    }

    /// Whether these bytes are a report of this task that may come at `now`, in seconds of the Unix epoch.
    pub fn accept(&self, report: &[u8], now: u64) -> Result<Header, ReportError> {
        let header = self.check(report)?;
        self.collection().check_age(header.time, now)?;
        Ok(header)
    }
}

/// The documents of an array, or one more than `most` of them if there are more.
fn documents(body: &[u8], most: usize) -> Result<Vec<&[u8]>, BatchError> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read =
        reader.deserialize_seq(Documents { most }).and_then(|documents| reader.end().map(|()| documents));
    read.map_err(|error| BatchError::NoArray { problem: error.to_string() })
}

struct Documents {
    most: usize,
}

impl<'de> Visitor<'de> for Documents {
    type Value = Vec<&'de [u8]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of reports")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut documents = Vec::new();
        while documents.len() <= self.most {
            let Some(document) = array.next_element::<&RawValue>()? else { return Ok(documents) };
            documents.push(document.get().as_bytes());
        }
        // The rest takes time to read, which whoever sends it has paid for, and no memory.
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(documents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{report, task};

    const OPENS: u64 = 1_800_000_000;

    fn format() -> ReportFormat {
        ReportFormat::new(&task("rr")).unwrap()
    }

    #[test]
    fn both_spellings_are_the_same_bytes_and_refusals_concern_themselves_alone() {
        let (format, report) = (format(), report("rr"));
        let (bytes, json) = (format.encode(&report).unwrap(), format.to_json(&report).unwrap());
        let binary = batch::join([&bytes[..], b"nonsense"]);
        let read = format.read_batch(&binary, Spelling::Binary, 2).unwrap();
        assert_eq!(read, [Ok(bytes.clone()), Ok(b"nonsense".to_vec())]);
        let read = format.read_batch(format!("[{json}, 7]").as_bytes(), Spelling::Json, 2).unwrap();
        assert_eq!(read[0], Ok(bytes.clone()));
        assert_eq!(read[1].as_ref().unwrap_err().reason(), "malformed-json");
        // Unit 500 001 begins an hour after it opens.
        assert_eq!(format.accept(&bytes, OPENS + 3600).unwrap().id, report.id);
        assert_eq!(format.accept(&bytes, OPENS).unwrap_err().reason(), "from-the-future");
        assert_eq!(format.accept(b"nonsense", OPENS).unwrap_err().reason(), "unknown-version");
    }

    #[test]
    fn more_than_the_most_are_refused_and_so_is_what_is_no_batch() {
        let reason = |body: &[u8], spelling| {
            format().read_batch(body, spelling, 3).map(|read| read.len()).map_err(|error| error.reason())
        };
        assert_eq!(reason(&[0; 12], Spelling::Binary), Ok(3));
        assert_eq!(reason(&[0; 16], Spelling::Binary), Err("long-batch"));
        assert_eq!(reason(&[0; 11], Spelling::Binary), Err("truncated"));
        assert_eq!(reason(b"[1, 2, 3]", Spelling::Json), Ok(3));
        assert_eq!(reason(b"[1, 2, 3, 4, 5]", Spelling::Json), Err("long-batch"));
        for text in ["", "{}", "[1, 2", "[1] 2", "[1, 2, 3, 4", "[1, 2, 3, 4, }"] {
            assert_eq!(reason(text.as_bytes(), Spelling::Json), Err("no-json"), "{text}");
        }
    }
}
