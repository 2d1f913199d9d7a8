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
//! **How r is found.** From the interval that Chebyshev's inequality gives downwards, as long as the mean of what the reports say about F,
//! and as much more as it may be too small by, is at most α for one of the c ([`FENCES`]), at δ divided by their number. The widths that
//! are tried do not depend on the reports. If P(|y - η| > r) > α for an r that is taken, the first of these widths for which that is so
//! was passed, or Chebyshev's interval was already too narrow: the first has probability δ at most, and no other width matters.
//!
//! Two bins say no more than one bit does: nothing about how far numbers are from their mean, but who is surely inside.

use super::coverage::reach;
use crate::LearnError;
use crate::evaluation::{Figure, Moments};
use undertone_privacy::number::{Bins, NumberMechanism, NumberRandomizer};

/// Widths are whole multiples of the range over this.
const WIDTHS: u32 = 512;

/// c
const FENCES: [f64; 3] = [0.0625, 0.125, 0.25];

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

    /// One more person: what is predicted, within the bounds, and what the report was decoded to.
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
        self.told_outside(r, FENCES[FENCES.len() / 2])
    }

    /// The least half width up to `widest` that reports are sure enough of, or `widest`.
    pub(super) fn narrowed(&self, widest: f64, alpha: f64, delta: f64) -> f64 {
        let (bounds, reach) = (self.bins.bounds(), reach(self.len(), delta / FENCES.len() as f64));
        let range = bounds.high() - bounds.low();
        // Devices round to a grid before they choose a bin.
        let rounding = 0.5 * range / f64::from(bounds.steps());
        let mut narrowest = widest;
        for width in (1..=WIDTHS).rev().map(|step| range * f64::from(step) / f64::from(WIDTHS)) {
            if width + rounding >= widest {
                continue;
            }
            let most_outside = |c: &f64| {
                let told = self.told_outside(width, *c);
                told.value + reach * told.standard_error
            };
            if !FENCES.iter().map(most_outside).any(|most| most <= alpha) {
                break;
            }
            narrowest = width + rounding;
        }
        narrowest
    }

    /// E F(y) for the fences of c, which is P(|y - η| > r) at least.
    fn told_outside(&self, r: f64, c: f64) -> Figure {
        let (mut sum, mut fence) = (Moments::default(), Vec::new());
        for &(guess, report) in &self.people {
            fence_about(self.bins, guess, r, c, &mut fence);
            sum.add(self.bins.estimate_of(&fence, report));
        }
        sum.figure()
    }
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
        for (epsilon, scale, share) in [(4.0, 0.2, 0.65), (4.0, 0.4, 0.7), (4.0, 0.8, 0.65), (2.0, 0.4, 0.7)]
        {
            let draw = smooth(scale);
            let (mse, reports) = ask(mechanism(NumberKind::Bins, epsilon), 3000, &mut rng, &draw);
            let wide = Intervals::by_error(mse, 3000, 2.0, 0.1, 0.05).unwrap().half_width();
            let narrow = Intervals::by_bins(mse, &reports, 2.0, 0.1, 0.05).unwrap().half_width();
            assert!(narrow < share * wide, "ε = {epsilon}, {scale}: {narrow} for {wide}");
            let inside = |_| {
                let (guess, number) = draw(&mut rng);
                f64::from(u8::from((guess - number).abs() <= narrow))
            };
            let held = mean(&(0..20_000).map(inside).collect::<Vec<_>>());
            assert!(held.value > 0.9, "ε = {epsilon}, {scale}: {held:?}");
            // What reports of others would say: at least so many, and no more than there are
            let told = 1.0 - reports.outside(narrow).value;
            assert!(told > 0.85 && told < held.value + 0.05, "ε = {epsilon}, {scale}: {told} of {held:?}");
        }
    }

    #[test]
    fn bins_say_how_far_intervals_reach_but_once_in_twenty() {
        // One in ten is at either end, and a hair more; the others are where they are predicted. Every interval short of the ends is too
        // narrow, and neither Chebyshev's inequality nor a fence near the ends gives anything away.
        let draw = |rng: &mut ChaCha12Rng| match unit(rng) {
            u if u < 0.05 => (0.0, -1.0),
            u if u < 0.100_001 => (0.0, 1.0),
            _ => (0.0, 0.0),
        };
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        for (epsilon, people, runs) in [(2.0, 2000, 300), (4.0, 2000, 300), (4.0, 200, 500)] {
            let mechanism = mechanism(NumberKind::Bins, epsilon);
            let mut failed = 0;
            for _ in 0..runs {
                let (mse, reports) = ask(mechanism, people, &mut rng, draw);
                let intervals = Intervals::by_bins(mse, &reports, 2.0, 0.1, 0.05).unwrap();
                failed += u32::from(intervals.half_width() < 1.0);
            }
            let share = f64::from(failed) / f64::from(runs);
            let most = 0.05 + 5.0 * (0.05f64 * 0.95 / f64::from(runs)).sqrt();
            assert!(share < most, "ε = {epsilon}, {people}: {share}");
            assert!(people < 1000 || share > 0.003, "ε = {epsilon}: {share}");
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
        // With nobody to tell, intervals are what they were.
        let nobody = BinReports::new(&mechanism(NumberKind::Bins, 4.0)).unwrap();
        assert!(nobody.is_empty() && (nobody.narrowed(1.5, 0.1, 0.05) - 1.5).abs() < 1e-12);
    }
}
