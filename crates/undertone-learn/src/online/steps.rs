//! How far each report moves θ.
//!
//! > η_i = η·(i + i₀)^-α
//!
//! i counts accepted reports from one. The offset i₀ tames the first steps, which carry the most noise.

use crate::LearnError;
use serde::{Deserialize, Serialize};

/// η, α and i₀.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    eta: f64,
    alpha: f64,
    offset: u64,
}

impl Steps {
    /// With η positive and finite and 0 ≤ α ≤ 1.
    ///
    /// At α = 0 the noise stays as it is. At α = 1 the error falls like n^-min(1, 2ηm), m the least curvature, so that η has
    /// to be above 1/(2m) for the best rate.
    pub fn new(eta: f64, alpha: f64, offset: u64) -> Result<Self, LearnError> {
        if !(eta > 0.0 && eta.is_finite()) {
            return Err(LearnError::Parameter { what: "η", value: eta, expected: "positive and finite" });
        }
        if !(0.0..=1.0).contains(&alpha) {
            return Err(LearnError::Parameter { what: "α", value: alpha, expected: "from 0 to 1" });
        }
        Ok(Self { eta, alpha, offset })
    }

    /// η.
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// α.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The same with half of η.
    #[must_use]
    pub fn halved(&self) -> Self {
        Self { eta: self.eta / 2.0, ..*self }
    }

    /// η_i. The power is the same on every machine, as whoever replays a log has to find the same θ.
    pub fn at(&self, i: u64) -> f64 {
        self.eta * libm::pow(i as f64 + self.offset as f64, -self.alpha)
    }

    /// Whether means of iterates are normal in the limit, as intervals need them to be: ½ < α < 1.
    pub fn allow_intervals(&self) -> bool {
        self.alpha > 0.5 && self.alpha < 1.0
    }

    /// Whether the last iterate has the law of [`laws`](super::laws): 0 < α < 1. At 0 the noise stays, at 1 the start may.
    pub fn have_a_law(&self) -> bool {
        self.alpha > 0.0 && self.alpha < 1.0
    }

    /// Refuses an α with which there are no intervals.
    pub fn check_intervals(&self) -> Result<(), LearnError> {
        let (what, value) = ("α", self.alpha);
        let expected = "strictly between 1/2 and 1 for intervals";
        if self.allow_intervals() { Ok(()) } else { Err(LearnError::Parameter { what, value, expected }) }
    }

    /// The start is forgotten like e^-this after n reports, where `curvature` is m, the least eigenvalue of the Hessian.
    ///
    /// > m·Σ η_i ≈ m·η·((n + i₀)^(1-α) - i₀^(1-α))/(1-α),   m·η·ln((n + i₀)/(1 + i₀)) at α = 1
    pub fn transient_exponent(&self, n: u64, curvature: f64) -> f64 {
        let start = self.offset as f64;
        let end = n as f64 + start;
        let rest = 1.0 - self.alpha;
        let travelled = if rest == 0.0 {
            libm::log(end / (1.0 + start))
        } else {
            (libm::pow(end, rest) - libm::pow(start, rest)) / rest
        };
        curvature * self.eta * travelled
    }

    /// τ: how many versions behind the i-th report may be, where `curvature` is the largest eigenvalue of the Hessian.
    ///
    /// > τ ≤ ½/(η_i·M)
    ///
    /// θ_{i+1} = θ_i - η·λ·θ_{i-τ} is stable if and only if η·λ < 2·sin(π/(4τ + 2)), which is three times as much.
    pub fn most_stale(&self, i: u64, curvature: f64) -> u64 {
        // `as` saturates
        (0.5 / (self.at(i) * curvature)) as u64
    }

    /// The first report that may be τ versions behind by [`most_stale`](Self::most_stale); none if none ever may.
    ///
    /// > i ≥ (2·η·M·τ)^(1/α) - i₀
    pub fn steady_from(&self, tau: u64, curvature: f64) -> Option<u64> {
        let product = 2.0 * self.eta * curvature * tau as f64;
        let least = if self.alpha == 0.0 {
            if product <= 1.0 { 1.0 } else { f64::INFINITY }
        } else {
            libm::ceil(libm::pow(product, 1.0 / self.alpha)) - self.offset as f64
        };
        // No log has more reports.
        (least <= 2f64.powi(53)).then_some(least.max(1.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_worked_out_by_hand() {
        let steps = Steps::new(0.2, 0.5, 0).unwrap();
        assert!((steps.at(1) - 0.2).abs() < 1e-15 && (steps.at(100) - 0.02).abs() < 1e-15);
        let late = Steps::new(3.0, 0.5, 96).unwrap();
        assert!((late.at(4) - 0.3).abs() < 1e-15);
        assert!((late.halved().at(4) - 0.15).abs() < 1e-15);
    }

    #[test]
    fn the_published_logistic_run_has_forgotten_half_of_its_start_and_no_more() {
        let exponent = |alpha, n| Steps::new(0.2, alpha, 0).unwrap().transient_exponent(n, 0.01736);
        assert!((exponent(2.0 / 3.0, 300_000) - 0.697).abs() < 1e-3);
        assert!((exponent(1.0, 300_000) - 0.2 * 0.01736 * 300_000f64.ln()).abs() < 1e-12);
        // The integral is the sum, for as many as these.
        let steps = Steps::new(0.7, 0.6, 50).unwrap();
        let sum: f64 = (1..=100_000).map(|i| steps.at(i)).sum();
        assert!((steps.transient_exponent(100_000, 2.0) / (2.0 * sum) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_report_as_stale_as_allowed_leaves_the_descent_stable() {
        for (eta, curvature) in [(0.1, 0.5), (0.01, 2.0), (0.3, 1.0)] {
            let steps = Steps::new(eta, 0.0, 0).unwrap();
            let tau = steps.most_stale(1, curvature);
            let limit = |tau: u64| 2.0 * (std::f64::consts::PI / (4.0 * tau as f64 + 2.0)).sin();
            assert!(eta * curvature < limit(tau), "τ = {tau}");
            // The recursion itself dies out, also with three times the delay at which it is stable at all.
            let mut past = vec![1.0; tau as usize + 1];
            for i in 0..20_000 {
                let (now, old) = (past[past.len() - 1], past[past.len() - 1 - tau as usize]);
                past.push(now - eta * curvature * old);
                assert!(i < 19_000 || past[past.len() - 1].abs() < 1e-6);
            }
        }
    }

    #[test]
    fn reports_may_be_stale_from_the_one_on_that_is_stated_and_not_before() {
        for (eta, alpha, offset, tau, curvature) in [
            (1.0, 0.6, 1000, 256, 1.0),
            (0.2, 0.5, 0, 100, 0.5),
            (1.0, 1.0, 1000, 4000, 0.3),
            (0.1, 0.6, 0, 2, 1.0),
        ] {
            let steps = Steps::new(eta, alpha, offset).unwrap();
            let first = steps.steady_from(tau, curvature).unwrap();
            // To within the rounding of the power
            assert!(steps.most_stale(first + 1, curvature) >= tau, "{first}");
            assert!(first == 1 || steps.most_stale(first - 1, curvature) < tau, "{first}");
        }
        // (2·256)^(5/3) - 1000 by hand, and steps that never fall
        let usual = Steps::new(1.0, 0.6, 1000).unwrap().steady_from(256, 1.0).unwrap();
        assert!((31_768..=31_769).contains(&usual), "{usual}");
        assert_eq!(Steps::new(0.1, 0.0, 0).unwrap().steady_from(5, 1.0), Some(1));
        assert_eq!(Steps::new(0.1, 0.0, 0).unwrap().steady_from(6, 1.0), None);
        assert_eq!(Steps::new(1e3, 0.1, 0).unwrap().steady_from(1 << 16, 1.0), None);
    }

    #[test]
    fn what_is_no_step_is_refused_with_its_value() {
        for (eta, alpha, value) in
            [(0.0, 0.5, "0"), (f64::INFINITY, 0.5, "inf"), (0.2, 1.5, "1.5"), (0.2, -0.1, "-0.1")]
        {
            let refusal = Steps::new(eta, alpha, 0).unwrap_err().to_string();
            assert!(refusal.contains(value), "{refusal}");
        }
        assert!(Steps::new(f64::NAN, 0.5, 0).is_err() && Steps::new(0.2, f64::NAN, 0).is_err());
        let between = |alpha| Steps::new(0.2, alpha, 0).unwrap().check_intervals();
        assert!(between(0.6).is_ok());
        assert!(between(0.5).unwrap_err().to_string().contains("0.5") && between(1.0).is_err());
    }
}
