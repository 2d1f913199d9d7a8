//! Reads a log of segments, while somebody else appends to it.

use super::frame::{Prefix, Record};
use super::places::Places;
use super::scan::{Next, Scanner};
use crate::log::{LogReader, Reports, between};
use crate::{LogError, Stored};
use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What the one that appends tells those that read.
pub(super) struct Shared {
    /// First position and file of every segment, in order
    segments: Mutex<Vec<(u64, PathBuf)>>,
    places: Mutex<Places>,
    len: AtomicU64,
}

impl Shared {
    pub(super) fn new(segments: Vec<(u64, PathBuf)>, places: Places, len: u64) -> Self {
        Self { segments: Mutex::new(segments), places: Mutex::new(places), len: AtomicU64::new(len) }
    }

    /// The next frame begins with this position, here in the last segment.
    pub(super) fn note_frame(&self, position: u64, offset: u64) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).note(position, offset);
    }

    pub(super) fn add_segment(&self, first: u64, path: PathBuf) {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner).push((first, path));
    }

    pub(super) fn set_len(&self, len: u64) {
        self.len.store(len, Ordering::Release);
    }
}

impl LogReader for Shared {
    fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    fn read(&self, from: u64) -> Result<Reports, LogError> {
        // The length first: what comes after it may be in a segment that is not listed yet.
        let until = self.len();
        let segments = self.segments.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = segments.partition_point(|(first, _)| *first <= from).saturating_sub(1);
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let start = segments.get(begun).and_then(|(first, _)| places.before(from, *first));
        let files = segments[begun..].iter().map(|(_, path)| path.clone()).collect();
        Ok(Box::new(Reading { files, start, scanner: None, next: from, until, waiting: VecDeque::new() }))
    }

    fn closed(&self) -> Result<Vec<Range<u64>>, LogError> {
        let segments = self.segments.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(between(segments.iter().skip(1).map(|(first, _)| *first)))
    }
}

struct Reading {
    files: VecDeque<PathBuf>,
    /// Where to begin in the first of them
    start: Option<u64>,
    scanner: Option<(Scanner, PathBuf)>,
    /// The position that comes next
    next: u64,
    until: u64,
    waiting: VecDeque<Stored>,
}

impl Iterator for Reading {
    type Item = Result<Stored, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.waiting.is_empty() && self.next < self.until {
            if let Err(error) = self.read_frame() {
                self.until = self.next;
                return Some(Err(error));
            }
        }
        let stored = self.waiting.pop_front()?;
        self.next = stored.position + 1;
        Some(Ok(stored))
    }
}

impl Reading {
    fn read_frame(&mut self) -> Result<(), LogError> {
        if self.scanner.is_none() {
            let Some(path) = self.files.pop_front() else {
                // Unreachable as long as the writer lists a segment before it says how long the log is.
                self.until = self.next;
                return Ok(());
            };
            let mut scanner = Scanner::open(&path)?;
            if let Some(start) = self.start.take() {
                scanner.begin_at(start)?;
            }
            scanner.skip_to(self.next)?;
            self.scanner = Some((scanner, path));
        }
        let Some((scanner, path)) = &mut self.scanner else { return Ok(()) };
        let offset = scanner.offset();
        let damaged = |what| LogError::Damaged { path: path.clone(), offset, what };
        match scanner.next()? {
            Next::Frame { prefix: Prefix { first, count, .. }, mut records } => {
                for position in first..first + u64::from(count) {
                    let record = Record::take(&mut records).ok_or_else(|| damaged("half a report"))?;
                    if (self.next..self.until).contains(&position) {
                        self.waiting.push_back(record.stored(position));
                    }
                }
            }
            Next::End { .. } if self.files.is_empty() => {
                return Err(damaged("the log is shorter than it was"));
            }
            Next::End { .. } => self.scanner = None,
            Next::Broken(what) => return Err(damaged(what)),
        }
        Ok(())
    }
}
