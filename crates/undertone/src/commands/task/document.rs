//! A task in a file: TOML as people write it, or JSON as machines do.

use anyhow::{Context, ensure};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use undertone_report::Task;

/// No task is longer; whatever is, was named by mistake.
const MOST_BYTES: u64 = 64 << 20;

/// The task in a file, checked.
pub(crate) fn read(path: &Path) -> anyhow::Result<Task> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let mut text = String::new();
    file.take(MOST_BYTES + 1)
        .read_to_string(&mut text)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    ensure!(text.len() as u64 <= MOST_BYTES, "{} is too long for a task", path.display());
    // No document in TOML begins with a brace.
    let json = text.trim_start().starts_with('{');
    let task = if json { Task::from_json(&text) } else { Task::from_toml(&text) };
    task.with_context(name)
}
