//! How long a noisy vector is believed to be.
//!
//! |x|² is |μ|² + n·v on average for n coordinates of variance v each, with the variance 2n·v² + 4v·|μ|²: what is told is longer
//! than what is.

/// One-sided: one in ten normal numbers is farther above their mean, in standard deviations.
const ONE_IN_TEN: f64 = 1.281_551_565_544_600_4;

/// What a vector is shortened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// The least squared error: 1 - (n-2)·v/|x|², the factor of James and Stein, for n > 2
    Nearest,
    /// The length that it has on average
    Even,
    /// So short that one in ten like it would look as long
    Cautious,
}

impl Length {
    /// The share of x that is believed, where |x|² is `square` and it has so many `coordinates` of this variance.
    pub(super) fn keep(self, square: f64, coordinates: usize, variance: f64) -> f64 {
        let noise = coordinates as f64 * variance;
        let scatter = (2.0 * noise * variance + 4.0 * variance * (square - noise).max(0.0)).sqrt();
        let (excess, power) = match self {
            Self::Nearest => ((noise - 2.0 * variance).max(0.0), 1.0),
            Self::Even => (noise, 0.5),
            Self::Cautious => (noise + ONE_IN_TEN * scatter, 0.5),
        };
        if square > excess { (1.0 - excess / square).powf(power) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_exactly_keeps_its_length() {
        for length in [Length::Nearest, Length::Even, Length::Cautious] {
            assert!(length.keep(2.0, 7, 0.0) >= 1.0 && length.keep(0.0, 7, 0.0) <= 0.0);
        }
    }

    #[test]
    fn shares_are_those_of_the_formulas() {
        // |x|² = 2, n·v = 1
        assert!((Length::Nearest.keep(2.0, 4, 0.25) - 0.75).abs() < 1e-15);
        assert!((Length::Even.keep(2.0, 4, 0.25) - 0.5f64.sqrt()).abs() < 1e-15);
        // 2·1·0.25 + 4·0.25·3 = 3.5
        let excess = 1.0 + ONE_IN_TEN * 3.5f64.sqrt();
        assert!((Length::Cautious.keep(4.0, 4, 0.25) - (1.0 - excess / 4.0).sqrt()).abs() < 1e-15);
        assert!(Length::Even.keep(0.9, 4, 0.25) <= 0.0);
    }
}
