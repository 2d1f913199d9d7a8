//! What a check of the suite found wrong, with the numbers.

use undertone_privacy::{Guarantee, PrivacyError};

/// A law that a randomizer breaks. Inputs and pairs are counted from zero in the order of the case.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant's message says what its fields are")]
pub enum Failure {
    #[error("{case}: the likelihood of input {input} sums to {sum}, not to 1")]
    Sum { case: String, input: usize, sum: f64 },
    #[error("{case}: the loss is {loss}, but {claimed} is promised")]
    Promise { case: String, claimed: Guarantee, loss: f64 },
    #[error(
        "{case}: the estimate of coordinate {coordinate} for input {input} is {mean} on average, not {truth}, beyond the tolerance of {tolerance}"
    )]
    Bias { case: String, input: usize, coordinate: usize, mean: f64, truth: f64, tolerance: f64 },
    #[error(
        "{case}: the variance for input {input} is {found}, but {stated} is stated, beyond the tolerance of {tolerance}"
    )]
    Variance { case: String, input: usize, found: f64, stated: f64, tolerance: f64 },
    #[error("{case}: estimates have {found} coordinates, the truth of input {input} has {expected}")]
    Length { case: String, input: usize, found: usize, expected: usize },
    #[error(
        "{case}: input {input} gave {report} {count} times in {draws}, but the likelihood says {probability} of them"
    )]
    Frequency { case: String, input: usize, report: String, count: u64, draws: u64, probability: f64 },
    #[error(
        "{case}: reports that favour one input of pair {pair} have probability {found} under the other, but the likelihood ratios say {expected}, beyond the tolerance of {tolerance}"
    )]
    Ratio { case: String, pair: usize, found: f64, expected: f64, tolerance: f64 },
    #[error("{case}: {report} was drawn, but the likelihood calls it impossible")]
    Impossible { case: String, report: String },
    #[error("{case}: an input was refused: {error}")]
    Refused { case: String, error: PrivacyError },
}
