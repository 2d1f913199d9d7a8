//! A coin that shows heads with probability exp(-x), for rational x, exactly.

use super::uniform_below;
use rand_core::Rng;

/// Heads with probability exp(-`numerator` / `denominator`), exactly.
///
/// For x ≤ 1 (Canonne, Kamath, Steinke, *The Discrete Gaussian for Differential Privacy*, 2020, Algorithm 1): toss
/// coins of probability x/1, x/2, x/3, … until one shows tails. The first k tosses are all heads with probability
/// x^k/k!, so the number of heads is even with probability
///
/// > 1 - x + x²/2! - x³/3! + … = exp(-x)
///
/// A larger x is exp(-1) as often as it fits, times the rest.
#[inline]
pub fn bernoulli_exp(numerator: u128, denominator: u128, rng: &mut impl Rng) -> bool {
    debug_assert!(denominator > 0);
    let mut rest = numerator;
    while rest > denominator {
        if !small_exp(1, 1, rng) {
            return false;
        }
        rest -= denominator;
    }
    small_exp(rest, denominator, rng)
}

/// [`bernoulli_exp`] for `numerator` ≤ `denominator`.
#[inline]
fn small_exp(numerator: u128, denominator: u128, rng: &mut impl Rng) -> bool {
    let mut k = 1;
    // A coin of probability x/k is one of 1/k and one of x.
    while (k == 1 || uniform_below(k, rng) == 0) && bernoulli(numerator, denominator, rng) {
        k += 1;
    }
    k % 2 == 1
}

/// Heads with probability `numerator` / `denominator` ≤ 1, exactly.
#[inline]
fn bernoulli(numerator: u128, denominator: u128, rng: &mut impl Rng) -> bool {
    if numerator == denominator {
        return true;
    }
    match u64::try_from(denominator) {
        Ok(denominator) => u128::from(uniform_below(denominator, rng)) < numerator,
        Err(_) => uniform_below_wide(denominator, rng) < numerator,
    }
}

/// An integer below `n`, drawing as many bits as n - 1 has until they fall below n: twice on average at worst.
#[inline]
fn uniform_below_wide(n: u128, rng: &mut impl Rng) -> u128 {
    let mask = u128::MAX >> (n - 1).leading_zeros();
    loop {
        let draw = (u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())) & mask;
        if draw < n {
            return draw;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn heads_come_as_often_as_the_exponential_says() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let trials = 400_000;
        for (numerator, denominator) in [(0, 1), (1, 3), (1, 1), (7, 4), (5, 1), (1u128 << 90, 3 << 89)] {
            let p = (-(numerator as f64 / denominator as f64)).exp();
            let heads = (0..trials).filter(|_| bernoulli_exp(numerator, denominator, &mut rng)).count();
            let sigma = (f64::from(trials) * p * (1.0 - p)).sqrt();
            assert!(
                (heads as f64 - f64::from(trials) * p).abs() <= 5.0 * sigma,
                "x = {numerator}/{denominator}"
            );
        }
    }
}
