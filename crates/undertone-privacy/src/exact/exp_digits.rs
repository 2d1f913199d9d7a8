//! As many binary digits of exp(-x) as somebody asks for.
//!
//! Slow, and hardly ever called: [`bernoulli_exp`](super::bernoulli_exp) comes here once in 2^34 tosses, when the first
//! 64 bits of its uniform number are too near exp(-x) to tell on which side it lies.

use alloc::vec;
use alloc::vec::Vec;
use rand_core::Rng;

/// How far [`exp_digits`] may be off, in units of its last place: each of fewer than 2^10 terms loses less than four.
const SLACK: u32 = 1 << 16;

/// Whether U < exp(-`numerator`/`denominator` - `whole`), for a uniform U whose first 64 bits are `word` and whose others
/// are drawn as they are needed; exact. The fraction is at most one, and `whole` is small.
#[cold]
#[inline(never)]
pub(super) fn is_below_exp(
    word: u64,
    numerator: u128,
    denominator: u128,
    whole: usize,
    rng: &mut impl Rng,
) -> bool {
    let mut u = Vec::from([0, (word >> 32) as u32, word as u32]);
    loop {
        let more = rng.next_u64();
        u.extend([(more >> 32) as u32, more as u32]);
        let limbs = u.len() - 1;
        let inverse_e = exp_digits(1, 1, limbs);
        // Each product is less than three units further off.
        let e = (0..whole).fold(exp_digits(numerator, denominator, limbs), |e, _| product(&e, &inverse_e));
        // Undecided once in 2^47 rounds
        if is_far_below(&u, &e) {
            return true;
        }
        if is_far_below(&e, &u) {
            return false;
        }
    }
}

/// Whether a + [`SLACK`] units of the last place < b.
fn is_far_below(a: &[u32], b: &[u32]) -> bool {
    let mut a = a.to_vec();
    add_from(&mut a, SLACK);
    a.as_slice() < b
}

/// exp(-`numerator`/`denominator`) for a fraction in [0, 1], in limbs of 32 bits, the integer part first and `limbs` after
/// it; less than [`SLACK`] units of the last place off.
pub(super) fn exp_digits(numerator: u128, denominator: u128, limbs: usize) -> Vec<u32> {
    let x = quotient(numerator, denominator, limbs);
    let mut one = vec![0; limbs + 1];
    one[0] = 1;
    // 1 - x + x²/2! - x³/3! + …
    let (mut sum, mut term) = (one.clone(), one);
    for k in 1.. {
        term = product(&term, &x);
        divide(&mut term, k);
        if term.iter().all(|&limb| limb == 0) {
            break;
        }
        if k % 2 == 1 { subtract(&mut sum, &term) } else { add(&mut sum, &term) }
    }
    sum
}

/// `numerator`/`denominator` ≤ 1, rounded down, bit by bit.
fn quotient(numerator: u128, denominator: u128, limbs: usize) -> Vec<u32> {
    assert!(numerator <= denominator && denominator <= 1 << 127, "a remainder has to be doubled in 128 bits");
    let mut digits = vec![0; limbs + 1];
    let mut rest = numerator;
    if rest == denominator {
        (digits[0], rest) = (1, 0);
    }
    for limb in &mut digits[1..] {
        for _ in 0..32 {
            rest *= 2;
            *limb = *limb << 1 | u32::from(rest >= denominator);
            if rest >= denominator {
                rest -= denominator;
            }
        }
    }
    digits
}

/// a·b, rounded down to as many limbs.
fn product(a: &[u32], b: &[u32]) -> Vec<u32> {
    let n = a.len();
    // Place p of the whole product holds what has weight 2^(-32·p), and one more in front the carries.
    let mut whole = vec![0u32; 2 * n];
    for i in (0..n).rev() {
        let mut carry = 0u64;
        for j in (0..n).rev() {
            let place = &mut whole[i + j + 1];
            let sum = u64::from(a[i]) * u64::from(b[j]) + u64::from(*place) + carry;
            (*place, carry) = (sum as u32, sum >> 32);
        }
        whole[i] = carry as u32;
    }
    // The integer parts of a and b meet in place 1.
    whole[1..=n].to_vec()
}

fn divide(a: &mut [u32], k: u32) {
    let mut rest = 0u64;
    for limb in a {
        let part = rest << 32 | u64::from(*limb);
        (*limb, rest) = ((part / u64::from(k)) as u32, part % u64::from(k));
    }
}

fn add(a: &mut [u32], b: &[u32]) {
    let mut carry = 0;
    for (x, &y) in a.iter_mut().zip(b).rev() {
        let sum = u64::from(*x) + u64::from(y) + carry;
        (*x, carry) = (sum as u32, sum >> 32);
    }
}

fn subtract(a: &mut [u32], b: &[u32]) {
    let mut borrow = false;
    for (x, &y) in a.iter_mut().zip(b).rev() {
        let (difference, first) = x.overflowing_sub(y);
        let (difference, second) = difference.overflowing_sub(u32::from(borrow));
        (*x, borrow) = (difference, first || second);
    }
}

/// Adds so many units of the last place.
fn add_from(a: &mut [u32], units: u32) {
    let mut carry = units;
    for limb in a.iter_mut().rev() {
        let (sum, over) = limb.overflowing_add(carry);
        (*limb, carry) = (sum, u32::from(over));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;
    use rand_core::TryRng;

    /// The first 192 bits after the point of 1/e, computed with 120 decimal digits.
    const INVERSE_E: [u64; 3] = [0x5e2d_58d8_b3bc_df1a, 0xbade_c782_9054_f90d, 0xda98_05aa_b56c_7733];

    /// Gives the words it holds, and then zeros.
    struct Script(Vec<u64>);

    impl TryRng for Script {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            unreachable!("digits come in whole words")
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(if self.0.is_empty() { 0 } else { self.0.remove(0) })
        }

        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
            unreachable!("digits come in whole words")
        }
    }

    #[test]
    fn the_digits_of_one_over_e_are_those_of_the_tables() {
        for (numerator, denominator) in [(1, 1), (7, 7), (1 << 127, 1 << 127)] {
            let e = exp_digits(numerator, denominator, 8);
            let words: Vec<u64> =
                e[1..].chunks(2).map(|two| u64::from(two[0]) << 32 | u64::from(two[1])).collect();
            assert_eq!((e[0], &words[..3]), (0, &INVERSE_E[..]));
        }
    }

    #[test]
    fn exponents_above_one_are_told_apart_by_the_next_digits_too() {
        // e^-2.5, computed with 120 decimal digits
        let (first, second) = (0x1503_85c0_94f4_24a7, 0x5e48_34ab_d702_8400);
        let is_below = |second| is_below_exp(first, 1, 2, 2, &mut Script(Vec::from([second])));
        assert!(is_below(second - (1 << 17)) && !is_below(second + (1 << 17)));
    }

    #[test]
    fn more_digits_never_contradict_fewer() {
        for (numerator, denominator) in
            [(0, 1), (1, 3), (1, 1 << 127), (5, 7), (u128::MAX >> 2, u128::MAX >> 1)]
        {
            let (short, long) =
                (exp_digits(numerator, denominator, 6), exp_digits(numerator, denominator, 12));
            assert!(
                !is_far_below(&short, &long[..7]) && !is_far_below(&long[..7], &short),
                "{numerator}/{denominator}"
            );
        }
    }

    #[test]
    fn a_number_that_agrees_with_one_over_e_for_many_digits_is_told_apart_by_the_next() {
        let [first, second, third] = INVERSE_E;
        let is_below = |words: &[u64]| is_below_exp(first, 1, 1, 0, &mut Script(words.to_vec()));
        assert!(is_below(&[second - (1 << 17)]) && !is_below(&[second + (1 << 17)]));
        assert!(is_below(&[second, third - (1 << 17)]) && !is_below(&[second, third + (1 << 17)]));
    }
}
