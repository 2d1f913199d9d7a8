//! The tail of the normal law over its density, which stays a plain number where both have underflowed.
//!
//! > M(x) = Φ(-x) / φ(x) = √(π/2)·erfcx(x/√2), where erfcx(x) = e^{x²}·erfc(x)
//!
//! Two roads lead there. Where erfc has not underflowed it is multiplied by e^{x²}, with the low half of x² that
//! a product of floats drops. Further out, Laplace's continued fraction converges within a few terms:
//!
//! > M(x) = 1/(x + w), w = 1/(x + 2/(x + 3/(x + …)))
//!
//! It also gives the slope 1 - x·M(x) = w/(x + w), which the plain formula would lose to cancellation.

use core::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI, SQRT_2};

/// From here on the continued fraction needs at most 41 terms.
const FRACTION_FROM: f64 = 4.0;

/// erfcx(x) = e^{x²}·erfc(x), infinite below about -26.6; the relative error is below 10^-14.
pub fn erfcx(x: f64) -> f64 {
    if x < 0.0 {
        // erfc(x) = 2 - erfc(-x)
        2.0 * exp_of_square(x, 1.0) - erfcx(-x)
    } else if x < 10.0 {
        exp_of_square(x, 1.0) * libm::erfc(x)
    } else {
        let y = SQRT_2 * x;
        libm::sqrt(2.0 / PI) / (y + fraction(y))
    }
}

/// Mills's ratio M(x) = Φ(-x) / φ(x), infinite below about -37.6; the relative error is below 10^-14.
pub fn mills_ratio(x: f64) -> f64 {
    if x < 0.0 {
        // Φ(-x) = 1 - Φ(x)
        libm::sqrt(2.0 * PI) * exp_of_square(x, 0.5) - mills_ratio(-x)
    } else if x < FRACTION_FROM {
        libm::sqrt(FRAC_PI_2) * erfcx(x * FRAC_1_SQRT_2)
    } else {
        1.0 / (x + fraction(x))
    }
}

/// -M'(x) = 1 - x·M(x), for x above -30; the relative error is below 10^-14.
pub(crate) fn mills_slope(x: f64) -> f64 {
    if x < FRACTION_FROM {
        1.0 - x * mills_ratio(x)
    } else {
        let w = fraction(x);
        w / (x + w)
    }
}

/// e^{c·x²} for c = ±1/2 or ±1, where x² is kept to twice the digits of a float.
///
/// > x² = high + low exactly, and e^{c·low} = 1 + c·low, as low is below 10^-13 unless the result is 0 or ∞
pub(crate) fn exp_of_square(x: f64, c: f64) -> f64 {
    let high = x * x;
    if high > 3000.0 {
        return if c > 0.0 { f64::INFINITY } else { 0.0 };
    }
    let low = libm::fma(x, x, -high);
    libm::exp(c * high) * (1.0 + c * low)
}

/// w = 1/(x + 2/(x + 3/(x + …))), for x ≥ 4: the number of terms was found by trial, down to the last bit.
fn fraction(x: f64) -> f64 {
    let terms = 6 + (140.0 / x) as u32;
    let below = (2..=terms).rev().fold(x, |below, k| x + f64::from(k) / below);
    1.0 / below
}

#[cfg(test)]
mod tests {
    use super::*;

    // Reference values: mpmath with 60 digits or more.

    #[track_caller]
    fn assert_close(value: f64, expected: f64, x: f64) {
        assert!((value - expected).abs() <= 1e-14 * expected.abs(), "at {x}: {value:e} is not {expected:e}");
    }

    #[test]
    fn erfcx_agrees_with_mpmath_over_all_reals_where_it_is_finite() {
        for (x, expected) in [
            (-26.0, 7.657_724_931_490_568e293),
            (-10.5, 1.520_535_715_003_718e48),
            (-3.0, 16_205.988_853_999_586),
            (-1.0, 5.008_980_080_762_283),
            (-0.1, 1.123_643_354_199_209_5),
            (0.0, 1.0),
            (1e-10, 0.999_999_999_887_162),
            (0.3, 0.734_599_334_567_655_1),
            (0.5, 0.615_690_344_192_925_9),
            (1.0, 0.427_583_576_155_807),
            (2.5, 0.210_806_364_061_143_6),
            (5.0, 0.110_704_637_733_068_63),
            (7.3, 0.076_580_608_471_478_92),
            (9.99, 0.056_196_640_706_858_82),
            (10.0, 0.056_140_992_743_822_59),
            (12.0, 0.046_854_221_014_893_76),
            (26.5, 0.021_275_046_685_371_106),
            (100.0, 0.005_641_613_782_989_433),
            (100_000.0, 5.641_895_835_195_468_5e-06),
            (1e100, 5.641_895_835_477_562_5e-101),
        ] {
            assert_close(erfcx(x), expected, x);
        }
        assert_eq!(erfcx(-27.0), f64::INFINITY);
        assert_eq!(erfcx(f64::INFINITY), 0.0);
    }

    #[test]
    fn mills_ratio_and_its_slope_agree_with_mpmath() {
        for (x, ratio, slope) in [
            (-30.0, 6.785_889_613_061_118e195, 2.035_766_883_918_335_7e197),
            (-8.0, 197_930_788_642_469.2, 1_583_446_309_139_754.5),
            (-2.0, 18.100_247_711_126_15, 37.200_495_422_252_3),
            (-0.5, 1.964_017_495_357_993_9, 1.982_008_747_678_997),
            (0.0, 1.253_314_137_315_500_3, 1.0),
            (0.5, 0.876_364_456_453_692_3, 0.561_817_771_773_153_8),
            (1.0, 0.655_679_542_418_798_4, 0.344_320_457_581_201_56),
            (2.0, 0.421_369_229_288_054_5, 0.157_261_541_423_891_07),
            (3.99, 0.237_187_444_530_485_6, 0.053_622_096_323_362_456),
            (4.0, 0.236_652_382_913_560_67, 0.053_390_468_345_757_315),
            (5.5, 0.176_322_985_757_102_7, 0.030_223_578_335_935_124),
            (9.0, 0.109_787_282_578_308_29, 0.011_914_456_795_225_379),
            (14.0, 0.071_069_580_538_852_11, 0.005_025_872_456_070_501),
            (15.0, 0.066_374_235_823_250_18, 0.004_386_462_651_247_396),
            (38.0, 0.026_297_602_974_252_963, 0.000_691_086_978_387_353_6),
            (1000.0, 0.000_999_999_000_002_999_9, 9.999_970_000_15e-07),
            (100_000_000.0, 9.999_999_999_999_999e-09, 9.999_999_999_999_997e-17),
        ] {
            assert_close(mills_ratio(x), ratio, x);
            assert_close(mills_slope(x), slope, x);
        }
    }
}
