//! What several promises amount to: to one person who kept answering, to a crowd, to a family.
//!
//! **One person, several reports.** Each report may be chosen after the earlier ones were seen. Then
//!
//! > pure: Σε · (ε, δ): (Σε, Σδ) · Gaussian: √Σμ² · zCDP: Σρ
//!
//! (Dwork, Kenthapadi, McSherry, Mironov and Naor, *Our Data, Ourselves*, 2006; Dong, Roth and Su, *Gaussian Differential
//! Privacy*, 2022; Bun and Steinke, *Concentrated Differential Privacy*, 2016.) Mixed promises are first brought into
//! the strongest currency that all of them imply, each by itself. The promises themselves are fixed beforehand here;
//! if they too depend on earlier reports, only a [`Ledger`](super::Ledger) is sound.
//!
//! **A crowd.** When each person randomizes his own record, the joint law of all reports is a product in which a
//! record enters one factor only; later reports depend on it through earlier reports alone. So everybody keeps *his own*
//! promise, and that is what he should be told. The maximum over all people is a headline, nothing more (McSherry,
//! *Privacy Integrated Queries*, 2009).
//!
//! **A group** of k people who wish to hide together is protected at
//!
//! > pure: kε · (ε, δ): (kε, δ·(e^{kε} - 1)/(e^ε - 1)) · Gaussian: kμ · zCDP: k²ρ
//!
//! by walking from the one data set to the other in k steps (Vadhan, *The Complexity of Differential Privacy*, 2017, and
//! the papers above).
//!
//! Every sum, product and root is rounded up.

use super::rounding::{UpSum, multiply_up, up};
use crate::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Rho};
use core::num::NonZeroU32;

/// The four currencies, each implied by the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Currency {
    Pure,
    Gaussian,
    Concentrated,
    Approximate,
}

impl From<&Guarantee> for Currency {
    fn from(promise: &Guarantee) -> Self {
        match promise {
            Guarantee::Pure(_) => Self::Pure,
            Guarantee::Gaussian(_) => Self::Gaussian,
            Guarantee::Concentrated(_) => Self::Concentrated,
            Guarantee::Approximate(..) => Self::Approximate,
        }
    }
}

/// The sum of one person's promises in one currency: Σε, Σμ², Σρ, or Σε and Σδ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Total {
    currency: Currency,
    sum: UpSum,
    delta: UpSum,
}

impl Total {
    pub(crate) fn nothing_in(currency: Currency) -> Self {
        Self { currency, sum: UpSum::default(), delta: UpSum::default() }
    }

    /// This total and one more promise, which has to imply one in this currency.
    ///
    /// What has to be brought to an (ε, δ) by choosing a δ is refused: that choice is the caller's.
    pub(crate) fn plus(&self, promise: &Guarantee) -> Result<Self, PrivacyError> {
        let mut total = *self;
        let more = match self.currency {
            Currency::Pure => UpSum::of(promise.to_pure()?.get()),
            Currency::Gaussian => UpSum::of_square(promise.to_gaussian()?.get()),
            Currency::Concentrated => UpSum::of(promise.to_concentrated()?.get()),
            Currency::Approximate => match *promise {
                Guarantee::Pure(epsilon) => UpSum::of(epsilon.get()),
                Guarantee::Approximate(epsilon, delta) => {
                    total.delta = total.delta.plus(UpSum::of(delta.get()));
                    UpSum::of(epsilon.get())
                }
                Guarantee::Gaussian(_) | Guarantee::Concentrated(_) => {
                    let to = "(ε, δ) before a δ is chosen for it";
                    return Err(PrivacyError::NoConversion { from: promise.currency(), to });
                }
            },
        };
        total.sum = total.sum.plus(more);
        Ok(total)
    }

    /// This total, so many times over.
    fn times(&self, times: u32) -> Self {
        Self { sum: self.sum.times(times), delta: self.delta.times(times), ..*self }
    }

    /// Whether neither sum is beyond the other's.
    pub(crate) fn is_within(&self, cap: &Self) -> bool {
        self.sum.is_finite() && self.sum <= cap.sum && self.delta <= cap.delta
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.sum == UpSum::default()
    }

    /// The promise that this sum amounts to; an error if it is none, like an infinite ε or a δ of 1.
    pub(crate) fn promise(&self) -> Result<Guarantee, PrivacyError> {
        let sum = self.sum.get();
        Ok(match self.currency {
            Currency::Pure => Guarantee::Pure(Epsilon::new(sum)?),
            Currency::Gaussian => Guarantee::Gaussian(Mu::new(self.sum.sqrt())?),
            Currency::Concentrated => Guarantee::Concentrated(Rho::new(sum)?),
            // pure promises alone, under a cap in (ε, δ)
            Currency::Approximate if self.delta == UpSum::default() => Guarantee::Pure(Epsilon::new(sum)?),
            Currency::Approximate => {
                Guarantee::Approximate(Epsilon::new(sum)?, Delta::new(self.delta.get())?)
            }
        })
    }
}

/// What a person has promised away in all, by `promises` that were fixed beforehand.
///
/// (ε, δ) next to Gaussian or zCDP promises needs a δ for the latter: see [`compose_at`].
pub fn compose(promises: &[Guarantee]) -> Result<Guarantee, PrivacyError> {
    let currency = promises.iter().map(Currency::from).max().ok_or(PrivacyError::NoPromises)?;
    let nothing = Total::nothing_in(currency);
    promises.iter().try_fold(nothing, |total, promise| total.plus(promise))?.promise()
}

/// As [`compose`], where all that is not (ε, δ) is composed first, taken at δ = `share`, and added to the rest.
pub fn compose_at(promises: &[Guarantee], share: Delta) -> Result<Guarantee, PrivacyError> {
    let mut approximate = Total::nothing_in(Currency::Approximate);
    let mut rest_currency = Currency::Pure;
    for promise in promises {
        match Currency::from(promise) {
            Currency::Approximate => approximate = approximate.plus(promise)?,
            currency => rest_currency = rest_currency.max(currency),
        }
    }
    if approximate.is_nothing() {
        return compose(promises);
    }
    let mut rest = Total::nothing_in(rest_currency);
    for promise in promises.iter().filter(|promise| Currency::from(*promise) != Currency::Approximate) {
        rest = rest.plus(promise)?;
    }
    if rest.is_nothing() {
        return approximate.promise();
    }
    let rest = match rest.promise()? {
        pure @ Guarantee::Pure(_) => pure,
        other => Guarantee::Approximate(other.to_approximate(share)?, share),
    };
    approximate.plus(&rest)?.promise()
}

/// The one promise that holds for each of the people whose promises are given: the pointwise maximum.
///
/// Tell each person his own promise; this is for the title page. (ε, δ) next to Gaussian or zCDP promises has
/// no maximum without a choice of δ: there, use [`headline_delta_at`].
pub fn headline(promises: &[Guarantee]) -> Result<Guarantee, PrivacyError> {
    let currency = promises.iter().map(Currency::from).max().ok_or(PrivacyError::NoPromises)?;
    let mut widest = Total::nothing_in(currency);
    for promise in promises {
        let own = Total::nothing_in(currency).plus(promise)?;
        widest.sum = if own.sum > widest.sum { own.sum } else { widest.sum };
        widest.delta = if own.delta > widest.delta { own.delta } else { widest.delta };
    }
    widest.promise()
}

/// The largest δ(ε) of any person at this `epsilon`: the exact headline for mixed promises; 0 without people.
pub fn headline_delta_at(promises: &[Guarantee], epsilon: Epsilon) -> f64 {
    promises.iter().map(|promise| promise.delta_at(epsilon)).fold(0.0, f64::max)
}

impl Guarantee {
    /// What this promise amounts to when it is made so many times to one person: [`compose`] of as many copies.
    pub fn repeated(&self, times: NonZeroU32) -> Result<Self, PrivacyError> {
        if times == NonZeroU32::MIN {
            return Ok(*self);
        }
        Total::nothing_in(Currency::from(self)).plus(self)?.times(times.get()).promise()
    }

    /// What is promised to `size` people who hide together.
    ///
    /// An error where nothing is left of the promise, as with a δ that has grown to 1.
    pub fn for_group(&self, size: NonZeroU32) -> Result<Self, PrivacyError> {
        if size == NonZeroU32::MIN {
            return Ok(*self);
        }
        let k = f64::from(size.get());
        Ok(match *self {
            Self::Pure(epsilon) => Self::Pure(Epsilon::new(multiply_up(k, epsilon.get()))?),
            Self::Gaussian(mu) => Self::Gaussian(Mu::new(multiply_up(k, mu.get()))?),
            // k² is below 2^64, but not always a float
            Self::Concentrated(rho) => {
                Self::Concentrated(Rho::new(multiply_up(k, multiply_up(k, rho.get())))?)
            }
            Self::Approximate(epsilon, delta) => {
                let (e, all) = (epsilon.get(), multiply_up(k, epsilon.get()));
                // (e^{kε} - 1)/(e^ε - 1) = e^{(k-1)ε}·(1 - e^{-kε})/(1 - e^-ε), whose exponent may be large
                let growth = libm::exp((k - 1.0) * e) * libm::expm1(-all) / libm::expm1(-e);
                let margin = 1e-14 * (1.0 + (k - 1.0) * e);
                let delta = Delta::new(up(multiply_up(delta.get(), growth), margin))?;
                Self::Approximate(Epsilon::new(all)?, delta)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

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

    fn group(size: u32) -> NonZeroU32 {
        NonZeroU32::new(size).unwrap()
    }

    #[test]
    fn in_one_currency_the_sums_are_those_of_the_books() {
        assert_eq!(compose(&[pure(0.5), pure(1.0), pure(0.25)]), Ok(pure(1.75)));
        assert_eq!(compose(&[gaussian(3.0), gaussian(4.0)]), Ok(gaussian(5.0)));
        assert_eq!(compose(&[concentrated(0.5), concentrated(0.125)]), Ok(concentrated(0.625)));
        let both = compose(&[approximate(0.5, 0.25), approximate(1.0, 0.125)]);
        assert_eq!(both, Ok(approximate(1.5, 0.375)));
    }

    #[test]
    fn one_promise_composes_to_itself() {
        for promise in [pure(0.1), gaussian(0.3), concentrated(0.7), approximate(0.1, 1e-6)] {
            assert_eq!(compose(&[promise]), Ok(promise));
            assert_eq!(headline(&[promise]), Ok(promise));
            assert_eq!(promise.for_group(group(1)), Ok(promise));
        }
        assert_eq!(compose(&[]), Err(PrivacyError::NoPromises));
        assert_eq!(headline(&[]), Err(PrivacyError::NoPromises));
    }

    #[test]
    fn a_promise_made_often_is_its_copies_composed() {
        for promise in [pure(0.1), gaussian(0.3), concentrated(0.7), approximate(0.1, 1e-6)] {
            for times in [1, 2, 3, 7, 100, 1000] {
                let copies = alloc::vec![promise; times as usize];
                assert_eq!(promise.repeated(group(times)), compose(&copies), "{times} times {promise}");
            }
        }
        assert_eq!(gaussian(0.5).repeated(group(4)), Ok(gaussian(1.0)));
        // 2^32 - 1 promises of 1/2 are a float exactly
        let most = f64::from(u32::MAX);
        assert_eq!(pure(0.5).repeated(NonZeroU32::MAX), Ok(pure(most / 2.0)));
        assert_eq!(
            pure(1e300).repeated(NonZeroU32::MAX),
            Err(PrivacyError::Epsilon { value: f64::INFINITY })
        );
        assert_eq!(approximate(1.0, 0.5).repeated(group(2)), Err(PrivacyError::Delta { value: 1.0 }));
    }

    #[test]
    fn pure_and_gaussian_meet_in_mu_and_all_three_in_rho() {
        let Ok(Guarantee::Gaussian(mu)) = compose(&[pure(1.0), gaussian(1.0)]) else { panic!() };
        // √(1.2320² + 1)
        assert!((mu.get() - 1.5868).abs() < 1e-4);
        let Ok(Guarantee::Concentrated(rho)) = compose(&[pure(1.0), gaussian(1.0), concentrated(0.25)])
        else {
            panic!()
        };
        // tanh(1/2) + 1/2 + 1/4
        assert!((rho.get() - (libm::tanh(0.5) + 0.75)).abs() < 1e-12);
    }

    #[test]
    fn beside_epsilon_delta_the_rest_is_taken_at_its_share_of_delta() {
        let share = Delta::new(1e-6).unwrap();
        let mixed = [approximate(1.0, 1e-7), gaussian(0.3), gaussian(0.4)];
        assert!(matches!(compose(&mixed), Err(PrivacyError::NoConversion { .. })));
        let Ok(Guarantee::Approximate(epsilon, delta)) = compose_at(&mixed, share) else { panic!() };
        // √(0.3² + 0.4²) = 0.5, if one unit in the last place more
        let of_rest = gaussian(0.5).to_approximate(share).unwrap().get();
        assert!((epsilon.get() - (1.0 + of_rest)).abs() < 1e-12);
        assert!((delta.get() - 1.1e-6).abs() < 1e-20);
        // Pure promises need no share.
        assert_eq!(compose_at(&[approximate(1.0, 1e-7), pure(0.5)], share), Ok(approximate(1.5, 1e-7)));
        assert_eq!(compose(&[approximate(1.0, 1e-7), pure(0.5)]), Ok(approximate(1.5, 1e-7)));
        assert_eq!(compose_at(&[gaussian(3.0), gaussian(4.0)], share), Ok(gaussian(5.0)));
    }

    #[test]
    fn the_order_of_many_small_promises_makes_no_difference_worth_a_digit() {
        let promises: Vec<_> = (1..=1000).map(|i| gaussian(0.001 * f64::from(i))).collect();
        let backwards: Vec<_> = promises.iter().rev().copied().collect();
        let (there, back) = (compose(&promises).unwrap(), compose(&backwards).unwrap());
        let (there, back) = (there.to_gaussian().unwrap().get(), back.to_gaussian().unwrap().get());
        assert!((there - back).abs() <= f64::EPSILON * there);
        // 10^-6·Σi² = 10^-6·1000·1001·2001/6
        assert!((there - libm::sqrt(333.8335)).abs() < 1e-12);
    }

    #[test]
    fn a_delta_that_adds_up_to_one_is_no_promise() {
        let half = approximate(1.0, 0.5);
        assert_eq!(compose(&[half, half]), Err(PrivacyError::Delta { value: 1.0 }));
    }

    #[test]
    fn the_headline_is_the_worst_of_all_people_and_no_sum() {
        assert_eq!(headline(&[pure(0.5), pure(2.0), pure(1.0)]), Ok(pure(2.0)));
        assert_eq!(headline(&[approximate(1.0, 1e-9), approximate(0.5, 1e-6)]), Ok(approximate(1.0, 1e-6)));
        assert_eq!(headline(&[pure(1.0), gaussian(2.0)]), Ok(gaussian(2.0)));
        let one = Epsilon::new(1.0).unwrap();
        let mixed = [approximate(1.0, 1e-9), gaussian(0.5)];
        assert!(headline(&mixed).is_err());
        assert_eq!(headline_delta_at(&mixed, one), gaussian(0.5).delta_at(one));
        assert_eq!(headline_delta_at(&[], one), 0.0);
    }

    #[test]
    fn a_group_is_protected_less() {
        assert_eq!(pure(0.5).for_group(group(4)), Ok(pure(2.0)));
        assert_eq!(gaussian(0.5).for_group(group(4)), Ok(gaussian(2.0)));
        assert_eq!(concentrated(0.5).for_group(group(4)), Ok(concentrated(8.0)));
        // e^ε = 2: (2³ - 1)/(2 - 1) = 7
        let Ok(Guarantee::Approximate(epsilon, delta)) = approximate(2f64.ln(), 1e-6).for_group(group(3))
        else {
            panic!()
        };
        assert!((epsilon.get() - 8f64.ln()).abs() < 1e-15 * 4.0);
        assert!(delta.get() >= 7e-6 && delta.get() < 7e-6 * (1.0 + 1e-12));
    }

    #[test]
    fn a_group_too_large_for_its_delta_is_promised_nothing() {
        assert!(matches!(approximate(1.0, 1e-6).for_group(group(20)), Err(PrivacyError::Delta { .. })));
        assert!(matches!(approximate(1.0, 1e-6).for_group(group(5000)), Err(PrivacyError::Delta { .. })));
        // at tiny ε, δ grows by k alone
        let Ok(Guarantee::Approximate(_, delta)) = approximate(1e-12, 1e-6).for_group(group(1000)) else {
            panic!()
        };
        assert!(delta.get() >= 1e-3 && delta.get() < 1e-3 * (1.0 + 1e-8));
    }
}
