//! The directions in which people differ most, and where somebody is along them.
//!
//! The covariance of the features is summed block by block, and only its leading eigenvectors are looked for. The coordinate
//! along each is divided by λ^(1/4), λ its variance: half of the way, in logarithms, from plain coordinates, in which a few
//! directions drown the others, to white ones, in which noise counts like signal.

use crate::error::same;
use crate::spectrum::{Spectrum, leading};
use crate::spread::Spread;
use crate::{Matrix, RepresentError, SparseRows};
use serde::{Deserialize, Serialize};

/// The power of its variance by which a coordinate is divided.
const WHITENING: f32 = 0.25;
/// What differs by less than this part of itself differs by rounding.
pub(crate) const ROUNDING: f64 = 1e-6;

/// A map from features to coordinates that are scaled for distances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Principal {
    mean: Vec<f32>,
    /// Columns are directions, divided by the power of their variance
    directions: Matrix,
}

impl Principal {
    /// The `count` leading directions of rows that spread like this, fewer if they have fewer.
    pub(crate) fn fit(spread: Spread, count: usize) -> Result<Self, RepresentError> {
        let Spread { rows: people, ref mean, ref covariance } = spread;
        let width = mean.len();
        if people < 2 {
            return Err(RepresentError::TooFew { people, needed: "directions in which they differ".into() });
        }
        check_differ(mean, (0..width).map(|column| spread.column(column).1), people)?;
        // They differ in fewer directions than they are
        let count = count.min(width).min(people - 1);
        let found = leading(width, count, 0.0, |v| covariance.times(v))?;
        Self::of(spread.mean, found, people)
    }

    /// The same of rows that are mostly zero, whose covariance X'X/n - mm' is applied without being written down.
    pub(crate) fn fit_sparse(rows: &SparseRows, count: usize) -> Result<Self, RepresentError> {
        let (people, width) = (rows.rows(), rows.columns());
        if people < 2 {
            return Err(RepresentError::TooFew { people, needed: "directions in which they differ".into() });
        }
        let across = rows.transposed();
        let share = 1.0 / people as f32;
        let mean: Vec<f32> = across.times(&Matrix::from_fn(people, 1, |_, _| share)).values().to_vec();
        check_differ(&mean, sparse_variances(&across), people)?;
        let mean_row = Matrix::new(width, mean.clone())?;
        let apply = |v: &Matrix| {
            let mut out = across.times(&rows.times(v));
            let along = mean_row.times(v);
            for (row, mean) in out.values_mut().chunks_exact_mut(v.columns()).zip(&mean) {
                row.iter_mut().zip(along.values()).for_each(|(x, along)| *x = *x * share - mean * along);
            }
            out
        };
        let count = count.min(width).min(people - 1);
        Self::of(mean.clone(), leading(width, count, 0.0, apply)?, people)
    }

    /// Directions whose variance is more than rounding, scaled.
    fn of(mean: Vec<f32>, spectrum: Spectrum, people: usize) -> Result<Self, RepresentError> {
        let Spectrum { values, vectors } = spectrum;
        let kept = values.iter().take_while(|&&value| value > values[0].max(0.0) * 1e-6).count();
        if kept == 0 || values[0] <= 0.0 {
            return Err(RepresentError::Constant { people });
        }
        let scale: Vec<f32> = values[..kept].iter().map(|value| value.powf(-WHITENING)).collect();
        let directions = Matrix::from_fn(mean.len(), kept, |i, j| vectors.row(i)[j] * scale[j]);
        Ok(Self { mean, directions })
    }

    /// How many coordinates it gives.
    pub(crate) fn coordinates(&self) -> usize {
        self.directions.columns()
    }

    /// Where people are.
    pub(crate) fn project(&self, rows: &Matrix) -> Result<Matrix, RepresentError> {
        self.check(rows.columns())?;
        self.centred(rows.times(&self.directions))
    }

    /// Where people are whose rows are mostly zero.
    pub(crate) fn project_sparse(&self, rows: &SparseRows) -> Result<Matrix, RepresentError> {
        self.check(rows.columns())?;
        self.centred(rows.times(&self.directions))
    }

    /// Refuses rows of other features, and directions of others than the mean, as a document may have them.
    fn check(&self, features: usize) -> Result<(), RepresentError> {
        same("a row", "features", features, self.mean.len())?;
        same("a direction", "features", self.directions.rows(), self.mean.len())
    }

    /// x·D - m·D.
    fn centred(&self, mut out: Matrix) -> Result<Matrix, RepresentError> {
        let shift = Matrix::new(self.mean.len(), self.mean.clone())?.times(&self.directions);
        for row in out.values_mut().chunks_exact_mut(self.directions.columns()) {
            row.iter_mut().zip(shift.values()).for_each(|(x, shift)| *x -= shift);
        }
        Ok(out)
    }
}

/// Refuses people whose columns vary by rounding only.
fn check_differ(
    mean: &[f32],
    variances: impl Iterator<Item = f64>,
    people: usize,
) -> Result<(), RepresentError> {
    let varies = |(&mean, variance): (&f32, f64)| variance > (ROUNDING * f64::from(mean)).powi(2);
    if mean.iter().zip(variances).any(varies) { Ok(()) } else { Err(RepresentError::Constant { people }) }
}

/// E\[x²\] - E\[x\]² of each row of columns that have become rows, whose entries stand in the order of people.
fn sparse_variances(across: &SparseRows) -> impl Iterator<Item = f64> {
    let people = across.columns() as f64;
    (0..across.rows()).map(move |column| {
        let (mut sum, mut squares) = (0.0, 0.0);
        for own in across.row(column).chunk_by(|a, b| a.0 == b.0) {
            let x: f64 = own.iter().map(|&(_, x)| f64::from(x)).sum();
            sum += x;
            squares += x * x;
        }
        squares / people - (sum / people).powi(2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(rows: &Matrix, count: usize) -> Result<Principal, RepresentError> {
        Principal::fit(Spread::of(rows)?, count)
    }

    #[test]
    fn coordinates_lie_along_the_axes_of_an_ellipse_and_are_scaled() {
        // A turned ellipse: x = 4cos·u - sin·v, y = 4sin·u + cos·v for points (u, v) of a circle
        let (sin, cos) = 0.6f32.sin_cos();
        let people = 1000;
        let angle = |i: usize| std::f32::consts::TAU * i as f32 / people as f32;
        let rows = Matrix::from_fn(people, 2, |i, j| {
            let (v, u) = angle(i).sin_cos();
            5.0 + if j == 0 { 4.0 * cos * u - sin * v } else { 4.0 * sin * u + cos * v }
        });
        let principal = fit(&rows, 2).unwrap();
        let found = principal.project(&rows).unwrap();
        for i in 0..people {
            let (v, u) = angle(i).sin_cos();
            // variances 8 and 1/2
            let expected = [4.0 * u / 8f32.powf(0.25), v / 0.5f32.powf(0.25)];
            let same = found.row(i).iter().zip(expected).all(|(x, y)| (x.abs() - y.abs()).abs() < 1e-2);
            assert!(same, "{i}: {:?} for {expected:?}", found.row(i));
        }
    }

    #[test]
    fn rows_that_are_mostly_zero_have_the_coordinates_that_they_have_with_their_zeros() {
        let dense = Matrix::from_fn(400, 250, |i, j| {
            if (i * 7 + j * 3) % 11 < 2 {
                1.0 + ((i * j) as f32).sin() + if j < 4 { 3.0 * (i % 4) as f32 } else { 0.0 }
            } else {
                0.0
            }
        });
        let mut sparse = SparseRows::new(250);
        for i in 0..400 {
            let row = dense.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0);
            sparse.push(row.map(|(j, &x)| (j as u32, x))).unwrap();
        }
        let (one, other) = (fit(&dense, 3).unwrap(), Principal::fit_sparse(&sparse, 3).unwrap());
        let (one, other) = (one.project(&dense).unwrap(), other.project_sparse(&sparse).unwrap());
        for i in 0..400 {
            let same = one.row(i).iter().zip(other.row(i)).all(|(a, b)| (a.abs() - b.abs()).abs() < 2e-2);
            assert!(same, "{i}: {:?} {:?}", one.row(i), other.row(i));
        }
    }

    #[test]
    fn words_that_everybody_says_as_often_tell_nothing_and_a_word_in_two_halves_is_one() {
        let said = |words: &[&[(u32, f32)]]| {
            let mut rows = SparseRows::new(500);
            (0..30).for_each(|i| rows.push(words[i % words.len()].iter().copied()).unwrap());
            Principal::fit_sparse(&rows, 3).map(|found| found.coordinates())
        };
        let once: &[(u32, f32)] = &[(3, 0.1), (400, 0.7)];
        let halves: &[(u32, f32)] = &[(3, 0.05), (3, 0.05), (400, 0.7)];
        assert_eq!(said(&[once]), Err(RepresentError::Constant { people: 30 }));
        assert_eq!(said(&[once, halves]), Err(RepresentError::Constant { people: 30 }));
        assert!(said(&[once, &[(3, 0.1)]]).is_ok_and(|coordinates| coordinates > 0));
    }

    #[test]
    fn people_who_do_not_differ_and_other_columns_are_refused() {
        let same = Matrix::from_fn(20, 3, |_, j| j as f32);
        assert_eq!(fit(&same, 2), Err(RepresentError::Constant { people: 20 }));
        let nearly = Matrix::from_fn(20, 300, |i, _| if i % 2 == 0 { 3.0 } else { 3.0f32.next_up() });
        assert_eq!(fit(&nearly, 2), Err(RepresentError::Constant { people: 20 }));
        let large = Matrix::from_fn(20, 300, |i, j| 1e25 * ((i * j) as f32).sin());
        assert!(matches!(fit(&large, 2), Err(RepresentError::Spectrum { size: 42, .. })));
        let rows = Matrix::from_fn(20, 3, |i, j| (i * (j + 1)) as f32);
        let principal = fit(&rows, 3).unwrap();
        assert!(matches!(
            principal.project(&Matrix::zeros(1, 4)),
            Err(RepresentError::Shape { found: 4, .. })
        ));
        assert!(matches!(fit(&Matrix::zeros(1, 3), 2), Err(RepresentError::TooFew { people: 1, .. })));
    }
}
