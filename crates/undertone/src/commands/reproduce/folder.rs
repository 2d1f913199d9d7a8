//! Where the files of a reproduction go.

use crate::output::write_file;
use anyhow::{Context, bail};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder for files that all begin alike.
pub(super) struct Folder {
    path: PathBuf,
    ours: &'static str,
    force: bool,
}

impl Folder {
    /// Makes the folder, and refuses one with files that begin with `ours` unless `force` is set.
    pub(super) fn open(path: &Path, ours: &'static str, force: bool) -> anyhow::Result<Self> {
        let unreadable = || format!("{} cannot be made", path.display());
        fs::create_dir_all(path).with_context(unreadable)?;
        for entry in fs::read_dir(path).with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            if !force && entry.file_name().to_string_lossy().starts_with(ours) {
                bail!("{} exists; --force replaces it", entry.path().display());
            }
        }
        Ok(Self { path: path.to_owned(), ours, force })
    }

    /// Writes files by their names and what is in them, and the page; returns what was written.
    pub(super) fn write(&self, files: Vec<(String, String)>, page: &str) -> anyhow::Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        for (name, contents) in files {
            let path = self.path.join(format!("{}-{name}", self.ours));
            write_file(&path, &contents, self.force)?;
            written.push(path);
        }
        let path = self.path.join(format!("{}.html", self.ours));
        write_file(&path, page, self.force)?;
        written.push(path);
        Ok(written)
    }
}

/// Rows with a header.
pub(super) fn csv(rows: &[impl Serialize]) -> anyhow::Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for row in rows {
        csv.serialize(row)?;
    }
    Ok(String::from_utf8(csv.into_inner()?)?)
}
