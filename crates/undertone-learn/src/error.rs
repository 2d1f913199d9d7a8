//! What can go wrong on the way from reports to a model.

use crate::represented::Step;
use undertone_nets::{Need, NetError};
use undertone_privacy::PrivacyError;
use undertone_report::TaskError;
use undertone_represent::RepresentError;

/// Why nothing was learnt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// Nothing to learn from
    #[error("there are no reports to learn from")]
    NoReports,
    /// Nobody is left to judge by
    #[error("there are too few reports to keep some aside, as a choice needs")]
    TooFewReports,
    /// Nobody is left to choose λ by
    #[error("there are too few reports to keep some aside; give λ (train --l2) instead of having it chosen")]
    TooFewForPenalty,
    /// Steps that led nowhere
    #[error("the weights grew beyond all numbers; a larger λ or a radius keeps them bounded")]
    Diverged,
    /// A report that the task's mechanism cannot have made
    #[error("report {row}: {problem}")]
    Report {
        /// Counted from one
        row: u64,
        /// What is wrong with it
        problem: String,
    },
    /// Features that cannot be represented
    #[error(transparent)]
    Represent(#[from] RepresentError),
    /// Nothing that a network for images can look at
    #[error(
        "a network for images takes one column of square images, not {columns} public columns; --column NAME=skip leaves others out, and `mlp` takes all"
    )]
    NoImage {
        /// As many as there are
        columns: usize,
    },
    /// Nothing that a network for ratings can look at
    #[error(
        "a network for ratings takes two columns that are categories, such as people and things, and no others of {columns}"
    )]
    NoPairs {
        /// As many as there are
        columns: usize,
    },
    /// More features than dense layers take
    #[error(
        "a network of dense layers takes at most {most} features, and the columns make {features}: make fewer of texts and categories (--buckets), or leave columns out (--column NAME=skip)"
    )]
    TooManyInputs {
        /// As many as there are
        features: usize,
        /// As many as there may be
        most: usize,
    },
    /// A network that cannot be trained
    #[error(transparent)]
    Network(#[from] NetError),
    /// A representation that does not fit into memory
    #[error("a representation of {people} people with {features} features needs {} MB of memory, most of all for {largest}, and {} MB are allowed: allow more (--memory), or {}", megabytes(*.bytes), .allowed >> 20, .largest.remedy())]
    Memory {
        /// How many people
        people: usize,
        /// How many features they have
        features: usize,
        /// What is needed
        bytes: u64,
        /// What takes most of it
        largest: Step,
        /// What may be used
        allowed: u64,
    },
    /// A network that does not fit into memory
    #[error("this network needs {} MB of memory: {} for the features of {people} people, {} for batches of {batch} and {} for its weights; {} MB are allowed: allow more (--memory), or take smaller batches (--batch), or fewer people or features (--buckets, --column NAME=skip)", megabytes(.need.bytes()), megabytes(.need.people), megabytes(.need.batch), megabytes(.need.weights), .allowed >> 20)]
    NetworkMemory {
        /// How many people
        people: u64,
        /// How many of them make a step
        batch: usize,
        /// What is needed
        need: Need,
        /// What may be used
        allowed: u64,
    },
    /// A snapshot of another task
    #[error("this snapshot was not made while learning from this task")]
    Snapshot,
    /// A document that is no model
    #[error("this is not a model: {problem}")]
    Model {
        /// What is wrong with it
        problem: String,
    },
    /// A model that does not give each row a probability for every class
    #[error("the model's probabilities for row {row} {problem}")]
    Probabilities {
        /// Counted from one
        row: u64,
        /// What is wrong with them
        problem: String,
    },
    /// A cell that no feature can be made of
    #[error("row {row}, column `{column}`: {problem}")]
    Cell {
        /// Counted from one
        row: u64,
        /// Its name
        column: String,
        /// What is wrong with it
        problem: String,
    },
    /// A column that holds something else than it should
    #[error("column `{column}`: {problem}")]
    Column {
        /// Its name
        column: String,
        /// What is wrong with it
        problem: String,
    },
    /// A column that is needed and not there
    #[error("there is no column `{column}`")]
    MissingColumn {
        /// Its name
        column: String,
    },
    /// More or fewer columns than an encoder was made for
    #[error("{found} column(s) given where {expected} are encoded")]
    Columns {
        /// As given
        found: usize,
        /// As encoded
        expected: usize,
    },
    /// Words that do not say how to treat a column
    #[error("`{text}` is not of the form COLUMN=number|category|text|skip")]
    Override {
        /// As given
        text: String,
    },
    /// Examples that cannot be read
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
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
    /// A statistic that is not in the family
    #[error("statistic {statistic} is not below their number, {statistics}")]
    UnknownStatistic {
        /// As given
        statistic: u32,
        /// How many there are
        statistics: usize,
    },
    /// Answers about other statistics, or on another scale
    #[error(
        "answers about {others} statistics do not add to answers about {statistics}, or their scales differ"
    )]
    OtherFamily {
        /// Here
        statistics: usize,
        /// There
        others: usize,
    },
    /// A statistic whose mean is needed and that nobody answered
    #[error("nobody answered about statistic {statistic}")]
    Unanswered {
        /// Counted from zero
        statistic: usize,
    },
    /// More cells than people can fill
    #[error(
        "{what} {size} on {axes} axes makes {cells} cells, for which {needed} people are needed; {people} people fill {fitting}"
    )]
    TooFine {
        /// What has the size
        what: &'static str,
        /// As given
        size: u32,
        /// p
        axes: usize,
        /// As many as that makes
        cells: f64,
        /// Twenty for each cell
        needed: f64,
        /// As many as there are
        people: u64,
        /// The largest size that they fill, in words
        fitting: String,
    },
    /// A kernel or a point that is not where the data are
    #[error("{what} of axis {axis} is {value}, outside of the domain from {low} to {high}")]
    OutsideDomain {
        /// What is outside
        what: &'static str,
        /// Counted from zero
        axis: usize,
        /// As given
        value: f64,
        /// The lower end of the domain
        low: f64,
        /// The upper end of the domain
        high: f64,
    },
    /// More covariates than so many people can tell anything about
    #[error("{covariates} covariates are too many for {people} people; at most {most} fit")]
    TooManyCovariates {
        /// As given
        covariates: usize,
        /// As given
        people: u64,
        /// The largest number that fits
        most: usize,
    },
    /// A table that nobody was asked about
    #[error("nobody has answered what the table over the attributes {attributes:?} is made of")]
    UnansweredTable {
        /// Counted from zero
        attributes: Vec<usize>,
    },
    /// A law that was asked for where there is none
    #[error("clipped gradients are biased, and there is no law for them")]
    Clipped,
    /// A person who has answered already
    #[error("person {person} was asked twice, but has one report to give")]
    AskedTwice {
        /// Counted from zero
        person: u64,
    },
    /// Something that a curator has to see true labels for
    #[error(
        "{what} was made by a curator who saw the true labels; where nobody is trusted with them it cannot be used"
    )]
    Central {
        /// What it is
        what: &'static str,
    },
    /// An interval that would not cover
    #[error(transparent)]
    NoInterval(#[from] crate::online::Refused),
    /// A promise or a parameter out of range
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// A task that no report answers
    #[error(transparent)]
    Task(#[from] TaskError),
}

impl LearnError {
    /// The same about memory, with what helps where other options are there than for training.
    #[must_use]
    pub fn helped_by(self, remedy: &str) -> Self {
        let (what, people, bytes, allowed) = match self {
            Self::NetworkMemory { people, need, allowed, .. } => ("network", people, need.bytes(), allowed),
            Self::Memory { people, bytes, allowed, .. } => ("representation", people as u64, bytes, allowed),
            other => return other,
        };
        let (needed, allowed) = (megabytes(bytes), allowed >> 20);
        Self::Source(
            format!("a {what} of {people} people needs {needed} MB of memory, and {allowed} MB are allowed: {remedy}").into(),
        )
    }
}

/// Rounded up.
fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}
