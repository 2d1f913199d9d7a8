//! An answer that is paid for, and how it gets to the collector: the same bytes, as often as it takes.

use std::num::NonZeroU32;
use undertone_report::{ReportError, ReportFormat, ReportId};

/// The bytes of an answer, which may be sent as often as one likes: it was paid for once, and is counted once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    bytes: Vec<u8>,
}

/// What a collector says to a report that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// It is new, and durable
    Accepted,
    /// It was there already
    Duplicate,
}

/// Why a report did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure<E> {
    /// It may yet arrive: no connection, no time, no room. Or it has arrived, and the answer was lost
    Again(E),
    /// It never will: the collector refuses it
    Refused(E),
}

impl Prepared {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// What is to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What is to be sent.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The id by which the collector counts it once.
    pub fn id(&self) -> Result<ReportId, ReportError> {
        ReportFormat::peek(&self.bytes).map(|(id, _)| id)
    }

    /// Sends the same bytes until they are acknowledged or refused, at most `attempts` times. `send` knows how, and waits
    /// before it tries again if waiting is wanted; it is told how many attempts there were before.
    pub fn deliver<E>(
        &self,
        attempts: NonZeroU32,
        mut send: impl FnMut(&[u8], u32) -> Result<Ack, Failure<E>>,
    ) -> Result<Ack, Failure<E>> {
        let mut before = 0;
        loop {
            match send(&self.bytes, before) {
                Err(Failure::Again(_)) if before + 1 < attempts.get() => before += 1,
                outcome => return outcome,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared() -> Prepared {
        Prepared::new(b"the same".to_vec())
    }

    #[test]
    fn the_same_bytes_are_sent_until_somebody_has_them() {
        let mut sent = Vec::new();
        let outcome = prepared().deliver(NonZeroU32::new(5).unwrap(), |bytes, before| {
            sent.push((bytes.to_vec(), before));
            if before == 2 { Ok(Ack::Duplicate) } else { Err(Failure::Again("no connection")) }
        });
        assert_eq!(outcome, Ok(Ack::Duplicate));
        assert_eq!(sent, [0, 1, 2].map(|before| (b"the same".to_vec(), before)));
    }

    #[test]
    fn a_refusal_is_final_and_so_is_the_last_attempt() {
        let mut attempts = 0;
        let refused = prepared().deliver(NonZeroU32::new(5).unwrap(), |_, _| {
            attempts += 1;
            Err::<Ack, _>(Failure::Refused("too old"))
        });
        assert_eq!((refused, attempts), (Err(Failure::Refused("too old")), 1));
        let mut attempts = 0;
        let lost = prepared().deliver(NonZeroU32::new(3).unwrap(), |_, _| {
            attempts += 1;
            Err::<Ack, _>(Failure::Again("no connection"))
        });
        assert_eq!((lost, attempts), (Err(Failure::Again("no connection")), 3));
    }
}
