//! A bounded number as a whole number of steps on a public grid.
//!
//! > index = round((value - low) / (high - low) · 2^20), in 0..=2^20
//!
//! The value is clamped before, and the index after: even if every float operation here were wrong, no input could
//! leave the grid, and privacy rests on nothing else. Rounding costs at most a two-millionth of the interval, far
//! below the noise of any mechanism; mechanisms are unbiased for the grid point.

use crate::PrivacyError;

/// The public interval in which a number is known to lie, or to which it is clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    low: f64,
    high: f64,
    /// The grid has 2^`bits` steps: always 20, except in tests that look at every grid point.
    bits: u32,
}

/// A clamped number: how many of the grid's steps it lies above `low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GridNumber(u32);

impl Bounds {
    const BITS: u32 = 20;

    /// Ends and width are at most this, and the width at least its inverse: squares of estimates then fit a float.
    const MOST: f64 = 1e100;

    /// The interval from `low` to `high`, which must not be empty, nor too wide or too narrow for floats.
    pub fn new(low: f64, high: f64) -> Result<Self, PrivacyError> {
        // False for NaN, too
        let far = low.abs().max(high.abs());
        if low < high && far <= Self::MOST && high - low >= 1.0 / Self::MOST {
            Ok(Self { low, high, bits: Self::BITS })
        } else {
            Err(PrivacyError::Bounds { low, high })
        }
    }

    /// The same interval with a grid small enough to look at all of it.
    #[cfg(test)]
    pub(crate) fn with_bits(self, bits: u32) -> Self {
        assert!((1..=Self::BITS).contains(&bits));
        Self { bits, ..self }
    }

    /// The lower end.
    pub fn low(self) -> f64 {
        self.low
    }

    /// The upper end.
    pub fn high(self) -> f64 {
        self.high
    }

    /// The grid point nearest to `value`, which is clamped; only NaN has no nearest point.
    pub fn place(self, value: f64) -> Result<GridNumber, PrivacyError> {
        if value.is_nan() {
            return Err(PrivacyError::NotANumber);
        }
        // Exactly 0 at `low` and exactly 1 at `high`
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        let index = libm::round(share * f64::from(self.steps())) as u32;
        Ok(GridNumber(index.min(self.steps())))
    }

    /// The value of a grid point, exact at both ends.
    pub fn value_of(self, number: GridNumber) -> f64 {
        let share = f64::from(number.0) / f64::from(self.steps());
        self.low * (1.0 - share) + self.high * share
    }

    /// The grid point at the lower end.
    pub fn lowest(self) -> GridNumber {
        GridNumber(0)
    }

    /// The grid point in the middle.
    pub fn middle(self) -> GridNumber {
        GridNumber(self.steps() / 2)
    }

    /// The grid point at the upper end.
    pub fn highest(self) -> GridNumber {
        GridNumber(self.steps())
    }

    /// Every grid point, from `low` to `high`.
    pub fn grid(self) -> impl DoubleEndedIterator<Item = GridNumber> {
        (0..=self.steps()).map(GridNumber)
    }

    /// How many steps lie between `low` and `high`: a power of two, so that the midpoint is a grid point.
    pub fn steps(self) -> u32 {
        1 << self.bits
    }

    /// log2 of the steps, for division by shifting.
    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    /// n, the steps between the midpoint and either end.
    pub(super) fn half(self) -> i64 {
        i64::from(self.steps() / 2)
    }

    /// The steps from the midpoint, in -n..=n.
    pub(super) fn centred(self, number: GridNumber) -> i64 {
        i64::from(number.0) - self.half()
    }

    /// The width of a step.
    pub(super) fn step(self) -> f64 {
        (self.high - self.low) / f64::from(self.steps())
    }

    /// The value that lies `steps` from the midpoint; it may lie outside the interval.
    pub(super) fn off_centre(self, steps: f64) -> f64 {
        self.value_of(self.middle()) + steps * self.step()
    }
}

impl GridNumber {
    /// The steps above the lower end.
    pub fn index(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_way_is_a_quarter_of_the_grid() {
        let bounds = Bounds::new(-1.0, 3.0).unwrap();
        let quarter = bounds.place(0.0).unwrap();
        assert_eq!(quarter.index(), 1 << 18);
        assert_eq!(bounds.value_of(quarter), 0.0);
        assert_eq!(bounds.off_centre(bounds.centred(quarter) as f64), 0.0);
    }

    #[test]
    fn the_ends_and_the_midpoint_are_grid_points() {
        for (low, high) in
            [(-1.0, 1.0), (0.1, 0.7), (1e9, 1e9 + 1.0), (1.0, 1.0 + f64::EPSILON), (0.0, 1e-100)]
        {
            let bounds = Bounds::new(low, high).unwrap();
            assert_eq!(bounds.place(low), Ok(bounds.lowest()));
            assert_eq!(bounds.place(high), Ok(bounds.highest()));
            assert_eq!(bounds.value_of(bounds.lowest()), low);
            assert_eq!(bounds.value_of(bounds.highest()), high);
        }
        let bounds = Bounds::new(0.0, 10.0).unwrap();
        assert_eq!(bounds.place(5.0), Ok(bounds.middle()));
        assert_eq!(bounds.value_of(bounds.middle()), 5.0);
    }

    #[test]
    fn what_lies_outside_is_clamped_and_what_is_no_number_is_refused() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        for value in [-1e-300, -0.0, -7.0, f64::MIN, f64::NEG_INFINITY] {
            assert_eq!(bounds.place(value), Ok(bounds.lowest()), "{value}");
        }
        for value in [1.0 + f64::EPSILON, 7.0, f64::MAX, f64::INFINITY] {
            assert_eq!(bounds.place(value), Ok(bounds.highest()), "{value}");
        }
        assert_eq!(bounds.place(f64::NAN), Err(PrivacyError::NotANumber));
    }

    #[test]
    fn no_value_is_moved_by_more_than_half_a_step() {
        let bounds = Bounds::new(-2.0, 5.0).unwrap();
        for i in 0..10_000 {
            let value = -2.0 + 7.0 * f64::from(i) / 9_999.0;
            let placed = bounds.value_of(bounds.place(value).unwrap());
            assert!((placed - value).abs() <= 0.5 * bounds.step() * (1.0 + 1e-9), "{value} became {placed}");
        }
    }

    #[test]
    fn an_interval_that_is_empty_or_not_finite_is_refused() {
        let ends = [
            (1.0, 1.0),
            (2.0, 1.0),
            (f64::NEG_INFINITY, 0.0),
            (0.0, f64::INFINITY),
            (f64::MIN, f64::MAX),
            (0.0, 5e-324),
            (0.0, 1e101),
        ];
        for (low, high) in ends {
            assert_eq!(Bounds::new(low, high), Err(PrivacyError::Bounds { low, high }));
        }
        assert!(Bounds::new(f64::NAN, 1.0).is_err() && Bounds::new(0.0, f64::NAN).is_err());
    }
}
