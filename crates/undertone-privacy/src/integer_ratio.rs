//! ln(a/b) of two integers, accurate even when they are nearly equal.

use crate::Epsilon;

/// ln(`a` / `b`) with a relative error of a few units in the last place.
///
/// > ln(a/b) = ln(1 + (a - b)/b), whose numerator is exact in integers
///
/// Privacy losses are ratios of word counts; at ε = 10^-6 the difference of two logarithms would have lost nine
/// of its sixteen digits.
pub fn ln_ratio(a: u128, b: u128) -> f64 {
    if b == 0 {
        return if a == 0 { f64::NAN } else { f64::INFINITY };
    }
    if a > 2 * b || 2 * a < b {
        return libm::log(a as f64 / b as f64);
    }
    let difference = if a >= b { (a - b) as f64 } else { -((b - a) as f64) };
    libm::log1p(difference / b as f64)
}

/// The loss `computed` from the integers that run, rounded up; or the promise itself, if that is less: the integers were
/// rounded towards privacy by more than floats are off, so the true loss is below both.
pub(crate) fn rounded_up(computed: f64, promise: Epsilon) -> f64 {
    debug_assert!(computed <= promise.get() * (1.0 + 8.0 * f64::EPSILON), "{computed} is lost of {promise}");
    (computed * (1.0 + 8.0 * f64::EPSILON)).min(promise.get())
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_integers_keep_all_their_digits() {
        // ln(1 + x) = x - x²/2 + …, and x² is far below the last place of x
        let b = 1u128 << 80;
        let x = 1.0 / (1u128 << 80) as f64;
        assert_eq!(ln_ratio(b + 1, b).to_bits(), x.to_bits());
        assert_eq!(ln_ratio(b, b), 0.0);
    }

    #[test]
    fn far_apart_integers_agree_with_the_plain_logarithm() {
        assert!((ln_ratio(1000, 1) - 1000f64.ln()).abs() < 1e-15 * 7.0);
        assert!((ln_ratio(1, 1000) + 1000f64.ln()).abs() < 1e-15 * 7.0);
        assert_eq!(ln_ratio(0, 5), f64::NEG_INFINITY);
    }
}
