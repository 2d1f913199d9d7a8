//! The randomized number of a report: one integer in eight bytes, as two's complement, whatever the mechanism.

use crate::ReportError;
use undertone_privacy::number::NumberMechanism;

/// What the numbers of one tier look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberForm {
    mechanism: NumberMechanism,
}

/// Bytes of every answer.
pub(super) const BYTES: usize = 8;

impl NumberForm {
    pub(super) fn new(mechanism: NumberMechanism) -> Self {
        Self { mechanism }
    }

    /// Refuses what no honest device says, but for a chance that nobody meets.
    pub(super) fn check(self, said: i64) -> Result<i64, ReportError> {
        if self.mechanism.is_plausible(said) { Ok(said) } else { Err(ReportError::Implausible {}) }
    }
}
