//! Points at which an integral becomes a sum.

use std::sync::LazyLock;

/// (z, weight) such that Σ weight·g(z) = E g(|N|) for a standard normal N: 48 points of Gauss and Legendre on [0, 6.5],
/// beyond which there is 10^-10.
pub(super) static HALF_NORMAL: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| {
    let density = |z: f64| (2.0 / std::f64::consts::PI).sqrt() * (-0.5 * z * z).exp();
    let half = 3.25;
    legendre(48)
        .into_iter()
        .map(|(x, w)| (half * (1.0 + x), w))
        .map(|(z, w)| (z, half * w * density(z)))
        .collect()
});

/// The n points and weights of Gauss and Legendre on [-1, 1]: roots of P_n by Newton's method, weights 2/((1-x²)·P_n'²).
pub(super) fn legendre(n: u32) -> Vec<(f64, f64)> {
    let root = |k: u32| {
        let mut x = (std::f64::consts::PI * (f64::from(k) + 0.75) / (f64::from(n) + 0.5)).cos();
        for _ in 0..50 {
            let (value, slope) = polynomial(n, x);
            x -= value / slope;
        }
        let (_, slope) = polynomial(n, x);
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..n).map(root).collect()
}

/// P_n(x) and P_n'(x), by k·P_k = (2k-1)·x·P_{k-1} - (k-1)·P_{k-2} and (x²-1)·P_n' = n·(x·P_n - P_{n-1}).
fn polynomial(n: u32, x: f64) -> (f64, f64) {
    let (mut last, mut value) = (1.0, x);
    for k in 2..=n {
        let k = f64::from(k);
        (last, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * last) / k);
    }
    (value, f64::from(n) * (x * value - last) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n_points_integrate_polynomials_of_degree_two_n_less_one() {
        for n in [2, 5, 48] {
            for degree in 0..(2 * n).min(40) {
                let sum: f64 = legendre(n).iter().map(|(x, w)| w * x.powi(degree as i32)).sum();
                let exact = if degree % 2 == 0 { 2.0 / f64::from(degree + 1) } else { 0.0 };
                assert!((sum - exact).abs() < 1e-13, "{n} points, degree {degree}: {sum}");
            }
        }
    }

    #[test]
    fn the_half_normal_law_has_its_moments() {
        let moment = |k: i32| HALF_NORMAL.iter().map(|(z, w)| w * z.powi(k)).sum::<f64>();
        for (k, exact) in [(0, 1.0), (1, (2.0 / std::f64::consts::PI).sqrt()), (2, 1.0), (4, 3.0)] {
            assert!((moment(k) - exact).abs() < 1e-6, "{k}: {}", moment(k));
        }
    }
}
