//! The leading eigenvectors of a large symmetric matrix that is only known by what it does to vectors.
//!
//! A polynomial of the matrix that is small on the unwanted part of the spectrum and grows fast beyond it makes a few random
//! vectors lean towards the wanted ones: on \[low, cut\] the Chebyshev polynomial T_m stays within ±1, at λ > cut it is
//! cosh(m·arcosh t) with t = (2λ - low - cut)/(cut - low). After each round the vectors are made orthonormal, the matrix is
//! looked at in their span only (Rayleigh, Ritz), and the cut moves to the least value found there.

use crate::Matrix;
use crate::matrix::product;
use faer::{Mat, Side};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// The degree of the polynomial.
const DEGREE: usize = 12;
/// The most rounds.
const ROUNDS: usize = 12;
/// How many vectors more are carried along than are wanted.
const SPARE: usize = 40;
/// What the last wanted eigenvalue may still move in a round, as a part of the range.
const SETTLED: f32 = 1e-4;

/// Eigenvalues, from above, and their eigenvectors as columns.
pub(crate) struct Spectrum {
    pub(crate) values: Vec<f32>,
    pub(crate) vectors: Matrix,
}

/// The `count` greatest eigenvalues of a symmetric matrix of `size` rows all of whose eigenvalues are at least `low`, and their vectors.
pub(crate) fn leading(size: usize, count: usize, low: f32, apply: impl Fn(&Matrix) -> Matrix) -> Spectrum {
    let carried = (count + SPARE).min(size);
    let mut vectors = orthonormal(&random(size, carried));
    let (mut values, mut vectors_turned) = ritz(&vectors, &apply(&vectors));
    for _ in 0..ROUNDS {
        let cut = values[carried - 1].max(low + f32::EPSILON);
        vectors = orthonormal(&filtered(&vectors_turned, (low, cut), &apply));
        let before = values[count - 1];
        (values, vectors_turned) = ritz(&vectors, &apply(&vectors));
        if (values[count - 1] - before).abs() <= SETTLED * (values[0] - low) {
            break;
        }
    }
    values.truncate(count);
    Spectrum { values, vectors: vectors_turned.first_columns(count) }
}

/// T_m of the matrix, applied to vectors: T_{j+1}(t) = 2t·T_j(t) - T_{j-1}(t), with t mapping \[low, cut\] to \[-1, 1\].
fn filtered(vectors: &Matrix, (low, cut): (f32, f32), apply: &impl Fn(&Matrix) -> Matrix) -> Matrix {
    let (half, middle) = ((cut - low) / 2.0, (cut + low) / 2.0);
    // 2t·v·(factor/2) - w
    let step = |current: &Matrix, before: Option<&Matrix>, factor: f32| {
        let mut next = apply(current);
        let scale = factor / half;
        for (next, x) in next.values_mut().iter_mut().zip(current.values()) {
            *next = (*next - middle * x) * scale;
        }
        if let Some(before) = before {
            next.values_mut().iter_mut().zip(before.values()).for_each(|(next, x)| *next -= x);
        }
        next
    };
    let (mut before, mut current) = (vectors.clone(), step(vectors, None, 1.0));
    for _ in 1..DEGREE {
        let next = step(&current, Some(&before), 2.0);
        (before, current) = (current, next);
    }
    current
}

/// Rayleigh and Ritz: the eigenvalues of V'AV, from above, and V turned into its eigenvectors.
fn ritz(vectors: &Matrix, applied: &Matrix) -> (Vec<f32>, Matrix) {
    let small = vectors.transposed_times(applied);
    let size = small.rows();
    let even = Mat::from_fn(size, size, |i, j| f64::from(small.row(i)[j] + small.row(j)[i]) / 2.0);
    let (values, turn) = symmetric(&even);
    (values.iter().map(|&value| value as f32).collect(), vectors.times(&turn))
}

/// All eigenvalues of a symmetric matrix, from above, and the eigenvectors as columns.
pub(crate) fn symmetric(matrix: &Mat<f64>) -> (Vec<f64>, Matrix) {
    let size = matrix.nrows();
    let eigen =
        matrix.self_adjoint_eigen(Side::Lower).expect("the iteration for a symmetric matrix converges");
    let values = (0..size).rev().map(|i| eigen.S()[i]).collect();
    let vectors = Matrix::from_fn(size, size, |i, j| eigen.U()[(i, size - 1 - j)] as f32);
    (values, vectors)
}

/// An orthonormal basis of the span of the columns: V·R⁻¹ with V'V = R'R, twice, since the first leaves the rounding of a
/// badly conditioned V behind.
fn orthonormal(vectors: &Matrix) -> Matrix {
    let once = |vectors: &Matrix| {
        let gram = vectors.transposed_times(vectors);
        let size = gram.rows();
        let (values, turn) = symmetric(&Mat::from_fn(size, size, |i, j| f64::from(gram.row(i)[j])));
        // V·U·S^-1/2; directions that are lost in rounding are left as they are, and the next round fills them
        let least = values[0] * 1e-7;
        let scale: Vec<f32> = values.iter().map(|&s| (1.0 / s.max(least).sqrt()) as f32).collect();
        let scaled = Matrix::from_fn(size, size, |i, j| turn.row(i)[j] * scale[j]);
        product(vectors.view(), scaled.view())
    };
    once(&once(vectors))
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
        let found = leading(n, 10, -2.0, path);
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
        let found =
            leading(200, 30, 0.0, |v| Matrix::from_fn(200, v.columns(), |i, j| v.row(i)[j] / (i + 1) as f32));
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
}
