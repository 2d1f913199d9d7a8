//! The size of the steps.

use crate::NetError;
use serde::{Deserialize, Serialize};

/// How steps become smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decay {
    /// Evenly, to zero at the end
    Linear,
    /// To a tenth after 30, 60 and 90 in a hundred of all steps
    Tenths,
}

/// Steps grow evenly from zero to a peak, and become smaller again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The largest, for targets of length one; the debiased loss divides it by the length that its targets have on average
    pub peak: f64,
    /// The share of all steps before the peak
    pub warm_up: f64,
    /// What comes then
    pub decay: Decay,
}

impl Schedule {
    /// The size of `step` of so many `steps`, counted from zero.
    pub(crate) fn rate(&self, step: usize, steps: usize) -> f64 {
        let (at, all) = (step as f64, steps as f64);
        let warm = self.warm_up * all;
        if at < warm {
            return self.peak * (at + 1.0).min(warm) / warm;
        }
        match self.decay {
            Decay::Linear => self.peak * (all - at) / (all - warm),
            Decay::Tenths => {
                self.peak * 0.1f64.powi([0.3, 0.6, 0.9].iter().filter(|&&end| at >= end * all).count() as i32)
            }
        }
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
        let schedule = Schedule { peak: 2.0, warm_up: 0.2, decay: Decay::Linear };
        let rates: Vec<f64> = (0..10).map(|step| schedule.rate(step, 10)).collect();
        let expected = [1.0, 2.0, 2.0, 1.75, 1.5, 1.25, 1.0, 0.75, 0.5, 0.25];
        assert!(rates.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{rates:?}");
        let steps = Schedule { warm_up: 0.0, decay: Decay::Tenths, ..schedule };
        let rates = [0, 2, 3, 6, 9].map(|step| steps.rate(step, 10));
        assert!(rates.iter().zip([2.0, 2.0, 0.2, 0.02, 0.002]).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
