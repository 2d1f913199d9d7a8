//! Where to clip, before anybody is asked for a number: a few people say instead how large theirs is.
//!
//! T is part of every report, so it cannot be chosen afterwards. A public part of the people, who are not asked for the number
//! itself, report by a label mechanism in which bin |y| lies: below 2^a, then one bin for each power of two, the last
//! without an upper end. Each person answers one question at ε. From the shares of the bins,
//!
//! > M_p ≤ Σ_j share_j·(upper end of bin j)^p
//!
//! where the last bin counts as if it ended at the next power of two: what is larger has to be rare.

use crate::LearnError;
use crate::labels::LabelVectors;
use crate::nonparametric::rates::local_clip;
use crate::simplex;
use undertone_privacy::Epsilon;

/// Bins of magnitudes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Magnitudes {
    /// a, the binary logarithm of where the first bin ends
    lowest: i32,
    bins: u32,
}

impl Magnitudes {
    /// Bins from below 2^lowest to beyond 2^highest.
    pub fn new(lowest: i32, highest: i32) -> Result<Self, LearnError> {
        if lowest < highest && lowest >= -300 && highest <= 300 {
            return Ok(Self { lowest, bins: (highest - lowest) as u32 + 2 });
        }
        Err(LearnError::Parameter {
            what: "the largest power of two",
            value: f64::from(highest),
            expected: "above the smallest, both between -300 and 300",
        })
    }

    /// K of the label mechanism.
    pub fn bins(self) -> u32 {
        self.bins
    }

    /// Where the bin ends, the last one a power of two later than it begins.
    fn end(self, bin: u32) -> f64 {
        2f64.powi(self.lowest + bin as i32)
    }

    /// The bin of a number, which must be one.
    pub fn bin(self, label: f64) -> Result<u32, LearnError> {
        if label.is_nan() {
            return Err(undertone_privacy::PrivacyError::NotANumber.into());
        }
        Ok((0..self.bins - 1).find(|&bin| label.abs() < self.end(bin)).unwrap_or(self.bins - 1))
    }

    /// A bound on E|y|^p from what the pilot's people reported.
    pub fn moment(self, reports: &LabelVectors, order: f64) -> Result<f64, LearnError> {
        if reports.is_empty() {
            return Err(LearnError::NoReports);
        }
        let mut shares = vec![0.0; self.bins as usize];
        for vector in reports.iter() {
            let at = |bin: u32| f64::from(vector.at(bin));
            shares.iter_mut().zip(0..).for_each(|(share, bin)| *share += at(bin));
        }
        let n = reports.len() as f64;
        for share in &mut shares {
            *share /= n;
        }
        simplex::project(&mut shares);
        Ok(shares.iter().zip(0..).map(|(share, bin)| share * self.end(bin).powf(order)).sum())
    }

    /// T for averages of k reports at ε.
    pub fn clip(
        self,
        reports: &LabelVectors,
        order: f64,
        k: f64,
        epsilon: Epsilon,
    ) -> Result<f64, LearnError> {
        Ok(local_clip(order, self.moment(reports, order)?, k, epsilon.get()))
    }
}
