//! Arithmetic whose results err upwards, and never when they are exact.
//!
//! A privacy loss that is reported too small is a broken promise, one that is a unit in the last place too large is not.

/// `a` + `b`, rounded up.
pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    let (sum, error) = two_sum(a, b);
    if error > 0.0 { sum.next_up() } else { sum }
}

/// `a` · `b` for non-negative factors, rounded up.
pub(crate) fn multiply_up(a: f64, b: f64) -> f64 {
    let (product, error) = two_product(a, b);
    if error > 0.0 { product.next_up() } else { product }
}

/// x·(1 + `margin`), rounded up: for a positive x that was computed with a smaller relative error.
pub(crate) fn up(x: f64, margin: f64) -> f64 {
    multiply_up(x, (1.0 + margin).next_up())
}

/// x·(1 - `margin`), rounded down: for a positive x that was computed with a smaller relative error.
pub(crate) fn down(x: f64, margin: f64) -> f64 {
    (x * (1.0 - margin).next_down()).next_down()
}

/// The sum and what it lost: `a` + `b` = sum + error, exactly (Møller and Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// The product and what it lost. So close to zero that the loss itself underflows, the product is raised instead.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    if !product.is_finite() || a == 0.0 || b == 0.0 {
        (product, 0.0)
    } else if product < 1e-290 {
        (product.next_up(), 0.0)
    } else {
        (product, libm::fma(a, b, -product))
    }
}

/// A sum of non-negative numbers with twice the digits of a float, never below the true sum.
///
/// So wide that a single square is held exactly, and a promise equal to its cap fits under it.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct UpSum {
    // The float nearest to high + low is high, so that comparing the fields in this order compares the sums.
    high: f64,
    low: f64,
}

impl UpSum {
    pub(crate) fn of(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    /// The square of x ≥ 0.
    pub(crate) fn of_square(x: f64) -> Self {
        let (high, low) = two_product(x, x);
        Self { high, low }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (high, lost) = two_sum(self.high, other.high);
        if !high.is_finite() {
            return Self::of(f64::INFINITY);
        }
        let low = add_up(add_up(self.low, other.low), lost);
        let (high, low) = two_sum(high, low);
        Self { high, low }
    }

    /// `times` sums like this one, by doubling.
    pub(crate) fn times(self, times: u32) -> Self {
        let (mut sum, mut power) = (Self::default(), self);
        for bit in 0..u32::BITS - times.leading_zeros() {
            if times >> bit & 1 == 1 {
                sum = sum.plus(power);
            }
            power = power.plus(power);
        }
        sum
    }

    /// The least float that is not below the sum.
    pub(crate) fn get(self) -> f64 {
        if self.low > 0.0 { self.high.next_up() } else { self.high }
    }

    /// A float not below the square root of the sum; the root itself if that is a float.
    pub(crate) fn sqrt(self) -> f64 {
        let root = libm::sqrt(self.high);
        if Self::of_square(root) < self { root.next_up() } else { root }
    }

    pub(crate) fn is_finite(self) -> bool {
        self.high.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_result_is_left_alone_and_an_inexact_one_is_never_below_the_truth() {
        assert_eq!(add_up(0.5, 0.25), 0.75);
        assert_eq!(multiply_up(0.5, 3.0), 1.5);
        // 1 + 2^-60 lies between two floats
        assert_eq!(add_up(1.0, libm::exp2(-60.0)), 1.0_f64.next_up());
        // (1 + 2^-52)² = 1 + 2^-51 + 2^-104
        let x = 1.0 + f64::EPSILON;
        assert_eq!(multiply_up(x, x), (1.0 + 2.0 * f64::EPSILON).next_up());
        assert!(multiply_up(1e-200, 1e-200) > 0.0);
    }

    #[test]
    fn the_root_of_a_square_is_the_number_itself() {
        let mut x = 1e-100;
        while x < 1e100 {
            assert_eq!(UpSum::of_square(x).sqrt(), x);
            x *= 1.618;
        }
    }

    #[test]
    fn a_thousand_tenths_are_never_below_a_thousand_times_a_tenth() {
        let tenth = 0.1;
        let sum = (0..1000).fold(UpSum::default(), |sum, _| sum.plus(UpSum::of(tenth)));
        // 1000·fl(0.1) as an unevaluated sum of two floats
        let (high, low) = two_product(1000.0, tenth);
        assert!(sum >= UpSum { high, low });
        assert!(sum.get() <= high.next_up());
    }

    #[test]
    fn what_overflows_is_infinite_rather_than_no_number() {
        let large = UpSum::of_square(1e200);
        assert_eq!(large.plus(large).get(), f64::INFINITY);
        assert_eq!(UpSum::of(f64::MAX).plus(UpSum::of(f64::MAX)).get(), f64::INFINITY);
    }
}
