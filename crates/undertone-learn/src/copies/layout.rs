//! Which copies make which factors of a polynomial.
//!
//! **Printed.** Every term has copies of its own, d for each of j = 0, …, d:
//!
//! > P̂ = Σ_j c_j·C(d, j)·u_1⋯u_j·(1-u_{j+1})⋯(1-u_d)
//!
//! With copies of variance τ² around a, E\[(product)²\] is that of its factors:
//!
//! > Var = Σ_j c_j²·C(d, j)²·\[(a² + τ²)^j·((1-a)² + τ²)^(d-j) - a^2j·(1-a)^(2d-2j)\]
//!
//! **Blossom.** The algorithm of de Casteljau with another copy on every level: d copies in all. It is affine in each copy and
//! symmetric in them, hence unbiased, and with Δ the forward difference
//!
//! > Var = Σ_{j≥1} C(d, j)·τ^2j·(Σ_i b_{i,d-j}(a)·Δ^j c_i)²
//!
//! as the terms of different sets of noises are uncorrelated. Ramshaw, *Blossoms are polar forms*, 1989. Fewer copies share the
//! budget, and smooth coefficients have small differences: at ε = 1 and d = 3 it is 10^4 times better.

use super::bernstein::{binomials, casteljau};
use serde::{Deserialize, Serialize};

/// How copies are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Copies of its own for each term
    Printed,
    /// One copy for each level of de Casteljau
    Blossom,
}

impl Layout {
    /// The number of inner copies for a degree, beside the outer one.
    pub fn inner(self, degree: usize) -> usize {
        match self {
            Self::Printed => degree * (degree + 1),
            Self::Blossom => degree,
        }
    }

    /// P̂ from independent unbiased copies of u, as many as [`inner`](Self::inner) says.
    pub fn estimate(self, coefficients: &[f64], copies: &[f64]) -> f64 {
        match self {
            Self::Blossom => casteljau(coefficients, copies.iter().copied()),
            Self::Printed => {
                let degree = coefficients.len() - 1;
                let terms = coefficients.iter().zip(binomials(degree)).zip(copies.chunks_exact(degree));
                let product = |j: usize, own: &[f64]| -> f64 {
                    let (with, without) = own.split_at(j);
                    with.iter().product::<f64>() * without.iter().map(|u| 1.0 - u).product::<f64>()
                };
                terms.enumerate().map(|(j, ((c, choose), own))| c * choose * product(j, own)).sum()
            }
        }
    }

    /// E\[P̂²\] where the copies have the mean `a` and the variance `square`.
    pub fn second_moment(self, coefficients: &[f64], a: f64, square: f64) -> f64 {
        let mean = casteljau(coefficients, std::iter::repeat(a));
        mean * mean + self.variance(coefficients, a, square)
    }

    /// Var P̂, exactly.
    pub fn variance(self, coefficients: &[f64], a: f64, square: f64) -> f64 {
        let degree = coefficients.len() - 1;
        let choose = binomials(degree);
        match self {
            Self::Printed => {
                let term = |j: usize| {
                    let (with, without) = (j as i32, (degree - j) as i32);
                    let noisy = (a * a + square).powi(with) * ((1.0 - a).powi(2) + square).powi(without);
                    let exact = a.powi(2 * with) * (1.0 - a).powi(2 * without);
                    (coefficients[j] * choose[j]).powi(2) * (noisy - exact)
                };
                (0..=degree).map(term).sum()
            }
            Self::Blossom => {
                let mut differences = coefficients.to_vec();
                let mut sum = 0.0;
                for (j, choose) in choose.iter().enumerate().skip(1) {
                    differences = differences.windows(2).map(|pair| pair[1] - pair[0]).collect();
                    let slope = casteljau(&differences, std::iter::repeat(a));
                    sum += choose * square.powi(j as i32) * slope * slope;
                }
                sum
            }
        }
    }
}
