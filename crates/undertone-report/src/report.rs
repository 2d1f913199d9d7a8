//! What a device says: public features, and a randomized answer.
//!
//! No field can hold the truth: the label was randomized before there was a report.

use crate::{IdError, hexadecimal};
use std::fmt;
use std::str::FromStr;
use undertone_privacy::survey::SurveyReport;
use undertone_privacy::vector::VectorReport;

/// A report, as it is before or after it was bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Drawn at random by the device: the same report is counted once
    pub id: ReportId,
    /// When it was made, in units of the task's time precision
    pub time: u64,
    /// The ε that the person chose, as its place among the task's tiers
    pub tier: u8,
    /// The cells of the task's public columns, in order
    pub features: Vec<Cell>,
    /// The labels that were said, in rising order
    pub members: Vec<u32>,
    /// With priors, the labels that were answered among, in rising order; none otherwise
    pub among: Vec<u32>,
    /// Where the label is a number, what was said about it; there are no labels then
    pub number: Option<i64>,
    /// Of a whole record, the randomized gradient; there are neither features nor labels then
    pub gradient: Option<GradientReport>,
    /// Of a whole record, the answer to the one question of a survey; there is nothing else then
    pub survey: Option<SurveyReport>,
}

/// A randomized gradient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradientReport {
    /// The reports that the point was made of at which it was taken
    pub version: u64,
    /// What the mechanism says
    pub said: VectorReport,
}

/// What is in a public column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing
    Missing,
    /// A finite number
    Number(f64),
    /// A category or a text
    Words(String),
    /// As many finite numbers as the column has
    Vector(Vec<f32>),
}

/// 16 random bytes that a report is known by.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReportId(pub [u8; 16]);

impl FromStr for ReportId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        hexadecimal::read_array(text).map(Self).ok_or_else(|| IdError::new(text, 32))
    }
}

impl fmt::Display for ReportId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hexadecimal::Digits(&self.0).fmt(f)
    }
}

impl fmt::Debug for ReportId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReportId({self})")
    }
}
