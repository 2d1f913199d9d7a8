//! The standard normal quantile.

use std::f64::consts::{PI, SQRT_2};

/// The greatest `p` with a quantile below −37.5, where e^(x²/2) still fits a float.
const LEAST: f64 = 1e-300;

/// Φ⁻¹(`p`): Acklam's rational approximation, then one step of Halley's method on Φ(x) = ½ erfc(−x/√2).
///
/// Give a `p` above one half as −Φ⁻¹(1 − p). Below 10^-300 the quantile of 10^-300 is returned.
pub(crate) fn quantile(p: f64) -> f64 {
    if p.is_nan() || p >= 1.0 {
        return if p >= 1.0 { f64::INFINITY } else { p };
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p > 0.5 {
        return -quantile(1.0 - p);
    }
    let p = p.max(LEAST);
    let x = acklam(p);
    let error = 0.5 * libm::erfc(-x / SQRT_2) - p;
    let u = error * (2.0 * PI).sqrt() * libm::exp(x * x / 2.0);
    x - u / (1.0 + x * u / 2.0)
}

/// Φ⁻¹(`p`) for `p` ≤ ½ with a relative error of 10^-9.
fn acklam(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    let polynomial = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    if p < 0.024_25 {
        let x = (-2.0 * libm::log(p)).sqrt();
        polynomial(&C, x) / polynomial(&D, x)
    } else {
        let x = p - 0.5;
        x * polynomial(&A, x * x) / polynomial(&B, x * x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_undoes_the_distribution_function() {
        for x in [-37.0, -20.0, -8.0, -3.0, -1.0, -0.1, -1e-6] {
            let p = 0.5 * libm::erfc(-x / SQRT_2);
            assert!((quantile(p) - x).abs() < 1e-14 * x.abs().max(1.0), "{x}: {}", quantile(p));
        }
    }

    #[test]
    fn the_quantile_is_odd_around_one_half_and_infinite_at_the_ends() {
        assert_eq!(quantile(0.5), 0.0);
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
    }
}
