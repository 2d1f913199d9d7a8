//! What was learnt, on the disk: a shortcut past the beginning of the log, and never more than that.
//!
//! Magic, task id, SHA-256 of what follows, then the state. A file that is damaged, or of another task or version, is
//! ignored: the log has everything.

use crate::new_file::NewFile;
use anyhow::Context;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use undertone_learn::live::Live;
use undertone_report::Task;

/// Changes with every change of what is learnt or how it is laid out: a snapshot of another version is another state.
const MAGIC: &[u8; 8] = b"UTSNAP01";

pub(super) struct SnapshotFile {
    path: PathBuf,
}

impl SnapshotFile {
    pub(super) fn new(directory: &Path) -> Self {
        Self { path: directory.join("learner.snapshot") }
    }

    /// The state that is there, if it is sound and no further than the log.
    pub(super) fn read(&self, task: &Task, reports: u64) -> Option<Live> {
        let bytes = fs::read(&self.path).ok()?;
        let live = parse(task, &bytes).filter(|live| live.reports() <= reports);
        if live.is_none() {
            tracing::warn!(path = %self.path.display(), "a snapshot that does not fit is ignored; learning starts anew");
        }
        live
    }

    pub(super) fn write(&self, task: &Task, live: &Live) -> anyhow::Result<()> {
        let state = live.snapshot()?;
        let mut file = NewFile::create(&self.path, true)?;
        let (id, hash) = (task.id(), Sha256::digest(&state));
        let parts: [&[u8]; 4] = [MAGIC, id.as_bytes(), &hash, &state];
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        written.with_context(|| format!("{} cannot be written", self.path.display()))?;
        file.keep()?;
        Ok(())
    }
}

fn parse(task: &Task, bytes: &[u8]) -> Option<Live> {
    let (magic, rest) = bytes.split_first_chunk::<8>()?;
    let (id, rest) = rest.split_first_chunk::<32>()?;
    let (hash, state) = rest.split_first_chunk::<32>()?;
    let sound = magic == MAGIC && id == task.id().as_bytes() && hash[..] == Sha256::digest(state)[..];
    if sound { Live::restore(task, state).ok() } else { None }
}
