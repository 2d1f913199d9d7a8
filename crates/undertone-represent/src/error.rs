//! What can be wrong with what is given.

/// Refuses so many columns, pixels or people where others are `expected`.
pub(crate) fn same(
    what: &'static str,
    unit: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), RepresentError> {
    if found == expected && found > 0 {
        return Ok(());
    }
    Err(RepresentError::Shape { what, unit, found, expected })
}

/// Why something cannot be represented or learnt.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RepresentError {
    /// A matrix of another shape than is needed
    #[error("{what} has {found} {unit}, {expected} are needed")]
    Shape {
        /// Of what
        what: &'static str,
        /// Rows or columns
        unit: &'static str,
        /// How many it has
        found: usize,
        /// How many it should have
        expected: usize,
    },
    /// Pixels that are no square
    #[error("{pixels} pixels are no square image of a side from {least} to {most}")]
    Image {
        /// How many
        pixels: usize,
        /// The least side
        least: usize,
        /// The greatest side
        most: usize,
    },
    /// Something that is no number
    #[error("{what} of row {row} is {value}, but has to be finite")]
    NotFinite {
        /// What
        what: &'static str,
        /// Counted from 1
        row: usize,
        /// What was found
        value: f32,
    },
    /// Nothing differs
    #[error("all {people} people have the same features, so that nothing can be told from them")]
    Constant {
        /// How many
        people: usize,
    },
    /// Too few people
    #[error("{people} people are too few for {needed}")]
    TooFew {
        /// How many
        people: usize,
        /// For what
        needed: String,
    },
    /// A matrix that has no inverse, although it should
    #[error("{what} cannot be solved: it is not positive definite")]
    Singular {
        /// Which
        what: &'static str,
    },
    /// Eigenvectors that are not found
    #[error(
        "no eigenvectors are found of {size} × {size} numbers, the largest of which is {largest}: features may be too large"
    )]
    Spectrum {
        /// Rows and columns
        size: usize,
        /// The largest, of either sign
        largest: f64,
    },
    /// A document that holds no matrix
    #[error("this is no matrix: {problem}")]
    Written {
        /// What is wrong with it
        problem: String,
    },
    /// A class that no report speaks for
    #[error("class {class} is in no report, so that nothing can be learnt of it")]
    NeverReported {
        /// Counted from 0
        class: usize,
    },
}
