//! Intervals about numbers that were reported by bins, which say how often errors are large and not only how large their squares are.
//!
//! Let F be linear between the bins t_j, with values f_j there. A report is unbiased for F(y) ([`Bins::estimate_of`]). If F is nowhere
//! negative, and at least one wherever |y - η| > r, then
//!
//! > P(|y - η| > r) ≤ E F(y)
//!
//! **A fence.** Above, the interval ends at η + r, a share s of the way from t_j to t_{j+1}. F has to be one from there on, and should be
//! small below. Either it is zero up to t_j and rises through one at η + r, or it rises from t_{j-1} to one at t_j:
//!
//! > f = 0 up to j, 1/s at j + 1, 1 beyond  if s ≥ c,  and else  f = 0 up to j - 1, 1 from j on
//!
//! A small c counts few who are inside, and those between two bins as several who are outside. Below, it is the mirror image, and F is the
//! larger of the two at each bin: between the bins it then lies above both.
//!
//! **How r is found.** From Chebyshev's interval downwards, as long as an upper limit of E F(y) for one of the c ([`FENCES`]), at δ divided
//! by their number, is at most α. The limits hold whatever the law of the reports is ([`BoundedMean`]). The widths that are tried do not
//! depend on the reports, and P(|y - η| > r) only falls as r grows. If it is above α for the r that is taken, then it is so for a largest
//! one w of all widths. If Chebyshev's interval is none that is too narrow, w is below it, was tried, and was passed: that has
//! probability δ at most, and no other width matters.
//!
//! **Chebyshev's interval.** With f_j = (t_j - η)², F lies above (y - η)², which is convex, so that P(|y - η| > r) ≤ E F(y)/r².
//!
//! All this is said about the number y as a device rounds it to its grid. The number itself lies half a step from it at most, and in the end
//! r is made larger by as much.
//!
//! Two bins say no more than one bit does: nothing about how far numbers are from their mean, but who is surely inside.

use super::bounded_mean::BoundedMean;
use crate::LearnError;
use crate::evaluation::Figure;
use undertone_privacy::number::{Bins, NumberMechanism, NumberRandomizer};

/// Widths are whole multiples of the range over this.
const WIDTHS: u32 = 512;

/// c: what is reported between two bins counts as 1/c people at most. Those who are rare then cannot hide behind it, and from 1/4 on, limits
/// of some thousand people are hardly wider than their standard errors would have them.
const FENCES: [f64; 3] = [0.25, 0.5, 1.0];

/// Predictions for people whom a model has not seen, and what they reported by bins.
#[derive(Clone, Debug)]
pub struct BinReports {
    bins: Bins,
    /// What each report is decoded to
    decoded: Vec<f64>,
    /// Prediction and report of each
    people: Vec<(f64, u32)>,
}

impl BinReports {
    /// Nobody's yet, if it is bins by which people report.
    pub fn new(mechanism: &NumberMechanism) -> Option<Self> {
        let NumberMechanism::Bins(bins) = *mechanism else { return None };
        let decoded = (0..i64::from(bins.count())).map(|report| bins.decode(report)).collect();
        Some(Self { bins, decoded, people: Vec::new() })
    }

    /// One more person: what is predicted, within the bounds, and what the report was decoded to. The row that an error names is counted
    /// among those who are observed.
    pub fn observe(&mut self, guess: f64, value: f64) -> Result<(), LearnError> {
        let Ok(report) = self.decoded.binary_search_by(|decoded| decoded.total_cmp(&value)) else {
            let problem = format!("it says {value}, which none of {} bins does", self.bins.count());
            return Err(LearnError::Report { row: self.len() + 1, problem });
        };
        self.people.push((guess, report as u32));
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.people.len() as u64
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    /// The share of people outside of intervals that reach `r` to each side, at most.
    pub fn outside(&self, r: f64) -> Figure {
        self.told_outside(r, FENCES[0]).figure()
    }

    /// How far numbers are, between the bounds.
    fn range(&self) -> f64 {
        self.bins.bounds().high() - self.bins.bounds().low()
    }

    /// The half width of intervals that hold a share of 1 - α of the numbers, which fails with a probability of δ at most.
    pub(super) fn half_width(&self, alpha: f64, delta: f64) -> f64 {
        let rounding = 0.5 * self.range() / f64::from(self.bins.bounds().steps());
        let widest = (self.squared_error().most(0.5 * delta).max(0.0) / alpha).sqrt();
        (self.narrowed(widest, alpha, 0.5 * delta) + rounding).min(self.range())
    }

    /// The least half width up to `widest` that reports are sure enough of, or `widest`.
    fn narrowed(&self, widest: f64, alpha: f64, delta: f64) -> f64 {
        let delta = delta / FENCES.len() as f64;
        let sure = |width: &f64| FENCES.iter().any(|&c| self.told_outside(*width, c).most(delta) <= alpha);
        let widths = (1..=WIDTHS).rev().map(|step| self.range() * f64::from(step) / f64::from(WIDTHS));
        widths.skip_while(|&width| width >= widest).take_while(sure).last().unwrap_or(widest)
    }

    /// E F(y) for the fences of c, which is P(|y - η| > r) at least.
    fn told_outside(&self, r: f64, c: f64) -> BoundedMean {
        self.told(fence_terms(self.bins, c), |guess, f| fence_about(self.bins, guess, r, c, f))
    }

    /// E F(y) for the squares, which is E(y - η)² at least.
    fn squared_error(&self) -> BoundedMean {
        self.told(square_terms(self.bins, &self.decoded), |guess, f| squares_about(self.bins, guess, f))
    }

    /// E F(y) for f at each bin, which depends on what is predicted, and the range of what reports say about it.
    fn told(&self, range: (f64, f64), f: impl Fn(f64, &mut Vec<f64>)) -> BoundedMean {
        let (mut mean, mut values) = (BoundedMean::new(range), Vec::new());
        for &(guess, report) in &self.people {
            f(guess, &mut values);
            mean.add(self.bins.estimate_of(&values, report));
        }
        mean
    }
}

/// Between what a report about any fence of c can say at least and at most, whatever is predicted.
///
/// No more than two of f are above one, and none above 1/c. With λ and γ of [`Bins::estimate_of`], (f_r - λ·Σf)/γ is largest where
/// the others are zero. Without f_r it falls as the others grow, and f_r adds to it.
fn fence_terms(bins: Bins, c: f64) -> (f64, f64) {
    let count = bins.count() as usize;
    let (mut lone, mut absent) = (vec![0.0; count], vec![1.0; count]);
    lone[0] = 1.0 / c;
    absent[0] = 0.0;
    absent.iter_mut().skip(1).take(2).for_each(|f| *f = 1.0 / c);
    (bins.estimate_of(&absent, 0), bins.estimate_of(&lone, 0))
}

/// The same of squares about any prediction within the bounds.
///
/// What report r says is (η - z_r)² and a constant, as it is unbiased for a function of y that is η² - 2ηy and something without η: least
/// where η is nearest to what the report was decoded to, and largest at a bound.
fn square_terms(bins: Bins, decoded: &[f64]) -> (f64, f64) {
    let (low, high) = (bins.bounds().low(), bins.bounds().high());
    let mut f = Vec::new();
    let mut said = |guess, report| {
        squares_about(bins, guess, &mut f);
        bins.estimate_of(&f, report)
    };
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for (report, z) in (0..).zip(decoded) {
        least = least.min(said(z.clamp(low, high), report));
        most = most.max(said(low, report)).max(said(high, report));
    }
    (least, most)
}

/// (t_j - η)² at each bin.
fn squares_about(bins: Bins, guess: f64, f: &mut Vec<f64>) {
    let (bounds, last) = (bins.bounds(), bins.count() - 1);
    let bin = (bounds.high() - bounds.low()) / f64::from(last);
    f.clear();
    f.extend((0..=last).map(|j| (bounds.low() + bin * f64::from(j) - guess).powi(2)));
}

/// f at each bin, for an interval that reaches `r` to each side of `guess`.
fn fence_about(bins: Bins, guess: f64, r: f64, c: f64, f: &mut Vec<f64>) {
    let (bounds, last) = (bins.bounds(), bins.count() - 1);
    let bin = (bounds.high() - bounds.low()) / f64::from(last);
    let (above, below) = ((guess + r - bounds.low()) / bin, (bounds.high() - guess + r) / bin);
    f.clear();
    f.extend((0..=last).map(|j| one_side(j, above, last, c).max(one_side(last - j, below, last, c))));
}

/// The same for one end alone, which lies `end` bins from the first of them.
fn one_side(j: u32, end: f64, last: u32, c: f64) -> f64 {
    if end >= f64::from(last) {
        return 0.0;
    }
    let (inner, s) = (end.floor() as u32, end.fract());
    match (s >= c, j) {
        (true, j) if j == inner + 1 => 1.0 / s,
        (true, j) => f64::from(u8::from(j > inner)),
        (false, j) => f64::from(u8::from(j >= inner)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::mean;
    use crate::nonparametric::Intervals;
    use crate::nonparametric::tests::unit;
    use crate::numbers::{NumberChannel, NumberValues};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::Epsilon;
    use undertone_privacy::number::{Bounds, NumberKind};

    fn mechanism(kind: NumberKind, epsilon: f64) -> NumberMechanism {
        let bounds = Bounds::new(-1.0, 1.0).unwrap();
        NumberMechanism::new(kind, bounds, Epsilon::new(epsilon).unwrap()).unwrap()
    }

    fn bins(epsilon: f64, count: u32) -> Bins {
        Bins::new(Bounds::new(-1.0, 1.0).unwrap(), Epsilon::new(epsilon).unwrap(), count).unwrap()
    }

    #[test]
    fn fences_about_an_interval_are_worked_by_hand() {
        let fence = |guess, r, c| {
            let mut f = Vec::new();
            fence_about(bins(2.0, 3), guess, r, c, &mut f);
            f
        };
        // On -1, 0, 1: the ends of ±1/2 lie half way, where a line from zero has to be one.
        assert_eq!(fence(0.0, 0.5, 0.25), [2.0, 0.0, 2.0]);
        assert_eq!(fence(0.0, 0.5, 0.75), [1.0, 1.0, 1.0]);
        // From -1/2 on: all numbers below are outside, and all above are inside.
        assert_eq!(fence(0.5, 1.0, 0.25), [2.0, 0.0, 0.0]);
        assert_eq!(fence(0.25, 2.0, 0.25), [0.0, 0.0, 0.0]);
        // ±1/8 about the middle, where c decides
        assert_eq!(fence(0.0, 0.125, 0.125), [8.0, 0.0, 8.0]);
    }

    #[test]
    fn a_fence_is_one_outside_and_nowhere_negative() {
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        for _ in 0..400 {
            let bins = bins(2.0, 3 + (unit(&mut rng) * 7.0) as u32);
            let (guess, r, c) = (2.0 * unit(&mut rng) - 1.0, 2.0 * unit(&mut rng), unit(&mut rng));
            let mut f = Vec::new();
            fence_about(bins, guess, r, c, &mut f);
            for step in 0..=1000 {
                let y = f64::from(step) / 500.0 - 1.0;
                let place = 0.5 * (y + 1.0) * f64::from(bins.count() - 1);
                let below = (place as usize).min(f.len() - 2);
                let found = f[below] + (f[below + 1] - f[below]) * (place - below as f64);
                assert!(
                    found >= 0.0 && (found > 1.0 - 1e-9 || (y - guess).abs() <= r),
                    "{y}, {guess} ± {r}: {f:?}"
                );
            }
        }
    }

    /// What people report whose prediction and number are drawn by `draw`, and the mean squared error that it tells.
    fn ask(
        mechanism: NumberMechanism,
        people: u64,
        rng: &mut ChaCha12Rng,
        draw: impl Fn(&mut ChaCha12Rng) -> (f64, f64),
    ) -> (Figure, BinReports) {
        let channel = NumberChannel::of_mechanism(mechanism);
        let (mut reports, mut errors) = (BinReports::new(&mechanism).unwrap(), Vec::new());
        for _ in 0..people {
            let (guess, number) = draw(rng);
            let said = mechanism.report(&channel.bounds().place(number).unwrap(), rng).unwrap();
            let mut values = NumberValues::new();
            channel.push(said, &mut values).unwrap();
            let (z, v) = values.iter().next().unwrap();
            errors.push((guess - z) * (guess - z) - v);
            reports.observe(guess, z).unwrap();
        }
        (mean(&errors), reports)
    }

    /// A prediction near the middle and a number about it: a sum of four even errors, of standard deviation `scale`/√3.
    fn smooth(scale: f64) -> impl Fn(&mut ChaCha12Rng) -> (f64, f64) {
        move |rng| {
            let guess = 0.8 * unit(rng) - 0.4;
            let error: f64 = (0..4).map(|_| unit(rng) - 0.5).sum();
            (guess, (guess + scale * error).clamp(-1.0, 1.0))
        }
    }

    #[test]
    fn on_a_smooth_law_bins_say_more_than_squares() {
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        for (epsilon, scale) in [(4.0, 0.2), (4.0, 0.4), (4.0, 0.8), (2.0, 0.4)] {
            let draw = smooth(scale);
            let (mse, reports) = ask(mechanism(NumberKind::Bins, epsilon), 3000, &mut rng, &draw);
            let wide = Intervals::by_error(mse, 3000, 2.0, 0.1, 0.05).unwrap().half_width();
            let narrow = Intervals::by_bins(&reports, 0.1, 0.05).unwrap().half_width();
            // The law's own have 1.66 standard deviations to each side, those of Chebyshev's inequality √10: bins get half of the way.
            assert!(narrow < 0.76 * wide, "ε = {epsilon}, {scale}: {narrow} for {wide}");
            let inside = |_| {
                let (guess, number) = draw(&mut rng);
                f64::from(u8::from((guess - number).abs() <= narrow))
            };
            let held = mean(&(0..20_000).map(inside).collect::<Vec<_>>());
            assert!(held.value > 0.9, "ε = {epsilon}, {scale}: {held:?}");
            // On average a fence says no more than there are inside, and those who are between two bins it does not count.
            let outside = reports.outside(narrow);
            let (told, noise) = (1.0 - outside.value, 5.0 * outside.standard_error);
            assert!(told < held.value + noise, "ε = {epsilon}, {scale}: {told} ± {noise} of {held:?}");
            assert!(told > 0.9 - noise, "ε = {epsilon}, {scale}: {told} ± {noise}");
        }
    }

    #[test]
    fn what_reports_say_lies_in_the_range_that_limits_take_it_to() {
        let mut rng = ChaCha12Rng::seed_from_u64(6);
        for _ in 0..300 {
            let bins = bins(4.0 * unit(&mut rng) + 0.5, 2 + (unit(&mut rng) * 7.0) as u32);
            let decoded: Vec<f64> = (0..i64::from(bins.count())).map(|report| bins.decode(report)).collect();
            let (guess, r, c) =
                (2.0 * unit(&mut rng) - 1.0, 2.0 * unit(&mut rng), 0.05 + 0.95 * unit(&mut rng));
            let mut f = Vec::new();
            fence_about(bins, guess, r, c, &mut f);
            let mut squares = Vec::new();
            squares_about(bins, guess, &mut squares);
            for (f, (low, high)) in [(f, fence_terms(bins, c)), (squares, square_terms(bins, &decoded))] {
                for report in 0..bins.count() {
                    let said = bins.estimate_of(&f, report);
                    // Sums of ten terms or less, some of them a hundred
                    assert!(
                        said >= low - 1e-9 && said <= high + 1e-9,
                        "{said} is not in {low} to {high}: {f:?}"
                    );
                }
            }
        }
    }

    /// How often intervals of so many people reach less than `least`, for numbers that are predicted to be zero.
    fn too_narrow(
        (epsilon, people, alpha): (f64, u64, f64),
        least: f64,
        runs: u32,
        draw: impl Fn(&mut ChaCha12Rng) -> f64,
    ) -> f64 {
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        let mechanism = mechanism(NumberKind::Bins, epsilon);
        let failed = (0..runs).filter(|_| {
            let (_, reports) = ask(mechanism, people, &mut rng, |rng| (0.0, draw(rng)));
            Intervals::by_bins(&reports, alpha, 0.05).unwrap().half_width() < least
        });
        failed.count() as f64 / f64::from(runs)
    }

    /// δ and five standard errors of a share among so many.
    fn once_in_twenty(runs: u32) -> f64 {
        0.05 + 5.0 * (0.05f64 * 0.95 / f64::from(runs)).sqrt()
    }

    #[test]
    fn bins_say_how_far_intervals_reach_but_once_in_twenty() {
        // One in ten is at either end, and a hair more; the others are where they are predicted. Every interval short of the ends is too
        // narrow, and neither Chebyshev's inequality nor a fence near the ends gives anything away.
        let draw = |rng: &mut ChaCha12Rng| match unit(rng) {
            u if u < 0.05 => -1.0,
            u if u < 0.100_001 => 1.0,
            _ => 0.0,
        };
        for (epsilon, people, runs) in [(2.0, 2000, 100), (4.0, 2000, 100), (4.0, 200, 500)] {
            let share = too_narrow((epsilon, people, 0.1), 1.0, runs, draw);
            assert!(share < once_in_twenty(runs), "ε = {epsilon}, {people}: {share}");
        }
    }

    #[test]
    fn a_few_who_are_just_beyond_a_bin_do_not_hide_from_devices_that_hardly_lie() {
        // A share of a hair more than α lies a little above a bin, where a fence seldom hears of it: at ε = 6 and 8 there are 9 and 17 bins,
        // and mostly reports say nothing but that all is well. Trusting their standard error was wrong once in four times.
        for (epsilon, people, bins, runs) in [(6.0, 100, 2.07 / 4.0, 1000), (8.0, 1000, 1.07 / 8.0, 300)] {
            let draw = |rng: &mut ChaCha12Rng| if unit(rng) < 0.05 * 1.0001 { bins } else { 0.0 };
            let share = too_narrow((epsilon, people, 0.05), bins - 1e-5, runs, draw);
            assert!(share < once_in_twenty(runs), "ε = {epsilon}, {people}: {share}");
        }
    }

    #[test]
    fn only_bins_are_read_and_only_what_they_can_have_said() {
        for kind in NumberKind::ALL {
            let reports = BinReports::new(&mechanism(kind, 4.0));
            assert_eq!(reports.is_some(), kind == NumberKind::Bins, "{kind}");
        }
        let mut reports = BinReports::new(&mechanism(NumberKind::Bins, 4.0)).unwrap();
        reports.observe(0.0, reports.decoded[2]).unwrap();
        let error = reports.observe(0.0, 0.123).unwrap_err().to_string();
        assert!(error.contains("report 2") && error.contains("0.123") && reports.len() == 1, "{error}");
        // With nobody to tell, there are no intervals, and one person says that they reach everything.
        let nobody = BinReports::new(&mechanism(NumberKind::Bins, 4.0)).unwrap();
        assert!(nobody.is_empty() && Intervals::by_bins(&nobody, 0.1, 0.05).is_err());
        assert!((Intervals::by_bins(&reports, 0.1, 0.05).unwrap().half_width() - 2.0).abs() < 1e-12);
    }
}
