//! The standard normal law, accurate in both tails and down to probabilities that only have a logarithm.
//!
//! > φ(x) = e^{-x²/2}/√(2π), Φ(x) = ∫_{-∞}^x φ

use super::mills::exp_of_square;
use core::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};

pub use super::mills::{erfcx, mills_ratio};

/// ln √(2π)
pub(crate) const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// φ(x).
pub fn pdf(x: f64) -> f64 {
    exp_of_square(x, -0.5) / libm::sqrt(2.0 * PI)
}

/// Φ(x).
pub fn cdf(x: f64) -> f64 {
    // Far out, rounding x/√2 would be felt x² times over.
    if x < -1.0 { pdf(x) * mills_ratio(-x) } else { 0.5 * libm::erfc(-x * FRAC_1_SQRT_2) }
}

/// ln Φ(x), finite wherever x² is.
pub fn ln_cdf(x: f64) -> f64 {
    if x < -1.0 {
        -0.5 * x * x - LN_SQRT_2PI + libm::log(mills_ratio(-x))
    } else if x < 0.0 {
        libm::log(cdf(x))
    } else {
        libm::log1p(-cdf(-x))
    }
}

/// Φ⁻¹(p): minus and plus infinity at 0 and 1, not a number outside.
///
/// Close to p = 1 the digits of 1 - p are gone before they get here: there, ask
/// [`quantile_of_ln`] for ln(1 - p) and change the sign.
pub fn quantile(p: f64) -> f64 {
    if p < 0.25 {
        quantile_of_ln(libm::log(p))
    } else if p > 0.75 {
        -quantile_of_ln(libm::log(1.0 - p))
    } else {
        // exact, since p lies within a factor of two of one half
        quantile_of_excess(p - 0.5)
    }
}

/// The x with ln Φ(x) = `ln_p`: far below the probabilities that a float can hold.
///
/// Newton's method on the logarithmic scale. ln Φ is concave, so every tangent lies above it and each step ends
/// left of the root, from where the next one climbs: no start can fail. This one lies left already, because
///
/// > Φ(-t) ≤ e^{-t²/2} / 2 = p at t = √(-2·ln 2p)
pub fn quantile_of_ln(ln_p: f64) -> f64 {
    if ln_p.is_nan() || ln_p > -LN_2 {
        // above one half by symmetry, through ln(1 - p)
        return if ln_p <= 0.0 {
            -quantile_of_ln(libm::log(-libm::expm1(ln_p)).min(-LN_2))
        } else {
            f64::NAN
        };
    }
    if ln_p == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    // (ln Φ)' = φ(x)/Φ(x) = 1/M(-x)
    let step = |x: f64| x + (ln_p - ln_cdf(x)) * mills_ratio(-x);
    climb(-libm::sqrt(-2.0 * (ln_p + LN_2).min(0.0)), step)
}

/// The x with Φ(x) - 1/2 = `c`, for |c| ≤ 1/4: relatively accurate even where x is tiny.
pub(crate) fn quantile_of_excess(c: f64) -> f64 {
    // Concave for x > 0, as above, and below its tangent at zero: Φ(x) - 1/2 ≤ x·φ(0).
    let target = libm::fabs(c);
    let step = |x: f64| x + (target - 0.5 * libm::erf(x * FRAC_1_SQRT_2)) / pdf(x);
    libm::copysign(climb(target * libm::sqrt(2.0 * PI), step), c)
}

/// Newton's steps from below, until rounding ends the climb.
fn climb(start: f64, step: impl Fn(f64) -> f64) -> f64 {
    let mut x = start;
    for _ in 0..64 {
        let next = step(x);
        if next <= x {
            break;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    // Reference values: mpmath with 60 digits or more.

    #[track_caller]
    fn assert_close(value: f64, expected: f64, x: f64) {
        // Subnormal numbers have fewer digits.
        let tolerance = 1e-14 * expected.abs() + f64::from_bits(2);
        assert!((value - expected).abs() <= tolerance, "at {x}: {value:e} is not {expected:e}");
    }

    #[test]
    fn density_probability_and_its_logarithm_agree_with_mpmath_in_both_tails() {
        for (x, density, probability, logarithm) in [
            (-38.0, 1.097_221_052e-314, 2.885_428_35e-316, -726.557_216_018_820_1),
            (-30.0, 1.473_646_134_878_547_6e-196, 4.906_713_927_148_187e-198, -454.321_243_956_343_2),
            (-20.0, 5.520_948_362_159_764e-88, 2.753_624_118_606_233_7e-89, -203.917_155_371_097_27),
            (-10.0, 7.694_598_626_706_419e-23, 7.619_853_024_160_525e-24, -53.231_285_150_512_47),
            (-5.0, 1.486_719_514_734_297_7e-06, 2.866_515_718_791_939e-07, -15.064_998_393_988_725),
            (-2.0, 0.053_990_966_513_188_05, 0.022_750_131_948_179_21, -3.783_184_333_682_032),
            (-1.0, 0.241_970_724_519_143_34, 0.158_655_253_931_457_05, -1.841_021_645_009_263_6),
            (-0.999, 0.242_212_695_162_985_44, 0.158_897_345_641_318_3, -1.839_496_910_164_778),
            (-0.5, 0.352_065_326_764_299_47, 0.308_537_538_725_986_9, -1.175_911_761_593_618_5),
            (-1e-09, 0.398_942_280_401_432_7, 0.499_999_999_601_057_73, -0.693_147_181_357_829_8),
            (0.0, 0.398_942_280_401_432_7, 0.5, -LN_2),
            (0.7, 0.312_253_933_366_761_27, 0.758_036_347_776_927, -0.277_023_942_277_131_3),
            (1.0, 0.241_970_724_519_143_34, 0.841_344_746_068_542_9, -0.172_753_779_023_449_88),
            (3.0, 0.004_431_848_411_938_007_5, 0.998_650_101_968_369_9, -0.001_350_809_964_748_193_8),
            (6.0, 6.075_882_849_823_285e-09, 0.999_999_999_013_412_3, -9.865_876_455_243_758e-10),
            (8.0, 5.052_271_083_536_892e-15, 0.999_999_999_999_999_3, -6.220_960_574_271_786e-16),
        ] {
            assert_close(pdf(x), density, x);
            assert_close(cdf(x), probability, x);
            assert_close(ln_cdf(x), logarithm, x);
        }
    }

    #[test]
    fn the_logarithm_of_a_probability_is_there_when_the_probability_is_not() {
        for (x, logarithm) in [
            (-100_000_000.0, -5_000_000_000_000_019.0),
            (-10_000.0, -50_000_010.129_278_91),
            (-200.0, -20_006.217_280_898_19),
            (-40.0, -804.608_442_013_753_8),
            (9.0, -1.128_588_405_953_840_5e-19),
            (20.0, -2.753_624_118_606_233_7e-89),
            (37.0, -5.725_571_222_524_577e-300),
        ] {
            assert_close(ln_cdf(x), logarithm, x);
        }
    }

    #[test]
    fn the_quantile_agrees_with_mpmath_down_to_the_least_float() {
        for (p, x) in [
            (5e-324, -38.467_405_617_144_344),
            (1e-300, -37.047_096_299_361_2),
            (1e-100, -21.273_453_560_965_326),
            (1e-20, -9.262_340_089_798_407),
            (1e-05, -4.264_890_793_922_825),
            (0.01, -2.326_347_874_040_841),
            (0.2, -0.841_621_233_572_914_2),
            (0.25, -0.674_489_750_196_081_7),
            (0.3, -0.524_400_512_708_040_8),
            (0.499_99, -2.506_628_274_896_000_8e-05),
            (0.5, 0.0),
            (0.500_000_1, 2.506_628_273_311_648e-07),
            (0.7, 0.524_400_512_708_040_7),
            (0.75, 0.674_489_750_196_081_7),
            (0.9, 1.281_551_565_544_600_6),
            (0.999, 3.090_232_306_167_813),
        ] {
            assert_close(quantile(p), x, p);
        }
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert!([-0.1, 1.1, f64::NAN].into_iter().all(|p| quantile(p).is_nan()));
    }

    #[test]
    fn the_quantile_of_a_logarithm_agrees_with_mpmath_far_below_the_least_float() {
        for (ln_p, x) in [
            (-100_000_000.0, -14_142.134_882_976_301),
            (-10_000.0, -141.379_839_873_127_17),
            (-1000.0, -44.615_747_731_969_4),
            (-50.0, -9.674_825_283_612_357),
            (-1.0, -0.337_474_963_764_202_44),
            (-0.7, -0.008_559_478_582_480_282),
            (-0.6, 0.122_659_510_255_886_08),
            (-0.001, 3.090_380_786_917_045),
            (-1e-30, 11.464_024_688_443_615),
        ] {
            assert_close(quantile_of_ln(ln_p), x, ln_p);
        }
        assert_eq!(quantile_of_ln(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(quantile_of_ln(0.0), f64::INFINITY);
        assert!(quantile_of_ln(0.1).is_nan() && quantile_of_ln(f64::NAN).is_nan());
    }

    #[test]
    fn a_tiny_excess_over_one_half_has_a_quantile_with_all_its_digits() {
        // Φ(x) - 1/2 = x/√(2π), up to a relative x²/6
        for c in [1e-9, -1e-12, 1e-300] {
            assert_close(quantile_of_excess(c), c * 2.506_628_274_631_000_5, c);
        }
    }
}
