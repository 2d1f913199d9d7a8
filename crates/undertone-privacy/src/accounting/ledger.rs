//! What one person may still tell: a cap, and what has been spent of it.

use super::composition::{Currency, Total};
use crate::{Guarantee, PrivacyError};

/// A person's budget: a cap in one currency, and the sum of all promises that were reserved under it.
///
/// Each promise may depend on the answers that were seen before, and so may its *size*. This is sound because a ledger
/// counts in the currency of its cap from the first entry to the last:
///
/// - pure ε and (ε, δ): basic composition is a filter (Rogers, Roth, Ullman and Vadhan, *Privacy Odometers and
///   Filters: Pay-as-you-Go Composition*, 2016);
/// - μ-GDP: so is √Σμ² ≤ cap (Smith and Thakurta, *Fully Adaptive Composition for Gaussian Differential Privacy*, 2022);
/// - ρ-zCDP: so is Σρ ≤ cap (Feldman and Zrnic, *Individual Privacy Accounting via a Rényi Filter*, 2021).
///
/// To switch to whichever currency gives the smaller total along the way would not be: whoever chooses could decide
/// after each answer which of two bounds to use up. So a promise enters only if it implies one in the cap's currency.
/// Under a cap in (ε, δ), bring a Gaussian or zCDP promise to an (ε, δ) yourself, or better, cap by
/// [`mu_for`](super::mu_for) or [`rho_for`](super::rho_for) of that (ε, δ).
///
/// The sum is kept with twice the digits of a float and rounded up. Three promises of the float 0.1 do *not* fit under
/// the float 0.3, which is the smaller of the two by 3·10^-17.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    cap: Guarantee,
    room: Total,
    spent: Total,
}

impl Ledger {
    /// An empty ledger under `cap`.
    pub fn new(cap: Guarantee) -> Result<Self, PrivacyError> {
        let nothing = Total::nothing_in(Currency::from(&cap));
        Ok(Self { cap, room: nothing.plus(&cap)?, spent: nothing })
    }

    /// The most that may ever be spent.
    pub fn cap(&self) -> Guarantee {
        self.cap
    }

    /// What has been promised away so far: nothing, or one promise that holds for all of it.
    pub fn spent(&self) -> Option<Guarantee> {
        // What is within the cap is a promise, as the cap is; a root rounded up beyond it still means the cap.
        (!self.spent.is_nothing()).then(|| self.spent.promise().unwrap_or(self.cap))
    }

    /// Whether `promise` would still fit.
    pub fn has_room_for(&self, promise: &Guarantee) -> bool {
        self.clone().reserve(*promise).is_ok()
    }

    /// Charges `promise`, before anything is sent. If it does not fit, this is an error and nothing changes.
    pub fn reserve(&mut self, promise: Guarantee) -> Result<(), PrivacyError> {
        let spent = self.spent.plus(&promise)?;
        if !spent.is_within(&self.room) {
            return Err(PrivacyError::OverBudget { asked: promise, spent: self.spent(), cap: self.cap });
        }
        self.spent = spent;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::mu_of_pure;
    use crate::{Delta, Epsilon, Mu, Rho};
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
    fn what_does_not_fit_is_refused_and_changes_nothing() {
        let mut ledger = Ledger::new(pure(1.0)).unwrap();
        assert_eq!(ledger.spent(), None);
        ledger.reserve(pure(0.75)).unwrap();
        let before = ledger.clone();
        let refusal = ledger.reserve(pure(0.5)).unwrap_err();
        assert_eq!(refusal.to_string(), "ε = 0.5 does not fit: ε = 0.75 is spent of a budget of ε = 1");
        assert_eq!(ledger, before);
        ledger.reserve(pure(0.25)).unwrap();
        assert_eq!(ledger.spent(), Some(pure(1.0)));
        assert!(!ledger.has_room_for(&pure(f64::MIN_POSITIVE)));
        assert!(ledger.reserve(pure(f64::MIN_POSITIVE)).is_err());
    }

    #[test]
    fn a_promise_equal_to_the_cap_fits_exactly_once() {
        for cap in [pure(0.1), gaussian(0.3), concentrated(0.7), approximate(0.1, 1e-6)] {
            let mut ledger = Ledger::new(cap).unwrap();
            ledger.reserve(cap).unwrap();
            assert_eq!(ledger.spent(), Some(cap));
            assert!(matches!(ledger.reserve(cap), Err(PrivacyError::OverBudget { .. })));
        }
    }

    #[test]
    fn a_promise_that_implies_none_in_the_currency_of_the_cap_is_refused() {
        let mut ledger = Ledger::new(gaussian(1.0)).unwrap();
        assert!(matches!(ledger.reserve(concentrated(0.01)), Err(PrivacyError::NoConversion { .. })));
        assert!(matches!(ledger.reserve(approximate(0.01, 1e-9)), Err(PrivacyError::NoConversion { .. })));
        let mut ledger = Ledger::new(approximate(1.0, 1e-6)).unwrap();
        assert!(matches!(ledger.reserve(gaussian(0.01)), Err(PrivacyError::NoConversion { .. })));
        assert_eq!(ledger.spent(), None);
    }

    #[test]
    fn under_a_gaussian_cap_pure_reports_are_charged_by_their_exact_mu() {
        let mut ledger = Ledger::new(gaussian(2.0)).unwrap();
        ledger.reserve(pure(1.0)).unwrap();
        ledger.reserve(gaussian(1.0)).unwrap();
        let mu = mu_of_pure(Epsilon::new(1.0).unwrap()).unwrap().get();
        let spent = ledger.spent().unwrap().to_gaussian().unwrap().get();
        assert!((spent - libm::sqrt(mu * mu + 1.0)).abs() < 1e-15 * 4.0);
        // 4 - 1.2320² - 1 = 1.4823, whose root is 1.2175
        assert!(!ledger.has_room_for(&gaussian(1.2176)));
        assert!(ledger.has_room_for(&gaussian(1.2174)));
    }

    #[test]
    fn either_half_of_epsilon_delta_can_be_used_up_first() {
        let mut ledger = Ledger::new(approximate(1.0, 1e-6)).unwrap();
        ledger.reserve(pure(0.25)).unwrap();
        assert_eq!(ledger.spent(), Some(pure(0.25)));
        ledger.reserve(approximate(0.25, 1e-6)).unwrap();
        assert!(!ledger.has_room_for(&approximate(0.1, 1e-12)));
        assert!(ledger.has_room_for(&pure(0.5)));
        assert!(!ledger.has_room_for(&pure(0.51)));
    }

    #[test]
    fn a_million_reports_never_add_up_to_less_than_they_are() {
        // 2^20 promises of ε = 2^-20·(1 + 2^-52) exceed 1 by 2^-52: all but the last one fit.
        let unit = libm::exp2(-20.0).next_up();
        let mut ledger = Ledger::new(pure(1.0)).unwrap();
        let mut accepted = 0_u32;
        while ledger.reserve(pure(unit)).is_ok() {
            accepted += 1;
        }
        assert_eq!(accepted, (1 << 20) - 1);
    }
}
