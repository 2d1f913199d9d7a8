//! What people of one ε have said, as a task of its own.
//!
//! Who learns from reports has to know by which mechanism they were made, and a file has one task. Where people may choose
//! their ε, the reports of each choice are in a folder of their own, with the task as it would be if that were the only one.

use super::sealed_file::SealedFile;
use crate::new_file::sync_folder;
use crate::reports::marks_of;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use undertone_report::{Collection, MechanismWords, Task};

/// One ε of a task, and the folder of its reports.
pub(super) struct Tier {
    pub(super) folder: PathBuf,
    task: Task,
}

impl Tier {
    /// All of a task's, in its order.
    pub(super) fn all(task: &Task, collection: &Collection, folder: &Path) -> Vec<Self> {
        match collection.tiers[..] {
            [_] => vec![Self { folder: folder.to_owned(), task: task.clone() }],
            ref tiers => tiers.iter().map(|&epsilon| Self::of(task, collection, epsilon, folder)).collect(),
        }
    }

    fn of(task: &Task, collection: &Collection, epsilon: f64, folder: &Path) -> Self {
        let task = Task {
            mechanism: MechanismWords { epsilon: Some(epsilon), ..task.mechanism.clone() },
            collection: Some(Collection { tiers: vec![epsilon], ..collection.clone() }),
            ..task.clone()
        };
        Self { folder: folder.join(format!("epsilon-{epsilon}")), task }
    }

    /// Begins the file of the segment that begins at this position.
    pub(super) fn create(&self, first: u64, mark: &str) -> anyhow::Result<SealedFile> {
        SealedFile::create(&self.path(first), &self.task, mark)
    }

    /// Whether the file of the segment that begins at this position has this mark. One that cannot be read has none.
    pub(super) fn is_of(&self, first: u64, mark: &str) -> bool {
        marks_of(&self.path(first)).is_ok_and(|marks| marks.segment.as_deref() == Some(mark))
    }

    /// The first positions of the segments that have a file.
    pub(super) fn made(&self) -> anyhow::Result<Vec<u64>> {
        let entries = fs::read_dir(&self.folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.with_context(|| format!("{} cannot be read", self.folder.display()))?;
        let position = |entry: &fs::DirEntry| {
            let first = entry.file_name().to_str()?.strip_suffix(".parquet")?.parse().ok()?;
            // What somebody else put there under a name of their own is none of ours.
            (self.path(first) == entry.path()).then_some(first)
        };
        Ok(entries.iter().filter_map(position).collect())
    }

    /// Makes sure that finished files have their names after a crash of the system, too.
    pub(super) fn sync(&self) -> anyhow::Result<()> {
        sync_folder(&self.folder)
    }

    /// Keeps a file out of the way of whoever reads the folder: it is of a segment that the log does not have. Nobody else
    /// may have its reports, so it takes the place of no other.
    pub(super) fn set_aside(&self, first: u64) -> anyhow::Result<()> {
        let path = self.path(first);
        let mut aside = path.with_extension("parquet.stale");
        for number in 2.. {
            if !aside.exists() {
                break;
            }
            aside = path.with_extension(format!("parquet.stale-{number}"));
        }
        tracing::warn!(
            file = %path.display(), kept = %aside.display(),
            "this file is of a segment that the log does not have: it was longer once, or is another"
        );
        fs::rename(&path, &aside).with_context(|| format!("{} cannot be renamed", path.display()))
    }

    /// Names sort as positions do.
    fn path(&self, first: u64) -> PathBuf {
        self.folder.join(format!("{first:020}.parquet"))
    }
}
