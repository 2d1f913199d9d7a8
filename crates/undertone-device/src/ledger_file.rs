//! A person's ledger on the disk: what was promised away, and the answers that were given for it.
//!
//! The file is written whole, beside its place, synced, and moved there; then its folder is synced. So it is always one
//! that was written, and a charge and its answer are there together or not at all. Its last line is the SHA-256 of what
//! stands before: anything else than what was written is refused, and so is the whole ledger, since nobody knows what was
//! spent. There is no torn tail to forgive, which could not be told from a charge that somebody has damaged.
//!
//! A second file, `.lock`, keeps other programs out for as long as this one lives. It also remembers that there was a
//! ledger: one that was removed does not start again with a full budget. Neither does one that was restored from a backup, as
//! a [`Counter`] has counted further than it.
//!
//! A charge is never there without its answer, nor the other way round, so that there is no state before an answer is
//! stored: a crash before that has said nothing.

use crate::counter::FileCounter;
use crate::promise_words::PromiseWords;
use crate::whole_file::{self, beside, sync_folder};
use crate::{Counter, DeviceError};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use undertone_privacy::Guarantee;
use undertone_report::sha256_of;

const VERSION: u32 = 2;
/// How often a lock is tried, and how long it is waited in between.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(5);
const MARK: &[u8] = b"There is a ledger beside this file.\n";

/// A ledger that nobody else has open.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    path: PathBuf,
    counter: Box<dyn Counter>,
    /// Held as long as this lives
    _lock: File,
}

/// What is in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entries {
    version: u32,
    /// How often it was written, this time included
    written: u64,
    pub(crate) cap: PromiseWords,
    pub(crate) answers: Vec<Entry>,
}

/// An answer and its price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The id of the task
    pub(crate) task: String,
    /// The kind of its mechanism
    pub(crate) mechanism: String,
    pub(crate) promise: PromiseWords,
    pub(crate) state: State,
    /// What was said, in hexadecimal
    pub(crate) report: String,
}

/// What has become of an answer, which may be sent again whatever that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// On the disk; perhaps on its way
    Stored,
    /// The collector has it
    Acknowledged,
    /// The collector will not have it. It is paid for all the same
    Refused,
}

impl LedgerFile {
    /// Opens the ledger at `path`, or makes an empty one under `cap` if there never was one. Without a counter, a file beside
    /// it is one.
    pub(crate) fn open(
        path: &Path,
        cap: Guarantee,
        counter: Option<Box<dyn Counter>>,
    ) -> Result<(Self, Entries), DeviceError> {
        let path = &real_path(path)?;
        let (lock, marked) = lock(path)?;
        let mut counter = counter.unwrap_or_else(|| Box::new(FileCounter(beside(path, ".count"))));
        let counted = counter.value().map_err(failed(path, "counted"))?;
        let mut file = Self { path: path.clone(), counter, _lock: lock };
        let entries = match read_durable(path) {
            Ok(bytes) => file.parse(&bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && (marked || counted > 0) => {
                return Err(DeviceError::Gone { path: path.clone() });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                file.write(Entries { version: VERSION, written: 0, cap: cap.into(), answers: Vec::new() })?
            }
            Err(error) => return Err(failed(path, "read")(error)),
        };
        let written = entries.written;
        if written < counted || (marked && counted == 0) {
            return Err(DeviceError::Restored { path: path.clone(), written, counted });
        }
        // A program that ended between writing and counting has said nothing of what it wrote.
        if written > counted {
            file.count(written)?;
        }
        if !marked {
            mark(path)?;
        }
        Ok((file, entries))
    }

    /// Makes `entries` what is on the disk, and counts that. Once this returns, no crash takes them away.
    pub(crate) fn write(&mut self, mut entries: Entries) -> Result<Entries, DeviceError> {
        entries.written += 1;
        self.replace(&entries).map_err(failed(&self.path, "written"))?;
        self.count(entries.written)?;
        Ok(entries)
    }

    fn count(&mut self, written: u64) -> Result<(), DeviceError> {
        self.counter.raise(written).map_err(failed(&self.path, "counted"))
    }

    fn replace(&self, entries: &Entries) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(entries)?;
        text.push('\n');
        let checksum = sha256_of(text.as_bytes());
        text.push_str(&checksum);
        text.push('\n');
        whole_file::replace(&self.path, text.as_bytes())
    }

    pub(crate) fn damaged(&self, problem: impl Into<String>) -> DeviceError {
        DeviceError::Damaged { path: self.path.clone(), problem: problem.into() }
    }

    fn parse(&self, bytes: &[u8]) -> Result<Entries, DeviceError> {
        let text = std::str::from_utf8(bytes).map_err(|error| self.damaged(error.to_string()))?;
        let end = text.strip_suffix('\n').and_then(|text| text.rfind('\n'));
        let (document, checksum) = text.split_at(end.map_or(0, |end| end + 1));
        if checksum.trim_end_matches('\n') != sha256_of(document.as_bytes()) {
            return Err(self.damaged("its checksum is not that of its contents"));
        }
        let entries: Entries =
            serde_json::from_str(document).map_err(|error| self.damaged(error.to_string()))?;
        if entries.version != VERSION {
            return Err(self.damaged(format!("its version is {}, not {VERSION}", entries.version)));
        }
        Ok(entries)
    }
}

/// Where the ledger itself is, if `path` leads there by links: beside a link there would be another lock, and the first
/// charge would put another ledger in the place of the link.
fn real_path(path: &Path) -> Result<PathBuf, DeviceError> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            Err(DeviceError::Gone { path: path.to_owned() })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(failed(path, "read")(error)),
    }
}

/// What is in the file, once no crash takes it away: a program that ended between moving the file to its place and
/// syncing the folder has left something that can be read and is not on the disk yet.
fn read_durable(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    file.sync_all()?;
    sync_folder(path)?;
    Ok(bytes)
}

/// The lock of the ledger at `path`, and whether there ever was one.
fn lock(path: &Path) -> Result<(File, bool), DeviceError> {
    let place = beside(path, ".lock");
    let failed = failed(path, "locked");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&place)
        .map_err(&failed)?;
    let mut tries = 0;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            // A program that is just being started from this one, or has just ended, holds what it inherited for an
            // instant.
            Err(TryLockError::WouldBlock) if tries < TRIES => {
                tries += 1;
                thread::sleep(PAUSE);
            }
            Err(TryLockError::WouldBlock) => return Err(DeviceError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    let mut contents = Vec::new();
    file.read_to_end(&mut contents).map_err(&failed)?;
    Ok((file, !contents.is_empty()))
}

/// Remembers that there is a ledger, after it has been written.
fn mark(path: &Path) -> Result<(), DeviceError> {
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(beside(path, ".lock"))?;
        file.write_all(MARK)?;
        file.sync_all()?;
        sync_folder(path)
    };
    write().map_err(failed(path, "written"))
}

fn failed(path: &Path, action: &'static str) -> impl Fn(io::Error) -> DeviceError {
    move |source| DeviceError::Ledger { path: path.to_owned(), action, source }
}
