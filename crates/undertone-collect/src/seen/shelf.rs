//! A hash table on the disk that only grows, in one sparse file.
//!
//! It has 2^15 buckets. A bucket is a list of entries of 24 bytes, in extents that double: the entries 0..16 lie in the
//! first part of the file, 16..32 in the second, 32..64 in the third, and so on; each part has a place for every bucket.
//! So it grows without ever moving an entry, the place of entry n of a bucket is arithmetic, and the only thing in memory
//! is the length of each bucket: 128 KiB, however many entries there are. A bucket of n entries is read in log₂(n/16) + 1
//! reads; with 50 million entries that is 1,500 entries of 24 bytes in eight reads.

use crate::LogError;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub(super) const BUCKETS: usize = 1 << 15;
pub(super) const ENTRY: usize = 24;
/// Entries of the first extent
const FIRST: u64 = 16;

/// 16 bytes that are looked up, and what belongs to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: [u8; 16],
    /// The unit of a report, or the uses of a token
    pub(super) number: u32,
    /// Of a report, a digest of its body
    pub(super) digest: u32,
}

impl Entry {
    fn to_bytes(self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[..16].copy_from_slice(&self.id);
        bytes[16..20].copy_from_slice(&self.number.to_le_bytes());
        bytes[20..].copy_from_slice(&self.digest.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; ENTRY]) -> Self {
        // All lengths are those of the arrays.
        let number = |from: usize| u32::from_le_bytes(bytes[from..from + 4].try_into().unwrap_or_default());
        Self { id: bytes[..16].try_into().unwrap_or_default(), number: number(16), digest: number(20) }
    }
}

pub(super) struct Shelf {
    file: File,
    path: PathBuf,
    lengths: Vec<u32>,
    entries: u64,
}

impl Shelf {
    /// An empty one, in place of whatever is there.
    pub(super) fn create(path: &Path) -> Result<Self, LogError> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
        let file = file.map_err(LogError::io(path))?;
        Ok(Self { file, path: path.to_owned(), lengths: vec![0; BUCKETS], entries: 0 })
    }

    /// One that was written before, as long as it was then.
    pub(super) fn open(path: &Path, lengths: Vec<u32>) -> Result<Self, LogError> {
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(LogError::io(path))?;
        let entries = lengths.iter().map(|&length| u64::from(length)).sum();
        Ok(Self { file, path: path.to_owned(), lengths, entries })
    }

    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Puts entries at the end of a bucket, in at most one write for each extent.
    pub(super) fn extend(&mut self, bucket: usize, entries: &[Entry]) -> Result<(), LogError> {
        let mut rest = entries;
        while !rest.is_empty() {
            let (offset, room) = place(bucket, u64::from(self.lengths[bucket]));
            let (now, later) = rest.split_at(rest.len().min(room));
            let mut bytes = Vec::with_capacity(now.len() * ENTRY);
            for entry in now {
                bytes.extend_from_slice(&entry.to_bytes());
            }
            self.file.write_all_at(&bytes, offset).map_err(LogError::io(&self.path))?;
            self.lengths[bucket] += now.len() as u32;
            self.entries += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// The newest entry of a bucket that fits.
    pub(super) fn find(
        &self,
        bucket: usize,
        fits: impl Fn(&Entry) -> bool,
    ) -> Result<Option<Entry>, LogError> {
        let mut found = None;
        self.read(bucket, |entry| {
            if fits(&entry) {
                found = Some(entry);
            }
        })?;
        Ok(found)
    }

    /// Shows every entry with its bucket, in no particular order.
    pub(super) fn read_all(&self, mut show: impl FnMut(usize, Entry)) -> Result<(), LogError> {
        (0..BUCKETS).try_for_each(|bucket| self.read(bucket, |entry| show(bucket, entry)))
    }

    /// Shows the entries of a bucket, the oldest first.
    fn read(&self, bucket: usize, mut show: impl FnMut(Entry)) -> Result<(), LogError> {
        let length = u64::from(self.lengths[bucket]);
        let (mut seen, mut bytes) = (0, Vec::new());
        while seen < length {
            let (offset, room) = place(bucket, seen);
            let count = room.min((length - seen) as usize);
            bytes.resize(count * ENTRY, 0);
            self.file.read_exact_at(&mut bytes, offset).map_err(LogError::io(&self.path))?;
            bytes.as_chunks().0.iter().for_each(|entry| show(Entry::from_bytes(entry)));
            seen += count as u64;
        }
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<(), LogError> {
        self.file.sync_all().map_err(LogError::io(&self.path))
    }

    /// Takes the file away.
    pub(super) fn remove(self) -> Result<(), LogError> {
        std::fs::remove_file(&self.path).map_err(LogError::io(&self.path))
    }
}

/// Where in the file entry `n` of a bucket lies, and how many entries fit from there to the end of its extent.
///
/// With s = 16·2^⌊log₂(n/16)⌋, the extent of the entries s..2s begins after s places for every bucket.
fn place(bucket: usize, n: u64) -> (u64, usize) {
    let (base, size, within) = if n < FIRST {
        (0, FIRST, n)
    } else {
        let size = FIRST << (n / FIRST).ilog2();
        (BUCKETS as u64 * size, size, n - size)
    };
    ((base + bucket as u64 * size + within) * ENTRY as u64, (size - within) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::collections::HashSet;

    fn entry(number: u32) -> Entry {
        Entry { id: [number as u8; 16], number, digest: number << 8 }
    }

    #[test]
    fn no_two_entries_share_a_place_and_an_extent_ends_where_it_says() {
        let mut places = HashSet::new();
        for bucket in [0, 1, 77, BUCKETS - 1] {
            for n in 0..300 {
                let (offset, room) = place(bucket, n);
                assert!(places.insert(offset) && offset % 24 == 0);
                let next = place(bucket, n + 1).0;
                assert_eq!(next == offset + 24, room > 1, "entry {n} of bucket {bucket}");
            }
        }
    }

    #[test]
    fn a_bucket_gives_back_what_was_put_in_and_the_newest_first() {
        let scratch = Scratch::new();
        let path = scratch.path().join("shelf");
        let mut shelf = Shelf::create(&path).unwrap();
        let all: Vec<Entry> = (0..200).map(entry).collect();
        // Pieces that end within, at and beyond the ends of extents
        for piece in [&all[..5], &all[5..16], &all[16..17], &all[17..100], &all[100..]] {
            shelf.extend(3, piece).unwrap();
        }
        shelf.extend(4, &[entry(9)]).unwrap();
        let mut read = Vec::new();
        shelf.read(3, |entry| read.push(entry)).unwrap();
        assert_eq!(read, all);
        assert_eq!(shelf.entries(), 201);
        assert_eq!(shelf.find(3, |entry| entry.number < 50).unwrap(), Some(entry(49)));
        assert_eq!(shelf.find(4, |entry| entry.number < 9).unwrap(), None);
        let again = Shelf::open(&path, shelf.lengths().to_vec()).unwrap();
        assert_eq!(again.find(3, |entry| entry.number == 150).unwrap(), Some(entry(150)));
    }
}
