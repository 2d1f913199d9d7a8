//! A number with its uncertainty, and the running moments that it comes from.
//!
//! For n terms t_i the figure is their mean, and its standard error the root of their empirical variance over n,
//!
//! > t̄ = (1/n)·Σ t_i,  se² = (1/n)·(1/(n-1))·Σ (t_i - t̄)²
//!
//! If people are drawn independently, se² is unbiased for the variance of t̄, which has two parts: whom we happened to ask
//! and what their coins said. With true labels the second part is absent and this is the usual standard error. As a
//! statement about the very people who reported, of whom only the coins vary, it errs on the side of caution: term i has
//! mean μ_i and variance v_i over the coins, and E\[n·se²\] = (1/n)·Σ v_i + (1/(n-1))·Σ (μ_i - μ̄)², of which the first
//! sum alone is needed.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize};

/// The 97.5 % point of the normal distribution.
const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// An estimate and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Unbiased where nothing else is said, hence at times outside the range of what it estimates
    pub value: f64,
    /// NaN from fewer than two terms
    pub standard_error: f64,
}

impl Figure {
    /// Half the width of the 95 % interval.
    pub fn margin(&self) -> f64 {
        TWO_SIDED_95 * self.standard_error
    }

    /// The 95 % interval, by the normal approximation.
    pub fn interval(&self) -> (f64, f64) {
        (self.value - self.margin(), self.value + self.margin())
    }

    /// Whether the 95 % interval contains `truth`.
    pub fn covers(&self, truth: f64) -> bool {
        (self.value - truth).abs() <= self.margin()
    }
}

/// The mean of some terms, with its standard error.
pub fn mean(terms: &[f64]) -> Figure {
    let mut moments = Moments::default();
    for &term in terms {
        moments.add(term);
    }
    moments.figure()
}

/// Value, standard error and both ends of the 95 % interval.
impl Serialize for Figure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (low, high) = self.interval();
        let mut figure = serializer.serialize_struct("Figure", 4)?;
        figure.serialize_field("value", &self.value)?;
        figure.serialize_field("standard_error", &self.standard_error)?;
        figure.serialize_field("low", &low)?;
        figure.serialize_field("high", &high)?;
        figure.end()
    }
}

/// The interval follows from the rest.
impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "Figure")]
        struct Written {
            value: f64,
            standard_error: f64,
            #[serde(rename = "low")]
            _low: f64,
            #[serde(rename = "high")]
            _high: f64,
        }
        let Written { value, standard_error, .. } = Written::deserialize(deserializer)?;
        Ok(Self { value, standard_error })
    }
}

/// Count, mean and summed squared deviations of a stream, after Welford; merged after Chan, Golub and LeVeque.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moments {
    pub(crate) count: u64,
    pub(crate) mean: f64,
    /// Σ (t_i - t̄)²
    pub(crate) spread: f64,
}

impl Moments {
    pub(crate) fn add(&mut self, term: f64) {
        self.count += 1;
        let before = term - self.mean;
        self.mean += before / self.count as f64;
        self.spread += before * (term - self.mean);
    }

    /// Leaves `self` as if it had also seen all terms of `other`.
    pub(crate) fn merge(&mut self, other: Self) {
        let count = self.count + other.count;
        if count == 0 {
            return;
        }
        let (apart, part) = (other.mean - self.mean, other.count as f64 / count as f64);
        self.mean += apart * part;
        self.spread += other.spread + apart * apart * part * self.count as f64;
        self.count = count;
    }

    /// The mean with its standard error.
    pub(crate) fn figure(&self) -> Figure {
        let n = self.count as f64;
        Figure { value: self.mean, standard_error: standard_error(self.spread, n) }
    }
}

/// √(spread/((n-1)·n)), NaN for n < 2.
fn standard_error(spread: f64, n: f64) -> f64 {
    if n < 2.0 { f64::NAN } else { (spread.max(0.0) / ((n - 1.0) * n)).sqrt() }
}

/// The mean of n terms, with its standard error, from Σt and Σt².
pub(crate) fn of_sums(sum: f64, squares: f64, n: f64) -> Figure {
    let value = sum / n;
    Figure { value, standard_error: standard_error(squares - value * sum, n) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(terms: &[f64]) -> Moments {
        let mut moments = Moments::default();
        for &term in terms {
            moments.add(term);
        }
        moments
    }

    #[test]
    fn one_two_three_six_have_the_mean_and_standard_error_worked_out_by_hand() {
        // mean 3, spread 4 + 1 + 0 + 9 = 14, variance 14/3, se² = 14/12
        let figure = moments(&[1.0, 2.0, 3.0, 6.0]).figure();
        assert!((figure.value - 3.0).abs() < 1e-15);
        assert!((figure.standard_error - (14f64 / 12.0).sqrt()).abs() < 1e-15);
        let same = of_sums(12.0, 50.0, 4.0);
        assert!((same.standard_error - figure.standard_error).abs() < 1e-14);
        let (low, high) = figure.interval();
        assert!((high - low - 2.0 * 1.959_964 * figure.standard_error).abs() < 1e-5);
        assert!(moments(&[1.0]).figure().standard_error.is_nan());
    }

    #[test]
    fn splitting_the_terms_between_machines_changes_nothing_but_the_last_digits() {
        let terms: Vec<f64> = (0..97).map(|i| f64::from(i * i % 31) - 3.5).collect();
        let whole = moments(&terms);
        for cut in [0, 1, 40, 97] {
            let mut parts = moments(&terms[..cut]);
            parts.merge(moments(&terms[cut..]));
            assert_eq!(parts.count, whole.count);
            assert!((parts.mean - whole.mean).abs() < 1e-12 && (parts.spread - whole.spread).abs() < 1e-9);
        }
    }
}
