//! The file of a segment: a header, frames, and in the last segment zeros that wait for frames.
//!
//! Zeros are written ahead, because a sync that need not record a longer file or new blocks is two or three times as fast.

use super::frame::HEADER as FRAME_HEADER;
use crate::LogError;
use crate::seen::sync_folder;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"undertone-log-1\n";
/// Magic, task, mark, first position, checksum
pub(super) const SEGMENT_HEADER: u64 = 16 + 32 + 8 + 8 + 4;
/// Zeros are written so far ahead of the frames.
const AHEAD: u64 = 1 << 20;

/// What a segment says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) task: [u8; 32],
    pub(super) mark: u64,
    pub(super) first: u64,
}

impl SegmentHeader {
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::from(*MAGIC);
        bytes.extend_from_slice(&self.task);
        bytes.extend_from_slice(&self.mark.to_le_bytes());
        bytes.extend_from_slice(&self.first.to_le_bytes());
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// The header of a file. A segment gets its name only after its header is durable, so a bad one is damage.
    pub(super) fn read(file: &File, path: &Path) -> Result<Self, LogError> {
        let damaged =
            || LogError::Damaged { path: path.to_owned(), offset: 0, what: "no header of a segment" };
        let mut bytes = [0; SEGMENT_HEADER as usize];
        match file.read_exact_at(&mut bytes, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(damaged()),
            read => read.map_err(LogError::io(path))?,
        }
        Self::parse(&bytes).ok_or_else(damaged)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (content, crc) = bytes.split_last_chunk()?;
        let rest = content.strip_prefix(MAGIC.as_slice())?;
        let (task, rest) = rest.split_first_chunk()?;
        let (mark, rest) = rest.split_first_chunk()?;
        let (first, _) = rest.split_first_chunk()?;
        (crc32c::crc32c(content) == u32::from_le_bytes(*crc)).then_some(Self {
            task: *task,
            mark: u64::from_le_bytes(*mark),
            first: u64::from_le_bytes(*first),
        })
    }
}

/// The name of the segment that begins at a position; names sort as positions do.
pub(super) fn segment_path(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:020}.log"))
}

/// The segments of a folder in order. What was being made when the process ended is taken away: it never had a frame.
pub(super) fn segments_of(folder: &Path) -> Result<Vec<PathBuf>, LogError> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(folder).map_err(LogError::io(folder))? {
        let path = entry.map_err(LogError::io(folder))?.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("log") => segments.push(path),
            Some("new") => fs::remove_file(&path).map_err(LogError::io(&path))?,
            _ => {}
        }
    }
    segments.sort_unstable();
    Ok(segments)
}

/// The last segment, open for more frames.
pub(super) struct SegmentWriter {
    file: File,
    path: PathBuf,
    pub(super) header: SegmentHeader,
    /// Where the next frame goes
    pub(super) end: u64,
    /// Up to here the file has been written to; from `end` on with zeros
    filled: u64,
    /// What goes wrong next
    #[cfg(test)]
    pub(super) fault: Option<super::Fault>,
}

impl SegmentWriter {
    /// A new segment, which has its name and its header for good when this returns.
    pub(super) fn create(folder: &Path, task: [u8; 32], first: u64) -> Result<Self, LogError> {
        let path = segment_path(folder, first);
        let new = path.with_extension("new");
        let mut mark = [0; 8];
        getrandom::fill(&mut mark).map_err(|error| LogError::io(&path)(error.into()))?;
        // Never 0, which is what the space for frames is filled with.
        let header = SegmentHeader { task, mark: u64::from_le_bytes(mark) | 1, first };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&new);
        let file = file.map_err(LogError::io(&new))?;
        file.write_all_at(&header.to_bytes(), 0)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&new, &path))
            .map_err(LogError::io(&path))?;
        sync_folder(folder)?;
        Ok(Self {
            file,
            path,
            header,
            end: SEGMENT_HEADER,
            filled: SEGMENT_HEADER,
            #[cfg(test)]
            fault: None,
        })
    }

    /// A segment that ends at `end`, and whose last frame begins at `last`. What follows is cut off.
    ///
    /// The last frame may never have been synced, and yet who sends its reports again will be told that they are counted.
    /// So it is made durable now. A sync alone would not do: where one has failed, the system may take the pages for
    /// clean. Written again, they are not.
    pub(super) fn reopen(path: &Path, header: SegmentHeader, last: u64, end: u64) -> Result<Self, LogError> {
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(LogError::io(path))?;
        let rewrite = || {
            let mut frame = vec![0; (end - last) as usize];
            file.read_exact_at(&mut frame, last)?;
            file.set_len(end)?;
            file.write_all_at(&frame, last)?;
            file.sync_all()
        };
        rewrite().map_err(LogError::io(path))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            header,
            end,
            filled: end,
            #[cfg(test)]
            fault: None,
        })
    }

    /// Appends a frame, for good. After an error nobody knows what is on the disk, and nothing more may be appended.
    pub(super) fn append(&mut self, frame: &[u8], segment_bytes: u64) -> Result<(), LogError> {
        debug_assert!(frame.len() > FRAME_HEADER);
        self.write(frame, segment_bytes).map_err(LogError::io(&self.path))?;
        self.end += frame.len() as u64;
        Ok(())
    }

    fn write(&mut self, frame: &[u8], segment_bytes: u64) -> io::Result<()> {
        let end = self.end + frame.len() as u64;
        #[cfg(test)]
        if let Some(fault) = self.fault.take() {
            return fault.happen(&self.file, frame, self.end);
        }
        self.file.write_all_at(frame, self.end)?;
        if end > self.filled {
            self.filled = self.fill((end + AHEAD).min(segment_bytes).max(end), end)?;
        }
        self.file.sync_data()
    }

    /// Writes zeros from `end` up to `until`, and says how far. Where there is no room for zeros there may be for a frame.
    fn fill(&self, until: u64, end: u64) -> io::Result<u64> {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match self.file.write_all_at(&vec![0; (until - end) as usize], end) {
            Ok(()) => Ok(until),
            Err(error) if matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull) => Ok(end),
            Err(error) => Err(error),
        }
    }

    /// Ends the segment: its file is exactly its frames from now on.
    pub(super) fn seal(&self) -> Result<(), LogError> {
        self.file.set_len(self.end).and_then(|()| self.file.sync_all()).map_err(LogError::io(&self.path))
    }
}
