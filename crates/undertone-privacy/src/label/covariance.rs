//! How much a label vector a(S) scatters: its exact covariance, and the number that learning depends on.

use crate::{Epsilon, PrivacyError};

/// Cov(a | y) of a mechanism that treats all labels alike, which has four different entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covariance {
    /// K, the labels among which the mechanism is symmetric
    pub labels: u32,
    /// A = Cov\[y, y\]
    pub own: f64,
    /// b = Cov\[y, k\]
    pub cross: f64,
    /// v = Cov\[k, k\]
    pub other: f64,
    /// s = Cov\[k, l\]
    pub pair: f64,
}

impl Covariance {
    /// Of independent members with probabilities p (its complement `not_p`) and q.
    pub(super) fn independent(labels: u32, p: f64, not_p: f64, q: f64, not_q: f64, gap: f64) -> Self {
        let square = gap * gap;
        Self { labels, own: p * not_p / square, cross: 0.0, other: q * not_q / square, pair: 0.0 }
    }

    /// Of sets of fixed size: Σ_k a_k = 1, so the rows of the covariance sum to zero.
    pub(super) fn fixed_size(labels: u32, p: f64, not_p: f64, q: f64, gap: f64) -> Self {
        let (square, k) = (gap * gap, f64::from(labels));
        let own = p * not_p / square;
        let other = q * (1.0 - q) / square;
        let cross = -own / (k - 1.0);
        let pair = if labels == 2 { 0.0 } else { -(cross + other) / (k - 2.0) };
        Self { labels, own, cross, other, pair }
    }

    /// T = A + (K - 1)·v: E|a - e_y|², the noise of a gradient when the K gradients are orthonormal.
    pub fn trace(&self) -> f64 {
        self.own + f64::from(self.labels - 1) * self.other
    }

    /// V = sup E|Σ_k a_k·g_k - g_y|² over all gradients with |g_k| ≤ 1.
    ///
    /// Averaging the Gram matrix of the g_k over the labels other than y leaves one parameter z in [0, √(K-1)]:
    ///
    /// > f(z) = A + (K-1)·v + 2·√(K-1)·|b|·z + (K-1)·s·(z² - 1)
    ///
    /// whose maximum is at an end or, if s < 0, where f' = 0.
    pub fn worst_case(&self) -> f64 {
        let others = f64::from(self.labels - 1);
        let root = libm::sqrt(others);
        let f =
            |z: f64| self.trace() + 2.0 * root * self.cross.abs() * z + others * self.pair * (z * z - 1.0);
        let ends = if self.labels == 2 { f(1.0) } else { f(0.0).max(f(root)) };
        if self.pair < 0.0 { ends.max(f((self.cross.abs() / (root * -self.pair)).min(root))) } else { ends }
    }

    /// G²/L² = 1 + V, the second moment on which the risk of stochastic gradient descent depends.
    pub fn worst_case_second_moment(&self) -> f64 {
        1.0 + self.worst_case()
    }
}

/// The least second moment that **any** ε-private randomizer of K labels with any unbiased gradient estimator has
/// on the unit gradients of a regular simplex:
///
/// > min_d (K-1)·(d + (K-d)·t)² / (d·(K-d)·m²), t = e^-ε, m = 1 - t
///
/// An optimal channel can be taken extremal, with entries in {1, e^ε} up to scale, and symmetric under
/// relabelling: a public mixture of subset selections, whose second moment is at least that of the best of them.
pub fn lower_bound_second_moment(labels: u32, epsilon: Epsilon) -> Result<f64, PrivacyError> {
    super::at_least_two(labels)?;
    let (k, d) = (f64::from(labels), f64::from(best_size_by_trace(labels, epsilon)));
    let root = (d + (k - d) * epsilon.t()) / epsilon.m();
    Ok((k - 1.0) * root * root / (d * (k - d)))
}

/// The size d of least trace variance: the smallest with d(d+1)·e^(2ε) ≥ (K-d)(K-d-1), found by bisection since
/// the left side rises and the right side falls with d.
pub(super) fn best_size_by_trace(labels: u32, epsilon: Epsilon) -> u32 {
    let (k, t) = (f64::from(labels), epsilon.t());
    let enough = |d: u32| {
        let d = f64::from(d);
        d * (d + 1.0) >= (k - d) * (k - d - 1.0) * t * t
    };
    let (mut low, mut high) = (1, labels - 1);
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{LabelKind, LabelRandomizer};

    /// K, ε and the worst-case second moments of the published bits, the best bits, symmetric bits, randomized
    /// response, subset selection with the published d and with the best d, and of the lower bound, computed
    /// independently to four digits.
    const TABLE: [(u32, f64, [f64; 7]); 35] = [
        (2, 0.1, [801.3, 800.8, 800.8, 400.7, 400.7, 400.7, 400.7]),
        (2, 0.5, [33.34, 32.83, 32.83, 16.67, 16.67, 16.67, 16.67]),
        (2, 1.0, [9.365, 8.835, 8.835, 4.683, 4.683, 4.683, 4.683]),
        (2, 2.0, [3.448, 2.841, 2.841, 1.724, 1.724, 1.724, 1.724]),
        (2, 3.0, [2.441, 1.739, 1.739, 1.221, 1.221, 1.221, 1.221]),
        (2, 4.0, [2.152, 1.362, 1.362, 1.076, 1.076, 1.076, 1.076]),
        (2, 8.0, [2.003, 1.038, 1.038, 1.001, 1.001, 1.001, 1.001]),
        (10, 0.1, [3999.0, 3999.0, 4000.0, 9233.0, 3606.0, 3606.0, 3606.0]),
        (10, 0.5, [158.7, 158.6, 160.2, 270.5, 141.4, 141.4, 141.4]),
        (10, 1.0, [38.83, 38.71, 40.18, 47.51, 34.58, 33.36, 33.34]),
        (10, 2.0, [9.241, 9.05, 10.21, 7.58, 7.58, 7.199, 6.58]),
        (10, 3.0, [4.206, 3.892, 4.697, 2.985, 2.985, 2.985, 2.322]),
        (10, 4.0, [2.76, 2.29, 2.81, 1.684, 1.684, 1.684, 1.408]),
        (10, 8.0, [2.013, 1.117, 1.19, 1.012, 1.012, 1.012, 1.007]),
        (26, 0.1, [1.039e4, 1.039e4, 1.04e4, 6.161e4, 9999.0, 9999.0, 9999.0]),
        (26, 0.5, [409.4, 409.4, 414.8, 1688.0, 401.3, 391.9, 391.9]),
        (26, 1.0, [97.75, 97.7, 102.9, 261.2, 96.55, 92.08, 92.07]),
        (26, 2.0, [20.83, 20.74, 24.94, 26.7, 19.44, 18.19, 18.11]),
        (26, 3.0, [7.735, 7.574, 10.61, 6.58, 6.58, 5.988, 5.58]),
        (26, 4.0, [3.977, 3.685, 5.706, 2.901, 2.901, 2.901, 2.205]),
        (26, 8.0, [2.035, 1.202, 1.494, 1.034, 1.034, 1.034, 1.018]),
        (100, 0.1, [3.997e4, 3.997e4, 3.999e4, 9.06e5, 3.96e4, 3.957e4, 3.957e4]),
        (100, 0.5, [1569.0, 1569.0, 1593.0, 2.407e4, 1587.0, 1551.0, 1551.0]),
        (100, 1.0, [370.3, 370.3, 392.8, 3505.0, 383.4, 364.6, 364.6]),
        (100, 2.0, [74.41, 74.38, 93.07, 278.3, 78.09, 71.7, 71.68]),
        (100, 3.0, [24.06, 24.01, 37.97, 39.93, 23.25, 21.9, 21.85]),
        (100, 4.0, [9.602, 9.489, 19.1, 9.212, 9.212, 7.725, 7.548]),
        (100, 8.0, [2.134, 1.438, 2.901, 1.133, 1.133, 1.133, 1.068]),
        (1000, 0.1, [3.997e5, 3.997e5, 3.999e5, 9.043e7, 4.001e5, 3.993e5, 3.993e5]),
        (1000, 0.5, [1.567e4, 1.567e4, 1.592e4, 2.379e6, 1.608e4, 1.566e4, 1.566e4]),
        (1000, 1.0, [3685.0, 3685.0, 3919.0, 3.399e5, 3904.0, 3679.0, 3679.0]),
        (1000, 2.0, [726.1, 726.1, 921.7, 2.481e4, 794.6, 723.3, 723.3]),
        (1000, 3.0, [222.6, 222.6, 370.7, 2852.0, 245.5, 220.4, 220.3]),
        (1000, 4.0, [78.02, 78.01, 182.0, 387.4, 82.91, 75.96, 75.95]),
        (1000, 8.0, [3.343, 3.01, 20.01, 2.341, 2.341, 2.341, 1.784]),
    ];

    #[test]
    fn second_moments_are_those_computed_independently() {
        let kinds = [
            LabelKind::BitsPaper,
            LabelKind::Bits,
            LabelKind::Unary,
            LabelKind::Rr,
            LabelKind::SubsetPaper,
            LabelKind::Subset,
        ];
        for (labels, value, expected) in TABLE {
            let epsilon = Epsilon::new(value).unwrap();
            for (kind, expected) in kinds.iter().zip(expected) {
                let ours = kind.mechanism(labels, epsilon).unwrap().covariance().worst_case_second_moment();
                assert!((ours / expected - 1.0).abs() < 6e-4, "{kind:?}, K = {labels}, ε = {value}: {ours}");
            }
            let bound = lower_bound_second_moment(labels, epsilon).unwrap();
            assert!((bound / expected[6] - 1.0).abs() < 6e-4, "bound, K = {labels}, ε = {value}: {bound}");
        }
    }

    #[test]
    fn no_mechanism_is_below_the_bound_and_subset_selection_is_below_the_others() {
        for labels in [2, 3, 5, 10, 50, 300] {
            for value in [1e-6, 0.01, 0.3, 1.0, 2.5, 6.0, 12.0] {
                let epsilon = Epsilon::new(value).unwrap();
                let second_moment = |kind: LabelKind| {
                    kind.mechanism(labels, epsilon).unwrap().covariance().worst_case_second_moment()
                };
                let best = second_moment(LabelKind::Subset);
                assert!(best >= lower_bound_second_moment(labels, epsilon).unwrap() * (1.0 - 1e-12));
                for kind in [LabelKind::Rr, LabelKind::BitsPaper, LabelKind::Bits, LabelKind::Unary] {
                    let other = second_moment(kind);
                    assert!(
                        best <= other * (1.0 + 1e-9),
                        "{kind:?}, K = {labels}, ε = {value}: {other} < {best}"
                    );
                }
            }
        }
    }
}
