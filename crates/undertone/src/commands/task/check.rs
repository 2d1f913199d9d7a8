//! `task check`: is it a task that a device may answer, and a collector may run?

use super::{document, doubts};
use crate::output;
use anyhow::Context;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use undertone_device::{NumberQuestion, Question, RecordQuestion, SurveyQuestion};
use undertone_learn::live::{Live, LiveNumbers, LiveRecords};
use undertone_report::Task;

/// Check a task document: exit code 0 if devices may answer it and a collector may run it, 1 if not
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone task check task.toml")]
pub(crate) struct Check {
    /// A task, as TOML or JSON
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Checked {
    id: String,
    /// Whether reports can be collected for it
    collection: bool,
    /// What speaks against it all the same
    warnings: Vec<String>,
}

impl Check {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let task = document::read(&self.file)?;
        let warnings = doubts::about(&task);
        let checked = Checked { id: task.id().to_string(), collection: task.collection.is_some(), warnings };
        if checked.collection {
            check_collection(&task).with_context(|| self.file.display().to_string())?;
        }
        doubts::warn(&checked.warnings);
        if self.json {
            return output::json(&checked, out);
        }
        let what = if checked.collection {
            "a task that devices may answer and a collector may run"
        } else {
            "a task without a collection: tables can be privatized for it, but nothing is collected"
        };
        writeln!(out, "{} is {what}\nid {}", self.file.display(), checked.id)?;
        Ok(())
    }
}

/// Does what each side does with a task before the first report.
fn check_collection(task: &Task) -> anyhow::Result<()> {
    if task.asks_once() {
        SurveyQuestion::new(task).context("no device can answer it")?;
        return Ok(());
    }
    if task.asks_for_records() {
        RecordQuestion::new(task).context("no device can answer it")?;
        LiveRecords::new(task).context("no collector can run it")?;
        return Ok(());
    }
    if task.asks_for_numbers() {
        NumberQuestion::new(task).context("no device can answer it")?;
        LiveNumbers::new(task).context("no collector can run it")?;
        return Ok(());
    }
    Question::new(task).context("no device can answer it")?;
    Live::new(task).context("no collector can run it")?;
    Ok(())
}
