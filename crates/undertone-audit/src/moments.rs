//! Mean and deviation of a stream of numbers, and how far the mean may be from the expectation.

/// Running mean, sum of squared deviations and largest magnitude (Welford's method).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    count: f64,
    pub(crate) mean: f64,
    squares: f64,
    largest: f64,
}

impl Moments {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
        self.largest = self.largest.max(value.abs());
    }

    /// The largest magnitude seen.
    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }

    /// Whether all values were the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.squares == 0.0
    }

    /// The square of the mean's standard error.
    pub(crate) fn error_squared(&self) -> f64 {
        self.squares / (self.count - 1.0).max(1.0) / self.count.max(1.0)
    }

    /// How far the mean of values of magnitude at most `range` may be off by chance.
    pub(crate) fn tolerance(&self, range: f64, comparisons: usize) -> f64 {
        tolerance(self.error_squared(), range, self.count, comparisons)
    }
}

/// Five standard errors, a little more for many comparisons, and the term of the empirical Bernstein inequality
/// (Maurer & Pontil 2009) for what is too rare to show in the sample's own deviation:
///
/// > t·s/√n + 7·t²·range / 6n, where t² = 25 + 2 ln(comparisons)
pub(crate) fn tolerance(error_squared: f64, range: f64, count: f64, comparisons: usize) -> f64 {
    let t_squared = 25.0 + 2.0 * libm::log(comparisons.max(1) as f64);
    (t_squared * error_squared).sqrt() + 7.0 * t_squared * range / (6.0 * count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_two_three_have_mean_two_and_squared_error_one_third() {
        let mut moments = Moments::default();
        for value in [1.0, 2.0, 3.0] {
            moments.add(value);
        }
        assert!((moments.mean - 2.0).abs() < 1e-15);
        assert!((moments.error_squared() - 1.0 / 3.0).abs() < 1e-15);
        assert!((moments.largest() - 3.0).abs() < 1e-15);
    }
}
