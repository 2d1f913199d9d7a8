//! What ρ-zCDP means in (ε, δ), which ρ suffices for a wanted (ε, δ), and how ρ and μ relate.
//!
//! Each order α > 1 of Rényi divergence gives a δ, and the least of them holds (Canonne, Kamath and Steinke, *The Discrete
//! Gaussian for Differential Privacy*, 2020). With t = α - 1,
//!
//! > δ(ε) = inf_{α>1} e^{(α-1)(αρ-ε)} / (α-1) · (1 - 1/α)^α = inf_{t>0} e^{h(t)},
//! > h(t) = t·(αρ - ε - ln(1 + 1/t)) - ln α
//! > h'(t) = (1 + 2t)·ρ - ε - ln(1 + 1/t)
//!
//! h' increases, so h has one minimum; and as *every* t is sound, finding it inexactly costs sharpness, never privacy.
//!
//! N(0, 1) and N(μ, 1) have the divergence αμ²/2, hence μ-GDP is μ²/2-zCDP. The converse does not hold.
//!
//! Names tell the direction of rounding: `…_of_…` follows from a promise and is rounded up, `…_for…` suffices for one
//! and is rounded down.

use super::boundary::boundary;
use super::gaussian_conversion::delta_of_ln;
use super::rounding::multiply_up;
use crate::{Delta, Epsilon, Mu, PrivacyError, Rho};

/// δ such that ρ-zCDP implies (ε, δ)-DP, rounded up by at most a relative 10^-11 where ε ≤ 10^4; 1 at worst.
pub fn delta_of_concentrated(rho: Rho, epsilon: Epsilon) -> f64 {
    delta_of_ln(ln_delta_of_concentrated(rho, epsilon))
}

/// ln δ such that ρ-zCDP implies (ε, δ)-DP, rounded up by some 10^-14 of its summands.
pub fn ln_delta_of_concentrated(rho: Rho, epsilon: Epsilon) -> f64 {
    ln_delta(rho.get(), epsilon.get())
}

/// ε such that ρ-zCDP implies (ε, δ)-DP, rounded up by less than a relative or absolute 10^-12;
/// at least the least positive float.
pub fn epsilon_of_concentrated(rho: Rho, delta: Delta) -> Result<Epsilon, PrivacyError> {
    let ln_target = libm::log(delta.get()).next_down();
    let (_, enough) = boundary(|epsilon| ln_delta(rho.get(), epsilon) > ln_target);
    Epsilon::new(enough)
}

/// The largest ρ whose ρ-zCDP implies (ε, δ)-DP by the formula above, rounded down.
pub fn rho_for(epsilon: Epsilon, delta: Delta) -> Result<Rho, PrivacyError> {
    let ln_target = libm::log(delta.get()).next_down();
    let (enough, _) = boundary(|rho| ln_delta(rho, epsilon.get()) <= ln_target);
    Rho::new(enough)
}

/// The least ρ such that μ-GDP implies ρ-zCDP, μ²/2, rounded up.
pub fn rho_of_gaussian(mu: Mu) -> Result<Rho, PrivacyError> {
    Rho::new(multiply_up(mu.get() / 2.0, mu.get()))
}

/// The largest μ whose μ-GDP implies ρ-zCDP, √(2ρ), rounded down.
pub fn mu_for_concentrated(rho: Rho) -> Result<Mu, PrivacyError> {
    let root = libm::sqrt(2.0 * rho.get());
    Mu::new(if multiply_up(root / 2.0, root) > rho.get() { root.next_down() } else { root })
}

/// ln δ(ε) for positive floats, rounded up, at most 0.
fn ln_delta(rho: f64, epsilon: f64) -> f64 {
    let slope = |t: f64| (1.0 + 2.0 * t) * rho - epsilon - libm::log1p(1.0 / t);
    let (minimum, _) = boundary(|t| slope(t) < 0.0);
    // Every t is sound, so one that keeps the products finite is.
    let t = minimum.min(1e300 / epsilon);
    let summands = [t * ((1.0 + t) * rho), -t * epsilon, -t * libm::log1p(1.0 / t), -libm::log1p(t)];
    // Each summand is off by a few units in its last place, and so is each sum of them.
    let size: f64 = summands.iter().map(|summand| libm::fabs(*summand)).sum();
    let h = summands.iter().sum::<f64>() + 8.0 * f64::EPSILON * size;
    // At t = 0, when the minimum is too close to it for a float, h is no number: then nothing is claimed.
    if h < 0.0 { h } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_values_come_out() {
        let half = Rho::new(0.5).unwrap();
        for (epsilon, expected) in [(1.0, 0.2468), (2.0, 0.0543), (3.0, 0.00514), (5.0, 2.9e-6)] {
            let delta = delta_of_concentrated(half, Epsilon::new(epsilon).unwrap());
            assert!((delta / expected - 1.0).abs() < 0.02, "ε = {epsilon}: {delta}");
        }
    }

    #[test]
    fn no_order_of_divergence_gives_less_than_the_one_that_is_used() {
        for (rho, epsilon) in [(0.5, 1.0), (0.5, 5.0), (1e-6, 0.01), (3.0, 1.0), (20.0, 100.0)] {
            let stated = ln_delta(rho, epsilon);
            for i in -300..300 {
                let t = libm::exp2(f64::from(i) * 0.1);
                // (α-1)(αρ - ε) - ln(α-1) + α·ln(1 - 1/α), as printed
                let alpha = 1.0 + t;
                let h = t * (alpha * rho - epsilon) - libm::log(t) - alpha * libm::log1p(1.0 / t);
                assert!(stated <= h + 1e-9, "ρ = {rho}, ε = {epsilon}, α = {alpha}");
            }
        }
    }

    #[test]
    fn the_detour_from_mu_by_rho_is_never_shorter() {
        for mu in [0.01, 0.3, 1.0, 4.0].map(|mu| Mu::new(mu).unwrap()) {
            let rho = rho_of_gaussian(mu).unwrap();
            for delta in [1e-3, 1e-6, 1e-12].map(|delta| Delta::new(delta).unwrap()) {
                let detour = epsilon_of_concentrated(rho, delta).unwrap();
                assert!(
                    crate::accounting::epsilon_of_gaussian(mu, delta).unwrap() < detour,
                    "μ = {mu}, δ = {delta}"
                );
            }
        }
    }

    #[test]
    fn rho_and_mu_convert_without_loss_where_the_square_is_a_float() {
        let (rho, mu) = (Rho::new(4.5).unwrap(), Mu::new(3.0).unwrap());
        assert_eq!(rho_of_gaussian(mu), Ok(rho));
        assert_eq!(mu_for_concentrated(rho), Ok(mu));
        for value in [0.1, 0.2, 0.3, 0.7, 1e-9, 1e9] {
            let rho = Rho::new(value).unwrap();
            assert!(rho_of_gaussian(mu_for_concentrated(rho).unwrap()).unwrap() <= rho, "ρ = {value}");
        }
    }

    #[test]
    fn a_promise_too_weak_to_say_anything_has_a_delta_of_one() {
        let delta = delta_of_concentrated(Rho::new(1e4).unwrap(), Epsilon::new(1.0).unwrap());
        assert_eq!(delta, 1.0);
    }
}
