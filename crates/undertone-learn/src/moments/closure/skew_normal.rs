//! Skew-normal margins: those of x ~ N(0, S) with probit labels.
//!
//! With s = √q the margin is s·T, and T = δ·|Z₀| + √(1-δ²)·Z₁ has the mean δ·√(2/π) (Azzalini, *A class of distributions which
//! includes the normal ones*, 1985), hence δ = m/(s·√(2/π)) and
//!
//! > E f(s·T) = E_Z₀\[normal risk of mean s·δ·|Z₀| and width s·√(1-δ²)\]

use super::{MarginLoss, gauss, quadrature::HALF_NORMAL};

/// The largest |δ|: beyond, the law has an edge that 48 points do not see.
const MOST_SKEW: f64 = 0.99;

/// The risk of skew-normal margins of mean m and second moment q.
pub(super) fn risk(loss: MarginLoss, m: f64, q: f64) -> f64 {
    let s = q.max(0.0).sqrt();
    if s == 0.0 {
        return loss.at(0.0);
    }
    let delta = (m / s * std::f64::consts::FRAC_PI_2.sqrt()).clamp(-MOST_SKEW, MOST_SKEW);
    let width = s * (1.0 - delta * delta).sqrt();
    HALF_NORMAL.iter().map(|&(z, weight)| weight * gauss::risk(loss, s * delta * z, width)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::accounting::normal::{cdf, pdf};

    #[test]
    fn it_is_the_expectation_under_the_skew_normal_density() {
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge] {
            for (delta, s) in [(0.0, 1.0), (0.5, 0.3), (0.8, 4.0), (-0.6, 2.0), (0.95, 3.0)] {
                let delta: f64 = delta;
                let alpha = delta / (1.0 - delta * delta).sqrt();
                let h = 1e-4;
                // The density is 2φ(t)Φ(αt).
                let density = |t: f64| 2.0 * pdf(t) * cdf(alpha * t);
                let exact: f64 = (-90_000..=90_000)
                    .map(|k| h * f64::from(k))
                    .map(|t| h * density(t) * loss.at(s * t))
                    .sum();
                let m = s * delta * (2.0 / std::f64::consts::PI).sqrt();
                let found = risk(loss, m, s * s);
                assert!((found - exact).abs() < 1e-6, "{loss:?}, {delta}, {s}: {found} for {exact}");
            }
        }
    }
}
