//! How far the best k of M random directions point the right way.
//!
//! The codewords are N = M/2 random directions and their opposites, so the k ≤ N that point most along an axis are
//! those of the k largest among t_1, …, t_N, the magnitudes of one coordinate of independent uniform points of the
//! sphere. Their mean sum is
//!
//! > T_k = E[the sum of the k largest].
//!
//! Whether t_1 is among the k largest depends on how many of the other N - 1 exceed it, so with s = P(t_1 > t),
//! T_k = N·∫ t·P(Bin(N-1, s) < k) ds. The probability is that of a Beta(k, N-k) variable exceeding s, and
//! ∫ t ds = 2·K, twice the moment of the cap above t, vanishes at s = 0; by parts,
//!
//! > T_k = N·E[2·K(S)], S ~ Beta(k, N-k), and T_N = N·E t
//!
//! where everything is positive and nothing cancels. The expectation is a quotient of two trapezoid sums over y, with
//! t = tanh(e^y), which converge faster than any power of the step since the integrand is analytic and dies off at
//! both ends.

use super::sphere::Sphere;
use core::f64::consts::FRAC_PI_2;

/// T_k for `pairs` = N directions and their opposites, 1 ≤ k ≤ N.
pub(super) fn top_sum(sphere: Sphere, pairs: u32, k: u32) -> f64 {
    if sphere.dimension() == 1 {
        // every magnitude is one
        return f64::from(k);
    }
    let n = f64::from(pairs);
    if k == pairs {
        return n * 2.0 * sphere.cap_moment(FRAC_PI_2);
    }
    let k = f64::from(k);
    // Begin where s = k/N, with half a standard deviation of S as the step: that of logit S is √(N/(k(N-k))), and
    // d logit s/dy = x·d logit s/dx = x·2·(p-1)·K/(s(1 - s)), for t = tanh x and x = e^y.
    let share = k / n;
    let angle = sphere.angle_of_cap(0.5 * share);
    let x = -libm::log(libm::tan(0.5 * angle));
    let slope =
        x * 2.0 * (sphere.dimension() as f64 - 1.0) * sphere.cap_moment(angle) / (share * (1.0 - share));
    let mut step = 0.5 * libm::sqrt(n / (k * (n - k))) / slope;
    let mut last = f64::NAN;
    // Twice as fine until nothing changes; three rounds are the rule.
    for _ in 0..10 {
        let next = n * expected_moment(sphere, n, k, libm::log(x), step);
        if libm::fabs(next - last) <= 1e-12 * next {
            return next;
        }
        (last, step) = (next, 0.5 * step);
    }
    last
}

/// E[2·K(S)] by sums over the points start + i·step, outwards until the weight is negligible on both sides.
fn expected_moment(sphere: Sphere, n: f64, k: f64, start: f64, step: f64) -> f64 {
    // The log-density of S ~ Beta(k, N-k) as a function of y, up to a constant, and 2·K
    let at = |y: f64| {
        let x = libm::exp(y);
        let (sine, cosine) = (1.0 / libm::cosh(x), libm::tanh(x));
        let share = 2.0 * sphere.tail(sine, cosine);
        let ln_density = (k - 1.0) * libm::log(share) + (n - k - 1.0) * libm::log1p(-share);
        let ln_weight = ln_density + sphere.ln_power(sine, cosine) + y;
        // where the share is none or all, so is the weight
        let inside = share > 0.0 && share < 1.0;
        (if inside { ln_weight } else { f64::NEG_INFINITY }, 2.0 * sphere.moment(sine, cosine))
    };
    let (reference, moment) = at(start);
    let (mut weights, mut weighted) = (1.0, moment);
    for direction in [step, -step] {
        for i in 1..100_000 {
            let (ln_weight, moment) = at(start + f64::from(i) * direction);
            let weight = libm::exp(ln_weight - reference);
            weights += weight;
            weighted += weight * moment;
            if weight < 1e-18 * weights {
                break;
            }
        }
    }
    weighted / weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::stream::PublicStream;
    use alloc::vec;
    use alloc::vec::Vec;

    fn t(p: usize, n: u32, k: u32) -> f64 {
        top_sum(Sphere::new(p), n, k)
    }

    #[test]
    fn three_dimensions_have_a_closed_form() {
        // Archimedes: a coordinate is uniform on [-1, 1], and the i-th largest magnitude of N has mean 1 - i/(N+1)
        for n in [2, 3, 16, 256, 4096, 32_768] {
            for k in [1, n / 3, n / 2, n - 1, n] {
                if k == 0 {
                    continue;
                }
                let (n_, k_) = (f64::from(n), f64::from(k));
                let expected = k_ - k_ * (k_ + 1.0) / (2.0 * (n_ + 1.0));
                assert!((t(3, n, k) / expected - 1.0).abs() < 1e-10, "N = {n}, k = {k}: {}", t(3, n, k));
            }
        }
    }

    #[test]
    fn the_larger_of_two_magnitudes_on_the_circle_is_worked_by_hand() {
        // t = sin φ with φ uniform on [0, π/2], so E max = ∫ sin φ·2φ·(2/π)² dφ = 8/π²
        assert!((t(2, 2, 1) - 8.0 / core::f64::consts::PI.powi(2)).abs() < 1e-11);
    }

    #[test]
    fn magnitudes_in_one_dimension_are_one() {
        assert_eq!((t(1, 4, 1), t(1, 4, 2), t(1, 4, 4)), (1.0, 2.0, 4.0));
    }

    #[test]
    fn each_further_direction_adds_less() {
        for p in [2, 6, 101, 10_000] {
            let sums: Vec<f64> = (1..=40).map(|k| t(p, 40, k)).collect();
            let added: Vec<f64> = sums.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(added.windows(2).all(|pair| pair[1] < pair[0] && pair[1] > 0.0), "p = {p}: {added:?}");
        }
    }

    #[test]
    fn simulated_sums_agree() {
        for (p, n, k) in [(2, 8, 5), (6, 8, 5), (11, 32, 15), (5, 16, 16)] {
            let trials = 4000;
            let mut vector = vec![0.0; p];
            let sums: Vec<f64> = (0..trials)
                .map(|seed| {
                    let mut magnitudes: Vec<f64> = (0..u64::from(n))
                        .map(|lane| {
                            PublicStream::new(seed, lane).fill_normal(&mut vector);
                            vector[0].abs() / vector.iter().map(|x| x * x).sum::<f64>().sqrt()
                        })
                        .collect();
                    magnitudes.sort_by(|x, y| y.total_cmp(x));
                    magnitudes[..k as usize].iter().sum()
                })
                .collect();
            let count = trials as f64;
            let mean = sums.iter().sum::<f64>() / count;
            let variance = sums.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            let off = (mean - t(p, n, k)) / (variance / count).sqrt();
            assert!(off.abs() < 5.0, "p = {p}: {mean}, not {}", t(p, n, k));
        }
    }
}
