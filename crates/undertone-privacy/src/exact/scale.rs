//! How wide noise is, as a fraction of two integers, rounded towards more noise.

use crate::PrivacyError;

/// A positive rational scale. Its bounds are what lets every sampler work in 64- and 128-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    numerator: u64,
    denominator: u64,
}

impl Scale {
    /// The largest scale: noise of 2^11 times this still fits an `i64`, and exceeds that with probability e^-2048.
    pub const MOST: u64 = 1 << 51;

    /// `numerator` / `denominator`, in (0, 2^51].
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, PrivacyError> {
        let valid = numerator > 0
            && denominator > 0
            && numerator <= 1 << 61
            && u128::from(numerator) <= u128::from(denominator) * u128::from(Self::MOST);
        if valid {
            Ok(Self { numerator, denominator })
        } else {
            Err(PrivacyError::Scale { numerator, denominator })
        }
    }

    /// The least scale with a power of two below it and 41 significant bits above that is certainly at least
    /// `value`, even if `value` was rounded.
    pub fn at_least(value: f64) -> Result<Self, PrivacyError> {
        if !(value > 0.0 && value <= Self::MOST as f64) {
            // a float outside the range of a scale is shown as the integer nearest to it
            return Err(PrivacyError::Scale { numerator: value as u64, denominator: 1 });
        }
        let padded = value * (1.0 + 8.0 * f64::EPSILON);
        // value·2^k lies in [2^40, 2^41), with 0 ≤ k ≤ 60
        let (_, exponent) = libm::frexp(padded);
        let k = (41 - exponent).clamp(0, 60);
        let numerator = libm::ceil(libm::ldexp(padded, k)) as u64;
        Self::new(numerator.max(1), 1 << k)
    }

    /// The integer above the fraction line.
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// The integer below it.
    pub fn denominator(self) -> u64 {
        self.denominator
    }

    /// The scale as a float.
    pub fn get(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_goes_towards_more_noise_and_not_far() {
        for value in [1e-5, 0.04, 1.0, 2.0 / 3.0, 1e6 / 7.0, 3e14] {
            let scale = Scale::at_least(value).unwrap().get();
            assert!(scale >= value && scale <= value * (1.0 + 1e-11), "{value} became {scale}");
        }
    }

    #[test]
    fn a_scale_that_would_overflow_is_refused() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e18] {
            assert!(matches!(Scale::at_least(value), Err(PrivacyError::Scale { .. })), "{value}");
        }
        assert!(Scale::new(0, 1).is_err() && Scale::new(1, 0).is_err() && Scale::new(1 << 52, 1).is_err());
    }
}
