//! A function of the kernel basis that makes the reports themselves likeliest.
//!
//! With π = softmax(P·c), coefficients c minimise
//!
//! > -Σ_i ln Σ_k π_ik·E_ik + τ·Σ_i CE(q_i, π_i) + λ/2·Σ_j |c_j|²/s_j
//!
//! where q are beliefs that were formed before: a teacher, for what reports alone leave open. P being orthonormal, dividing c_j by
//! 1/√(κ + λ/s_j) makes the function nearly as steep in all directions, and some twenty steps are enough.

use crate::Matrix;
use crate::beliefs::softmax;
use crate::descent::minimise;
use rayon::prelude::*;

/// The steepness of the likelihood, about.
const STEEPNESS: f64 = 0.1;
/// Rows that a core treats together.
const ROWS: usize = 1024;

/// What the fit is made of.
pub(crate) struct Forward<'a> {
    pub(crate) basis: &'a Matrix,
    /// s
    pub(crate) values: &'a [f64],
    /// E; a row of ones says nothing
    pub(crate) reports: &'a Matrix,
    /// q
    pub(crate) teacher: &'a Matrix,
}

/// λ and τ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Strength {
    pub(crate) penalty: f64,
    pub(crate) teaching: f32,
}

impl Forward<'_> {
    /// The coefficients after so many steps at most, from others that are near.
    pub(crate) fn fit(&self, strength: Strength, start: Option<&Matrix>, steps: usize) -> Matrix {
        let classes = self.reports.columns();
        let scale: Vec<f64> =
            self.values.iter().map(|s| 1.0 / (STEEPNESS + strength.penalty / s).sqrt()).collect();
        let coefficients =
            |u: &[f64]| Matrix::from_fn(scale.len(), classes, |j, k| (u[j * classes + k] * scale[j]) as f32);
        let start = match start {
            Some(c) => {
                c.values().iter().enumerate().map(|(i, &c)| f64::from(c) / scale[i / classes]).collect()
            }
            None => vec![0.0; scale.len() * classes],
        };
        let objective = |u: &[f64]| {
            let c = coefficients(u);
            let (value, slope) = self.loss(&c, strength.teaching);
            let n = self.basis.rows() as f64;
            // λ/2·Σ|c_j|²/s_j and its gradient
            let pull = |i: usize| strength.penalty / self.values[i / classes] * f64::from(c.values()[i]);
            let penalty: f64 = (0..u.len()).map(|i| pull(i) * f64::from(c.values()[i]) / 2.0).sum();
            let gradient = (0..u.len())
                .map(|i| (f64::from(slope.values()[i]) + pull(i)) * scale[i / classes] / n)
                .collect();
            ((value + penalty) / n, gradient)
        };
        coefficients(&minimise(start, steps, objective))
    }

    /// The first two terms, and their gradient in c: P'·(π - π∘E/⟨π, E⟩ + τ·(π - q)).
    fn loss(&self, coefficients: &Matrix, teaching: f32) -> (f64, Matrix) {
        let classes = coefficients.columns();
        let mut residuals = self.basis.times(coefficients);
        softmax(residuals.values_mut(), classes, 1.0);
        let one = |((p, e), q): ((&mut [f32], &[f32]), &[f32])| {
            let told: f32 = p.iter().zip(e).map(|(p, e)| p * e).sum::<f32>().max(1e-30);
            let mut loss = -f64::from(told).ln();
            for ((p, e), q) in p.iter_mut().zip(e).zip(q) {
                if teaching > 0.0 {
                    loss -= f64::from(teaching * q) * f64::from(p.max(1e-30)).ln();
                }
                *p = *p - *p * e / told + teaching * (*p - q);
            }
            loss
        };
        let size = ROWS * classes;
        let parts: Vec<f64> = residuals
            .values_mut()
            .par_chunks_mut(size)
            .zip(self.reports.values().par_chunks(size))
            .zip(self.teacher.values().par_chunks(size))
            .map(|((p, e), q)| {
                let rows = p.chunks_exact_mut(classes).zip(e.chunks_exact(classes));
                rows.zip(q.chunks_exact(classes)).map(one).sum()
            })
            .collect();
        (parts.iter().sum(), self.basis.transposed_times(&residuals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> (Matrix, Vec<f64>, Matrix, Matrix) {
        let n = 200;
        let basis = Matrix::from_fn(n, 6, |i, j| {
            let scale = if j == 0 { 1.0 / n as f32 } else { 2.0 / n as f32 };
            scale.sqrt() * (std::f32::consts::PI * j as f32 * (i as f32 + 0.5) / n as f32).cos()
        });
        let reports = Matrix::from_fn(n, 3, |i, k| if (i * 7 + i / 50) % 3 == k { 4.0 } else { 1.0 });
        let teacher = Matrix::from_fn(n, 3, |i, k| if i / 70 == k { 0.8 } else { 0.1 });
        (basis, vec![50.0, 20.0, 10.0, 5.0, 2.0, 1.0], reports, teacher)
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        let (basis, values, reports, teacher) = world();
        let forward = Forward { basis: &basis, values: &values, reports: &reports, teacher: &teacher };
        let at = Matrix::from_fn(6, 3, |j, k| ((j * 3 + k) as f32).sin() * 3.0);
        let (_, gradient) = forward.loss(&at, 0.3);
        for i in 0..18 {
            let moved = |by: f32| {
                let mut other = at.clone();
                other.values_mut()[i] += by;
                forward.loss(&other, 0.3).0
            };
            let slope = (moved(0.02) - moved(-0.02)) / 0.04;
            assert!((slope - f64::from(gradient.values()[i])).abs() < 5e-3, "{i}: {slope} {gradient:?}");
        }
    }

    #[test]
    fn the_fit_has_no_slope_left_and_a_strong_teacher_is_believed() {
        let (basis, values, reports, teacher) = world();
        let forward = Forward { basis: &basis, values: &values, reports: &reports, teacher: &teacher };
        let found = forward.fit(Strength { penalty: 0.1, teaching: 0.0 }, None, 22);
        let (_, slope) = forward.loss(&found, 0.0);
        for (i, slope) in slope.values().iter().enumerate() {
            let pull = 0.1 / values[i / 3] as f32 * found.values()[i];
            assert!((slope + pull).abs() < 0.05, "{i}: {slope} {pull}");
        }
        let taught = forward.fit(Strength { penalty: 0.01, teaching: 20.0 }, None, 22);
        let mut scores = basis.times(&taught);
        softmax(scores.values_mut(), 3, 1.0);
        let right = |i: usize| (0..3).all(|k| scores.row(i)[k] <= scores.row(i)[i / 70]);
        assert!((0..200).filter(|&i| right(i)).count() > 180);
    }
}
