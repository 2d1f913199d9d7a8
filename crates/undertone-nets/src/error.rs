//! What can go wrong with a network.

use std::path::PathBuf;
use undertone_learn::LearnError;

/// Why there is no network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
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
    /// More features than fit
    #[error(
        "{rows} rows of {width} features need {bytes} bytes, more than {most}; fewer features (a smaller hash, fewer categories) fit"
    )]
    TooWide {
        /// As many as there are
        rows: usize,
        /// Features of a row, zeros included
        width: usize,
        /// What they need
        bytes: usize,
        /// What they may need
        most: usize,
    },
    /// Steps that led nowhere
    #[error("the loss is no number any more in epoch {epoch}; a smaller rate keeps it one")]
    Diverged {
        /// Counted from one
        epoch: usize,
    },
    /// A file that is no network, or not this one
    #[error("{path}: {problem}", path = path.display())]
    File {
        /// Its place
        path: PathBuf,
        /// What is wrong with it
        problem: String,
    },
    /// Examples that nothing can be learnt from
    #[error(transparent)]
    Learn(LearnError),
}

impl NetError {
    pub(crate) fn file(path: &std::path::Path, problem: impl std::fmt::Display) -> Self {
        Self::File { path: path.to_owned(), problem: problem.to_string() }
    }
}

impl From<NetError> for LearnError {
    fn from(error: NetError) -> Self {
        match error {
            NetError::Learn(error) => error,
            other => Self::Source(Box::new(other)),
        }
    }
}

/// An error of a network that came through a source of examples is itself again.
impl From<LearnError> for NetError {
    fn from(error: LearnError) -> Self {
        match error {
            LearnError::Source(source) => match source.downcast::<Self>() {
                Ok(own) => *own,
                Err(source) => Self::Learn(LearnError::Source(source)),
            },
            other => Self::Learn(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_survives_the_way_through_a_learner() {
        let there = LearnError::from(NetError::Diverged { epoch: 3 });
        assert!(matches!(NetError::from(there), NetError::Diverged { epoch: 3 }));
        assert!(matches!(LearnError::from(NetError::from(LearnError::NoReports)), LearnError::NoReports));
    }
}
