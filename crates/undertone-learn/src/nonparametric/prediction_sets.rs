//! Sets of classes that hold the true one as often as promised, calibrated on reports.
//!
//! With p the probabilities of a model, the set of a row at threshold t is {k : 1 - p_k ≤ t}, and the likeliest class always.
//! On people the model has not seen,
//!
//! > F(t) = (1/n)·Σ_i Σ_{k in the set of i} a_ik
//!
//! is unbiased for how often the set holds the true label, since E\[a | y\] = e_y. The thresholds are tried from one downwards, where
//! the set is everything, each by the lower bound of Maurer and Pontil, *Empirical Bernstein bounds and sample variance penalization*
//! (2009),
//!
//! > F(t) - √(2·V·ln(2/δ)/n) - 7·R·ln(2/δ)/(3·(n - 1)),  V the variance of the terms, R their range,
//!
//! as long as it is at least 1 - α. Coverage falls with t, so the first threshold that fails is the only one that may be passed
//! wrongly: with probability 1 - δ over people and coins, sets hold the true label for a share of at least 1 - α of people,
//! without a penalty for the number of thresholds.
//!
//! Residuals |z - η| of noisy numbers would cover z and not y, so intervals for numbers come from classes that are bins
//! ([`LabelBins`]).

use crate::evaluation::{Figure, mean};
use crate::features::Rows;
use crate::labels::LabelVectors;
use crate::{Classifier, LearnError};
use serde::{Deserialize, Serialize};
use undertone_privacy::PrivacyError;
use undertone_privacy::number::Bounds;

/// Thresholds are whole multiples of one over this.
pub(super) const THRESHOLDS: u32 = 200;

/// How sets are formed, and what is promised of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionSets {
    threshold: f32,
    alpha: f64,
    delta: f64,
}

impl PredictionSets {
    /// Finds the smallest sets that hold the true class for 1 - α of people, except with probability δ.
    ///
    /// The people must not be among those whom the model was learnt from. Too few of them make every set everything.
    pub fn calibrate(
        model: &dyn Classifier,
        rows: &Rows,
        vectors: &LabelVectors,
        alpha: f64,
        delta: f64,
    ) -> Result<Self, LearnError> {
        super::coverage::check(alpha, delta)?;
        if rows.len() != vectors.len() {
            return Err(PrivacyError::WrongLength { length: vectors.len(), dimension: rows.len() }.into());
        }
        if rows.len() < 2 {
            return Err(LearnError::TooFewReports);
        }
        let (classes, probabilities) = (model.classes(), model.probabilities(rows));
        let reach = Reach::of(vectors);
        let mut sets = Self { threshold: 1.0, alpha, delta };
        for step in (0..THRESHOLDS).rev() {
            let tried = Self { threshold: step as f32 / THRESHOLDS as f32, ..sets };
            let mut largest = 0;
            let term = |(p, row): (&[f32], usize)| {
                let (vector, mut size, mut sum) = (vectors.get(row), 0, 0.0);
                for class in tried.members(p) {
                    size += 1;
                    sum += f64::from(vector.at(class));
                }
                largest = largest.max(size);
                sum
            };
            let terms: Vec<f64> = probabilities.chunks_exact(classes).zip(0..).map(term).collect();
            if lower_bound(mean(&terms), terms.len() as f64, reach.range(largest), delta) < 1.0 - alpha {
                break;
            }
            sets = tried;
        }
        Ok(sets)
    }

    /// Sets that are cut off at a threshold which somebody else has calibrated.
    pub(super) fn at(threshold: f32, alpha: f64, delta: f64) -> Self {
        Self { threshold, alpha, delta }
    }

    /// The share of people whose sets are to hold their class, 1 - α.
    pub fn coverage(&self) -> f64 {
        1.0 - self.alpha
    }

    /// How sets are cut off: classes less likely than one less this are left out.
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// The set for some probabilities, in rising order; never empty.
    pub fn set(&self, probabilities: &[f32]) -> Vec<u32> {
        self.members(probabilities).collect()
    }

    fn members(&self, probabilities: &[f32]) -> impl Iterator<Item = u32> {
        let (all, threshold) = (self.threshold >= 1.0, self.threshold);
        let likeliest = crate::evaluation::terms::predicted(probabilities);
        let inside = move |class: usize, p: f32| all || 1.0 - p <= threshold || class == likeliest;
        let each = probabilities.iter().enumerate();
        each.filter_map(move |(class, &p)| inside(class, p).then_some(class as u32))
    }
}

/// What a mean of n terms in a range of R is at least, except with probability δ.
fn lower_bound(found: Figure, n: f64, range: f64, delta: f64) -> f64 {
    let ln = (2.0 / delta).ln();
    // √(V/n) is the standard error
    found.value - found.standard_error * (2.0 * ln).sqrt() - 7.0 * range * ln / (3.0 * (n - 1.0))
}

/// How far the sum of a report's vector over a set can reach.
struct Reach {
    /// Between the two values of the vectors
    apart: f64,
    /// Members of a report; any number if it varies
    members: usize,
}

impl Reach {
    fn of(vectors: &LabelVectors) -> Self {
        let mut reach = Self { apart: 0.0, members: vectors.get(0).entries.len() };
        for vector in vectors.iter() {
            for &(_, value) in vector.entries {
                reach.apart = reach.apart.max(f64::from(value - vector.base).abs());
            }
            if vector.entries.len() != reach.members {
                reach.members = usize::MAX;
            }
        }
        reach
    }

    fn range(&self, set: usize) -> f64 {
        self.apart * set.min(self.members) as f64
    }
}

/// Bins of equal width, as classes that stand for numbers: devices report the bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelBins {
    bounds: Bounds,
    bins: u32,
}

impl LabelBins {
    /// So many bins, two at least.
    pub fn new(bounds: Bounds, bins: u32) -> Result<Self, LearnError> {
        if bins < 2 { Err(PrivacyError::Bins { bins }.into()) } else { Ok(Self { bounds, bins }) }
    }

    /// The bin of a number, which is clipped to the bounds; what is no number is refused.
    pub fn bin(self, label: f64) -> Result<u32, LearnError> {
        let place = u64::from(self.bounds.place(label)?.index());
        // the last point of the grid belongs to the last bin
        let bin = place * u64::from(self.bins) / u64::from(self.bounds.steps());
        Ok((bin as u32).min(self.bins - 1))
    }

    /// The interval from the lowest to the highest bin of a set.
    pub fn interval(self, set: &[u32]) -> Option<(f64, f64)> {
        let (first, last) = (set.first()?, set.last()?);
        let width = (self.bounds.high() - self.bounds.low()) / f64::from(self.bins);
        Some((self.bounds.low() + f64::from(*first) * width, self.bounds.low() + f64::from(last + 1) * width))
    }
}
