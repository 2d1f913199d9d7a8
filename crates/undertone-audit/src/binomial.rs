//! Tails of the binomial distribution, exact to about thirteen digits up to billions of trials.
//!
//! The usual continued fraction of the incomplete beta function needs ever more steps as the trials grow (statrs
//! 0.19 stops after 140 of thousands); a sum of positive terms from an accurate first one does not go wrong.

use std::f64::consts::PI;

/// P(X ≥ `k`) for X ~ Binomial(`n`, `p`), where `q` = 1 − `p` is given too so that neither is lost by rounding.
pub(crate) fn upper_tail(k: u64, n: u64, p: f64, q: f64) -> f64 {
    if k == 0 {
        1.0
    } else if k as f64 > n as f64 * p {
        sum_upwards(k, n, p, q)
    } else {
        // P(X ≤ k - 1) = P(n - X ≥ n - k + 1)
        1.0 - sum_upwards(n - k + 1, n, q, p)
    }
}

/// P(X ≤ `k`).
pub(crate) fn lower_tail(k: u64, n: u64, p: f64, q: f64) -> f64 {
    upper_tail(n - k, n, q, p)
}

/// Σ_{j ≥ k} P(X = j) for a `k` above the mean, where P(X = j + 1) / P(X = j) = (n - j)/(j + 1) · p/q falls.
fn sum_upwards(k: u64, n: u64, p: f64, q: f64) -> f64 {
    let mut term = probability(k, n, p, q);
    let mut sum = 0.0;
    for j in k..=n {
        sum += term;
        if term <= sum * 1e-17 {
            break;
        }
        term *= (n - j) as f64 / (j + 1) as f64 * (p / q);
    }
    sum
}

/// P(X = `k`) by Loader's expansion (*Fast and accurate computation of binomial probabilities*, 2000):
///
/// > √(n / 2πk(n-k)) · exp(s(n) - s(k) - s(n-k) - D(k, np) - D(n-k, nq))
///
/// in which nothing large cancels, unlike the difference of three logarithms of factorials.
fn probability(k: u64, n: u64, p: f64, q: f64) -> f64 {
    let (x, y, size) = (k as f64, (n - k) as f64, n as f64);
    if k == 0 || k == n {
        // q^n or p^n, through the smaller of the two
        let (base, other) = if k == 0 { (q, p) } else { (p, q) };
        let ln_base = if other < 0.5 { libm::log1p(-other) } else { libm::log(base) };
        return libm::exp(size * ln_base);
    }
    let ln = stirling_remainder(size)
        - stirling_remainder(x)
        - stirling_remainder(y)
        - deviance(x, size * p)
        - deviance(y, size * q);
    (size / (2.0 * PI * x * y)).sqrt() * libm::exp(ln)
}

/// s(n) = ln n! − (n + ½) ln n + n − ½ ln 2π
fn stirling_remainder(n: f64) -> f64 {
    if n < 16.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * libm::log(n) + n - 0.5 * libm::log(2.0 * PI);
    }
    let r = 1.0 / (n * n);
    (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / n
}

/// D(x, m) = x ln(x/m) + m − x, by a series when x and m are close.
fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * libm::log(x / m) + m - x;
    }
    // with v = (x - m)/(x + m): D = (x - m)·v + 2x·(v³/3 + v⁵/5 + …)
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for j in 1..1000 {
        power *= v * v;
        let next = sum + power / f64::from(2 * j + 1);
        if next.to_bits() == sum.to_bits() {
            break;
        }
        sum = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, relative: f64) -> bool {
        (a - b).abs() <= relative * b.abs()
    }

    #[test]
    fn three_fair_coins_show_at_least_two_heads_half_the_time() {
        assert!(close(upper_tail(2, 3, 0.5, 0.5), 0.5, 1e-14));
        assert!(close(upper_tail(3, 3, 0.5, 0.5), 0.125, 1e-14));
        assert!(close(lower_tail(0, 3, 0.5, 0.5), 0.125, 1e-14));
        assert!(close(upper_tail(1, 3, 0.5, 0.5), 0.875, 1e-14));
    }

    #[test]
    fn the_tails_on_both_sides_of_a_cut_sum_to_one() {
        for (k, n, p) in [(5, 20, 0.3), (400_000, 1_000_000, 0.4), (3_001_000, 10_000_000, 0.3)] {
            let both = upper_tail(k, n, p, 1.0 - p) + lower_tail(k - 1, n, p, 1.0 - p);
            assert!(close(both, 1.0, 1e-12), "{both}");
        }
    }

    #[test]
    fn ten_million_fair_coins_are_symmetric_to_twelve_digits() {
        // P(X ≥ n/2) = 1/2 + P(X = n/2)/2 and P(X = n/2) = √(2/πn)·(1 - 1/4n + …)
        let n = 10_000_000u64;
        let centre = (2.0 / (PI * n as f64)).sqrt() * (1.0 - 0.25 / n as f64);
        assert!(close(upper_tail(n / 2, n, 0.5, 0.5), 0.5 + centre / 2.0, 1e-12));
    }

    #[test]
    fn a_probability_too_small_for_its_complement_is_not_lost() {
        // P(X ≥ 1) = 1 - (1 - p)^n ≈ np
        let tail = upper_tail(1, 10, 1e-30, 1.0);
        assert!(close(tail, 1e-29, 1e-12), "{tail}");
    }
}
