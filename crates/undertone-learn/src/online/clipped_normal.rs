//! Moments of a normal number between its cuts, of which the laws of Huber's regression are made.

use undertone_privacy::accounting::normal::{cdf, pdf};

/// Of Z ~ N(0, 1) where |Z| < c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClippedNormal {
    /// P₀ = P(|Z| < c) = 2Φ(c) - 1
    pub(super) inside: f64,
    /// m₂ = E\[Z²; |Z| < c\] = P₀ - 2c·φ(c)
    pub(super) second: f64,
    /// m₄ = E\[Z⁴; |Z| < c\] = 3m₂ - 2c³·φ(c)
    pub(super) fourth: f64,
}

impl ClippedNormal {
    pub(super) fn new(cut: f64) -> Self {
        let inside = 1.0 - 2.0 * cdf(-cut);
        let second = inside - 2.0 * cut * pdf(cut);
        Self { inside, second, fourth: 3.0 * second - 2.0 * cut.powi(3) * pdf(cut) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_a_sum_over_a_fine_grid() {
        let cut = 1.345;
        let width = 2.0 * cut / 20_000.0;
        let moment = |power: i32| -> f64 {
            let at = |i: i32| -cut + (f64::from(i) + 0.5) * width;
            (0..20_000).map(|i| at(i).powi(power) * pdf(at(i)) * width).sum()
        };
        let found = ClippedNormal::new(cut);
        for (value, power) in [(found.inside, 0), (found.second, 2), (found.fourth, 4)] {
            assert!((value - moment(power)).abs() < 1e-8, "{value} for {}", moment(power));
        }
    }
}
