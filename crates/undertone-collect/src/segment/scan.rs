//! Reads the frames of a segment one after the other.

use super::file::{SEGMENT_HEADER, SegmentHeader};
use super::frame::{FrameHeader, HEADER, PREFIX, Prefix};
use crate::LogError;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

pub(super) struct Scanner {
    reader: BufReader<File>,
    path: PathBuf,
    header: SegmentHeader,
    /// Where the next frame begins
    offset: u64,
    length: u64,
    content: Vec<u8>,
}

/// What there is where a frame may begin.
pub(super) enum Next<'a> {
    Frame {
        prefix: Prefix,
        /// The reports of the frame
        records: &'a [u8],
    },
    /// Nothing but zeros, if anything
    End { zeros: bool },
    /// Something that is no frame
    Broken(&'static str),
}

impl Scanner {
    pub(super) fn open(path: &Path) -> Result<Self, LogError> {
        let file = File::open(path).map_err(LogError::io(path))?;
        let header = SegmentHeader::read(&file, path)?;
        let length = file.metadata().map_err(LogError::io(path))?.len();
        let mut reader = BufReader::with_capacity(1 << 18, file);
        reader.seek(SeekFrom::Start(SEGMENT_HEADER)).map_err(LogError::io(path))?;
        Ok(Self {
            reader,
            path: path.to_owned(),
            header,
            offset: SEGMENT_HEADER,
            length,
            content: Vec::new(),
        })
    }

    pub(super) fn header(&self) -> SegmentHeader {
        self.header
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn next(&mut self) -> Result<Next<'_>, LogError> {
        let rest = self.length.saturating_sub(self.offset);
        let mut bytes = [0; HEADER];
        if rest < HEADER as u64 {
            self.read(rest as usize)?;
            let zeros = self.content.iter().all(|&byte| byte == 0);
            return Ok(if zeros { Next::End { zeros: rest > 0 } } else { Next::Broken("half a frame") });
        }
        self.reader.read_exact(&mut bytes).map_err(LogError::io(&self.path))?;
        let Some(header) = FrameHeader::parse(&bytes, self.header.mark) else {
            let zeros = bytes == [0; HEADER] && self.only_zeros_follow()?;
            return Ok(if zeros { Next::End { zeros } } else { Next::Broken("no frame begins here") });
        };
        if u64::from(header.length) > rest - HEADER as u64 {
            return Ok(Next::Broken("half a frame"));
        }
        self.read(header.length as usize)?;
        match Prefix::parse(&self.content) {
            Some(prefix) if header.fits(&self.content) => {
                self.offset += HEADER as u64 + u64::from(header.length);
                Ok(Next::Frame { prefix, records: &self.content[PREFIX..] })
            }
            _ => Ok(Next::Broken("a frame whose checksum is wrong")),
        }
    }

    /// Goes to where a frame begins.
    pub(super) fn begin_at(&mut self, offset: u64) -> Result<(), LogError> {
        self.offset = offset;
        self.reader.seek(SeekFrom::Start(offset)).map(drop).map_err(LogError::io(&self.path))
    }

    /// Passes over frames that end before a position, without a look at what is in them.
    pub(super) fn skip_to(&mut self, position: u64) -> Result<(), LogError> {
        let mut bytes = [0; HEADER + PREFIX];
        while self.length.saturating_sub(self.offset) >= bytes.len() as u64 {
            self.reader.read_exact(&mut bytes).map_err(LogError::io(&self.path))?;
            let (header, prefix) = bytes.split_at(HEADER);
            let header =
                header.try_into().ok().and_then(|header| FrameHeader::parse(header, self.header.mark));
            let before = |prefix: Prefix| prefix.first.saturating_add(u64::from(prefix.count)) <= position;
            let Some(header) = header.filter(|_| Prefix::parse(prefix).is_some_and(before)) else {
                let back = -(bytes.len() as i64);
                return self.reader.seek_relative(back).map_err(LogError::io(&self.path));
            };
            self.offset += HEADER as u64 + u64::from(header.length);
            let rest = i64::from(header.length) - PREFIX as i64;
            self.reader.seek_relative(rest).map_err(LogError::io(&self.path))?;
        }
        Ok(())
    }

    /// Whether a whole frame begins somewhere after the place that is broken: then that place was acknowledged.
    pub(super) fn a_frame_follows(mut self) -> Result<bool, LogError> {
        let rest = self.length.saturating_sub(self.offset);
        self.reader.seek(SeekFrom::Start(self.offset)).map_err(LogError::io(&self.path))?;
        self.read(rest as usize)?;
        let mark = self.header.mark.to_le_bytes();
        let begins = |bytes: &[u8]| {
            let (header, rest) = bytes.split_first_chunk()?;
            let header = FrameHeader::parse(header, self.header.mark)?;
            header.fits(rest.get(..header.length as usize)?).then_some(())
        };
        let mut places = self.content.windows(mark.len()).enumerate().skip(1);
        Ok(places.any(|(place, window)| window == mark && begins(&self.content[place..]).is_some()))
    }

    fn read(&mut self, length: usize) -> Result<(), LogError> {
        self.content.resize(length, 0);
        self.reader.read_exact(&mut self.content).map_err(LogError::io(&self.path))
    }

    fn only_zeros_follow(&mut self) -> Result<bool, LogError> {
        let mut bytes = vec![0; 1 << 16];
        loop {
            match self.reader.read(&mut bytes).map_err(LogError::io(&self.path))? {
                0 => return Ok(true),
                length if bytes[..length].iter().any(|&byte| byte != 0) => return Ok(false),
                _ => {}
            }
        }
    }
}
