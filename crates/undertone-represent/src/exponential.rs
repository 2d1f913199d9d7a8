//! e^x of many numbers at once.
//!
//! Probabilities of sixty thousand people are made a hundred times in a run, and a call of the library for each number would be half of its
//! time. With x = k·ln 2 + r, |r| ≤ ln 2/2, e^x = 2^k·e^r: the power goes into the exponent of the float, and a polynomial makes e^r.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatch is compiled without its vector instructions"
)]

use pulp::Arch;

/// Added and subtracted, it leaves the nearest integer: 1.5·2^23.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts, of which the first has few digits, so that k times it is exact.
const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
/// 1/k! from k = 6 down to 0, of which the seventh term is below 2^-22 of the sum.
const TERMS: [f32; 7] = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 1.0 / 2.0, 1.0, 1.0];

/// e^x, for each x ≤ 88, in its place; below -87 it is e^-87, which is nothing.
pub(crate) fn exponentials(values: &mut [f32]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for x in values.iter_mut() {
                *x = exponential(*x);
            }
        },
    );
}

#[inline(always)]
fn exponential(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN_2.0) - k * LN_2.1;
    let power = TERMS[1..].iter().fold(TERMS[0], |sum, term| sum * r + term);
    // The low bits of the shifted number are k; the bias of the exponent is 127
    let scale = f32::from_bits((shifted.to_bits().wrapping_add(127)) << 23);
    power * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential_to_a_few_units_in_the_last_place() {
        let given: Vec<f32> = (-8699..8800).map(|i| i as f32 * 0.01).collect();
        let mut found = given.clone();
        exponentials(&mut found);
        for (x, found) in given.iter().zip(&found) {
            let expected = f64::from(*x).exp();
            assert!((f64::from(*found) / expected - 1.0).abs() < 1e-6, "{x}: {found} for {expected}");
        }
    }

    #[test]
    fn what_is_far_below_is_nothing() {
        let mut far = [f32::NEG_INFINITY, -1e30, -87.5];
        exponentials(&mut far);
        assert!(far.iter().all(|&x| (0.0..1e-37).contains(&x)), "{far:?}");
    }
}
