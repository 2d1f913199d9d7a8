//! A folder that one process has for itself.

use crate::LogError;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

/// How often the lock is tried, and how long it is waited in between.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(5);

/// Held until it is dropped or the process ends, even if it is killed.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Locks a folder by a file `lock` in it.
    pub fn take(folder: &Path) -> Result<Self, LogError> {
        let path = folder.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(LogError::io(&path))?;
        let mut tries = 0;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                // A process that has just been killed, or a program that is just being started, holds it for an instant.
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(LogError::Locked { path: folder.to_owned() }),
                Err(TryLockError::Error(error)) => return Err(LogError::io(&path)(error)),
            }
        }
    }
}
