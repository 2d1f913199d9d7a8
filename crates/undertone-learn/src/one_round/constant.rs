//! The best predictor that looks at no column.
//!
//! With y = ±1 and E\[y\] = m, a score s costs ((1+m)·f(s) + (1-m)·f(-s))/2. It is least at ln((1+m)/(1-m)) for the logistic loss,
//! at ±1/2 for the hinge, and at m for the squared loss, also where y is a number.

use crate::moments::MarginLoss;

/// A weight of the constant covariate alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    weight: f64,
    /// What it costs; for the squared loss less E\[y²\]
    pub risk: f64,
}

impl Constant {
    /// For a `mean` of responses, where the constant covariate is 1/`scale` and no weight is beyond ±`most`.
    pub fn new(loss: MarginLoss, mean: f64, scale: f64, most: f64) -> Self {
        let m = mean.clamp(-1.0, 1.0);
        let best = match loss {
            MarginLoss::Logistic => ((1.0 + m) / (1.0 - m)).ln(),
            MarginLoss::Hinge if m == 0.0 => 0.0,
            MarginLoss::Hinge => 0.5 * m.signum(),
            MarginLoss::Squared => m,
        };
        let weight = (best * scale).clamp(-most, most);
        let score = weight / scale;
        let risk = 0.5 * ((1.0 + m) * loss.at(score) + (1.0 - m) * loss.at(-score));
        Self { weight, risk }
    }

    /// The same for a mean that is known with this variance: |mean|² exceeds its truth by that much, and a constant that is
    /// not there must not speak against the weights. A truth is no farther than one from zero, and a noisy mean that is would make
    /// everybody certain; a cost is linear in m, so that it is the expected m that counts ([`inside`]).
    pub(super) fn of_noisy(loss: MarginLoss, mean: f64, variance: f64, scale: f64, most: f64) -> Self {
        let believed = (mean * mean - variance).max(0.0).sqrt().copysign(mean);
        Self::new(loss, inside(believed, variance), scale, most)
    }

    /// The same with a risk that was found otherwise.
    pub(super) fn with_risk(self, risk: f64) -> Self {
        Self { risk, ..self }
    }

    /// One whose weight and risk were found otherwise.
    pub(super) fn found(weight: f64, risk: f64) -> Self {
        Self { weight, risk }
    }

    /// As weights of so many covariates, the constant first.
    pub(super) fn weights(&self, covariates: usize) -> Vec<f64> {
        let mut weights = vec![0.0; covariates];
        weights[0] = self.weight;
        weights
    }
}

/// E\[m\] for a normal m of this mean and variance that is known to lie in [-1, 1], by the midpoint rule.
fn inside(mean: f64, variance: f64) -> f64 {
    const PLACES: u32 = 400;
    let deviation = variance.sqrt();
    // Where it is far from both ends they make no difference, and a narrow law would fall between the places.
    if mean.abs() + 6.0 * deviation <= 1.0 {
        return mean;
    }
    let (low, high) = ((mean - 8.0 * deviation).max(-1.0), (mean + 8.0 * deviation).min(1.0));
    let (mut weights, mut sum) = (0.0, 0.0);
    for place in 0..PLACES {
        let m = low + (high - low) * (f64::from(place) + 0.5) / f64::from(PLACES);
        let weight = (-0.5 * ((m - mean) / deviation).powi(2)).exp();
        weights += weight;
        sum += weight * m;
    }
    if weights > 0.0 { sum / weights } else { mean.clamp(-1.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_score_costs_less() {
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge, MarginLoss::Squared] {
            for m in [-1.0, -0.7, 0.0, 0.2, 1.0] {
                let best = Constant::new(loss, m, 3.0, 9.0);
                let risk = |s: f64| 0.5 * ((1.0 + m) * loss.at(s) + (1.0 - m) * loss.at(-s));
                assert!(
                    (-300..=300).all(|i| best.risk <= risk(f64::from(i) / 100.0) + 1e-12),
                    "{loss:?} {m}"
                );
                assert!((best.risk - risk(best.weights(2)[0] / 3.0)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_noisy_mean_beyond_one_makes_nobody_certain() {
        // Half a normal law below one: E m = 1 - √(2v/π), as far as -1 is far away
        assert!((inside(1.0, 0.01) - (1.0 - (0.02 / std::f64::consts::PI).sqrt())).abs() < 1e-5);
        assert_eq!((inside(0.5, 1e-6), inside(-3.0, 0.0)), (0.5, -1.0));
        let constant = Constant::of_noisy(MarginLoss::Logistic, -1.1, 0.1, 1.0, 20.0);
        assert!(constant.weights(1)[0] > -3.0 && constant.risk > 0.1, "{constant:?}");
    }

    #[test]
    fn a_mean_that_is_all_noise_is_zero() {
        let constant = Constant::of_noisy(MarginLoss::Logistic, -0.1, 0.02, 1.0, 4.0);
        assert_eq!((constant.risk, constant.weights(1)[0].abs()), (2f64.ln(), 0.0));
    }
}
