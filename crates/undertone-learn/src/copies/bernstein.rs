//! The slope of a loss as a Bernstein polynomial on the interval where margins lie.
//!
//! > P(t) = Σ_j c_j·C(d, j)·u^j·(1-u)^(d-j),   u = (1 + t/R)/2,   c_j = f'(R·(2j/d - 1))
//!
//! The map from [-R, R] onto [0, 1] is not in the paper, whose nodes j/d leave half of the margins outside, where the polynomial
//! grows with d. Slopes that rise make coefficients that rise, and then P rises too: the approximate loss stays convex.

use crate::LearnError;
use crate::convex::positive;

/// The polynomial, by its coefficients.
#[derive(Clone, Debug, PartialEq)]
pub struct BernsteinSlope {
    radius: f64,
    coefficients: Vec<f64>,
}

/// The slope of ((1/2 - t) + √((1/2 - t)² + β²))/2, which is within β/2 of the hinge max(0, 1/2 - t).
pub fn smooth_hinge_slope(t: f64, beta: f64) -> f64 {
    -smooth_step(0.5 - t, beta)
}

/// The slope of (x + √(x² + β²))/2, a smooth step from 0 to 1.
pub fn smooth_step(x: f64, beta: f64) -> f64 {
    0.5 * (1.0 + x / (x * x + beta * beta).sqrt())
}

impl BernsteinSlope {
    /// The largest degree: beyond it no noise leaves anything of a product.
    pub const MOST_DEGREE: usize = 512;

    /// Of degree d for `slope` on [-radius, radius].
    pub fn new(degree: usize, radius: f64, slope: impl Fn(f64) -> f64) -> Result<Self, LearnError> {
        if !(1..=Self::MOST_DEGREE).contains(&degree) {
            return Err(LearnError::Parameter {
                what: "the degree",
                value: degree as f64,
                expected: "from 1 to 512",
            });
        }
        let radius = positive("the radius of the ball of weights", radius)?;
        let node = |j: usize| radius * (2.0 * j as f64 / degree as f64 - 1.0);
        Ok(Self { radius, coefficients: (0..=degree).map(|j| slope(node(j))).collect() })
    }

    /// d.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// R.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// c_0, …, c_d.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// u of a margin.
    pub fn place(&self, margin: f64) -> f64 {
        0.5 * (1.0 + margin / self.radius)
    }

    /// P at a margin, by de Casteljau.
    pub fn at(&self, margin: f64) -> f64 {
        let u = self.place(margin);
        casteljau(&self.coefficients, std::iter::repeat(u))
    }
}

/// Replaces d + 1 coefficients by their means c_j·(1-u) + c_{j+1}·u, once for each u, until one is left.
pub(super) fn casteljau(coefficients: &[f64], places: impl IntoIterator<Item = f64>) -> f64 {
    let mut c = coefficients.to_vec();
    let mut places = places.into_iter();
    while c.len() > 1
        && let Some(u) = places.next()
    {
        for j in 0..c.len() - 1 {
            c[j] = c[j] * (1.0 - u) + c[j + 1] * u;
        }
        c.pop();
    }
    c[0]
}

/// C(d, j)·u^j·(1-u)^(d-j) for j = 0, …, d.
#[cfg(test)]
pub(super) fn basis(degree: usize, u: f64) -> Vec<f64> {
    let choose = binomials(degree);
    let power = |j: usize| u.powi(j as i32) * (1.0 - u).powi((degree - j) as i32);
    choose.iter().enumerate().map(|(j, c)| c * power(j)).collect()
}

/// C(d, 0), …, C(d, d).
pub(super) fn binomials(degree: usize) -> Vec<f64> {
    let mut row = vec![1.0];
    for j in 0..degree {
        row.push(row[j] * (degree - j) as f64 / (j + 1) as f64);
    }
    row
}
