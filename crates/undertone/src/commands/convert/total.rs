//! What one person's promises amount to, in every currency in which they amount to anything.

use std::num::NonZeroU32;
use undertone_privacy::accounting::{
    compose, compose_at, ln_delta_of_concentrated, ln_delta_of_gaussian, mu_for, rho_for,
};
use undertone_privacy::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Rho};

/// Promises to one person, each so many times, perhaps as a member of a group.
#[derive(Clone, Debug)]
pub(super) struct Promises(Vec<(Guarantee, NonZeroU32)>);

impl Promises {
    /// Each for a group of this size. Before they are composed, since for groups that is never the worse order: δ
    /// grows with e^ε of one promise and not of their sum, and μ and ρ of a larger pure ε grow less than the group.
    pub(super) fn new(
        promises: impl IntoIterator<Item = (Guarantee, NonZeroU32)>,
        group: NonZeroU32,
    ) -> Result<Self, PrivacyError> {
        let grouped = promises.into_iter().map(|(promise, times)| Ok((promise.for_group(group)?, times)));
        grouped.collect::<Result<_, _>>().map(Self)
    }

    fn any(&self, is: impl Fn(&Guarantee) -> bool) -> bool {
        self.0.iter().any(|(promise, _)| is(promise))
    }

    pub(super) fn has_approximate(&self) -> bool {
        self.any(|promise| matches!(promise, Guarantee::Approximate(..)))
    }

    pub(super) fn has_gaussian_or_concentrated(&self) -> bool {
        self.any(|promise| matches!(promise, Guarantee::Gaussian(_) | Guarantee::Concentrated(_)))
    }

    /// The sum, after each promise became what `convert` makes of it.
    fn sum(
        &self,
        convert: impl Fn(&Guarantee) -> Result<Guarantee, PrivacyError>,
    ) -> Result<Guarantee, PrivacyError> {
        match self.each(convert)?[..] {
            // Nothing to add up, so nothing to round, not even where a square would overflow
            [one] => Ok(one),
            ref all => compose(all),
        }
    }

    fn each(
        &self,
        convert: impl Fn(&Guarantee) -> Result<Guarantee, PrivacyError>,
    ) -> Result<Vec<Guarantee>, PrivacyError> {
        self.0.iter().map(|(promise, times)| convert(promise)?.repeated(*times)).collect()
    }

    /// The (ε, δ) that (ε, δ) and pure promises amount to.
    pub(super) fn approximate(&self) -> Result<Guarantee, PrivacyError> {
        self.sum(|promise| Ok(*promise))
    }

    /// The ε at `delta` of (ε, δ) promises and others: these get what δ the former leave.
    pub(super) fn epsilon_beside_approximate(&self, delta: Delta) -> Result<Epsilon, PrivacyError> {
        let all = self.each(|promise| Ok(*promise))?;
        let own: f64 = all
            .iter()
            .filter_map(|promise| match promise {
                Guarantee::Approximate(_, delta) => Some(delta.get()),
                _ => None,
            })
            .sum();
        // Sums of δ are rounded up; a few units in the last place are left for that.
        let share = Delta::new(delta.get() * (1.0 - 1e-14) - own * (1.0 + 1e-14))?;
        compose_at(&all, share)?.to_approximate(delta)
    }

    /// What promises without δ amount to. An error if there is nothing that a float can state.
    ///
    /// Each promise is converted, then composed: that is also sound the other way round, but never better, since ρ(ε)
    /// = ε·tanh(ε/2) and μ(ε)² grow faster than ε. A hundred ε of 0.01 have a μ of 0.125 together, one ε of 1 has 1.232.
    pub(super) fn total(&self) -> Result<Total, PrivacyError> {
        let pure = self.sum(|promise| promise.to_pure().map(Guarantee::Pure));
        let mu = self.sum(|promise| promise.to_gaussian().map(Guarantee::Gaussian));
        let rho = self.sum(|promise| promise.to_concentrated().map(Guarantee::Concentrated));
        let total = Total {
            pure: pure.and_then(|sum| sum.to_pure()).ok(),
            mu: mu.and_then(|sum| sum.to_gaussian()).ok(),
            rho: rho.and_then(|sum| sum.to_concentrated()).ok(),
        };
        if total.promises().next().is_none() {
            // The reason, in the currency of the promises
            self.sum(|promise| Ok(*promise))?;
        }
        Ok(total)
    }
}

/// The sum in each currency without δ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Total {
    pub(super) pure: Option<Epsilon>,
    pub(super) mu: Option<Mu>,
    pub(super) rho: Option<Rho>,
}

impl Total {
    fn promises(&self) -> impl Iterator<Item = Guarantee> {
        let pure = self.pure.map(Guarantee::Pure);
        let (mu, rho) = (self.mu.map(Guarantee::Gaussian), self.rho.map(Guarantee::Concentrated));
        [pure, mu, rho].into_iter().flatten()
    }

    /// The least δ at this ε, and its logarithm. All of the currencies hold, so the smallest does.
    pub(super) fn delta_at(&self, epsilon: Epsilon) -> (f64, f64) {
        let delta = self.promises().map(|promise| promise.delta_at(epsilon)).fold(1.0, f64::min);
        let ln_delta = self.promises().map(|promise| match promise {
            Guarantee::Gaussian(mu) => ln_delta_of_gaussian(mu, epsilon),
            Guarantee::Concentrated(rho) => ln_delta_of_concentrated(rho, epsilon),
            other => other.delta_at(epsilon).ln(),
        });
        (delta, ln_delta.fold(0.0, f64::min))
    }

    /// The least ε at this δ.
    pub(super) fn epsilon_at(&self, delta: Delta) -> Result<Epsilon, PrivacyError> {
        let mut all = self.promises().map(|promise| promise.to_approximate(delta));
        let first = all.next().unwrap_or(Err(PrivacyError::NoPromises));
        all.fold(first, |least, next| match (least, next) {
            (Ok(least), Ok(next)) => Ok(if next < least { next } else { least }),
            (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
            (error, _) => error,
        })
    }
}

/// The largest μ and ρ that imply (ε, δ).
pub(super) fn calibrated(epsilon: Epsilon, delta: Delta) -> (Option<Mu>, Option<Rho>) {
    (mu_for(epsilon, delta).ok(), rho_for(epsilon, delta).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONCE: NonZeroU32 = NonZeroU32::MIN;

    fn pure(value: f64, times: u32) -> Promises {
        let promise = Guarantee::Pure(Epsilon::new(value).unwrap());
        Promises::new([(promise, NonZeroU32::new(times).unwrap())], ONCE).unwrap()
    }

    #[test]
    fn many_small_promises_are_told_apart_worse_than_their_sum() {
        // √100·μ(0.01) = 0.1253, where μ(1) = 1.2320
        let total = pure(0.01, 100).total().unwrap();
        assert!((total.pure.unwrap().get() - 1.0).abs() < 1e-12);
        assert!((total.mu.unwrap().get() - 0.125_331).abs() < 1e-5, "{total:?}");
        for epsilon in [1e-6, 1e-3, 0.3, 1.0, 3.0, 10.0, 100.0] {
            for times in [2, 3, 10] {
                let parts = pure(epsilon, times).total().unwrap();
                let sum = pure(epsilon * f64::from(times), 1).total().unwrap();
                assert!(parts.mu <= sum.mu && parts.rho <= sum.rho, "{times} times {epsilon}");
            }
        }
    }

    #[test]
    fn one_promise_stays_what_it_is_however_large() {
        let promise = Guarantee::Gaussian(Mu::new(1e200).unwrap());
        let total = Promises::new([(promise, ONCE)], ONCE).unwrap().total().unwrap();
        assert_eq!((total.pure, total.mu, total.rho), (None, Mu::new(1e200).ok(), None));
    }

    #[test]
    fn what_delta_is_left_goes_to_the_promises_without_one() {
        let approximate = Guarantee::Approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let gaussian = Guarantee::Gaussian(Mu::new(0.5).unwrap());
        let both = Promises::new([(approximate, ONCE), (gaussian, ONCE)], ONCE).unwrap();
        let epsilon = both.epsilon_beside_approximate(Delta::new(3e-6).unwrap()).unwrap();
        let rest = gaussian.to_approximate(Delta::new(2e-6).unwrap()).unwrap();
        assert!((epsilon.get() - 1.0 - rest.get()).abs() < 1e-9);
        assert!(both.epsilon_beside_approximate(Delta::new(1e-6).unwrap()).is_err());
    }
}
