//! The size of the steps.

use crate::NetError;
use serde::{Deserialize, Serialize};

/// Steps grow evenly from zero to a peak, and become smaller as evenly, to zero at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The largest, for targets of length one; the debiased loss divides it by the length that its targets have on average
    pub peak: f64,
    /// The share of all steps before the peak
    pub warm_up: f64,
}

impl Schedule {
    /// The size of `step` of so many `steps`, counted from zero.
    pub(crate) fn rate(&self, step: usize, steps: usize) -> f64 {
        let (at, all) = (step as f64, steps as f64);
        let warm = self.warm_up * all;
        if at < warm {
            return self.peak * (at + 1.0).min(warm) / warm;
        }
        self.peak * (all - at) / (all - warm)
    }

    pub(super) fn check(&self) -> Result<(), NetError> {
        let wrong = |what, value, expected| Err(NetError::Parameter { what, value, expected });
        if !(self.peak > 0.0 && self.peak.is_finite()) {
            return wrong("the rate", self.peak, "positive and finite");
        }
        if !(0.0..1.0).contains(&self.warm_up) {
            return wrong("the share of warm-up", self.warm_up, "at least zero and less than one");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_rise_to_the_peak_and_fall_to_nothing() {
        let schedule = Schedule { peak: 2.0, warm_up: 0.2 };
        let rates: Vec<f64> = (0..10).map(|step| schedule.rate(step, 10)).collect();
        let expected = [1.0, 2.0, 2.0, 1.75, 1.5, 1.25, 1.0, 0.75, 0.5, 0.25];
        assert!(rates.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{rates:?}");
    }
}
