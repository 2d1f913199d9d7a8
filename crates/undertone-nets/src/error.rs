//! What can go wrong with a network.

use crate::Architecture;
use std::path::PathBuf;

/// Why there is no network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// Nothing to learn from
    #[error("there are no reports to learn from")]
    Nobody,
    /// Nobody is left to judge by
    #[error("there are too few reports to keep one in eight aside, by whom training would know when to end")]
    NobodyAside,
    /// A row that no network can take
    #[error("row {row} has a feature that is no finite number")]
    NotFinite {
        /// Counted from one
        row: usize,
    },
    /// Layers or rows that do not fit together
    #[error("{what} has {found} numbers where {expected} are expected")]
    Shape {
        /// What does not fit
        what: &'static str,
        /// As given
        found: usize,
        /// As needed
        expected: usize,
    },
    /// A number that nothing can be done with
    #[error("{what} is {value}, but has to be {expected}")]
    Parameter {
        /// Its name
        what: &'static str,
        /// As given
        value: f64,
        /// What it should be
        expected: &'static str,
    },
    /// Images moved out of themselves, or blanked whole
    #[error("{what} is {pixels} pixels, and has to be less than the side of an image, which is {side}")]
    Pixels {
        /// What
        what: &'static str,
        /// As given
        pixels: usize,
        /// Of an image, the shorter
        side: usize,
    },
    /// More features than fit
    #[error(
        "{rows} rows of {width} features need {bytes} bytes, and {most} are allowed: allow more (`Dataset::within`, --memory), or make fewer features (--buckets, --column NAME=skip)"
    )]
    TooWide {
        /// As many as there are
        rows: usize,
        /// Features of a row, zeros included
        width: usize,
        /// What they need
        bytes: u64,
        /// What they may need
        most: u64,
    },
    /// Weights of another network, or of other classes
    #[error(
        "the network to start from is {} for {} classes, and what is trained is {} for {} classes",
        found.0, found.1, expected.0, expected.1
    )]
    Start {
        /// What was given, and its number of classes
        found: Box<(Architecture, usize)>,
        /// What is trained, and its number of classes
        expected: Box<(Architecture, usize)>,
    },
    /// Steps that led nowhere
    #[error("the loss is no number any more in epoch {epoch}; a smaller rate keeps it one")]
    Diverged {
        /// Counted from one
        epoch: usize,
    },
    /// A file that is no checkpoint, or not this one
    #[error("{path}: {problem}", path = path.display())]
    File {
        /// Its place
        path: PathBuf,
        /// What is wrong with it
        problem: String,
    },
    /// Weights that were not written by this program
    #[error("weights cannot be read: {problem}")]
    Written {
        /// What is wrong with them
        problem: String,
    },
}

impl NetError {
    pub(crate) fn file(path: &std::path::Path, problem: impl std::fmt::Display) -> Self {
        Self::File { path: path.to_owned(), problem: problem.to_string() }
    }
}
