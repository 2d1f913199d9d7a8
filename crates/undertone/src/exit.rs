//! How the program ends.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// A value that whoever typed it has to change. Everything else that goes wrong is a failed run.
#[derive(Debug)]
pub(crate) struct Usage(String);

impl Usage {
    /// Names the value and what it has to be.
    pub(crate) fn new(problem: impl fmt::Display) -> Self {
        Self(problem.to_string())
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Usage {}

/// 0 for success, 2 for bad usage, 1 for a failed run, with the reason on the standard error.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if reader_left(&error) {
        return ExitCode::SUCCESS;
    }
    // Should the standard error be closed too, the exit code still tells.
    let _ = writeln!(io::stderr(), "error: {error:#}");
    if error.is::<Usage>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Whether whoever read our output, such as `head`, has seen enough of it.
fn reader_left(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
