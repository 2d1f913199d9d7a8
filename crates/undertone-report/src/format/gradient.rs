//! The randomized gradient of a report, whose size is fixed.
//!
//! The version of the point comes first, in eight bytes. Integers of the grid follow in eight bytes each, as two's
//! complement; or a codeword: the sixteen bytes of its seed, and its place in as many as the number of codewords takes.

use crate::{GradientReport, ReportError};
use undertone_privacy::vector::{CodebookReport, VectorMechanism, VectorReport};

/// What the gradients of one tier look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GradientForm {
    mechanism: VectorMechanism,
}

/// Bytes of the version.
const VERSION: usize = 8;
/// Bytes of a seed.
const SEED: usize = 16;

impl GradientForm {
    pub(super) fn new(mechanism: VectorMechanism) -> Self {
        Self { mechanism }
    }

    /// The integers of an answer, if it has any.
    pub(super) fn steps(&self) -> Option<usize> {
        let codebook = matches!(self.mechanism, VectorMechanism::Codebook(_));
        (!codebook).then(|| self.mechanism.ball().dimension())
    }

    /// The length of every answer.
    pub(super) fn bytes(&self) -> usize {
        // Only mechanisms whose reports may leave a device are in a task.
        VERSION + self.mechanism.report_bytes().unwrap_or_default()
    }

    /// The gradient that `bytes`, of which there are as many as there have to be, are.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<GradientReport, ReportError> {
        let (version, said) = bytes.split_at(VERSION);
        let said = match self.mechanism {
            VectorMechanism::Codebook(_) => {
                let (seed, index) = said.split_at(SEED);
                let number = |bytes: &[u8]| bytes.iter().fold(0u128, |n, &byte| n << 8 | u128::from(byte));
                VectorReport::Codeword(CodebookReport { seed: number(seed), index: number(index) as u16 })
            }
            _ => VectorReport::Steps(said.chunks_exact(8).map(|bytes| integer(bytes) as i64).collect()),
        };
        let report = GradientReport { version: integer(version), said };
        self.check(&report)?;
        Ok(report)
    }

    /// Refuses what no honest device says, but for a chance that nobody meets.
    pub(super) fn check(&self, report: &GradientReport) -> Result<(), ReportError> {
        if self.mechanism.is_plausible(&report.said) { Ok(()) } else { Err(ReportError::Implausible {}) }
    }

    /// Appends a gradient that passed [`check`](Self::check).
    pub(super) fn write(&self, report: &GradientReport, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&report.version.to_be_bytes());
        match &report.said {
            VectorReport::Steps(steps) => bytes.extend(steps.iter().flat_map(|k| k.to_be_bytes())),
            VectorReport::Codeword(CodebookReport { seed, index }) => {
                bytes.extend_from_slice(&seed.to_be_bytes());
                let width = self.bytes() - VERSION - SEED;
                bytes.extend_from_slice(&index.to_be_bytes()[2 - width..]);
            }
        }
    }
}

fn integer(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
