//! Limits of a mean of terms that lie in a known range, whatever their law.
//!
//! What a report says about something rare is large now and then, and else a little too small. The mean of some hundred such terms is not
//! normal, and its standard error is small just when the mean is. Two inequalities need neither. Of n independent terms of one law in an
//! interval of length R, with mean m, variance s² among themselves and expectation μ, each of these is so with probability δ at most:
//!
//! > m < μ and n·kl(m ‖ μ) ≥ ln(1/δ)  [H63, Theorem 1]
//! >
//! > μ - m ≥ s·√(2·ln(2/δ)/n) + 7·R·ln(2/δ)/(3·(n - 1))  [MP09, Theorem 4]
//!
//! with kl(a ‖ b) = a·ln(a/b) + (1 - a)·ln((1 - a)/(1 - b)), m and μ counted from the interval's beginning in units of R. The first says
//! more where terms lie at the ends of the interval or are few, the second where they lie close to each other: the better of the two is
//! taken, each at half of δ.
//!
//! [H63]: W. Hoeffding, *Probability inequalities for sums of bounded random variables*, JASA 58 (1963).
//! [MP09]: A. Maurer, M. Pontil, *Empirical Bernstein bounds and sample variance penalization*, <https://arxiv.org/abs/0907.3740>.

use crate::evaluation::{Figure, Moments};

/// The mean of terms between `low` and `high`.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundedMean {
    terms: Moments,
    low: f64,
    high: f64,
}

impl BoundedMean {
    /// Of no terms yet.
    pub(super) fn new((low, high): (f64, f64)) -> Self {
        Self { terms: Moments::default(), low, high }
    }

    pub(super) fn add(&mut self, term: f64) {
        self.terms.add(term);
    }

    pub(super) fn count(&self) -> u64 {
        self.terms.count
    }

    /// m
    pub(super) fn mean(&self) -> f64 {
        self.terms.mean
    }

    /// m with its standard error.
    pub(super) fn figure(&self) -> Figure {
        self.terms.figure()
    }

    /// An upper limit of μ, which fails with a probability of δ at most; infinite if the range is not one that floats hold.
    pub(super) fn most(&self, delta: f64) -> f64 {
        let (range, n) = (self.high - self.low, self.terms.count as f64);
        if !range.is_finite() {
            return f64::INFINITY;
        }
        if range <= 0.0 {
            return self.high;
        }
        // What devices say has fewer digits than the range.
        let place = ((self.terms.mean - self.low) / range).clamp(0.0, 1.0);
        let by_range = self.low + range * farthest(place, (2.0 / delta).ln() / n);
        let ln = (4.0 / delta).ln();
        let Figure { value, standard_error } = self.figure();
        let by_spread = value + standard_error * (2.0 * ln).sqrt() + 7.0 * range * ln / (3.0 * (n - 1.0));
        // Of one term there is no spread: NaN is left out.
        by_range.min(by_spread)
    }

    /// A lower limit in the same sense: the upper one of what has the other sign.
    pub(super) fn least(&self, delta: f64) -> f64 {
        let terms = Moments { mean: -self.terms.mean, ..self.terms };
        -Self { terms, low: -self.high, high: -self.low }.most(delta)
    }
}

/// The largest b with kl(a ‖ b) ≤ `apart`, from above.
fn farthest(a: f64, apart: f64) -> f64 {
    let (mut low, mut high) = (a, 1.0);
    for _ in 0..60 {
        let b = 0.5 * (low + high);
        if divergence(a, b) < apart { low = b } else { high = b }
    }
    high
}

/// kl(a ‖ b)
fn divergence(a: f64, b: f64) -> f64 {
    let part = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    part(a, b) + part(1.0 - a, 1.0 - b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonparametric::tests::unit;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn of(range: (f64, f64), terms: impl IntoIterator<Item = f64>) -> BoundedMean {
        let mut mean = BoundedMean::new(range);
        terms.into_iter().for_each(|term| mean.add(term));
        mean
    }

    #[test]
    fn limits_of_terms_at_the_ends_and_of_equal_ones_are_worked_by_hand() {
        // Of ten at the lower end: (1 - b)^10 = δ/2
        let at_end = of((1.0, 3.0), [1.0; 10]);
        assert!((at_end.most(0.05) - 3.0 + 2.0 * 0.025f64.powf(0.1)).abs() < 1e-12);
        assert!((at_end.least(0.05) - 1.0).abs() < 1e-12);
        // Of a thousand that are equal, 7·2·ln(4/δ)/(3·999) to either side
        let equal = of((0.0, 2.0), [1.0; 1000]);
        let noise = 14.0 * 80f64.ln() / 2997.0;
        assert!((equal.most(0.05) - 1.0 - noise).abs() < 1e-12);
        assert!((equal.least(0.05) - 1.0 + noise).abs() < 1e-12);
        // 1/2·ln(2/3) + 1/2·ln 2
        assert!((divergence(0.5, 0.75) - 0.5 * (4.0f64 / 3.0).ln()).abs() < 1e-12);
    }

    #[test]
    fn who_knows_nothing_says_nothing_and_what_is_certain_needs_nobody() {
        let nobody = BoundedMean::new((-1.0, 2.0));
        assert!((nobody.most(0.05) - 2.0).abs() < 1e-12 && (nobody.least(0.05) + 1.0).abs() < 1e-12);
        let certain = BoundedMean::new((3.0, 3.0));
        assert!((certain.most(0.05) - 3.0).abs() < 1e-12 && (certain.least(0.05) - 3.0).abs() < 1e-12);
        assert!(BoundedMean::new((1.0, f64::INFINITY)).most(0.05).is_infinite());
    }

    #[test]
    fn limits_fail_as_rarely_as_is_said_where_terms_are_rarely_large() {
        let mut rng = ChaCha12Rng::seed_from_u64(9);
        let (delta, runs) = (0.1, 4000);
        // With a chance of p a term is one, and else nearly nothing.
        for (p, n) in [(0.01, 100), (0.03, 100), (0.05, 30), (0.3, 40)] {
            let mut failed = [0, 0];
            for _ in 0..runs {
                let terms = (0..n).map(|_| if unit(&mut rng) < p { 1.0 } else { 0.01 * unit(&mut rng) });
                let (mean, truth) = (of((0.0, 1.0), terms), p + (1.0 - p) * 0.005);
                failed[0] += u32::from(mean.most(delta) < truth);
                failed[1] += u32::from(mean.least(delta) > truth);
            }
            let most = delta + 5.0 * (delta * (1.0 - delta) / f64::from(runs)).sqrt();
            assert!(
                failed.iter().all(|&count| f64::from(count) / f64::from(runs) < most),
                "{p}, {n}: {failed:?}"
            );
        }
    }
}
