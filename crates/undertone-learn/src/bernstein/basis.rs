//! Bernstein polynomials b_v(x) = C(k, v)·x^v·(1-x)^(k-v) and their derivatives.
//!
//! They sum to one, so that the ratios of neighbours are enough:
//!
//! > b_{v+1}/b_v = (k-v)/(v+1) · x/(1-x)
//!
//! from the largest outwards. Nothing overflows, nothing cancels, and what underflows is nothing: this holds for every k,
//! where powers and binomials would not.

/// The polynomials of degree k.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Basis {
    /// (k-v)/(v+1) for v = 0, …, k-1
    up: Vec<f64>,
    /// v/(k-v+1) for v = 1, …, k
    down: Vec<f64>,
}

impl Basis {
    pub(super) fn new(degree: u32) -> Self {
        let k = f64::from(degree);
        let up: Vec<f64> = (0..degree).map(f64::from).map(|v| (k - v) / (v + 1.0)).collect();
        let down = up.iter().map(|ratio| 1.0 / ratio).collect();
        Self { up, down }
    }

    /// k.
    pub(super) fn degree(&self) -> usize {
        self.up.len()
    }

    /// Writes b_0(x), …, b_k(x) for x between 0 and 1.
    pub(super) fn values(&self, x: f64, values: &mut [f64]) {
        let k = self.degree();
        let mode = ((k as f64 + 1.0) * x).min(k as f64) as usize;
        values[mode] = 1.0;
        let (rise, fall) = (x / (1.0 - x), (1.0 - x) / x);
        // At x = 1 the mode is k, and at x = 0 it is 0: the infinite one of the two is not used.
        for v in mode..k {
            values[v + 1] = values[v] * (self.up[v] * rise);
        }
        for v in (0..mode).rev() {
            values[v] = values[v + 1] * (self.down[v] * fall);
        }
        let scale = 1.0 / values[..=k].iter().sum::<f64>();
        values[..=k].iter_mut().for_each(|value| *value *= scale);
    }

    /// Writes b'_0(x), …, b'_k(x), where `lower` is the basis of degree k-1:
    ///
    /// > b'_v = k·(b_{v-1, k-1} - b_{v, k-1})
    pub(super) fn derivatives(lower: &Self, x: f64, derivatives: &mut [f64]) {
        let k = lower.degree() + 1;
        lower.values(x, derivatives);
        let mut before = 0.0;
        derivatives[k] = 0.0;
        for derivative in &mut derivatives[..=k] {
            let here = *derivative;
            *derivative = k as f64 * (before - here);
            before = here;
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;

    fn at(degree: u32, x: f64) -> Vec<f64> {
        let mut values = vec![f64::NAN; degree as usize + 1];
        Basis::new(degree).values(x, &mut values);
        values
    }

    #[test]
    fn degree_three_at_a_quarter() {
        for (ours, expected) in at(3, 0.25).into_iter().zip([27.0, 27.0, 9.0, 1.0]) {
            assert!((ours - expected / 64.0).abs() < 1e-15);
        }
        assert_eq!(at(0, 0.3), [1.0]);
    }

    #[test]
    fn the_ends_belong_to_the_first_and_the_last() {
        for k in [1u32, 2, 7, 400] {
            let (left, right) = (at(k, 0.0), at(k, 1.0));
            assert!(left[0] == 1.0 && left[1..].iter().all(|&b| b == 0.0));
            assert!(right[k as usize] == 1.0 && right[..k as usize].iter().all(|&b| b == 0.0));
        }
    }

    #[test]
    fn mean_and_variance_are_those_of_a_binomial_at_any_degree() {
        for k in [1u32, 5, 30, 315, 5000] {
            for x in [1e-9, 0.1, 0.5, 0.73, 1.0 - 1e-9] {
                let values = at(k, x);
                let moment = |power: i32| -> f64 {
                    values.iter().enumerate().map(|(v, b)| b * (v as f64).powi(power)).sum()
                };
                let (mean, n) = (moment(1), f64::from(k));
                assert!((mean / (n * x) - 1.0).abs() < 1e-10, "k = {k}, x = {x}");
                let variance = moment(2) - mean * mean;
                assert!((variance - n * x * (1.0 - x)).abs() < 1e-9 * n * n, "k = {k}, x = {x}");
            }
        }
    }

    #[test]
    fn derivatives_are_limits_of_differences() {
        for k in [1u32, 2, 6, 40] {
            let lower = Basis::new(k - 1);
            let mut derivatives = vec![f64::NAN; k as usize + 1];
            for x in [0.2, 0.5, 0.91] {
                Basis::derivatives(&lower, x, &mut derivatives);
                let (left, right) = (at(k, x - 1e-6), at(k, x + 1e-6));
                for ((derivative, left), right) in derivatives.iter().zip(left).zip(right) {
                    assert!((derivative - (right - left) / 2e-6).abs() < 1e-6 * f64::from(k * k));
                }
            }
        }
    }
}
