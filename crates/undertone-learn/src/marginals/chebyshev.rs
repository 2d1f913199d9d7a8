//! A polynomial that tells none from some: p(0) = 0 and p(s) ≈ 1 for s = 1, …, k.
//!
//! With T_m the polynomial of Chebyshev of degree m and z = (k+1)/(k-1),
//!
//! > p_k(s) = 1 - T_m((k+1-2s)/(k-1))/T_m(z),  m = ⌈acosh(1/γ)/acosh(z)⌉
//!
//! is within 1/T_m(z) ≤ γ of one on \[1, k\], since there |T_m| ≤ 1. If m is not below k, the polynomial of degree k that
//! is exact on the integers is no longer. Of s binary numbers,
//!
//! > p_k(x_1 + … + x_k) = Σ_A a_|A|·Π_{j∈A} x_j,  a_m = Δ^m p_k(0)
//!
//! because Σ_m a_m·C(s, m) is Newton's form of p_k. So the data enter through products of bits only, and the coefficients
//! of *Empirical Risk Minimization in the Non-interactive Local Model of Differential Privacy*, Algorithm 6, which may
//! be negative and as large as p^√k, need not be released at all.

use crate::LearnError;

/// The polynomial for up to k literals.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Disjunction {
    /// a_1, …, a_t
    pub coefficients: Vec<f64>,
    /// How far p_k may be off on 1, …, k
    pub error: f64,
}

impl Disjunction {
    /// For up to `k` literals and an error of `gamma` or less.
    pub fn new(k: usize, gamma: f64) -> Result<Self, LearnError> {
        if !(gamma > 0.0 && gamma < 1.0) {
            let expected = "between 0 and 1";
            return Err(LearnError::Parameter {
                what: "the error of the polynomial",
                value: gamma,
                expected,
            });
        }
        let z = (k as f64 + 1.0) / (k as f64 - 1.0);
        let degree = ((1.0 / gamma).acosh() / z.acosh()).ceil();
        // For k = 1, z is infinite and the degree zero: p(s) = s is exact.
        if k == 1 || degree >= k as f64 {
            // Δ^m of 0, 1, 1, … is (-1)^(m+1)
            let sign = |m: usize| if m.is_multiple_of(2) { 1.0 } else { -1.0 };
            return Ok(Self { coefficients: (0..k).map(sign).collect(), error: 0.0 });
        }
        let degree = degree as usize;
        let top = chebyshev(degree, z);
        let value =
            |s: usize| 1.0 - chebyshev(degree, (k as f64 + 1.0 - 2.0 * s as f64) / (k as f64 - 1.0)) / top;
        // Differences of 0..=t, row after row: the first of row m is Δ^m p(0).
        let mut row: Vec<f64> = (0..=degree).map(value).collect();
        let mut coefficients = Vec::with_capacity(degree);
        for _ in 0..degree {
            row = row.windows(2).map(|pair| pair[1] - pair[0]).collect();
            coefficients.push(row[0]);
        }
        Ok(Self { coefficients, error: 1.0 / top })
    }
}

/// T_m(z) by its recurrence, T_{m+1} = 2z·T_m - T_{m-1}: outside \[-1, 1\], too.
fn chebyshev(m: usize, z: f64) -> f64 {
    (0..m).fold((1.0, z), |(now, next), _| (next, 2.0 * z * next - now)).0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ_m a_m·C(s, m)
    fn value(polynomial: &Disjunction, s: usize) -> f64 {
        let mut binomial = 1.0;
        let mut sum = 0.0;
        for (m, a) in polynomial.coefficients.iter().enumerate() {
            binomial *= (s as f64 - m as f64) / (m + 1) as f64;
            sum += a * binomial;
        }
        sum
    }

    #[test]
    fn none_is_told_from_some_within_the_error() {
        for k in [1, 2, 3, 4, 6, 8, 16] {
            for gamma in [0.3, 0.2, 0.05, 0.01] {
                let polynomial = Disjunction::new(k, gamma).unwrap();
                assert!(polynomial.error <= gamma && polynomial.coefficients.len() <= k);
                assert!(value(&polynomial, 0).abs() < 1e-12);
                for s in 1..=k {
                    let off = (value(&polynomial, s) - 1.0).abs();
                    assert!(off <= polynomial.error + 1e-9, "k = {k}, γ = {gamma}, s = {s}: {off}");
                }
            }
        }
    }

    #[test]
    fn three_literals_have_the_exact_polynomial_and_eight_a_shorter_one() {
        assert_eq!(Disjunction::new(3, 0.05).unwrap().coefficients, [1.0, -1.0, 1.0]);
        let eight = Disjunction::new(8, 0.05).unwrap();
        let expected = [0.9503, -0.8638, 0.7007, -0.4539, 0.1816];
        assert_eq!(eight.coefficients.len(), 5);
        assert!(eight.coefficients.iter().zip(expected).all(|(a, b)| (a - b).abs() < 5e-5), "{eight:?}");
        assert_eq!(Disjunction::new(16, 0.05).unwrap().coefficients.len(), 8);
    }

    #[test]
    fn it_is_shorter_than_the_exact_one_from_five_literals_on_or_from_three_at_a_fifth() {
        let shorter = |k, gamma| Disjunction::new(k, gamma).unwrap().coefficients.len() < k;
        assert!((1..5).all(|k| !shorter(k, 0.05)) && (5..=16).all(|k| shorter(k, 0.05)));
        assert!((1..3).all(|k| !shorter(k, 0.2)) && (3..=16).all(|k| shorter(k, 0.2)));
    }

    #[test]
    fn coefficients_may_be_negative_where_the_printed_algorithm_has_them_in_an_interval_from_zero() {
        assert!(Disjunction::new(2, 0.05).unwrap().coefficients[1] < 0.0);
        assert!(Disjunction::new(2, 0.0).is_err() && Disjunction::new(2, f64::NAN).is_err());
    }
}
