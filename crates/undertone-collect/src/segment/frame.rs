//! A frame: the reports of one commit, with a checksum.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | the mark of the segment |
//! | 4 | n, the length of the content |
//! | 4 | CRC-32C of the length and the content |
//! | n | the content: position of the first report (8), horizon (8), number of reports (4), reports |
//!
//! A report is id (16), time (8), 1 and the nonce of the token (17) or 0 (1), length of the body (4), body. Numbers are
//! little-endian.
//!
//! The mark is drawn at random for each segment and told to nobody. So no report can contain what looks like a frame, and
//! to look for frames after a damaged place is safe.

use crate::{Admission, Stored, Submission};

pub(super) const HEADER: usize = 16;
/// Position, horizon and number
pub(super) const PREFIX: usize = 20;
/// What a report takes besides its body
pub(super) const OVERHEAD: usize = 16 + 8 + 17 + 4;
/// A content longer than this was not written by us.
pub(super) const MAX_CONTENT: usize = 1 << 26;

/// Puts a frame together.
#[derive(Default)]
pub(super) struct FrameBuilder {
    bytes: Vec<u8>,
    count: u32,
}

impl FrameBuilder {
    /// Begins the next frame, in the memory of the last.
    pub(super) fn begin(&mut self, mark: u64, first: u64, horizon: u64) {
        self.bytes.clear();
        self.count = 0;
        self.bytes.extend_from_slice(&mark.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.extend_from_slice(&first.to_le_bytes());
        self.bytes.extend_from_slice(&horizon.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 4]);
    }

    pub(super) fn push(&mut self, submission: &Submission) {
        self.bytes.extend_from_slice(&submission.id);
        self.bytes.extend_from_slice(&submission.time.to_le_bytes());
        match submission.admission {
            Some(Admission { nonce, .. }) => {
                self.bytes.push(1);
                self.bytes.extend_from_slice(&nonce);
            }
            None => self.bytes.push(0),
        }
        self.bytes.extend_from_slice(&(submission.body.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(&submission.body);
        self.count += 1;
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Completes the frame.
    pub(super) fn finish(&mut self) -> &[u8] {
        let length = (self.bytes.len() - HEADER) as u32;
        self.bytes[32..36].copy_from_slice(&self.count.to_le_bytes());
        self.bytes[8..12].copy_from_slice(&length.to_le_bytes());
        let crc = checksum(length, &self.bytes[HEADER..]);
        self.bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        &self.bytes
    }
}

/// The first bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) length: u32,
    crc: u32,
}

impl FrameHeader {
    /// Nothing if no frame of this segment begins like that.
    pub(super) fn parse(bytes: &[u8; HEADER], mark: u64) -> Option<Self> {
        let (found, rest) = bytes.split_first_chunk()?;
        let (length, crc) = rest.split_first_chunk()?;
        let length = u32::from_le_bytes(*length);
        let possible =
            u64::from_le_bytes(*found) == mark && (PREFIX..=MAX_CONTENT).contains(&(length as usize));
        possible.then_some(Self { length, crc: u32::from_le_bytes(crc.try_into().ok()?) })
    }

    pub(super) fn fits(self, content: &[u8]) -> bool {
        content.len() == self.length as usize && checksum(self.length, content) == self.crc
    }
}

fn checksum(length: u32, content: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&length.to_le_bytes()), content)
}

/// What the content of a frame begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) first: u64,
    pub(super) horizon: u64,
    pub(super) count: u32,
}

impl Prefix {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first_chunk()?;
        let (horizon, rest) = rest.split_first_chunk()?;
        let (count, _) = rest.split_first_chunk()?;
        Some(Self {
            first: u64::from_le_bytes(*first),
            horizon: u64::from_le_bytes(*horizon),
            count: u32::from_le_bytes(*count),
        })
    }
}

/// A report within a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) id: &'a [u8; 16],
    pub(super) time: u64,
    pub(super) nonce: Option<&'a [u8; 16]>,
    pub(super) body: &'a [u8],
}

impl<'a> Record<'a> {
    /// Takes the next report off the front of what follows the [`Prefix`].
    pub(super) fn take(rest: &mut &'a [u8]) -> Option<Self> {
        let (id, bytes) = rest.split_first_chunk()?;
        let (time, bytes) = bytes.split_first_chunk()?;
        let (nonce, bytes) = match bytes.split_first()? {
            (0, bytes) => (None, bytes),
            (1, bytes) => bytes.split_first_chunk().map(|(nonce, bytes)| (Some(nonce), bytes))?,
            _ => return None,
        };
        let (length, bytes) = bytes.split_first_chunk()?;
        let (body, bytes) = bytes.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        *rest = bytes;
        Some(Self { id, time: u64::from_le_bytes(*time), nonce, body })
    }

    pub(super) fn stored(&self, position: u64) -> Stored {
        Stored { position, id: *self.id, time: self.time, body: self.body.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_two_reports_reads_back_and_no_flipped_bit_goes_unnoticed() {
        let mut builder = FrameBuilder::default();
        builder.begin(0x1122, 7, 3);
        let plain =
            Submission { id: [1; 16], time: 9, admission: None, body: b"body".to_vec(), latest: None };
        let admission = Some(Admission { nonce: [8; 16], cap: 2 });
        let admitted = Submission { id: [2; 16], time: 4, admission, body: Vec::new(), latest: None };
        builder.push(&plain);
        builder.push(&admitted);
        let frame = builder.finish().to_vec();
        let read = |frame: &[u8]| {
            let (header, content) = frame.split_first_chunk::<HEADER>().unwrap();
            FrameHeader::parse(header, 0x1122).is_some_and(|header| header.fits(content))
        };
        assert!(read(&frame));
        let content = &frame[HEADER..];
        assert_eq!(Prefix::parse(content), Some(Prefix { first: 7, horizon: 3, count: 2 }));
        let mut rest = &content[PREFIX..];
        let first = Record::take(&mut rest).unwrap();
        assert_eq!(first, Record { id: &[1; 16], time: 9, nonce: None, body: b"body" });
        let second = Record::take(&mut rest).unwrap();
        assert_eq!(second, Record { id: &[2; 16], time: 4, nonce: Some(&[8; 16]), body: b"" });
        assert!(rest.is_empty() && Record::take(&mut rest).is_none());
        for bit in 0..frame.len() * 8 {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!read(&flipped), "bit {bit}");
        }
    }
}
