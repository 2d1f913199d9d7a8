//! The likelihood is a distribution, and it keeps the promise.

use super::{FIVE_SIGMA, SUM, draw, refused};
use crate::exact::ratio;
use crate::{Case, Failure, Reports, Settings, claimed_loss, exact_loss, lower_bound};
use rand_core::CryptoRng;
use undertone_privacy::{Guarantee, Randomizer};

/// Σ P(r | x) = 1 for each input. Says nothing unless all reports are listed.
pub fn likelihood_sums_to_one<R: Randomizer>(case: &Case<R>) -> Result<(), Failure> {
    let Reports::All(reports) = &case.reports else { return Ok(()) };
    for (input, x) in case.inputs().enumerate() {
        let sum: f64 = reports.iter().map(|r| libm::exp(case.randomizer.ln_likelihood(r, x))).sum();
        if sum.is_nan() || (sum - 1.0).abs() > SUM {
            return Err(Failure::Sum { case: case.name.clone(), input, sum });
        }
    }
    Ok(())
}

/// The likelihood allows no greater loss than the promise.
///
/// Exactly, where the listed reports determine the loss. Otherwise a pure promise is checked at `draws` reports
/// under each input of each pair, and any other by the lower bound that so many reports prove at five sigma.
pub fn ratios_keep_the_promise<R: Randomizer>(
    case: &Case<R>,
    draws: u64,
    rng: &mut impl CryptoRng,
) -> Result<(), Failure> {
    let claimed = case.randomizer.guarantee();
    let most = claimed_loss(&claimed);
    let broken = |loss| Err(Failure::Promise { case: case.name.clone(), claimed, loss });
    match (exact_loss(case), claimed) {
        (Some(exact), _) if exact.exceeds(most) => broken(exact.loss),
        (Some(_), _) => Ok(()),
        (None, Guarantee::Pure(_)) => drawn_ratios(case, draws, rng),
        (None, _) => {
            let settings = Settings { trials: draws, confidence: 1.0 - 2.0 * FIVE_SIGMA };
            let bound = lower_bound(case, &settings, rng).map_err(|error| refused(case, error))?;
            if bound.loss > most { broken(bound.loss) } else { Ok(()) }
        }
    }
}

/// No report that is drawn has a ratio beyond e^ε.
fn drawn_ratios<R: Randomizer>(case: &Case<R>, draws: u64, rng: &mut impl CryptoRng) -> Result<(), Failure> {
    let claimed = case.randomizer.guarantee();
    for (a, b) in &case.pairs {
        for (x, other) in [(a, b), (b, a)] {
            for _ in 0..draws {
                let report = draw(case, x, rng)?;
                let ln = |input| case.randomizer.ln_likelihood(&report, input);
                for exact in [ratio(ln(x), ln(other)), ratio(ln(other), ln(x))] {
                    if exact.exceeds(claimed_loss(&claimed)) {
                        return Err(Failure::Promise { case: case.name.clone(), claimed, loss: exact.loss });
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubles::{Channel, FloatGaussian, Response};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::{Mu, PrivacyError, Rho};

    fn rng() -> ChaCha12Rng {
        ChaCha12Rng::seed_from_u64(11)
    }

    #[test]
    fn a_likelihood_that_sums_to_more_than_one_is_caught() {
        for factor in [1.0 + 1e-8, 1.0 - 1e-8, f64::NAN] {
            let double = Response { likelihood_factor: factor, ..Response::honest(3, 1.0) };
            let case = Case::local("rr", double, vec![0, 1], Reports::All(vec![0, 1, 2]));
            assert!(matches!(likelihood_sums_to_one(&case), Err(Failure::Sum { input: 0, .. })));
        }
    }

    #[test]
    fn a_ratio_a_little_over_the_promise_is_caught_whatever_is_listed() {
        let double = Response { stated: 1.0 + 1e-10, ..Response::honest(3, 1.0) };
        for reports in
            [Reports::All(vec![0, 1, 2]), Reports::Representatives(vec![0, 1, 2]), Reports::Sampled]
        {
            let case = Case::new("rr", double.clone(), vec![(0, 1)], reports);
            let failure = ratios_keep_the_promise(&case, 1000, &mut rng());
            assert!(
                matches!(failure, Err(Failure::Promise { loss, .. }) if (loss - 1.0 - 1e-10).abs() < 1e-14)
            );
        }
    }

    #[test]
    fn a_gaussian_or_concentrated_promise_a_little_too_good_is_caught_when_listed() {
        let case = |double: Channel| {
            let reports = Reports::All(double.reports());
            Case::new("gaussian", double, vec![(0, 1)], reports)
        };
        let mu = |claimed| Channel::rounded_gaussian(Guarantee::Gaussian(Mu::new(claimed).unwrap()), 8, 8.0);
        assert!(ratios_keep_the_promise(&case(mu(1.0)), 0, &mut rng()).is_ok());
        assert!(ratios_keep_the_promise(&case(mu(0.999_999)), 0, &mut rng()).is_err());
        let rho =
            |claimed| Channel::discrete_gaussian(Guarantee::Concentrated(Rho::new(claimed).unwrap()), 8, 8.0);
        assert!(ratios_keep_the_promise(&case(rho(0.5)), 0, &mut rng()).is_ok());
        assert!(ratios_keep_the_promise(&case(rho(0.499_999)), 0, &mut rng()).is_err());
    }

    #[test]
    fn a_gaussian_promise_ten_percent_too_good_is_caught_by_samples() {
        struct Boasts(FloatGaussian);
        impl Randomizer for Boasts {
            type Input = bool;
            type Report = f64;
            fn guarantee(&self) -> Guarantee {
                Guarantee::Gaussian(Mu::new(self.0.shift * 0.9).unwrap())
            }
            fn randomize(&self, input: &bool, rng: &mut impl CryptoRng) -> Result<f64, PrivacyError> {
                self.0.randomize(input, rng)
            }
            fn ln_likelihood(&self, report: &f64, input: &bool) -> f64 {
                self.0.ln_likelihood(report, input)
            }
        }
        let case =
            Case::new("g", Boasts(FloatGaussian { shift: 1.0 }), vec![(false, true)], Reports::Sampled);
        assert!(ratios_keep_the_promise(&case, 100_000, &mut rng()).is_err());
    }
}
