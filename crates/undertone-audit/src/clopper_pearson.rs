//! What a count proves about a probability (Clopper & Pearson, *The use of confidence or fiducial limits*, 1934).
//!
//! Among all p, only those are given up under which a count at least as extreme has probability at most α.
//! The bounds hold for every p and every number of trials, with no approximation.

use crate::binomial::{lower_tail, upper_tail};

/// The p that `successes` of `trials` prove to be exceeded, except with probability `alpha`:
/// P(X ≥ successes | p) = α.
pub fn at_least(successes: u64, trials: u64, alpha: f64) -> f64 {
    debug_assert!(alpha > 0.0 && alpha < 0.5 && successes <= trials);
    if successes == 0 {
        return 0.0;
    }
    let frequency = successes as f64 / trials as f64;
    let (low, _) = bisect(0.0, frequency, |p| upper_tail(successes, trials, p, 1.0 - p) < alpha);
    low
}

/// The p that `successes` of `trials` prove not to be exceeded, except with probability `alpha`:
/// P(X ≤ successes | p) = α.
pub fn at_most(successes: u64, trials: u64, alpha: f64) -> f64 {
    debug_assert!(alpha > 0.0 && alpha < 0.5 && successes <= trials);
    if successes == trials {
        return 1.0;
    }
    let frequency = successes as f64 / trials as f64;
    let (_, high) = bisect(frequency, 1.0, |p| lower_tail(successes, trials, p, 1.0 - p) > alpha);
    high
}

/// Where `below` turns from true to false, between the two numbers returned; the outer one is the safe one.
fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> (f64, f64) {
    while high - low > 1e-12 * high {
        let middle = low + (high - low) / 2.0;
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_seen_in_n_trials_bounds_p_by_the_nth_root_of_alpha() {
        // (1 - p)^n = α
        let p = at_most(0, 100, 0.025);
        assert!((p - (1.0 - 0.025f64.powf(0.01))).abs() < 1e-12);
        assert_eq!(at_least(0, 100, 0.025), 0.0);
        assert_eq!(at_most(100, 100, 0.025), 1.0);
        assert!((at_least(100, 100, 0.025) - 0.025f64.powf(0.01)).abs() < 1e-11);
    }

    #[test]
    fn eight_of_ten_give_the_interval_of_the_tables() {
        assert!((at_least(8, 10, 0.025) - 0.443_904_5).abs() < 1e-6);
        assert!((at_most(8, 10, 0.025) - 0.974_789_3).abs() < 1e-6);
    }

    #[test]
    fn at_ten_million_trials_the_bounds_are_where_the_normal_law_puts_them() {
        let (k, n) = (2_320_000, 10_000_000);
        let p = k as f64 / n as f64;
        let z = 1.959_963_985 * (p * (1.0 - p) / n as f64).sqrt();
        assert!((at_least(k, n, 0.025) - (p - z)).abs() < 3e-7);
        assert!((at_most(k, n, 0.025) - (p + z)).abs() < 3e-7);
    }
}
