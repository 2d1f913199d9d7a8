//! The leading eigenvectors of a large symmetric matrix that is only known by what it does to vectors.
//!
//! A polynomial of the matrix that is small on the unwanted part of the spectrum and grows fast beyond it makes a few random
//! vectors lean towards the wanted ones: on \[low, cut\] the Chebyshev polynomial T_m stays within ±1, at λ > cut it is
//! cosh(m·arcosh t) with t = (2λ - low - cut)/(cut - low). After each round the vectors are made orthonormal, the matrix is
//! looked at in their span only (Rayleigh, Ritz), and the cut moves to the least value found there.

use crate::{Matrix, RepresentError};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::traits::RealField;
use faer::{Mat, MatRef, Par, Spec};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// The greatest degree of the polynomial.
const DEGREE: usize = 12;
/// The most that the polynomial may grow by over the spectrum: what is small beside it would be lost in rounding.
const GROWTH: f32 = 1e5;
/// Numbers that a core treats together.
const BLOCK: usize = 1 << 14;
/// The most rounds.
const ROUNDS: usize = 12;
/// How many vectors more are carried along in a search for directions than are wanted.
pub const SPARE: usize = 40;
/// What the last wanted eigenvalue may still move in a round, as a part of its height above the lowest; what is left after such a round is
/// smaller by as much as the polynomial grew.
const SETTLED: f32 = 1e-3;

/// Eigenvalues, from above, and their eigenvectors as columns.
pub(crate) struct Spectrum {
    pub(crate) values: Vec<f32>,
    pub(crate) vectors: Matrix,
}

/// The `count` greatest eigenvalues of a symmetric matrix of `size` rows all of whose eigenvalues are at least `low`, and their vectors.
pub(crate) fn leading(
    size: usize,
    count: usize,
    low: f32,
    apply: impl Fn(&Matrix) -> Matrix,
) -> Result<Spectrum, RepresentError> {
    let carried = count + SPARE;
    if size <= 2 * carried {
        return whole(size, count, &apply);
    }
    let mut vectors = orthonormal(random(size, carried))?;
    let (mut values, mut vectors_turned) = ritz(&vectors, &apply(&vectors))?;
    for _ in 0..ROUNDS {
        if values[0] <= low {
            // Nothing rises above the lowest, and one vector is as good as another
            break;
        }
        let filter = Chebyshev::new(low, values[carried - 1], values[0]);
        vectors = orthonormal(filter.of(vectors_turned, &apply))?;
        let before = values[count - 1];
        (values, vectors_turned) = ritz(&vectors, &apply(&vectors))?;
        if (values[count - 1] - before).abs() <= SETTLED * (values[count - 1] - low) {
            break;
        }
    }
    values.truncate(count);
    Ok(Spectrum { values, vectors: vectors_turned.first_columns(count) })
}

/// The same of a matrix that is small enough to be written down.
fn whole(size: usize, count: usize, apply: &impl Fn(&Matrix) -> Matrix) -> Result<Spectrum, RepresentError> {
    let matrix = apply(&Matrix::from_fn(size, size, |i, j| f32::from(u8::from(i == j))));
    let (values, vectors) = symmetric(&even(&matrix))?;
    let values = values.iter().take(count).map(|&value| value as f32).collect();
    Ok(Spectrum { values, vectors: vectors.first_columns(count) })
}

/// The polynomial T_m(t)/T_m(t_top), t mapping \[low, cut\] to \[-1, 1\]: at most one on the whole spectrum, so that nothing overflows.
struct Chebyshev {
    half: f32,
    middle: f32,
    /// t of the greatest eigenvalue
    top: f32,
    degree: usize,
}

impl Chebyshev {
    fn new(low: f32, cut: f32, top: f32) -> Self {
        // A cut at the lowest, as of a matrix of low rank, would leave no interval to be small on
        let cut = cut.max(low + 1e-6 * (top - low));
        let (half, middle) = ((cut - low) / 2.0, f32::midpoint(cut, low));
        let top = ((top - middle) / half).max(1.0 + 1e-6);
        // T_m(t) = cosh(m·arcosh t)
        let degree = (GROWTH.acosh() / top.acosh()) as usize;
        Self { half, middle, top, degree: degree.clamp(2, DEGREE) }
    }

    /// The polynomial of the matrix, applied to vectors. With σ_j = T_{j-1}(t_top)/T_j(t_top), T_{j+1} = 2t·T_j - T_{j-1} becomes
    /// y_{j+1} = 2σ_{j+1}·t·y_j - σ_j·σ_{j+1}·y_{j-1}, and σ_{j+1} = 1/(2t_top - σ_j).
    fn of(&self, vectors: Matrix, apply: &impl Fn(&Matrix) -> Matrix) -> Matrix {
        let mut sigma = 1.0 / self.top;
        let mut next = apply(&vectors);
        self.step(&mut next, &vectors, None, sigma);
        let (mut before, mut current) = (vectors, next);
        for _ in 1..self.degree {
            let following = 1.0 / (2.0 * self.top - sigma);
            let mut next = apply(&current);
            self.step(&mut next, &current, Some((&before, sigma * following)), 2.0 * following);
            (before, current, sigma) = (current, next, following);
        }
        current
    }

    /// `factor`·t·current - share·before, where `next` is the matrix times current.
    fn step(&self, next: &mut Matrix, current: &Matrix, before: Option<(&Matrix, f32)>, factor: f32) {
        let scale = factor / self.half;
        let blocks = next.values_mut().par_chunks_mut(BLOCK).zip(current.values().par_chunks(BLOCK));
        let Some((before, share)) = before else {
            return blocks.for_each(|(next, current)| {
                next.iter_mut().zip(current).for_each(|(next, x)| *next = (*next - self.middle * x) * scale);
            });
        };
        blocks.zip(before.values().par_chunks(BLOCK)).for_each(|((next, current), before)| {
            for ((next, x), w) in next.iter_mut().zip(current).zip(before) {
                *next = (*next - self.middle * x) * scale - share * w;
            }
        });
    }
}

/// Rayleigh and Ritz: the eigenvalues of V'AV, from above, and V turned into its eigenvectors.
fn ritz(vectors: &Matrix, applied: &Matrix) -> Result<(Vec<f32>, Matrix), RepresentError> {
    let (values, turn) = symmetric(&even(&vectors.transposed_times(applied)))?;
    Ok((values.iter().map(|&value| value as f32).collect(), vectors.times(&turn)))
}

/// (M + M')/2 in double precision.
fn even(matrix: &Matrix) -> Mat<f64> {
    let size = matrix.rows();
    Mat::from_fn(size, size, |i, j| f64::midpoint(matrix.row(i)[j].into(), matrix.row(j)[i].into()))
}

/// All eigenvalues of a symmetric matrix, from above, and the eigenvectors as columns.
pub(crate) fn symmetric(matrix: &Mat<f64>) -> Result<(Vec<f64>, Matrix), RepresentError> {
    let (values, vectors) = eigen(matrix.as_ref())?;
    let size = matrix.nrows();
    Ok((values, Matrix::from_fn(size, size, |i, j| vectors[(i, j)] as f32)))
}

/// The same of the lower half of a matrix, on one core: cores that share this work wait for one another at every column, which on a busy
/// machine takes far longer than the work. What is beyond all floats has no eigenvectors.
pub(crate) fn eigen<T: RealField + Into<f64>>(
    matrix: MatRef<'_, T>,
) -> Result<(Vec<T>, Mat<T>), RepresentError> {
    let size = matrix.nrows();
    let unfound = || RepresentError::Spectrum { size, largest: largest(matrix) };
    if !matrix.is_all_finite() {
        return Err(unfound());
    }
    let (mut values, mut vectors) = (Diag::<T>::zeros(size), Mat::<T>::zeros(size, size));
    let room = self_adjoint_evd_scratch::<T>(size, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    self_adjoint_evd(
        matrix,
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(room)),
        Spec::default(),
    )
    .map_err(|_| unfound())?;
    let values = (0..size).rev().map(|i| values[i].clone()).collect();
    Ok((values, vectors.as_ref().reverse_cols().to_owned()))
}

/// The entry that is farthest from zero; what is no number is farther than all numbers.
fn largest<T: RealField + Into<f64>>(matrix: MatRef<'_, T>) -> f64 {
    let entries = matrix.col_iter().flat_map(|column| column.iter().cloned().map(|x| x.into().abs()));
    entries.max_by(f64::total_cmp).unwrap_or(0.0)
}

/// An orthonormal basis of the span of the columns: V·U·S^-1/2 with V'V = USU', twice, since the first leaves the rounding of a
/// badly conditioned V behind. Columns are made equally long first, as the polynomial stretches each by its own factor.
fn orthonormal(mut vectors: Matrix) -> Result<Matrix, RepresentError> {
    let width = vectors.columns();
    let mut lengths = vec![0.0f64; width];
    for row in vectors.values().chunks_exact(width) {
        lengths.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x) * f64::from(x));
    }
    let scale: Vec<f32> = lengths.iter().map(|&sum| (1.0 / sum.sqrt().max(1e-30)) as f32).collect();
    for row in vectors.values_mut().chunks_exact_mut(width) {
        row.iter_mut().zip(&scale).for_each(|(x, scale)| *x *= scale);
    }
    let once = |vectors: &Matrix| {
        let (values, turn) = symmetric(&even(&vectors.transposed_times(vectors)))?;
        // Directions that are lost in rounding stay short, and the next round fills them
        let least = (values[0] * 1e-7).max(1e-30);
        let scale: Vec<f32> = values.iter().map(|&s| (1.0 / s.max(least).sqrt()) as f32).collect();
        let scaled = Matrix::from_fn(width, width, |i, j| turn.row(i)[j] * scale[j]);
        Ok(vectors.times(&scaled))
    };
    once(&once(&vectors)?)
}

/// Values between -1 and 1 from a fixed public stream.
fn random(rows: usize, columns: usize) -> Matrix {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let values = (0..rows * columns).map(|_| (rng.next_u32() as i32) as f32 / 2f32.powi(31)).collect();
    Matrix::new(columns, values).expect("whole rows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leading_vectors_of_a_path_are_its_slow_waves() {
        // The path of n vertices: A = 2cos has eigenvalues 2cos(πk/(n+1)) and eigenvectors sin(πki/(n+1))
        let n = 300;
        let path = |v: &Matrix| {
            Matrix::from_fn(n, v.columns(), |i, j| {
                let at = |i: usize| v.row(i)[j];
                (if i > 0 { at(i - 1) } else { 0.0 }) + (if i + 1 < n { at(i + 1) } else { 0.0 })
            })
        };
        let found = leading(n, 10, -2.0, path).unwrap();
        for k in 1..=10 {
            let angle = std::f64::consts::PI * k as f64 / (n + 1) as f64;
            assert!(
                (f64::from(found.values[k - 1]) - 2.0 * angle.cos()).abs() < 1e-4,
                "{k}: {:?}",
                found.values
            );
            let wave = |i: usize| (angle * (i + 1) as f64).sin() * (2.0 / (n + 1) as f64).sqrt();
            let cosine: f64 = (0..n).map(|i| wave(i) * f64::from(found.vectors.row(i)[k - 1])).sum();
            assert!(cosine.abs() > 0.99, "{k}: {cosine}");
        }
    }

    #[test]
    fn the_vectors_are_orthonormal() {
        let diagonal = |v: &Matrix| Matrix::from_fn(200, v.columns(), |i, j| v.row(i)[j] / (i + 1) as f32);
        let found = leading(200, 30, 0.0, diagonal).unwrap();
        let gram = found.vectors.transposed_times(&found.vectors);
        for i in 0..30 {
            for j in 0..30 {
                assert!(
                    (gram.row(i)[j] - f32::from(u8::from(i == j))).abs() < 1e-4,
                    "{i} {j} {}",
                    gram.row(i)[j]
                );
            }
        }
        // The matrix is diagonal with 1, 1/2, 1/3, …
        assert!(
            found.values.iter().zip(1..).all(|(value, k)| (value - 1.0 / k as f32).abs() < 1e-4),
            "{:?}",
            found.values
        );
    }

    #[test]
    fn of_a_matrix_of_zeros_any_vectors_are_leading_and_of_no_numbers_none() {
        // Written down as a whole, and only applied
        for size in [40, 300] {
            let of = |factor: f32| {
                leading(size, 10, 0.0, |v| Matrix::from_fn(size, v.columns(), |i, j| factor * v.row(i)[j]))
            };
            let found = of(0.0).unwrap();
            assert!(found.values.len() == 10 && found.values.iter().all(|&value| value == 0.0));
            assert!(found.vectors.values().iter().all(|x| x.is_finite()));
            for bad in [f32::INFINITY, f32::NAN] {
                assert!(
                    matches!(of(bad), Err(RepresentError::Spectrum { largest, .. }) if !largest.is_finite())
                );
            }
        }
    }
}
