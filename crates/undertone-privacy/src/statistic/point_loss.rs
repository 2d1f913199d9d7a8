//! Losses of a score ⟨w, x⟩ and an answer y, each with the range it has when the score is bounded.
//!
//! | loss | of the margin m = y·⟨w, x⟩, y = ±1 | where \|m\| ≤ R |
//! |---|---|---|
//! | logistic | ln(1 + e^-m) | ln(1 + e^∓R), R wide |
//! | hinge | (1/2 - m)₊ | (1/2 ∓ R)₊ |
//! | smoothed hinge | ((1/2 - m) + √((1/2 - m)² + β²))/2 | at m = ±R |
//! | squared | (⟨w, x⟩ - y)² with \|y\| ≤ Y | from 0 to (R + Y)² |
//!
//! The first three fall with m, so that their ends are at the ends. The smoothed hinge is at most β/2 above the hinge and
//! 1/(2β)-smooth. The hinge with its corner at 1/2 is that of *Empirical Risk Minimization in the Non-interactive Local
//! Model of Differential Privacy*.

use crate::PrivacyError;

/// A loss of one record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PointLoss {
    /// Of a label ±1
    Logistic,
    /// Of a label ±1
    Hinge,
    /// Of a label ±1
    SmoothHinge {
        /// β, how far around its corner the hinge is smoothed
        beta: f64,
    },
    /// Of a number
    Squared {
        /// Y: a number beyond ±Y is clamped to it
        largest: f64,
    },
}

impl PointLoss {
    /// Refuses a β or a Y that is not positive, or too large.
    pub(super) fn check(self) -> Result<(), PrivacyError> {
        let (what, value) = match self {
            Self::Logistic | Self::Hinge => return Ok(()),
            Self::SmoothHinge { beta } => ("beta", beta),
            Self::Squared { largest } => ("the largest answer", largest),
        };
        if value > 0.0 && value <= 1e6 { Ok(()) } else { Err(PrivacyError::Parameter { what, value }) }
    }

    /// Whether y = ±1 is what it takes.
    pub fn takes_labels(self) -> bool {
        !matches!(self, Self::Squared { .. })
    }

    /// The loss of a score ⟨w, x⟩ and an answer y; no number if y is none that it takes.
    pub fn value(self, score: f64, y: f64) -> f64 {
        match self {
            Self::Squared { largest } => {
                let off = score - y.clamp(-largest, largest);
                off * off
            }
            _ if is_label(y) => self.of_margin(y * score),
            _ => f64::NAN,
        }
    }

    /// The least and the largest loss where |⟨w, x⟩| ≤ `reach`.
    pub fn range(self, reach: f64) -> (f64, f64) {
        match self {
            Self::Squared { largest } => (0.0, (reach + largest) * (reach + largest)),
            _ => (self.of_margin(reach), self.of_margin(-reach)),
        }
    }

    /// A loss of labels at a margin.
    fn of_margin(self, m: f64) -> f64 {
        let short = 0.5 - m;
        match self {
            // ln(1 + e^-m) without overflow
            Self::Logistic => libm::log1p(libm::exp(-m.abs())) + (-m).max(0.0),
            Self::SmoothHinge { beta } => 0.5 * (short + libm::hypot(short, beta)),
            Self::Hinge | Self::Squared { .. } => short.max(0.0),
        }
    }
}

/// Whether y is -1 or 1.
#[expect(clippy::float_cmp, reason = "a label is -1 or 1 exactly, or none")]
pub(super) fn is_label(y: f64) -> bool {
    y.abs() == 1.0
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;

    const LOSSES: [PointLoss; 4] = [
        PointLoss::Logistic,
        PointLoss::Hinge,
        PointLoss::SmoothHinge { beta: 0.25 },
        PointLoss::Squared { largest: 0.8 },
    ];

    #[test]
    fn losses_at_margins_worked_by_hand() {
        assert!((PointLoss::Logistic.value(0.0, 1.0) - 2f64.ln()).abs() < 1e-15);
        assert_eq!(PointLoss::Hinge.value(0.2, -1.0), 0.7);
        assert_eq!(PointLoss::Hinge.value(2.0, 1.0), 0.0);
        assert_eq!(PointLoss::SmoothHinge { beta: 0.4 }.value(0.2, 1.0), 0.4);
        assert_eq!(PointLoss::Squared { largest: 1.0 }.value(0.5, 7.0), 0.25);
        assert!(PointLoss::Logistic.value(0.3, 0.0).is_nan());
    }

    #[test]
    fn ranges_hold_every_loss_and_are_reached() {
        for loss in LOSSES {
            let reach = 1.7;
            let (low, high) = loss.range(reach);
            let answers: &[f64] = if loss.takes_labels() { &[-1.0, 1.0] } else { &[-0.8, 0.0, 0.3, 0.8] };
            let (mut least, mut most) = (f64::MAX, f64::MIN);
            for i in 0..=400 {
                let score = reach * (f64::from(i) / 200.0 - 1.0);
                for &y in answers {
                    let value = loss.value(score, y);
                    (least, most) = (least.min(value), most.max(value));
                }
            }
            assert!(low <= least && most <= high, "{loss:?}: {least} to {most}, not {low} to {high}");
            assert!(least - low < 1e-4 && high - most < 1e-12, "{loss:?} is not tight");
        }
        let (low, high) = PointLoss::Logistic.range(1.7);
        assert!((high - low - 1.7).abs() < 1e-15);
    }

    #[test]
    fn the_smoothed_hinge_is_at_most_half_of_beta_above_the_hinge() {
        for i in -300..=300 {
            let m = f64::from(i) / 100.0;
            let off = PointLoss::SmoothHinge { beta: 0.3 }.value(m, 1.0) - PointLoss::Hinge.value(m, 1.0);
            assert!((0.0..=0.15).contains(&off));
        }
    }
}
