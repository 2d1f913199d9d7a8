//! e^x for many x at once.
//!
//! > e^x = 2^n·e^r with n = ⌊x/ln 2⌉ and |r| ≤ ln 2/2
//!
//! where e^r is its Taylor polynomial of degree 7, whose remainder r^8/8! is below 6·10⁻⁹. There is no branch and no
//! call in it, so that a loop over it is compiled to vectors, and it gives the same on every machine.

/// 1.5·2^23: adding it leaves a float whose last bits are the nearest integer.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts, the first with few enough bits for an exact product with n.
const LN_2: [f32; 2] = [0.693_145_75, 1.428_606_8e-6];

/// e^x to within three units in the last place for -87 ≤ x ≤ 88, and e^-87 or e^88 beyond.
#[inline]
pub(super) fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    let low = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0)));
    let high = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0)));
    let power = (shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits());
    (low + (r * r) * (r * r) * high) * f32::from_bits(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential_to_within_three_units_in_the_last_place() {
        for x in (-87_000..=88_000).map(|i| i as f32 / 1000.0) {
            let (found, expected) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((found / expected - 1.0).abs() < 3.0 / 8_388_608.0, "e^{x}: {found} for {expected}");
        }
    }

    #[test]
    fn beyond_the_floats_it_stays_finite_and_nan_stays_nan() {
        assert!(exp(f32::NEG_INFINITY) > 0.0 && exp(f32::NEG_INFINITY) < 1e-37);
        assert!(exp(f32::INFINITY).is_finite() && exp(f32::INFINITY) > 1e38);
        assert!(exp(f32::NAN).is_nan());
    }
}
