//! What was learnt, on the disk: a shortcut past the beginning of the log, and never more than that.
//!
//! Magic, task id, SHA-256 of what follows, the id of the last report that was learnt from, then the state. A file that is
//! damaged, of another task or version, or whose last report is not where the log should have it, is removed: the log has
//! everything. So a log that was replaced by another, or cut and grown again, is learnt from anew.

use super::learner::Learner;
use crate::new_file::NewFile;
use anyhow::Context;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use undertone_collect::{LogError, LogReader};
use undertone_report::{ReportId, Task};

/// Changes with every change of what is learnt or how it is laid out: a snapshot of another version is another state.
const MAGIC: &[u8; 8] = b"UTSNAP02";

pub(super) struct SnapshotFile {
    path: PathBuf,
}

impl SnapshotFile {
    pub(super) fn new(directory: &Path) -> Self {
        Self { path: directory.join("learner.snapshot") }
    }

    /// The state that is there and the last report that it has learnt from, if it is sound and of this log.
    pub(super) fn read(
        &self,
        task: &Task,
        log: &dyn LogReader,
    ) -> Result<Option<(Learner, ReportId)>, LogError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    tracing::warn!(path = %self.path.display(), "a snapshot that cannot be read: {error}");
                }
                return Ok(None);
            }
        };
        if let Some((live, last)) = parse(task, &bytes)
            && is_at(log, live.reports(), last)?
        {
            return Ok(Some((live, last)));
        }
        tracing::warn!(path = %self.path.display(), "a snapshot that does not fit is removed; learning starts anew");
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), "it cannot be removed: {error}");
        }
        Ok(None)
    }

    pub(super) fn write(&self, task: &Task, live: &Learner, last: ReportId) -> anyhow::Result<()> {
        let state = live.snapshot()?;
        let mut file = NewFile::create(&self.path, true)?;
        let (id, hash) = (task.id(), hash(last, &state));
        let parts: [&[u8]; 5] = [MAGIC, id.as_bytes(), &hash, &last.0, &state];
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        written.with_context(|| format!("{} cannot be written", self.path.display()))?;
        file.keep()?;
        Ok(())
    }
}

fn hash(last: ReportId, state: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(last.0).chain_update(state).finalize().into()
}

fn parse(task: &Task, bytes: &[u8]) -> Option<(Learner, ReportId)> {
    let (magic, rest) = bytes.split_first_chunk::<8>()?;
    let (id, rest) = rest.split_first_chunk::<32>()?;
    let (stated, rest) = rest.split_first_chunk::<32>()?;
    let (last, state) = rest.split_first_chunk::<16>()?;
    let last = ReportId(*last);
    let sound = magic == MAGIC && id == task.id().as_bytes() && *stated == hash(last, state);
    if sound { Some((Learner::restore(task, state).ok()?, last)) } else { None }
}

/// Whether the first `reports` of a log end with this one.
fn is_at(log: &dyn LogReader, reports: u64, last: ReportId) -> Result<bool, LogError> {
    let Some(position) = reports.checked_sub(1) else { return Ok(true) };
    let stored = log.read(position)?.next().transpose()?;
    Ok(stored.is_some_and(|stored| stored.id == last.0))
}
