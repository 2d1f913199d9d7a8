//! What a command leaves behind: JSON on its output, files that were not there before.

use crate::new_file::NewFile;
use anyhow::Context;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Prints `value` for machines.
pub(crate) fn json(value: &impl Serialize, out: &mut impl Write) -> anyhow::Result<()> {
    // Through a string, so that an error of the output stays an `io::Error`
    writeln!(out, "{}", serde_json::to_string_pretty(value)?)?;
    Ok(())
}

/// Where to draw, if asked to.
#[derive(clap::Args, Debug)]
pub(crate) struct Drawing {
    /// Also draw what each mechanism costs against ε, as an SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "svg")]
    force: bool,
}

impl Drawing {
    /// Writes what `draw` gives, if a file was asked for, and returns its path.
    pub(crate) fn write(
        &self,
        draw: impl FnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<Option<&Path>> {
        let Some(path) = &self.svg else { return Ok(None) };
        write_file(path, &draw()?, self.force)?;
        Ok(Some(path))
    }
}

/// Writes `contents` to `path`, which must not exist unless `force` is set.
pub(crate) fn write_file(path: &Path, contents: &str, force: bool) -> anyhow::Result<()> {
    let mut file = NewFile::create(path, force)?;
    file.write_all(contents.as_bytes()).with_context(|| format!("{} cannot be written", path.display()))?;
    file.keep()?;
    Ok(())
}
