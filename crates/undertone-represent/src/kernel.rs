//! Smooth functions of where somebody is: an orthonormal basis of what a Gauss kernel can make of some landmarks.
//!
//! With k(x, y) = exp(-|x - y|²/m), m the median squared distance of people who differ, landmarks L, K_LL + 10⁻⁵·I = CC' and
//! B = K_nL·C'⁻¹ (C. Williams and M. Seeger, *Using the Nyström Method to Speed Up Kernel Machines*), BB' stands for the whole kernel
//! matrix. From the eigenvectors of B'B = VSV', P = B·V·S^-1/2 has orthonormal columns, and S are the eigenvalues of BB' along them.
//!
//! **Rounding.** Where people are in few dimensions K_LL is nearly singular. It is written and factored in double precision; B is formed
//! before it is squared, since C⁻¹·(K'K)·C'⁻¹ would make 10⁵ times as much of the rounding of K'K.

use crate::exponential::exponentials;
use crate::matrix::product;
use crate::principal::ROUNDING;
use crate::spectrum::eigen;
use crate::{Matrix, RepresentError};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat, MatMut, Par, Spec};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Added to the diagonal, without which near twins among the landmarks would make rounding decide.
const RIDGE: f64 = 1e-5;
/// Eigenvalues below this part of the greatest are rounding.
const LEAST: f32 = 1e-6;
/// People between whom the median is taken.
const PAIRS: usize = 700;
/// Rows that a core treats together.
const ROWS: usize = 512;

/// A basis over the people, and how others are seen in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelBasis {
    /// Columns are orthonormal, the smoothest first
    pub vectors: Matrix,
    /// The eigenvalue of each
    pub values: Vec<f64>,
    kernel: Landmarks,
    /// From kernel values to coordinates: C'⁻¹·V·S^-1/2
    turn: Matrix,
}

/// Some people, and how near others are to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Landmarks {
    people: Matrix,
    /// 1/m
    rate: f32,
}

impl Landmarks {
    /// How many coordinates of somebody are looked at.
    pub fn coordinates(&self) -> usize {
        self.people.columns()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.people.rows()
    }

    /// k(x, ·) for each person, a row each.
    pub fn kernel(&self, people: &Matrix) -> Result<Matrix, RepresentError> {
        if people.columns() != self.people.columns() {
            return Err(RepresentError::Shape {
                what: "a person",
                unit: "coordinates",
                found: people.columns(),
                expected: self.people.columns(),
            });
        }
        let norm = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>();
        let width = self.people.rows();
        let norms: Vec<f32> = (0..width).map(|i| norm(self.people.row(i))).collect();
        let mut out = product(people.view(), self.people.view().transpose());
        out.values_mut().par_chunks_mut(ROWS * width).enumerate().for_each(|(block, out)| {
            for (row, out) in out.chunks_exact_mut(width).enumerate() {
                let own = norm(people.row(block * ROWS + row));
                for (value, norm) in out.iter_mut().zip(&norms) {
                    *value = -self.rate * (own + norm - 2.0 * *value).max(0.0);
                }
                exponentials(out);
            }
        });
        Ok(out)
    }
}

impl Landmarks {
    /// C with CC' = K_LL + 10⁻⁵·I.
    fn root(&self) -> Result<Mat<f32>, RepresentError> {
        let (count, width) = (self.people.rows(), self.people.columns());
        let exact = Mat::from_fn(count, width, |i, j| f64::from(self.people.row(i)[j]));
        let mut among = Mat::zeros(count, count);
        matmul(among.as_mut(), Accum::Replace, exact.as_ref(), exact.transpose(), 1.0, Par::Seq);
        let norms: Vec<f64> = (0..count).map(|i| among[(i, i)]).collect();
        for (j, column) in among.col_iter_mut().enumerate() {
            for (i, value) in column.iter_mut().enumerate() {
                let square = (norms[i] + norms[j] - 2.0 * *value).max(0.0);
                *value = (-f64::from(self.rate) * square).exp() + if i == j { RIDGE } else { 0.0 };
            }
        }
        let room = cholesky_in_place_scratch::<f64>(count, Par::Seq, Spec::default());
        let stack = &mut MemBuffer::new(room);
        cholesky_in_place(
            among.as_mut(),
            LltRegularization::default(),
            Par::Seq,
            MemStack::new(stack),
            Spec::default(),
        )
        .map_err(|_| RepresentError::Singular { what: "the kernel" })?;
        Ok(Mat::from_fn(count, count, |i, j| if i < j { 0.0 } else { among[(i, j)] as f32 }))
    }
}

impl KernelBasis {
    /// The basis that `landmarks` people, drawn from a fixed public stream, span over all.
    pub fn new(people: &Matrix, landmarks: usize) -> Result<Self, RepresentError> {
        let count = people.rows();
        if count < 2 {
            return Err(RepresentError::TooFew { people: count, needed: "a kernel".into() });
        }
        let rate = 1.0 / median_square(people).ok_or(RepresentError::Constant { people: count })?;
        let kernel = Landmarks { people: people.select(&draw(count, landmarks.min(count))), rate };
        let root = kernel.root()?;
        // B' = C⁻¹·K', in the place of K
        let mut seen = kernel.kernel(people)?;
        let size = seen.columns();
        seen.values_mut().par_chunks_mut(ROWS * size).for_each(|rows| {
            let rows = MatMut::from_row_major_slice_mut(rows, rows.len() / size, size);
            solve_lower_triangular_in_place(root.as_ref(), rows.transpose_mut(), Par::Seq);
        });
        let gram = seen.gram();
        let (values, vectors) = eigen(gram.view())?;
        drop(gram);
        let kept = values.iter().take_while(|&&value| value > values[0] * LEAST).count();
        let mut turn = vectors.subcols(0, kept).to_owned();
        for (column, value) in turn.col_iter_mut().zip(&values) {
            let scale = 1.0 / value.sqrt();
            column.iter_mut().for_each(|x| *x *= scale);
        }
        let vectors = seen.times_in_place(turn.as_ref());
        solve_upper_triangular_in_place(root.transpose(), turn.as_mut(), Par::Seq);
        let turn = Matrix::from_fn(turn.nrows(), kept, |i, j| turn[(i, j)]);
        Ok(Self { vectors, values: values[..kept].iter().copied().map(f64::from).collect(), kernel, turn })
    }

    /// The landmarks of the basis.
    pub fn landmarks(&self) -> &Landmarks {
        &self.kernel
    }

    /// What the landmarks are worth to a function with these coefficients: f(x) = k(x, ·)·w with w = turn·coefficients.
    #[must_use]
    pub fn worth(&self, coefficients: &Matrix) -> Matrix {
        self.turn.times(coefficients)
    }
}

/// The median of the squared distances between some people who differ, if any do: where most are alike, as in a column of categories,
/// that of all would be nothing.
fn median_square(people: &Matrix) -> Option<f32> {
    let chosen = draw(people.rows(), PAIRS.min(people.rows()));
    let (left, right) = chosen.split_at(chosen.len() / 2);
    let far = |(a, b): (usize, usize)| apart(people.row(a), people.row(b));
    let pairs = left.iter().flat_map(|&a| right.iter().map(move |&b| (a, b)));
    let mut all: Vec<f32> = pairs.filter_map(far).collect();
    if all.is_empty() {
        // Those who differ from all others may be too few to be among the chosen
        all = (1..people.rows()).filter_map(|other| far((0, other))).collect();
    }
    let middle = all.len() / 2;
    (!all.is_empty()).then(|| *all.select_nth_unstable_by(middle, f32::total_cmp).1)
}

/// The squared distance between two places, if it is more than rounding and has an inverse.
fn apart(one: &[f32], other: &[f32]) -> Option<f32> {
    let (mut square, mut size) = (0.0f32, 0.0f32);
    for (a, b) in one.iter().zip(other) {
        square += (a - b) * (a - b);
        size += a * a + b * b;
    }
    (square > (ROUNDING * ROUNDING) as f32 * size && square >= f32::MIN_POSITIVE).then_some(square)
}

/// Some of the first `below` numbers, each at most once: the beginning of a shuffle.
fn draw(below: usize, count: usize) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut all: Vec<usize> = (0..below).collect();
    for i in 0..count {
        // The bias of a remainder of 64 bits is far below anything that matters to where landmarks are.
        let other = i + (rng.next_u64() % (below - i) as u64) as usize;
        all.swap(i, other);
    }
    all.truncate(count);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spectrum::symmetric;

    fn people(count: usize) -> Matrix {
        Matrix::from_fn(count, 3, |i, j| ((i * 3 + j) as f32 * 2.3).sin())
    }

    #[test]
    fn with_everybody_a_landmark_the_basis_has_the_spectrum_of_the_kernel_matrix() {
        let people = people(60);
        let basis = KernelBasis::new(&people, 60).unwrap();
        let whole = Landmarks { people: people.clone(), rate: basis.kernel.rate }.kernel(&people).unwrap();
        let (values, _) = symmetric(&Mat::from_fn(60, 60, |i, j| f64::from(whole.row(i)[j]))).unwrap();
        for (found, expected) in basis.values.iter().zip(&values).take(20) {
            // K·(K + 10⁻⁵·I)⁻¹·K has the eigenvalues s²/(s + 10⁻⁵)
            let expected = expected * expected / (expected + RIDGE);
            assert!((found - expected).abs() < 1e-4 * values[0], "{found} for {expected}");
        }
    }

    #[test]
    fn the_basis_is_orthonormal_and_a_function_goes_on_to_others() {
        let people = people(300);
        let basis = KernelBasis::new(&people, 40).unwrap();
        let gram = basis.vectors.transposed_times(&basis.vectors);
        let kept = basis.values.len();
        for i in 0..kept {
            for j in 0..kept {
                let expected = f32::from(u8::from(i == j));
                // A value s is known to about 10⁻⁶·s₁
                let tolerance = (1e-5 * basis.values[0] / basis.values[i.max(j)]).max(1e-4) as f32;
                assert!((gram.row(i)[j] - expected).abs() < tolerance, "{i} {j} {}", gram.row(i)[j]);
            }
        }
        let coefficients = Matrix::from_fn(kept, 2, |i, j| if i < 5 { (i + j) as f32 } else { 0.0 });
        let extended = basis.landmarks().kernel(&people).unwrap().times(&basis.worth(&coefficients));
        let own = basis.vectors.times(&coefficients);
        assert!(extended.values().iter().zip(own.values()).all(|(a, b)| (a - b).abs() < 1e-3));
    }

    #[test]
    fn people_who_are_all_alike_are_refused() {
        let same = Matrix::zeros(10, 2);
        assert!(matches!(KernelBasis::new(&same, 5), Err(RepresentError::Constant { people: 10 })));
        // Nor does rounding tell them apart
        let nearly = Matrix::from_fn(10, 2, |i, _| if i % 2 == 0 { 3.0 } else { 3.0f32.next_up() });
        assert!(matches!(KernelBasis::new(&nearly, 5), Err(RepresentError::Constant { people: 10 })));
    }

    #[test]
    fn two_groups_are_told_apart_however_small_one_of_them_is() {
        // One person in five, and one of three thousand who is no landmark, at a distance of two from the others
        for (count, every, functions) in [(600, 5, 2), (3000, 3000, 1)] {
            let people = Matrix::from_fn(count, 1, |i, _| if i % every == every - 1 { 2.0 } else { 0.0 });
            let basis = KernelBasis::new(&people, 50).unwrap();
            assert_eq!(basis.kernel.rate.to_bits(), 0.25f32.to_bits());
            assert_eq!(basis.values.len(), functions, "{:?}", basis.values);
            assert!((basis.vectors.row(every - 1)[0] - basis.vectors.row(0)[0]).abs() > 1e-3);
        }
    }
}
