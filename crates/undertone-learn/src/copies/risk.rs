//! What weights gain, from copies that had no part in them.
//!
//! With P the polynomial slope of a loss, F(t) = ∫₀ᵗ P is the loss that is descended, less its value at zero, and
//!
//! > F(t) = t·Q(t),   Q(t) = ∫₀¹ P(u·t) du
//!
//! has a Q of the same degree. The outer copy gives an unbiased t, the inner ones an unbiased Q(t), and they are independent: their
//! product is an unbiased F(⟨w, z⟩) for any w that does not depend on them.

use super::Layout;
use super::bernstein::{BernsteinSlope, casteljau};
use crate::convex::dot;

/// Unbiased values of F.
#[derive(Clone, Debug, PartialEq)]
pub struct PolynomialRisk {
    layout: Layout,
    slope: BernsteinSlope,
    /// Of Q
    coefficients: Vec<f64>,
}

impl PolynomialRisk {
    /// Of the loss with this slope.
    ///
    /// The coefficient i of t ↦ P(u·t) is the blossom of P at d-i times -uR and i times uR. It is smooth in u, and the midpoints
    /// of 512 parts integrate it up to its second derivative times 2·10^-7.
    pub fn new(layout: Layout, slope: BernsteinSlope) -> Self {
        const PARTS: u32 = 512;
        let (degree, radius) = (slope.degree(), slope.radius());
        let mut coefficients = vec![0.0; degree + 1];
        for part in 0..PARTS {
            let u = (f64::from(part) + 0.5) / f64::from(PARTS);
            for (i, c) in coefficients.iter_mut().enumerate() {
                let place = |level: usize| slope.place(if level < i { u * radius } else { -u * radius });
                *c += casteljau(slope.coefficients(), (0..degree).map(place)) / f64::from(PARTS);
            }
        }
        Self { layout, slope, coefficients }
    }

    /// F(⟨w, z⟩) without bias, from the copies of a report: the outer one and then the inner ones.
    pub fn estimate(&self, copies: &[f64], w: &[f64]) -> f64 {
        let (outer, inner) = copies.split_at(w.len());
        let places: Vec<f64> = inner.chunks_exact(w.len()).map(|z| self.slope.place(dot(z, w))).collect();
        dot(outer, w) * self.layout.estimate(&self.coefficients, &places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::MarginLoss;

    #[test]
    fn without_noise_it_is_the_integral_of_the_slope() {
        for layout in [Layout::Printed, Layout::Blossom] {
            for degree in 1..=5 {
                let slope = BernsteinSlope::new(degree, 2.0, |t| MarginLoss::Logistic.slope(t)).unwrap();
                let risk = PolynomialRisk::new(layout, slope.clone());
                for t in [-1.7, -0.3, 0.0, 0.9, 2.0] {
                    let copies = vec![t; 1 + layout.inner(degree)];
                    // Simpson's rule on 200 parts
                    let at = |i: u32| slope.at(t * f64::from(i) / 200.0);
                    let weigh = |i: u32| match i {
                        0 | 200 => 1.0,
                        i if i % 2 == 1 => 4.0,
                        _ => 2.0,
                    };
                    let integral: f64 = (0..=200).map(|i| weigh(i) * at(i)).sum::<f64>() * t / 600.0;
                    assert!(
                        (risk.estimate(&copies, &[1.0]) - integral).abs() < 1e-5,
                        "{layout:?} {degree} {t}"
                    );
                }
            }
        }
    }
}
