//! What pure ε-DP means in μ and in ρ, and which ε suffices for a wanted μ or ρ.
//!
//! Whatever ε-DP mechanism a person uses, a randomized answer to yes or no that is true with probability e^ε/(1 + e^ε)
//! tells at least as much about two of its inputs (Kairouz, Oh and Viswanath, *The Composition Theorem for Differential
//! Privacy*, 2015). So only that one channel has to be computed, and both conversions are exact.
//!
//! **To μ-GDP.** A test of size 1/(1 + e^ε) has power e^ε/(1 + e^ε), the corner of the trade-off curve, which touches
//! the one of N(0, 1) against N(μ, 1) at
//!
//! > μ = 2Φ⁻¹(e^ε/(1 + e^ε)), that is erf(μ/√8) = tanh(ε/2)
//!
//! **To ρ-zCDP.** The Rényi divergence of order α of that channel, with s = α - 1/2 and thus α(α - 1) = s² - 1/4, is
//!
//! > D_α / α = (ln cosh(ε·s) - ln cosh(ε/2)) / (s² - 1/4)
//!
//! As tanh(x)/x decreases, ln cosh(ε√u) is concave in u = s², so the quotient is largest at α → 1, where it is
//!
//! > ρ = ε·tanh(ε/2)
//!
//! This lies below the ε²/2 of Bun and Steinke, *Concentrated Differential Privacy: Simplifications, Extensions, and
//! Lower Bounds*, 2016, and below ε; it tends to them at small and at large ε.

use super::boundary::boundary;
use super::normal;
use super::rounding::{down, multiply_up, up};
use crate::{Epsilon, Mu, PrivacyError, Rho};
use core::f64::consts::FRAC_1_SQRT_2;

/// More than the relative error of every formula here, which is below 10^-14.
const MARGIN: f64 = 1e-13;

/// The least μ such that ε-DP implies μ-GDP, rounded up.
pub fn mu_of_pure(epsilon: Epsilon) -> Result<Mu, PrivacyError> {
    let half_mu = if epsilon.get() < 1.0 {
        // Φ(μ/2) - 1/2 = tanh(ε/2)/2, at most 0.232
        normal::quantile_of_excess(0.5 * libm::tanh(epsilon.get() / 2.0))
    } else {
        // ln(1/(1 + e^ε)) = -ε - ln(1 + e^-ε), the tail beyond μ/2
        -normal::quantile_of_ln(-epsilon.get() - libm::log1p(epsilon.t()))
    };
    Mu::new(up(2.0 * half_mu, MARGIN))
}

/// The largest ε whose ε-DP implies μ-GDP, rounded down.
///
/// > ε = ln(Φ(μ/2) / Φ(-μ/2))
pub fn pure_for_gaussian(mu: Mu) -> Result<Epsilon, PrivacyError> {
    let half_mu = mu.get() / 2.0;
    let epsilon = if half_mu < 0.5 {
        2.0 * libm::atanh(libm::erf(half_mu * FRAC_1_SQRT_2))
    } else {
        normal::ln_cdf(half_mu) - normal::ln_cdf(-half_mu)
    };
    Epsilon::new(down(epsilon, MARGIN))
}

/// The least ρ such that ε-DP implies ρ-zCDP, ε·tanh(ε/2), rounded up.
pub fn rho_of_pure(epsilon: Epsilon) -> Result<Rho, PrivacyError> {
    let tanh = up(libm::tanh(epsilon.get() / 2.0), MARGIN).min(1.0);
    Rho::new(multiply_up(epsilon.get(), tanh))
}

/// The largest ε whose ε-DP implies ρ-zCDP, rounded down.
pub fn pure_for_concentrated(rho: Rho) -> Result<Epsilon, PrivacyError> {
    let implied = |epsilon| rho_of_pure(Epsilon::new(epsilon)?);
    let (enough, _) = boundary(|epsilon| implied(epsilon).is_ok_and(|implied| implied <= rho));
    Epsilon::new(enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn the_known_values_come_out() {
        for (e, mu) in [(0.5, 0.6239), (1.0, 1.2320), (2.0, 2.3580), (3.0, 3.3407)] {
            assert!((mu_of_pure(epsilon(e)).unwrap().get() - mu).abs() < 5e-5, "ε = {e}");
        }
    }

    #[test]
    fn one_gdp_protects_far_better_than_pure_three() {
        // Shi, Xie, Jiang, Kong, He, *Non-Asymptotic Analysis of Online Local Private Learning with SGD*, calls
        // the two similar. The best guess whose of two records was used gains 2Φ(μ/2) - 1 and tanh(ε/2).
        let advantage_of_gdp = 2.0 * normal::cdf(0.5) - 1.0;
        let advantage_of_pure = libm::tanh(1.5);
        assert!((advantage_of_gdp - 0.383).abs() < 5e-4);
        assert!((advantage_of_pure - 0.905).abs() < 5e-4);
        assert!(mu_of_pure(epsilon(3.0)).unwrap().get() > 3.34);
    }

    #[test]
    fn every_renyi_divergence_of_a_randomized_answer_is_below_rho_alpha_and_the_first_one_reaches_it() {
        for e in [1e-3, 0.1, 1.0, 3.0, 10.0, 50.0] {
            let rho = rho_of_pure(epsilon(e)).unwrap().get();
            let [p, q] = [1.0 / (1.0 + libm::exp(-e)), 1.0 / (1.0 + libm::exp(e))];
            for alpha in [1.001, 1.1, 1.5, 2.0, 3.0, 10.0] {
                // D_α = ln(p^α·q^{1-α} + q^α·p^{1-α}) / (α - 1)
                let moment = p * libm::pow(p / q, alpha - 1.0) + q * libm::pow(q / p, alpha - 1.0);
                let divergence = libm::log(moment) / (alpha - 1.0);
                assert!(divergence <= rho * alpha + 1e-12, "ε = {e}, α = {alpha}");
            }
            let kullback_leibler = (p - q) * e;
            assert!((kullback_leibler / rho - 1.0).abs() < 1e-12, "ε = {e}");
            assert!(rho <= (e * e / 2.0).min(e) * (1.0 + 1e-12));
        }
    }

    #[test]
    fn what_suffices_for_a_promise_implies_it_and_hardly_anything_is_given_away() {
        for exponent in -8..=4 {
            for factor in [1.0, 2.7, 7.1] {
                let wanted = factor * libm::pow(10.0, f64::from(exponent));
                let mu = mu_of_pure(pure_for_gaussian(Mu::new(wanted).unwrap()).unwrap()).unwrap().get();
                // at μ of some thousand, ε = μ²/8 is far beyond where its relative margin matters
                assert!(mu <= wanted * (1.0 + 2e-13) && mu >= wanted * (1.0 - 1e-12), "μ = {wanted}");
                let rho =
                    rho_of_pure(pure_for_concentrated(Rho::new(wanted).unwrap()).unwrap()).unwrap().get();
                assert!(rho <= wanted && rho >= wanted * (1.0 - 1e-12), "ρ = {wanted}");
            }
        }
    }
}
