//! Whether a model that says 70 % is right seven times in ten.
//!
//! People are put into bins by the confidence p_ŷ of their prediction. In a bin with a share w of the people the gap is
//! the mean of a_ŷ - p_ŷ, with standard error s, and over all bins
//!
//! > expected calibration error = Σ w·|gap|,  squared calibration error = Σ w·(gap² - s²)
//!
//! The first is what is usually quoted; noise enters it with its absolute value, so it is too large, for a perfectly
//! calibrated model by Σ w·s·√(2/π), which is stated beside it. The second has no such bias: E\[gap²\] is the square of
//! the expected gap plus its variance, and s² is unbiased for that variance. Bins with one person, whose s is unknown,
//! count in the first only.

use super::figure::{Figure, Moments};
use serde::Serialize;

/// Bins of equal width between 0 and 1.
pub const BINS: usize = 10;

/// Counts of the bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Calibration {
    bins: [BinMoments; BINS],
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct BinMoments {
    confidence: Moments,
    accuracy: Moments,
    gap: Moments,
}

/// People whose predictions are about equally confident.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Where the bin begins
    pub from: f64,
    /// Where it ends
    pub to: f64,
    /// How many people are in it
    pub rows: u64,
    /// Their mean p_ŷ, which is public and exact
    pub confidence: f64,
    /// The share of them for whom ŷ is right
    pub accuracy: Figure,
}

impl Calibration {
    pub(super) fn add(&mut self, confidence: f64, correct: f64) {
        let place = ((confidence * BINS as f64) as usize).min(BINS - 1);
        let bin = &mut self.bins[place];
        bin.confidence.add(confidence);
        bin.accuracy.add(correct);
        bin.gap.add(correct - confidence);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (own, more) in self.bins.iter_mut().zip(other.bins) {
            own.confidence.merge(more.confidence);
            own.accuracy.merge(more.accuracy);
            own.gap.merge(more.gap);
        }
    }

    /// The bins that hold anybody.
    pub(super) fn bins(&self) -> Vec<Bin> {
        let bin = |(place, bin): (usize, &BinMoments)| Bin {
            from: place as f64 / BINS as f64,
            to: (place + 1) as f64 / BINS as f64,
            rows: bin.gap.count,
            confidence: bin.confidence.mean,
            accuracy: bin.accuracy.figure(),
        };
        self.bins.iter().enumerate().filter(|(_, bin)| bin.gap.count > 0).map(bin).collect()
    }

    /// Each bin's share of the people, and its gap.
    fn gaps(&self) -> impl Iterator<Item = (f64, Figure)> {
        let all = self.bins.iter().map(|bin| bin.gap.count).sum::<u64>() as f64;
        let occupied = self.bins.iter().filter(|bin| bin.gap.count > 0);
        occupied.map(move |bin| (bin.gap.count as f64 / all, bin.gap.figure()))
    }

    /// Those whose standard error is known.
    fn sure_gaps(&self) -> impl Iterator<Item = (f64, Figure)> {
        self.gaps().filter(|(_, gap)| !gap.standard_error.is_nan())
    }

    /// Σ w·|gap|.
    pub(super) fn expected_error(&self) -> Figure {
        let value = self.gaps().map(|(w, gap)| w * gap.value.abs()).sum();
        let variance: f64 = self.sure_gaps().map(|(w, gap)| (w * gap.standard_error).powi(2)).sum();
        Figure { value, standard_error: variance.sqrt() }
    }

    /// The mean of Σ w·|gap| if every gap were noise: Σ w·s·√(2/π).
    pub(super) fn noise(&self) -> f64 {
        let spread: f64 = self.sure_gaps().map(|(w, gap)| w * gap.standard_error).sum();
        spread * std::f64::consts::FRAC_2_PI.sqrt()
    }

    /// Σ w·(gap² - s²). The square of a normal gap has variance 4·gap²·s² + 2·s⁴; 4·(gap² - s²)·s² + 2·s⁴ would be
    /// unbiased for it, and may be negative, so the larger is stated.
    pub(super) fn squared_error(&self) -> Figure {
        let [mut value, mut variance] = [0.0; 2];
        for (w, gap) in self.sure_gaps() {
            let (square, noise) = (gap.value.powi(2), gap.standard_error.powi(2));
            value += w * (square - noise);
            variance += w * w * (4.0 * square * noise + 2.0 * noise * noise);
        }
        Figure { value, standard_error: variance.sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::{Rng, SeedableRng};

    #[test]
    fn a_certain_prediction_falls_into_the_last_bin_and_a_bin_ends_where_the_next_begins() {
        let mut calibration = Calibration::default();
        calibration.add(1.0, 1.0);
        calibration.add(0.5, 1.0);
        let bins = calibration.bins();
        assert_eq!(bins.iter().map(|bin| (bin.from, bin.to)).collect::<Vec<_>>(), [(0.5, 0.6), (0.9, 1.0)]);
    }

    #[test]
    fn two_bins_worked_out_by_hand() {
        let mut calibration = Calibration::default();
        // gaps 0.25 and -0.75: mean -1/4, s² = 0.5/2 = 1/4
        calibration.add(0.75, 1.0);
        calibration.add(0.75, 0.0);
        // gaps 0.5, 0.5: no spread
        calibration.add(0.5, 1.0);
        calibration.add(0.5, 1.0);
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        close(calibration.expected_error().value, 0.5 * 0.25 + 0.5 * 0.5);
        close(calibration.noise(), 0.5 * 0.5 * (2.0 / std::f64::consts::PI).sqrt());
        close(calibration.squared_error().value, 0.5 * (0.0625 - 0.25) + 0.5 * 0.25);
    }

    /// The variance of a figure over many samples of 300 people in each bin, given each bin's confidence and P(right), and
    /// the mean of its squared standard error, with the relative error of the first.
    fn spread(bins: &[(f64, f64)], figure: impl Fn(&Calibration) -> Figure) -> [f64; 3] {
        let mut rng = ChaCha12Rng::seed_from_u64(31);
        let (mut values, mut stated) = (Moments::default(), Moments::default());
        let mut all = Vec::new();
        for _ in 0..4000 {
            let mut calibration = Calibration::default();
            for &(confidence, right) in bins {
                for _ in 0..300 {
                    let unit = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                    calibration.add(confidence, f64::from(u8::from(unit < right)));
                }
            }
            let Figure { value, standard_error } = figure(&calibration);
            all.push(value);
            values.add(value);
            stated.add(standard_error.powi(2));
        }
        let (n, variance) = (all.len() as f64, values.spread / (values.count - 1) as f64);
        // Var(sample variance) = (fourth central moment - variance²)/n
        let fourth = all.iter().map(|x| (x - values.mean).powi(4)).sum::<f64>() / n;
        [variance, stated.mean, ((fourth / variance.powi(2) - 1.0) / n).sqrt()]
    }

    #[test]
    fn standard_errors_are_the_spread_over_many_samples() {
        // Gaps of 0.25, -0.2 and -0.3, of which none is near zero
        let bins = [(0.55, 0.8), (0.75, 0.55), (0.95, 0.65)];
        for figure in [Calibration::expected_error, Calibration::squared_error] {
            let [variance, stated, error] = spread(&bins, figure);
            // terms of the second order are s²/gap² = 0.25/300/0.04 = 2 % at most
            let ratio = stated / variance;
            assert!((ratio - 1.0).abs() < 5.0 * error + 0.02, "{ratio} ± {error}");
        }
    }

    #[test]
    fn without_a_gap_the_standard_error_of_the_square_is_the_root_of_three_too_large() {
        // Stated is 4·gap²·s² + 2·s⁴, of mean 6·s⁴, for a variance of 2·s⁴
        let [variance, stated, error] = spread(&[(0.55, 0.55), (0.75, 0.75)], Calibration::squared_error);
        let ratio = stated / variance;
        assert!((ratio / 3.0 - 1.0).abs() < 5.0 * error + 0.02, "{ratio} ± {error}");
    }
}
