//! Normal margins: E f(N(m, s²)).

use super::MarginLoss;
use undertone_privacy::accounting::normal::{cdf, pdf};

/// The risk of normal margins of mean m and standard deviation s.
///
/// Hinge: (1/2 - m)·Φ(c) + s·φ(c) with c = (1/2 - m)/s. Logistic: the trapezoidal rule, whose error falls
/// exponentially: with steps of h ≤ 1/s the poles of the loss, π/s away, leave e^(-2π²/(s·h)) < 10^-8.
pub(in crate::moments) fn risk(loss: MarginLoss, m: f64, s: f64) -> f64 {
    match loss {
        MarginLoss::Hinge => {
            // Nothing is lost by a width that no float of the size of m can see.
            let width = s.max(1e-12);
            let c = (0.5 - m) / width;
            (0.5 - m) * cdf(c) + width * pdf(c)
        }
        MarginLoss::Logistic => {
            let steps = (8.0 * s.max(2.0)).ceil() as i32;
            let h = 8.0 / f64::from(steps);
            let term = |k: i32| {
                let z = h * f64::from(k);
                (-0.5 * z * z).exp() * loss.at(m + s * z)
            };
            h / (2.0 * std::f64::consts::PI).sqrt() * (-steps..=steps).map(term).sum::<f64>()
        }
        MarginLoss::Squared => s * s + m * m - 2.0 * m,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E f by a fine sum.
    fn slowly(loss: MarginLoss, m: f64, s: f64) -> f64 {
        let h = 1e-4;
        (-100_000..=100_000).map(|k| h * f64::from(k)).map(|z| h * pdf(z) * loss.at(m + s * z)).sum()
    }

    #[test]
    fn it_is_the_expectation_of_the_loss() {
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge, MarginLoss::Squared] {
            for (m, s) in [(0.0, 0.1), (0.5, 1.0), (-0.3, 0.02), (2.0, 3.0), (4.0, 12.0)] {
                let (found, exact) = (risk(loss, m, s), slowly(loss, m, s));
                assert!((found - exact).abs() < 3e-8, "{loss:?}, {m}, {s}: {found} for {exact}");
            }
        }
    }

    #[test]
    fn without_width_it_is_the_loss() {
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge] {
            for m in [-1.0, 0.0, 0.5, 2.0] {
                assert!((risk(loss, m, 0.0) - loss.at(m)).abs() < 1e-11);
            }
        }
    }
}
