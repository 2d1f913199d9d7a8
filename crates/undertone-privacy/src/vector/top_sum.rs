//! How far the best k of M random directions point the right way.
//!
//! Let t_1, …, t_M be the coordinates of independent uniform points of the sphere along one axis, and
//!
//! > T_k = E[the sum of the k largest].
//!
//! Whether t_1 is among the k largest depends on how many of the other M - 1 exceed it, so with s the mass of the
//! cap above t, T_k = M·∫ t·P(Bin(M-1, s) < k) ds. The probability is that of a Beta(k, M-k) variable exceeding s,
//! and K(s) = ∫ t ds vanishes at both ends; by parts,
//!
//! > T_k = M·E[K(S)], S ~ Beta(k, M-k)
//!
//! where everything is positive and nothing cancels. The expectation is a quotient of two trapezoid sums over
//! t = tanh x, which converge faster than any power of the step since the integrand is analytic and dies off at
//! both ends. The codewords of one dimension are not independent, see [`top_sum_of_alternating_signs`].

use super::sphere::Sphere;

/// T_k for `codewords` = M codewords, 1 ≤ k < M.
pub(super) fn top_sum(sphere: Sphere, codewords: u32, k: u32) -> f64 {
    if sphere.dimension() == 1 {
        return top_sum_of_alternating_signs(codewords, k);
    }
    let (m, k) = (f64::from(codewords), f64::from(k));
    // Begin where s = k/M, with half a standard deviation of S as the step: that of logit S is √(M/(k(M-k))), and
    // d logit s/dx = f·(1 - t²)/(s(1 - s)) = (p-1)·K/(s(1 - s)).
    let share = k / m;
    let angle = sphere.angle_of_cap(share);
    let start = -libm::log(libm::tan(0.5 * angle));
    let slope = (sphere.dimension() as f64 - 1.0) * sphere.cap_moment(angle) / (share * (1.0 - share));
    let mut step = 0.5 * libm::sqrt(m / (k * (m - k))) / slope;
    let mut last = f64::NAN;
    // Twice as fine until nothing changes; three rounds are the rule.
    for _ in 0..10 {
        let next = m * expected_moment(sphere, m, k, start, step);
        if libm::fabs(next - last) <= 1e-12 * next {
            return next;
        }
        (last, step) = (next, 0.5 * step);
    }
    last
}

/// E[K(S)] by sums over the points start + i·step, outwards until the weight is negligible on both sides.
fn expected_moment(sphere: Sphere, m: f64, k: f64, start: f64, step: f64) -> f64 {
    // The log-density of S ~ Beta(k, M-k) as a function of x, up to a constant, and K
    let at = |x: f64| {
        let (sine, cosine) = (1.0 / libm::cosh(x), libm::fabs(libm::tanh(x)));
        let tail = sphere.tail(sine, cosine);
        let (ln_tail, ln_rest) = (libm::log(tail), libm::log1p(-tail));
        let (ln_s, ln_not_s) = if x >= 0.0 { (ln_tail, ln_rest) } else { (ln_rest, ln_tail) };
        let ln_weight = (k - 1.0) * ln_s + (m - k - 1.0) * ln_not_s + sphere.ln_power(sine, cosine);
        // where the tail underflows, so would the weight
        (if tail > 0.0 { ln_weight } else { f64::NEG_INFINITY }, sphere.moment(sine, cosine))
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

/// In one dimension the codewords are signs, by turns, and which comes first is a fair coin. Of N positive ones the
/// k largest sum to 2·min(k, N) - k, and N is ⌊M/2⌋ or ⌈M/2⌉ equally often.
fn top_sum_of_alternating_signs(codewords: u32, k: u32) -> f64 {
    let (fewer, more) = (codewords / 2, codewords.div_ceil(2));
    f64::from(k.min(fewer)) + f64::from(k.min(more)) - f64::from(k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::stream::PublicStream;
    use alloc::vec;
    use alloc::vec::Vec;

    fn t(p: usize, m: u32, k: u32) -> f64 {
        top_sum(Sphere::new(p), m, k)
    }

    #[test]
    fn three_dimensions_have_a_closed_form() {
        // Archimedes: t is uniform on [-1, 1], and the i-th largest of M has mean 1 - 2i/(M+1)
        for m in [2, 3, 16, 256, 4096, 65_536] {
            for k in [1, m / 3, m / 2, m - 1] {
                if k == 0 {
                    continue;
                }
                let (m_, k_) = (f64::from(m), f64::from(k));
                let expected = k_ - k_ * (k_ + 1.0) / (m_ + 1.0);
                assert!((t(3, m, k) / expected - 1.0).abs() < 1e-11, "M = {m}, k = {k}: {}", t(3, m, k));
            }
        }
    }

    #[test]
    fn the_larger_of_two_points_of_the_circle_is_worked_by_hand() {
        // T_1 = 2·∫ K f dt with K = sin θ/π and f dt = dθ/π: 2/π²·∫ sin = 4/π²
        assert!((t(2, 2, 1) - 4.0 / core::f64::consts::PI.powi(2)).abs() < 1e-12);
    }

    #[test]
    fn leaving_out_the_k_smallest_is_the_mirror_image_of_taking_the_k_largest() {
        for p in [1, 2, 6, 101, 10_000] {
            for (m, k) in [(2, 1), (16, 3), (256, 40), (65_536, 1)] {
                assert!((t(p, m, k) / t(p, m, m - k) - 1.0).abs() < 1e-9, "p = {p}, M = {m}");
            }
        }
    }

    #[test]
    fn alternating_signs_are_worked_by_hand() {
        // M = 4: ++-- whatever comes first; M = 3: ++- or +--, so k = 2 gives 2 or 0
        assert_eq!((t(1, 4, 1), t(1, 4, 2), t(1, 4, 3)), (1.0, 2.0, 1.0));
        assert_eq!((t(1, 3, 1), t(1, 3, 2)), (1.0, 1.0));
    }

    #[test]
    fn simulated_sums_agree() {
        for (p, m, k) in [(2, 16, 5), (6, 16, 5), (11, 64, 15)] {
            let trials = 4000;
            let mut vector = vec![0.0; p];
            let sums: Vec<f64> = (0..trials)
                .map(|seed| {
                    let mut coordinates: Vec<f64> = (0..u64::from(m))
                        .map(|lane| {
                            PublicStream::new(seed, lane).fill_normal(&mut vector);
                            vector[0] / vector.iter().map(|x| x * x).sum::<f64>().sqrt()
                        })
                        .collect();
                    coordinates.sort_by(|x, y| y.total_cmp(x));
                    coordinates[..k as usize].iter().sum()
                })
                .collect();
            let n = trials as f64;
            let mean = sums.iter().sum::<f64>() / n;
            let variance = sums.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            assert!(
                (mean - t(p, m, k)).abs() < 5.0 * (variance / n).sqrt(),
                "p = {p}: {mean} {}",
                t(p, m, k)
            );
        }
    }
}
