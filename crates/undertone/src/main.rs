//! Learning from data that people keep to themselves: the one program.
//!
//! Each command is one file below [`commands`] and one line in its list. Bad usage ends with exit code 2, a failed
//! run with 1.

mod arguments;
mod band_plot;
mod bar_chart;
mod box_plot;
mod category_plot;
mod collector;
mod commands;
mod dashboard;
mod digits;
mod epsilon_axis;
mod evaluation_report;
mod exit;
mod finding;
mod heat_map;
mod label_chart;
mod model_file;
mod new_file;
mod number_chart;
mod nursery;
mod output;
mod people;
mod plot;
mod progress;
mod promise;
mod randomness;
mod reports;
mod seed_purpose;
mod stages;
mod surface;
mod survey_reports;
mod table_writer;
mod tables;
mod vector_chart;
mod words;

use clap::Parser;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Learn from data that people keep to themselves
#[derive(Parser, Debug)]
#[command(
    version,
    arg_required_else_help = true,
    after_help = "Example:\n  undertone demo\n\nEvery command explains itself, with an example: undertone COMMAND --help"
)]
struct Program {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let program = Program::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let result = program.command.run(&mut out).and_then(|()| Ok(out.flush()?));
    exit::code(result)
}
