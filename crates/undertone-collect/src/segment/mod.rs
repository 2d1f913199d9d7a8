//! A log in a folder of this machine: files that only grow, and one sync for each commit.
//!
//! ```text
//! FOLDER/lock                         held as long as a process has the log open
//! FOLDER/00000000000000000000.log     a segment, named by the position of its first report
//! FOLDER/00000000000000182734.log     the last one is followed by zeros, where the next frames go
//! FOLDER/seen/                        what has been counted, derived from the segments
//! FOLDER/*.torn                       what was cut off the end after a crash, kept for whoever wants to look
//! ```
//!
//! A segment has a header and frames. A frame has the new reports of one commit and the horizon, and a checksum over both.
//! It is written and synced before anybody hears of it, and the next is written only after that. Hence:
//!
//! > At any moment at most one frame, the last, has not been acknowledged.
//!
//! # What happens at a start
//!
//! All frames are read and checked: checksums, positions without a gap, names, task.
//!
//! - **The last segment ends in something that is no frame, and no frame follows.** That is the frame that was being written
//!   when the process or the machine went down; nobody was told that it is there. It is cut off and kept in a `.torn` file.
//! - **Something is no frame, and a frame follows, or the segment is not the last.** What was acknowledged is damaged. The
//!   log does not open, and says which file and which byte.
//! - **The log was closed in good order, and now ends earlier.** The same.
//! - **The last frame is whole.** It is written and synced once more, since perhaps its first sync never came or failed.
//!   Its reports are counted though perhaps nobody was told so. That is right: whoever was not told sends them again under
//!   the same ids, and hears that they are duplicates.
//!
//! One thing cannot be told apart from half a frame: damage to the last acknowledged frame after a *crash*, before the
//! next start. The `.torn` file is there for that, and [`SegmentLog::recovered`] says that something was cut.
//!
//! # After an error of the disk
//!
//! If a write or a sync fails, nothing more is appended: [`LogError::Stopped`]. A sync is never tried again, because a
//! second one may succeed without having written what the first one lost. Reading goes on. When there is room again, or
//! another disk, open the log again (start the collector again); it finds out by the checksums what is there.
//!
//! # When a log is damaged
//!
//! 1. Stop the collector and copy the folder.
//! 2. If there is a copy of the damaged segment that is whole (a backup, the other half of a mirror), put it in its place.
//!    Segments never change after the next one has begun, except for the last.
//! 3. If not: move the damaged segment and all later ones out of the folder, and `seen/clean` with them. The log then ends
//!    before that segment. What was in it is lost, was acknowledged, and no device will send it again; say so where the
//!    results are shown. The ids of what is lost are forgotten with it.
//!
//! The folder `seen` can be removed whenever the log is closed: it is built again from the segments.

mod file;
mod frame;
mod places;
mod reader;
mod scan;
#[cfg(test)]
mod tests;

use crate::log::{self, Log, LogReader};
use crate::seen::{Key, Seen, Sizes, sync_folder};
use crate::{FolderLock, LogError, Outcome, Submission};
use file::{SegmentWriter, segment_path, segments_of};
use frame::{FrameBuilder, OVERHEAD, Record};
use places::Places;
use reader::Shared;
use scan::{Next, Scanner};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A batch with more bytes than this becomes several frames, each with a sync of its own.
const FRAME_BYTES: usize = 1 << 24;

/// How large a log's files and its memory are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentOptions {
    /// A new segment begins when the last has so many bytes.
    pub segment_bytes: u64,
    /// Units of time whose ids are kept, and forgotten, together. Each group that the horizon has not passed is an open file;
    /// [`for_window`](Self::for_window) makes it about eight of them.
    pub units_per_generation: u32,
    /// Ids and tokens in memory, of some 40 bytes each, before they go to the disk
    pub front: usize,
    /// Bytes of the filter that knows most new ids as new. Ten bits for each id within the window are enough; with fewer,
    /// appending gets slower and stays right.
    pub filter_bytes: usize,
}

impl Default for SegmentOptions {
    fn default() -> Self {
        Self { segment_bytes: 1 << 26, units_per_generation: 1, front: 450_000, filter_bytes: 1 << 26 }
    }
}

impl SegmentOptions {
    /// For reports that may be so many units of time old, or ahead of time, when they arrive.
    #[must_use]
    pub fn for_window(units: u64) -> Self {
        let units_per_generation = units.div_ceil(8).clamp(1, u64::from(u32::MAX)) as u32;
        Self { units_per_generation, ..Self::default() }
    }

    fn sizes(&self) -> Sizes {
        Sizes { units: self.units_per_generation.max(1), front: self.front, filter: self.filter_bytes }
    }
}

/// The end of a log that was cut off at the last start, because nobody was ever told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The segment it was cut off
    pub segment: PathBuf,
    /// From which byte on
    pub offset: u64,
    /// The file that has the bytes now
    pub kept: PathBuf,
}

/// A [`Log`] in a folder. See the [module](self) for its files and for what to do when one is damaged.
pub struct SegmentLog {
    folder: PathBuf,
    options: SegmentOptions,
    _lock: FolderLock,
    writer: SegmentWriter,
    /// Nothing only while the log is dropped
    seen: Option<Seen>,
    horizon: u64,
    len: u64,
    shared: Arc<Shared>,
    builder: FrameBuilder,
    recovered: Option<Torn>,
    stopped: Option<Arc<LogError>>,
}

impl SegmentLog {
    /// Opens the log of a task, or begins it if the folder has none.
    pub fn open(folder: &Path, task: [u8; 32], options: SegmentOptions) -> Result<Self, LogError> {
        fs::create_dir_all(folder).map_err(LogError::io(folder))?;
        let lock = FolderLock::take(folder)?;
        let mut paths = segments_of(folder)?;
        if paths.is_empty() {
            SegmentWriter::create(folder, task, 0)?;
            paths.push(segment_path(folder, 0));
        }
        // Whoever made them may have gone down before their names were on the disk.
        sync_folder(folder)?;
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_folder(parent)?;
        }
        let seen_folder = folder.join("seen");
        let closed_with = Seen::closed_at(&seen_folder, options.sizes());
        let mut replay = Replay { folder, task, closed_with, recovered: None };
        let (mut seen, found) = if closed_with.is_some() {
            let found = replay.run(&paths, None)?;
            (
                Seen::reopen(&seen_folder, options.sizes())?.filter(|_| closed_with == Some(found.len)),
                Some(found),
            )
        } else {
            (None, None)
        };
        let found = match (found, &mut seen) {
            (Some(found), Some(seen)) => {
                seen.forget_before(found.horizon)?;
                found
            }
            _ => replay.run(&paths, Some(seen.insert(Seen::create(&seen_folder, options.sizes())?)))?,
        };
        let last = paths.last().map_or_else(PathBuf::new, Clone::clone);
        let writer = SegmentWriter::reopen(&last, found.header, found.last_frame, found.end)?;
        Ok(Self {
            folder: folder.to_owned(),
            options,
            _lock: lock,
            writer,
            seen,
            horizon: found.horizon,
            len: found.len,
            shared: Arc::new(Shared::new(found.segments, found.places, found.len)),
            builder: FrameBuilder::default(),
            recovered: replay.recovered,
            stopped: None,
        })
    }

    /// What had to be cut off when the log was opened. Nobody was ever told of it, unless the disk damaged it after a crash.
    pub fn recovered(&self) -> Option<&Torn> {
        self.recovered.as_ref()
    }

    /// Reports of earlier times are refused.
    pub fn horizon(&self) -> u64 {
        self.horizon
    }

    fn commit(&mut self, batch: &[Submission], horizon: u64) -> Result<Vec<Outcome>, LogError> {
        if self.writer.end >= self.options.segment_bytes {
            self.end_segment()?;
        }
        // There is nothing to do without, and no log without: it is taken only when the log is dropped.
        let Some(seen) = &mut self.seen else { return Ok(Vec::new()) };
        let advances = horizon > self.horizon;
        self.horizon = self.horizon.max(horizon);
        // Everything in the front is in the log: the last commit has succeeded, or else there would be none after it.
        seen.make_room()?;
        if advances {
            seen.forget_before(horizon)?;
        }
        self.builder.begin(self.writer.header.mark, self.len, self.horizon);
        let reports = batch.iter().map(|submission| seen.report(submission.time, &submission.id));
        let reports: Vec<Key> = reports.collect();
        seen.approach(&reports);
        let mut outcomes = Vec::with_capacity(batch.len());
        for (submission, report) in batch.iter().zip(reports) {
            let position = self.len + u64::from(self.builder.count());
            let outcome = judge(seen, submission, report, self.horizon, position)?;
            if let Outcome::Accepted(_) = outcome {
                self.builder.push(submission);
            }
            outcomes.push(outcome);
        }
        let new = u64::from(self.builder.count());
        // A horizon alone is worth a frame: it must not go back.
        if new > 0 || advances {
            self.shared.note_frame(self.len, self.writer.end);
            self.writer.append(self.builder.finish(), self.options.segment_bytes)?;
            self.len += new;
            self.shared.set_len(self.len);
        }
        Ok(outcomes)
    }

    /// Begins the next segment. One without reports goes on: the next would have its name.
    fn end_segment(&mut self) -> Result<(), LogError> {
        if self.len == self.writer.header.first {
            return Ok(());
        }
        self.writer.seal()?;
        self.writer = SegmentWriter::create(&self.folder, self.writer.header.task, self.len)?;
        self.shared.add_segment(self.len, segment_path(&self.folder, self.len));
        Ok(())
    }
}

/// Decides about a submission, and remembers it if it is new.
fn judge(
    seen: &mut Seen,
    submission: &Submission,
    report: Key,
    horizon: u64,
    position: u64,
) -> Result<Outcome, LogError> {
    if submission.time < horizon {
        return Ok(Outcome::TooOld);
    }
    let digest = seen.digest(&submission.body);
    if let Some(counted) = seen.counted(&report)? {
        return Ok(if counted == digest { Outcome::Duplicate } else { Outcome::Equivocation });
    }
    if submission.latest.is_some_and(|latest| position > latest) {
        return Ok(Outcome::TooLate);
    }
    if let Some(admission) = submission.admission {
        let token = seen.token(&admission.nonce);
        let uses = seen.uses(&token)?;
        if uses >= admission.cap {
            return Ok(Outcome::AdmissionSpent);
        }
        seen.set_uses(token, uses + 1);
    }
    seen.insert(report, digest);
    Ok(Outcome::Accepted(position))
}

impl Log for SegmentLog {
    fn append(&mut self, batch: &[Submission], horizon: u64) -> Result<Vec<Outcome>, LogError> {
        log::check(batch, horizon)?;
        if let Some(cause) = &self.stopped {
            return Err(LogError::Stopped { cause: Arc::clone(cause) });
        }
        let mut outcomes = Vec::with_capacity(batch.len());
        let mut rest = batch;
        loop {
            let mut bytes = 0;
            let fits = |submission: &&Submission| {
                bytes += submission.body.len() + OVERHEAD;
                bytes <= FRAME_BYTES
            };
            let (now, later) = rest.split_at(rest.iter().take_while(fits).count());
            match self.commit(now, horizon) {
                Ok(part) => outcomes.extend(part),
                Err(error) => {
                    self.stopped = Some(Arc::new(error.clone()));
                    return Err(error);
                }
            }
            if later.is_empty() {
                return Ok(outcomes);
            }
            rest = later;
        }
    }

    fn close_segment(&mut self) -> Result<u64, LogError> {
        if let Some(cause) = &self.stopped {
            return Err(LogError::Stopped { cause: Arc::clone(cause) });
        }
        self.end_segment().inspect_err(|error| self.stopped = Some(Arc::new(error.clone())))?;
        Ok(self.len)
    }

    fn reader(&self) -> Arc<dyn LogReader> {
        Arc::clone(&self.shared) as Arc<dyn LogReader>
    }
}

impl Drop for SegmentLog {
    /// Leaves word that the log was closed in good order, if it was.
    fn drop(&mut self) {
        if let (Some(seen), None) = (self.seen.take(), &self.stopped) {
            // Without it the next start takes longer, and that is all.
            let _ = seen.close(self.len);
        }
    }
}

/// Reads a whole log, to find out what is in it.
struct Replay<'a> {
    folder: &'a Path,
    task: [u8; 32],
    /// So many reports have been there for certain
    closed_with: Option<u64>,
    recovered: Option<Torn>,
}

/// What a log was found to be.
struct Found {
    segments: Vec<(u64, PathBuf)>,
    places: Places,
    len: u64,
    horizon: u64,
    /// The header of the last segment
    header: file::SegmentHeader,
    /// Where its last frame begins and ends
    last_frame: u64,
    end: u64,
}

impl Replay<'_> {
    fn run(&mut self, paths: &[PathBuf], mut seen: Option<&mut Seen>) -> Result<Found, LogError> {
        let header = file::SegmentHeader { task: self.task, mark: 0, first: 0 };
        let mut found = Found {
            segments: Vec::new(),
            places: Places::default(),
            len: 0,
            horizon: 0,
            header,
            last_frame: 0,
            end: file::SEGMENT_HEADER,
        };
        for (number, path) in paths.iter().enumerate() {
            let is_last = number + 1 == paths.len();
            self.segment(path, is_last, &mut found, seen.as_deref_mut())?;
        }
        match self.closed_with {
            Some(closed_with) if closed_with > found.len => {
                Err(LogError::Shorter { path: self.folder.to_owned(), closed_with, found: found.len })
            }
            _ => Ok(found),
        }
    }

    fn segment(
        &mut self,
        path: &Path,
        is_last: bool,
        found: &mut Found,
        mut seen: Option<&mut Seen>,
    ) -> Result<(), LogError> {
        let mut scanner = Scanner::open(path)?;
        found.header = scanner.header();
        let damaged = |offset, what| Err(LogError::Damaged { path: path.to_owned(), offset, what });
        if found.header.task != self.task {
            let (found, expected) = (found.header.task, self.task);
            return Err(LogError::OtherTask { path: path.to_owned(), found, expected });
        }
        if found.header.first != found.len {
            return damaged(
                0,
                "it does not begin where the segment before it ends; one is missing or cut short",
            );
        }
        found.segments.push((found.len, path.to_owned()));
        (found.last_frame, found.end) = (scanner.offset(), scanner.offset());
        loop {
            let offset = scanner.offset();
            match scanner.next()? {
                Next::Frame { prefix, mut records } => {
                    if prefix.first != found.len || prefix.horizon < found.horizon {
                        return damaged(offset, "a frame that belongs elsewhere");
                    }
                    for _ in 0..prefix.count {
                        let Some(record) = Record::take(&mut records) else {
                            return damaged(offset, "half a report");
                        };
                        if let Some(seen) = seen.as_deref_mut() {
                            remember(seen, &record)?;
                        }
                    }
                    if !records.is_empty() {
                        return damaged(offset, "more in a frame than its reports");
                    }
                    found.places.note(found.len, offset);
                    found.len += u64::from(prefix.count);
                    found.horizon = prefix.horizon;
                    if let Some(seen) = seen.as_deref_mut() {
                        seen.make_room()?;
                        seen.forget_before(prefix.horizon)?;
                    }
                    found.last_frame = offset;
                }
                Next::End { zeros } if is_last || !zeros => {
                    found.end = offset;
                    return Ok(());
                }
                Next::End { .. } => return damaged(offset, "zeros in the place of frames"),
                Next::Broken(what) => {
                    let acknowledged = self.closed_with.is_some_and(|closed_with| found.len < closed_with);
                    if !is_last || acknowledged || scanner.a_frame_follows()? {
                        return damaged(offset, what);
                    }
                    found.end = offset;
                    return self.keep_torn(path, offset);
                }
            }
        }
    }

    /// Copies what follows the last frame to a file of its own; it is cut off the segment later.
    fn keep_torn(&mut self, segment: &Path, offset: u64) -> Result<(), LogError> {
        if self.recovered.is_some() {
            // The log is being read for the second time, and ends where it did.
            return Ok(());
        }
        let mut bytes = Vec::new();
        let mut file = File::open(segment).map_err(LogError::io(segment))?;
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_to_end(&mut bytes))
            .map_err(LogError::io(segment))?;
        bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
        let kept = keep(&bytes, |suffix| segment.with_extension(format!("{offset}{suffix}.torn")))?;
        // The bytes have another place for good before they lose theirs.
        sync_folder(self.folder)?;
        self.recovered = Some(Torn { segment: segment.to_owned(), offset, kept });
        Ok(())
    }
}

/// Writes bytes to the first of some paths where there is nothing yet, and syncs the file.
fn keep(bytes: &[u8], path: impl Fn(&str) -> PathBuf) -> Result<PathBuf, LogError> {
    let mut kept = path("");
    let mut number = 1;
    loop {
        match File::create_new(&kept) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                number += 1;
                kept = path(&format!("-{number}"));
            }
            opened => {
                let written =
                    opened.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
                written.map_err(LogError::io(&kept))?;
                return Ok(kept);
            }
        }
    }
}

/// Counts a report of the log again.
fn remember(seen: &mut Seen, record: &Record<'_>) -> Result<(), LogError> {
    if let Some(nonce) = record.nonce {
        let token = seen.token(nonce);
        let uses = seen.uses(&token)?;
        seen.set_uses(token, uses.saturating_add(1));
    }
    let (report, digest) = (seen.report(record.time, record.id), seen.digest(record.body));
    seen.insert(report, digest);
    Ok(())
}

/// What can go wrong when a frame is written.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The disk is full at once.
    NoRoom,
    /// The disk is full after half a frame.
    HalfWritten,
    /// All is written, and the sync fails.
    Unsynced,
}

#[cfg(test)]
impl Fault {
    fn happen(self, file: &File, frame: &[u8], end: u64) -> std::io::Result<()> {
        use std::os::unix::fs::FileExt;
        match self {
            Self::NoRoom => {}
            Self::HalfWritten => file.write_all_at(&frame[..frame.len() / 2], end)?,
            Self::Unsynced => file.write_all_at(frame, end)?,
        }
        Err(std::io::Error::other("a fault of this test"))
    }
}
