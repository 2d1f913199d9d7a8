//! What follows from a promise: the same promise in another currency, never stated smaller than it is.
//!
//! The currencies form a chain, and nothing leads back:
//!
//! > pure ε ⇒ μ-GDP ⇒ ρ-zCDP ⇒ (ε, δ) for every δ
//!
//! A Gaussian has no pure ε, since its likelihood ratio is unbounded. zCDP bounds moments, which does not bound the
//! trade-off curve by that of a Gaussian. A single (ε, δ) may fail altogether with probability δ.
//!
//! All results are rounded up. For the opposite question, how strong a mechanism has to be for a wanted promise, see
//! [`mu_for`](super::mu_for), [`rho_for`](super::rho_for) and the other functions with `for` in their name.

use super::concentrated_conversion::{delta_of_concentrated, epsilon_of_concentrated, rho_of_gaussian};
use super::gaussian_conversion::{delta_of_gaussian, epsilon_of_gaussian};
use super::pure_conversion::{mu_of_pure, rho_of_pure};
use super::rounding::{add_up, multiply_up, up};
use crate::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Rho};

impl Guarantee {
    /// The ε of pure differential privacy; no other currency implies it.
    pub fn to_pure(&self) -> Result<Epsilon, PrivacyError> {
        match *self {
            Self::Pure(epsilon) => Ok(epsilon),
            _ => Err(self.no_conversion("pure ε")),
        }
    }

    /// The least μ that follows.
    pub fn to_gaussian(&self) -> Result<Mu, PrivacyError> {
        match *self {
            Self::Pure(epsilon) => mu_of_pure(epsilon),
            Self::Gaussian(mu) => Ok(mu),
            Self::Concentrated(_) | Self::Approximate(..) => Err(self.no_conversion("μ-GDP")),
        }
    }

    /// The least ρ that follows.
    pub fn to_concentrated(&self) -> Result<Rho, PrivacyError> {
        match *self {
            Self::Pure(epsilon) => rho_of_pure(epsilon),
            Self::Gaussian(mu) => rho_of_gaussian(mu),
            Self::Concentrated(rho) => Ok(rho),
            Self::Approximate(..) => Err(self.no_conversion("ρ-zCDP")),
        }
    }

    /// The ε that follows at this `delta`.
    ///
    /// A pure ε stays what it is. So does the ε of (ε, δ), which says nothing about any smaller δ.
    pub fn to_approximate(&self, delta: Delta) -> Result<Epsilon, PrivacyError> {
        match *self {
            Self::Pure(epsilon) => Ok(epsilon),
            Self::Gaussian(mu) => epsilon_of_gaussian(mu, delta),
            Self::Concentrated(rho) => epsilon_of_concentrated(rho, delta),
            Self::Approximate(epsilon, own) if own <= delta => Ok(epsilon),
            Self::Approximate(..) => Err(self.no_conversion("(ε, δ) at a smaller δ")),
        }
    }

    /// δ(ε): the most by which e^ε can be exceeded under this promise; between 0 and 1.
    ///
    /// For zCDP it is the best known bound, for the other three the exact value.
    pub fn delta_at(&self, epsilon: Epsilon) -> f64 {
        match *self {
            Self::Pure(own) => delta_of_answer(own, epsilon),
            Self::Gaussian(mu) => delta_of_gaussian(mu, epsilon),
            Self::Concentrated(rho) => delta_of_concentrated(rho, epsilon),
            Self::Approximate(own, delta) => {
                // At worst everything is told with probability δ, and else a randomized answer is given.
                let answer = multiply_up((1.0 - delta.get()).next_up(), delta_of_answer(own, epsilon));
                add_up(delta.get(), answer).min(1.0)
            }
        }
    }

    fn no_conversion(&self, to: &'static str) -> PrivacyError {
        PrivacyError::NoConversion { from: self.currency(), to }
    }
}

/// δ(ε) of an answer that is true with probability e^own/(1 + e^own), the worst that own-DP permits.
///
/// > δ(ε) = (e^own - e^ε) / (1 + e^own) = (1 - e^{ε-own}) / (1 + e^{-own}) for ε < own, else 0
fn delta_of_answer(own: Epsilon, epsilon: Epsilon) -> f64 {
    let excess = own.get() - epsilon.get();
    if excess <= 0.0 {
        return 0.0;
    }
    // The subtraction may have lost half a unit in its last place, the rest a few more.
    up(-libm::expm1(-excess) / (1.0 + own.t()), 1e-14).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn pure(value: f64) -> Guarantee {
        Guarantee::Pure(Epsilon::new(value).unwrap())
    }

    fn gaussian(value: f64) -> Guarantee {
        Guarantee::Gaussian(Mu::new(value).unwrap())
    }

    fn concentrated(value: f64) -> Guarantee {
        Guarantee::Concentrated(Rho::new(value).unwrap())
    }

    fn approximate(epsilon: f64, delta: f64) -> Guarantee {
        Guarantee::Approximate(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap())
    }

    #[test]
    fn nothing_leads_back_along_the_chain() {
        for promise in [gaussian(1.0), concentrated(1.0), approximate(1.0, 1e-6)] {
            assert!(matches!(promise.to_pure(), Err(PrivacyError::NoConversion { .. })));
        }
        for promise in [concentrated(1.0), approximate(1.0, 1e-6)] {
            assert!(matches!(promise.to_gaussian(), Err(PrivacyError::NoConversion { .. })));
        }
        assert_eq!(
            approximate(1.0, 1e-6).to_concentrated().unwrap_err().to_string(),
            "a promise of (ε, δ) implies none of ρ-zCDP"
        );
        let stricter = Delta::new(1e-9).unwrap();
        assert!(approximate(1.0, 1e-6).to_approximate(stricter).is_err());
    }

    #[test]
    fn each_step_of_the_chain_loses_something_or_nothing_but_never_gains() {
        for value in [0.01, 0.3, 1.0, 4.0, 20.0] {
            let start = pure(value);
            let mu = Guarantee::Gaussian(start.to_gaussian().unwrap());
            let rho_directly = start.to_concentrated().unwrap();
            let rho_by_mu = mu.to_concentrated().unwrap();
            assert!(rho_directly <= rho_by_mu, "ε = {value}");
            for epsilon in [0.005, 0.1, 0.9, 3.0, 10.0].map(|e| Epsilon::new(e).unwrap()) {
                let by_mu = mu.delta_at(epsilon);
                assert!(start.delta_at(epsilon) <= by_mu, "ε = {value} at {epsilon}");
                assert!(
                    by_mu <= Guarantee::Concentrated(rho_by_mu).delta_at(epsilon),
                    "ε = {value} at {epsilon}"
                );
            }
        }
    }

    #[test]
    fn delta_at_the_implied_epsilon_is_within_the_delta_asked_for() {
        let delta = Delta::new(1e-7).unwrap();
        for promise in [pure(2.0), gaussian(0.7), concentrated(0.3), approximate(1.5, 1e-8)] {
            let epsilon = promise.to_approximate(delta).unwrap();
            assert!(promise.delta_at(epsilon) <= delta.get(), "{promise}");
        }
    }

    #[test]
    fn below_its_own_epsilon_a_promise_still_has_a_delta() {
        // (e^2 - e) / (1 + e^2)
        let e = libm::exp(1.0);
        let expected = (e * e - e) / (1.0 + e * e);
        let one = Epsilon::new(1.0).unwrap();
        let delta = pure(2.0).delta_at(one);
        assert!(delta >= expected && delta <= expected * (1.0 + 1e-13));
        assert_eq!(pure(1.0).delta_at(one), 0.0);
        assert_eq!(approximate(1.0, 1e-3).delta_at(one), 1e-3);
        let delta = approximate(2.0, 1e-3).delta_at(one);
        assert!((delta - (1e-3 + 0.999 * expected)).abs() < 1e-13);
    }
}
