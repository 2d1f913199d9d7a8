//! What is kept of work that has not ended: checkpoints of networks, and what was seen of people's features.
//!
//! What has been recorded needs none of it; should something stay that cannot be removed, it only takes room.

use super::OURS;
use super::setting::Setting;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of unfinished work.
pub(super) struct Unfinished {
    checkpoints: PathBuf,
    features: PathBuf,
}

impl Unfinished {
    /// Beside the record.
    pub(super) fn new(output: &Path) -> Self {
        let folder = |what: &str| output.join(format!("{OURS}-{what}"));
        Self { checkpoints: folder("checkpoints"), features: folder("features") }
    }

    /// Of a run alone.
    pub(super) fn checkpoints(&self, setting: &Setting) -> PathBuf {
        self.checkpoints.join(setting.slug())
    }

    /// Of the people of a setting, who are those of other settings, too.
    pub(super) fn features(&self, setting: &Setting) -> PathBuf {
        self.features.join(format!("{}-{}", setting.set.name(), setting.people))
    }

    /// A run is recorded.
    pub(super) fn end_run(&self, setting: &Setting) {
        let _ = fs::remove_dir_all(self.checkpoints(setting));
    }

    /// All runs of the people of this setting are recorded.
    pub(super) fn end_people(&self, setting: &Setting) {
        let _ = fs::remove_dir_all(self.features(setting));
    }

    /// Everything that was to be run is recorded: folders are gone if nothing else is in them.
    pub(super) fn end(&self) {
        for folder in [&self.checkpoints, &self.features] {
            let _ = fs::remove_dir(folder);
        }
    }

    /// Begins anew, whatever is there.
    pub(super) fn forget(&self) -> anyhow::Result<()> {
        for folder in [&self.checkpoints, &self.features].into_iter().filter(|folder| folder.exists()) {
            fs::remove_dir_all(folder).with_context(|| format!("{} cannot be removed", folder.display()))?;
        }
        Ok(())
    }
}
