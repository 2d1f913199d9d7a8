//! What can be wrong with a parameter or an input, holding the offending value.
//!
//! `Display` is written by hand: a derive would take the build of this crate from seconds to a quarter of a minute.

use crate::Guarantee;
use alloc::string::String;
use core::fmt;

/// Why a promise, a mechanism or an input was refused. Nothing has been drawn or sent when it is returned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant's message says what its fields are")]
pub enum PrivacyError {
    Epsilon { value: f64 },
    Delta { value: f64 },
    Mu { value: f64 },
    Rho { value: f64 },
    NoConversion { from: &'static str, to: &'static str },
    WrongPromise { kind: &'static str, given: &'static str },
    NoPromises,
    OverBudget { asked: Guarantee, spent: Option<Guarantee>, cap: Guarantee },
    NoInformation { epsilon: f64 },
    TooFewLabels { labels: u32 },
    TooManyLabels { labels: u32, most: u32 },
    UnknownLabel { label: u32, labels: u32 },
    SetSize { size: u32, labels: u32 },
    TopSize { size: u32, labels: u32 },
    RepeatedLabel { label: u32 },
    PriorEntry { index: usize, value: f64 },
    PriorSum { sum: f64 },
    Bounds { low: f64, high: f64 },
    NotANumber,
    Bins { bins: u32 },
    Radius { value: f64 },
    Dimension { dimension: usize, least: usize, most: usize },
    WrongLength { length: usize, dimension: usize },
    Codewords { codewords: u32 },
    Parameter { what: &'static str, value: f64 },
    SimulationOnly { kind: &'static str },
    Scale { numerator: u64, denominator: u64 },
    PublicStrings { strings: u32 },
    NoCounts,
    Levels { attribute: usize, levels: u32 },
    UnknownLevel { attribute: usize, level: u32, levels: u32 },
    UnknownAttribute { attribute: usize, attributes: usize },
    AttributeOrder { first: usize, second: usize },
    Order { order: usize, attributes: usize },
    ProductDomain { cells: f64, most: u32 },
    TooManyQuestions { most: u64 },
    UnknownQuestion { question: u64, questions: u64 },
    Implausible,
    Count { value: u64 },
    UnknownKind { name: String, known: &'static [&'static str] },
}

impl fmt::Display for PrivacyError {
    #[expect(clippy::too_many_lines, reason = "a message for each variant, and nothing else")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Epsilon { value } => {
                write!(f, "epsilon is {}, but has to be positive and finite", Shown(value))
            }
            Self::Delta { value } => write!(f, "delta is {value}, but has to lie strictly between 0 and 1"),
            Self::Mu { value } => write!(f, "mu is {value}, but has to be positive and finite"),
            Self::Rho { value } => write!(f, "rho is {value}, but has to be positive and finite"),
            Self::NoConversion { from, to } => write!(f, "a promise of {from} implies none of {to}"),
            Self::WrongPromise { kind, given } => write!(f, "{kind} keeps no promise of {given}"),
            Self::NoPromises => write!(f, "no promises were given"),
            Self::OverBudget { asked, spent: Some(spent), cap } => {
                write!(f, "{asked} does not fit: {spent} is spent of a budget of {cap}")
            }
            Self::OverBudget { asked, spent: None, cap } => {
                write!(f, "{asked} does not fit into a budget of {cap}")
            }
            Self::NoInformation { epsilon } => {
                write!(f, "epsilon is {epsilon:e}, too small for a report to say anything in 64 bits")
            }
            Self::TooFewLabels { labels } => write!(f, "{labels} label(s) given, at least two are needed"),
            Self::TooManyLabels { labels, most } => {
                write!(f, "{labels} labels do not fit a mask, which has {most} bits")
            }
            Self::UnknownLabel { label, labels } => {
                write!(f, "label {label} is not below the number of classes, {labels}")
            }
            Self::SetSize { size, labels } => {
                write!(f, "sets of {size} among {labels} labels: a set has from 1 to {} of them", labels - 1)
            }
            Self::TopSize { size, labels } => {
                write!(
                    f,
                    "the {size} likeliest of {labels} labels: the number has to lie between 1 and {labels}"
                )
            }
            Self::RepeatedLabel { label } => write!(f, "label {label} is named twice"),
            Self::PriorEntry { index, value } => {
                write!(f, "the prior gives label {index} the probability {value}")
            }
            Self::PriorSum { sum } => write!(f, "the prior sums to {sum}, not to 1"),
            Self::Bounds { low, high } => {
                write!(
                    f,
                    "the interval from {} to {} is empty, not finite, or outside 1e-100 to 1e100 in width",
                    Shown(low),
                    Shown(high)
                )
            }
            Self::NotANumber => write!(f, "the value is not a number"),
            Self::Bins { bins } => {
                write!(f, "{bins} bin(s) given, at least two and at most 65536 are needed")
            }
            Self::Radius { value } => {
                write!(f, "the radius is {}, but has to lie between 1e-100 and 1e100", Shown(value))
            }
            Self::Dimension { dimension, least, most } => {
                write!(f, "the dimension is {dimension}, but has to lie between {least} and {most}")
            }
            Self::WrongLength { length, dimension } => {
                write!(f, "a vector of length {length} was given where {dimension} coordinates are expected")
            }
            Self::Codewords { codewords } => {
                write!(
                    f,
                    "a codebook of {codewords} vectors: the number has to be even and lie between 2 and 65536"
                )
            }
            Self::Parameter { what, value } => {
                write!(f, "{what} is {}, outside of what is allowed", Shown(value))
            }
            Self::SimulationOnly { kind } => {
                write!(f, "{kind} is computed in floats, so that its reports stay in simulations")
            }
            Self::Scale { numerator, denominator } => {
                write!(
                    f,
                    "the noise scale {numerator}/{denominator} is outside the range of exact arithmetic"
                )
            }
            Self::PublicStrings { strings } => {
                write!(f, "{strings} public strings: the number has to lie between 2 and 1024")
            }
            Self::NoCounts => write!(f, "no counts were given"),
            Self::Levels { attribute, levels } => {
                write!(f, "attribute {attribute} has {levels} level(s), at least two are needed")
            }
            Self::UnknownLevel { attribute, level, levels } => {
                write!(f, "attribute {attribute} has the levels 0 to {}, and {level} is none", levels - 1)
            }
            Self::UnknownAttribute { attribute, attributes } => {
                write!(f, "there is no attribute {attribute}: there are {attributes}, counted from zero")
            }
            Self::AttributeOrder { first, second } => {
                write!(
                    f,
                    "attribute {second} stands behind {first}: attributes are named once, in rising order"
                )
            }
            Self::Order { order, attributes } => {
                write!(f, "{order} attributes at a time: the number has to lie between 1 and {attributes}")
            }
            Self::ProductDomain { cells, most } => {
                write!(f, "a table of {} cells: {most} is the most", Shown(cells))
            }
            Self::TooManyQuestions { most } => write!(f, "there are more than {most} questions to ask"),
            Self::UnknownQuestion { question, questions } => {
                write!(f, "there is no question {question}: there are {questions}, counted from zero")
            }
            Self::Implausible => write!(f, "no honest device says this"),
            Self::UnknownKind { ref name, known } => {
                write!(f, "there is no mechanism {name:?} here; there are {}", known.join(", "))
            }
            Self::Count { value } => write!(f, "the count {value} is too large for exact arithmetic"),
        }
    }
}

impl core::error::Error for PrivacyError {}

/// A number as people read it: in scientific notation where there would be zeros to count.
pub(crate) struct Shown(pub(crate) f64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if size == 0.0 || (1e-4..1e7).contains(&size) || !size.is_finite() {
            self.0.fmt(f)
        } else {
            fmt::LowerExp::fmt(&self.0, f)
        }
    }
}
