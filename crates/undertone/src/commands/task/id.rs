//! `task id`: what every report is bound to.

use super::document;
use crate::output;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Print the id of a task: the SHA-256 of its canonical bytes, to which every report is bound
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone task id task.toml")]
pub(crate) struct Id {
    /// A task, as TOML or JSON
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Identity {
    id: String,
}

impl Id {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let id = document::read(&self.file)?.id().to_string();
        if self.json {
            return output::json(&Identity { id }, out);
        }
        writeln!(out, "{id}")?;
        Ok(())
    }
}
