//! A person's ledger on the disk: what was promised away, and the answers that were given for it.
//!
//! The file is written whole, beside its place, synced, and moved there; then its folder is synced. So it is always one
//! that was written, and a charge and its answer are there together or not at all. Its last line is the SHA-256 of what
//! stands before: anything else than what was written is refused, and so is the whole ledger, since nobody knows what was
//! spent. There is no torn tail to forgive, which could not be told from a charge that somebody has damaged.
//!
//! A second file, `.lock`, keeps other programs out for as long as this one lives. It also remembers that there was a
//! ledger: one that was removed does not start again with a full budget.

use crate::DeviceError;
use crate::promise_words::PromiseWords;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use undertone_privacy::Guarantee;
use undertone_report::sha256_of;

const VERSION: u32 = 1;
/// How often a lock is tried, and how long it is waited in between.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(5);
const MARK: &[u8] = b"There is a ledger beside this file.\n";

/// A ledger that nobody else has open.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    path: PathBuf,
    /// Held as long as this lives
    _lock: File,
}

/// What is in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entries {
    version: u32,
    pub(crate) cap: PromiseWords,
    pub(crate) answers: Vec<Entry>,
}

/// An answer and its price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The id of the task
    pub(crate) task: String,
    pub(crate) promise: PromiseWords,
    /// What was said, in hexadecimal
    pub(crate) report: String,
}

impl LedgerFile {
    /// Opens the ledger at `path`, or makes an empty one under `cap` if there never was one.
    pub(crate) fn open(path: &Path, cap: Guarantee) -> Result<(Self, Entries), DeviceError> {
        let path = &real_path(path)?;
        let (lock, marked) = lock(path)?;
        let file = Self { path: path.clone(), _lock: lock };
        let entries = match read_durable(path) {
            Ok(bytes) => file.parse(&bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && marked => {
                return Err(DeviceError::Gone { path: path.clone() });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let empty = Entries { version: VERSION, cap: cap.into(), answers: Vec::new() };
                file.write(&empty)?;
                empty
            }
            Err(error) => return Err(failed(path, "read")(error)),
        };
        if !marked {
            mark(path)?;
        }
        Ok((file, entries))
    }

    /// Makes `entries` what is on the disk. Once this returns, no crash takes them away.
    pub(crate) fn write(&self, entries: &Entries) -> Result<(), DeviceError> {
        self.replace(entries).map_err(failed(&self.path, "written"))
    }

    fn replace(&self, entries: &Entries) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(entries)?;
        text.push('\n');
        let checksum = sha256_of(text.as_bytes());
        text.push_str(&checksum);
        text.push('\n');
        let beside = beside(&self.path, ".new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)?;
        sync_folder(&self.path)
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

/// A rename is durable once the folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn failed(path: &Path, action: &'static str) -> impl Fn(io::Error) -> DeviceError {
    move |source| DeviceError::Ledger { path: path.to_owned(), action, source }
}
