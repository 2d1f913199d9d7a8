//! From a report to what it says about a number.

use super::NumberValues;
use crate::LearnError;
use undertone_privacy::number::{Bounds, NumberMechanism, NumberRandomizer, ReportVariance};
use undertone_report::Task;

/// What is needed to read the reports of a task about numbers.
#[derive(Clone, Copy, Debug)]
pub struct NumberChannel {
    mechanism: NumberMechanism,
    variance: ReportVariance,
}

impl NumberChannel {
    /// The channel of a task's reports.
    pub fn of(task: &Task) -> Result<Self, LearnError> {
        Ok(Self::of_mechanism(task.number_mechanism()?))
    }

    /// The channel of one mechanism.
    pub fn of_mechanism(mechanism: NumberMechanism) -> Self {
        Self { variance: mechanism.report_variance(), mechanism }
    }

    /// Where numbers lie.
    pub fn bounds(&self) -> Bounds {
        self.mechanism.bounds()
    }

    /// The most that v lies below the variance on average, the same for every prediction.
    pub fn hidden(&self) -> f64 {
        self.variance.hidden()
    }

    /// Appends z and v of a report. One that the mechanism does not make is an error that names its row.
    pub fn push(&self, report: i64, into: &mut NumberValues) -> Result<(), LearnError> {
        if !self.mechanism.is_plausible(report) {
            let problem = format!("it says {report}, which the mechanism does not");
            return Err(LearnError::Report { row: into.len() as u64 + 1, problem });
        }
        let value = self.mechanism.decode(report);
        into.push(value, self.variance.of(value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::Epsilon;
    use undertone_privacy::number::NumberKind;

    #[test]
    fn values_and_squared_errors_are_right_on_average() {
        let (n, mut rng) = (40_000, ChaCha12Rng::seed_from_u64(11));
        let bounds = Bounds::new(-2.0, 6.0).unwrap();
        for (kind, epsilon) in NumberKind::ALL.into_iter().flat_map(|kind| [(kind, 0.5), (kind, 2.0)]) {
            let mechanism = NumberMechanism::new(kind, bounds, Epsilon::new(epsilon).unwrap()).unwrap();
            let channel = NumberChannel::of_mechanism(mechanism);
            let (number, guess) = (1.0, 3.5);
            let place = bounds.place(number).unwrap();
            let mut values = NumberValues::new();
            for _ in 0..n {
                channel.push(mechanism.report(&place, &mut rng).unwrap(), &mut values).unwrap();
            }
            let mean = crate::evaluation::mean(values.values());
            assert!((mean.value - number).abs() < 5.0 * mean.standard_error, "{kind}: {mean:?}");
            let errors: Vec<f64> = values.iter().map(|(z, v)| (guess - z) * (guess - z) - v).collect();
            let (found, truth) = (crate::evaluation::mean(&errors), (guess - number) * (guess - number));
            let (low, high) = (found.value - truth - channel.hidden(), found.value - truth);
            let margin = 5.0 * found.standard_error;
            assert!(low < margin && high > -margin, "{kind}, ε = {epsilon}: {found:?} for {truth}");
            assert!(channel.hidden() > 0.0 || (found.value - truth).abs() < margin, "{kind}: {found:?}");
        }
    }

    #[test]
    fn what_the_mechanism_cannot_have_said_is_refused_with_its_row() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let bit = NumberMechanism::new(NumberKind::OneBit, bounds, Epsilon::new(1.0).unwrap()).unwrap();
        let mut values = NumberValues::certain([0.5, 0.5]);
        let error = NumberChannel::of_mechanism(bit).push(2, &mut values).unwrap_err().to_string();
        assert!(error.starts_with("report 3: it says 2"), "{error}");
        assert_eq!(values.len(), 2);
    }
}
