//! Everything that least squares needs of the people, added up.
//!
//! With x̃ = (x, 1) and u = z - c, c being the middle of the bounds,
//!
//! > G = Σ x̃x̃ᵀ, b = Σ u·x̃, S = Σ (u² - v)
//!
//! G is public. Σ ((w·x̃ - u)² - v) = wᵀGw - 2·wᵀb + S is the debiased sum of squared errors of any w, without going back to the people.

use super::LinearNumber;
use super::cholesky::{place, solve};
use crate::LearnError;
use crate::features::Row;
use serde::{Deserialize, Serialize};

/// The most features: G takes eight bytes for each pair of them.
pub const MOST_FEATURES: usize = 2048;

/// G, b and S of some people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalEquations {
    /// d
    features: usize,
    /// c
    centre: f64,
    count: u64,
    /// The lower triangle of G, packed row by row
    gram: Vec<f64>,
    /// b
    cross: Vec<f64>,
    /// S
    squares: f64,
    /// The places and values of what is not zero in a row, the last being the constant
    #[serde(skip)]
    entries: Vec<(usize, f64)>,
}

impl NormalEquations {
    /// Nobody's, for so many features and numbers about `centre`.
    pub fn new(features: usize, centre: f64) -> Result<Self, LearnError> {
        if features > MOST_FEATURES {
            return Err(LearnError::Parameter {
                what: "the number of features",
                value: features as f64,
                expected: "at most 2048 for least squares; columns of text take fewer --buckets, and --column NAME=skip leaves one out",
            });
        }
        let gram = vec![0.0; place(features + 1, 0)];
        let cross = vec![0.0; features + 1];
        Ok(Self { features, centre, count: 0, gram, cross, squares: 0.0, entries: Vec::new() })
    }

    /// One more person: their features, z and v.
    pub fn observe(&mut self, row: Row<'_>, (value, variance): (f64, f64)) {
        let dense = row.dense.iter().map(|&x| f64::from(x)).enumerate();
        let sparse =
            row.sparse.iter().map(|&(feature, x)| (row.dense.len() + feature as usize, f64::from(x)));
        self.entries.clear();
        self.entries.extend(dense.chain(sparse).filter(|(_, x)| *x != 0.0).chain([(self.features, 1.0)]));
        let u = value - self.centre;
        for (below, &(i, x)) in self.entries.iter().enumerate() {
            self.cross[i] += x * u;
            for &(j, other) in &self.entries[..=below] {
                self.gram[place(i.max(j), i.min(j))] += x * other;
            }
        }
        self.squares += u * u - variance;
        self.count += 1;
    }

    /// How many people.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether both are sums over the same features, about the same centre.
    pub(crate) fn is_of_the_same_shape(&self, other: &Self) -> bool {
        let shape = |of: &Self| (of.features, of.centre.to_bits(), of.gram.len(), of.cross.len());
        shape(self) == shape(other)
    }

    /// Leaves `self` as if it had also observed everybody of `other`.
    pub fn add(&mut self, other: &Self) {
        self.combine(other, 1.0);
        self.count += other.count;
    }

    /// Everybody but those of `part`, who are among them.
    #[must_use]
    pub fn without(&self, part: &Self) -> Self {
        let mut rest = self.clone();
        rest.combine(part, -1.0);
        rest.count -= part.count;
        rest
    }

    fn combine(&mut self, other: &Self, sign: f64) {
        self.gram.iter_mut().zip(&other.gram).for_each(|(own, x)| *own += sign * x);
        self.cross.iter_mut().zip(&other.cross).for_each(|(own, x)| *own += sign * x);
        self.squares += sign * other.squares;
    }

    /// The w that minimises (1/2n)·Σ (w·x̃ - u)² + λ/2·|w|², the constant not being penalised: (G/n + λI)·w = b/n.
    pub fn solve(&self, l2: f64) -> Result<LinearNumber, LearnError> {
        if self.count == 0 {
            return Err(LearnError::NoReports);
        }
        let n = self.count as f64;
        let mut a: Vec<f64> = self.gram.iter().map(|x| x / n).collect();
        (0..self.features).for_each(|feature| a[place(feature, feature)] += l2);
        let b: Vec<f64> = self.cross.iter().map(|x| x / n).collect();
        let mut weights = solve(&mut a, &b).ok_or(LearnError::Parameter {
            what: "λ (--l2)",
            value: l2,
            expected: "larger, since some features follow from others",
        })?;
        let constant = weights.pop().unwrap_or_default();
        Ok(LinearNumber { weights, intercept: self.centre + constant, scale_back: None })
    }

    /// The debiased mean squared error of a model among these people: unbiased for that against their numbers, and at times below
    /// zero.
    pub fn error_of(&self, model: &LinearNumber) -> f64 {
        let constant = model.intercept - self.centre;
        let weights: Vec<f64> = model.weights.iter().copied().chain([constant]).collect();
        let mut sum = self.squares;
        for (i, w) in weights.iter().enumerate() {
            let row = &self.gram[place(i, 0)..=place(i, i)];
            let below: f64 = row[..i].iter().zip(&weights).map(|(g, other)| g * other).sum();
            sum += w * (2.0 * below + row[i] * w - 2.0 * self.cross[i]);
        }
        sum / self.count as f64
    }
}
