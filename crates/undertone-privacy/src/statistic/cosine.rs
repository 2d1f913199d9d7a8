//! Products of cosines on a box: the basis in which smooth functions have few coefficients.
//!
//! > φ_v(x) = Π_i cos(v_i·arccos u_i),   u_i = 2·(x_i - low_i)/(high_i - low_i) - 1,   v ∈ {0, …, t-1}^p, v ≠ 0
//!
//! v = 0 is the constant one, of which nothing needs to be asked. Values lie in [-1, 1], so that two people are 2 apart: noise
//! for a range of one, as printed in Algorithm 7 of *Empirical Risk Minimization in the Non-interactive Local Model of
//! Differential Privacy*, would lose twice what it promises.
//!
//! Functions are numbered by v in base t, the last axis fastest, counted from v = (0, …, 0, 1).

use crate::PrivacyError;
use crate::number::Bounds;
use alloc::vec;
use alloc::vec::Vec;

/// t^p - 1 functions on a box.
#[derive(Clone, Debug, PartialEq)]
pub struct CosineBasis {
    bounds: Vec<Bounds>,
    degrees: u32,
    functions: u32,
}

impl CosineBasis {
    /// More functions than this no collection could fill.
    pub const MOST_FUNCTIONS: u32 = 1 << 24;

    /// `degrees` cosines, t, on each axis of the box.
    pub fn new(bounds: &[Bounds], degrees: u32) -> Result<Self, PrivacyError> {
        if bounds.is_empty() {
            return Err(PrivacyError::Dimension { dimension: 0, least: 1, most: 24 });
        }
        let count = degrees.checked_pow(bounds.len().try_into().unwrap_or(u32::MAX));
        match count.filter(|&count| degrees >= 2 && count <= Self::MOST_FUNCTIONS) {
            Some(count) => Ok(Self { bounds: bounds.into(), degrees, functions: count - 1 }),
            None => Err(PrivacyError::Parameter { what: "the number of cosines", value: degrees.into() }),
        }
    }

    /// Where each coordinate lies.
    pub fn bounds(&self) -> &[Bounds] {
        &self.bounds
    }

    /// p.
    pub fn axes(&self) -> usize {
        self.bounds.len()
    }

    /// t.
    pub fn degrees(&self) -> u32 {
        self.degrees
    }

    /// t^p - 1.
    pub fn functions(&self) -> u32 {
        self.functions
    }

    /// v of a function.
    pub fn frequencies(&self, function: u32) -> Result<Vec<u32>, PrivacyError> {
        if function >= self.functions {
            let value = function.into();
            return Err(PrivacyError::Parameter { what: "the number of the basis function", value });
        }
        let mut rest = function + 1;
        let mut v = vec![0; self.axes()];
        for v in v.iter_mut().rev() {
            *v = rest % self.degrees;
            rest /= self.degrees;
        }
        Ok(v)
    }

    /// What a device randomizes, in [-1, 1]. Coordinates are clamped to the box; a record of another length, or with
    /// what is no number, has a value of zero.
    pub fn value(&self, function: u32, x: &[f64]) -> Result<f64, PrivacyError> {
        let frequencies = self.frequencies(function)?;
        if x.len() != self.axes() {
            return Ok(0.0);
        }
        let mut product = 1.0;
        for ((&v, bounds), &x) in frequencies.iter().zip(&self.bounds).zip(x) {
            product *= libm::cos(f64::from(v) * libm::acos(unit(*bounds, x)));
        }
        Ok(if product.is_nan() { 0.0 } else { product.clamp(-1.0, 1.0) })
    }
}

/// x on the scale from -1 to 1, clamped.
fn unit(bounds: Bounds, x: f64) -> f64 {
    let share = (x - bounds.low()) / (bounds.high() - bounds.low());
    (2.0 * share - 1.0).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_of_the_angle_are_chebyshev_polynomials_of_the_place() {
        let basis = CosineBasis::new(&[Bounds::new(0.0, 10.0).unwrap(); 2], 4).unwrap();
        assert_eq!(basis.functions(), 15);
        assert_eq!(basis.frequencies(0).unwrap(), [0, 1]);
        assert_eq!(basis.frequencies(14).unwrap(), [3, 3]);
        assert!(basis.frequencies(15).is_err());
        // u = (0.2, -0.6): T₂(u) = 2u² - 1, T₃(u) = 4u³ - 3u
        let function = (0..15).find(|&f| basis.frequencies(f).unwrap() == [2, 3]).unwrap();
        let expected = (2.0 * 0.04 - 1.0) * (4.0 * -0.216 + 1.8);
        assert!((basis.value(function, &[6.0, 2.0]).unwrap() - expected).abs() < 1e-14);
    }

    #[test]
    fn no_value_leaves_the_range_and_no_record_is_refused() {
        let basis = CosineBasis::new(&[Bounds::new(-1.0, 1.0).unwrap(); 2], 5).unwrap();
        for function in 0..basis.functions() {
            for x in [[-1.0, 1.0], [0.3, -0.9], [5.0, f64::NEG_INFINITY], [1.0 + 1e-16, 0.0]] {
                assert!(basis.value(function, &x).unwrap().abs() <= 1.0);
            }
            assert!(basis.value(function, &[f64::NAN, 0.0]).unwrap().abs() <= 1.0);
            assert!(basis.value(function, &[0.3]).unwrap().abs() < 1e-300);
        }
    }

    #[test]
    fn the_printed_range_would_lose_twice_the_promise() {
        // Laplace noise of scale 1/ε between values -1 and 1, seen from a report beyond both
        let epsilon = 0.7;
        let ln_density = |report: f64, value: f64| -epsilon * (report - value).abs();
        let basis = CosineBasis::new(&[Bounds::new(-1.0, 1.0).unwrap()], 2).unwrap();
        let ends = [-1.0, 1.0].map(|x| basis.value(0, &[x]).unwrap());
        let loss = (ln_density(3.0, ends[1]) - ln_density(3.0, ends[0])).abs();
        assert!((loss - 2.0 * epsilon).abs() < 1e-12);
    }

    #[test]
    fn a_basis_without_functions_or_with_too_many_is_refused() {
        let axis = Bounds::new(-1.0, 1.0).unwrap();
        assert!(CosineBasis::new(&[], 3).is_err());
        assert!(CosineBasis::new(&[axis], 1).is_err());
        assert!(CosineBasis::new(&[axis; 8], 9).is_err() && CosineBasis::new(&[axis; 8], 8).is_ok());
    }
}
