//! Logarithm, sine and cosine in 32 bits for random numbers, the exponential in 64 for gradients: no branch, no call.

/// ln x for a positive normal x, to within 2·10^-7 of the larger of |ln x| and 1/2.
///
/// > x = 2^e·f with f in [√½, √2), ln x = e·ln 2 + 2·atanh z, z = (f - 1)/(f + 1)
///
/// and |z| ≤ 0.1716, so that the series may end with z^9/9.
#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    /// The bits of √½: what is left above them after the exponent is the fraction's.
    const ROOT: u32 = 0x3f35_04f3;
    let shifted = x.to_bits().wrapping_sub(ROOT);
    let exponent = (shifted as i32 >> 23) as f32;
    let f = f32::from_bits((shifted & 0x007f_ffff).wrapping_add(ROOT));
    let z = (f - 1.0) / (f + 1.0);
    let s = z * z;
    let series = s.mul_add(s.mul_add(s.mul_add(2.0 / 9.0, 2.0 / 7.0), 2.0 / 5.0), 2.0 / 3.0);
    exponent.mul_add(core::f32::consts::LN_2, z.mul_add(2.0, z * (s * series)))
}

/// sin t and cos t for |t| ≤ π/4, to within 4·10^-7: the series to t^7/7! and t^8/8!.
#[inline(always)]
pub(super) fn sine_and_cosine(t: f32) -> (f32, f32) {
    let s = t * t;
    let sine = s.mul_add(s.mul_add(s.mul_add(-1.0 / 5040.0, 1.0 / 120.0), -1.0 / 6.0), 1.0);
    let high = s.mul_add(s.mul_add(1.0 / 40320.0, -1.0 / 720.0), 1.0 / 24.0);
    (t * sine, s.mul_add(s.mul_add(high, -0.5), 1.0))
}

/// e^x to the last places for |x| ≤ 700, and e^±700 beyond: 2^n·e^r with |r| ≤ ln 2/2 and the Taylor polynomial of degree 12.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    /// 1.5·2^52: adding it leaves a float whose last bits are the nearest integer.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// ln 2 in two parts, the first with few enough bits for an exact product with n.
    const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
    let x = super::lanes::between(x, -700.0, 700.0);
    let shifted = x.mul_add(core::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN_2[1], n.mul_add(-LN_2[0], x));
    let mut sum = 1.0 / 479_001_600.0;
    for factorial in
        [39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0]
    {
        sum = r.mul_add(sum, 1.0 / factorial);
    }
    f64::from_bits((shifted.to_bits() << 52).wrapping_add(sum.to_bits()))
}

/// 1/(1 + e^-s).
#[inline(always)]
pub(super) fn sigmoid(s: f64) -> f64 {
    1.0 / (1.0 + exp(-s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_what_the_library_has() {
        for i in 1..=200_000 {
            let x = i as f32 / 100_000.0;
            let expected = f64::from(x).ln();
            assert!((f64::from(ln(x)) - expected).abs() < 2e-7 * expected.abs().max(0.5), "ln {x}");
            let t = (f64::from(x) - 1.0) * core::f64::consts::FRAC_PI_4;
            let (sine, cosine) = sine_and_cosine(t as f32);
            assert!((f64::from(sine) - t.sin()).abs() < 4e-7 && (f64::from(cosine) - t.cos()).abs() < 4e-7);
            let s = f64::from(i - 100_000) / 200.0;
            assert!((exp(s) / s.exp() - 1.0).abs() < 1e-15, "e^{s}");
        }
        assert!((f64::from(ln(2f32.powi(-32))) + 32.0 * core::f64::consts::LN_2).abs() < 1e-5);
        assert!(ln(1.0).abs() < f32::MIN_POSITIVE);
        assert!(exp(-1e300) > 0.0 && exp(1e300).is_finite() && (sigmoid(-800.0) - 0.0).abs() < 1e-300);
    }
}
