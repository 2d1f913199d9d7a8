//! The laws that every randomizer obeys, each as a check that can fail.
//!
//! [`check`] runs what holds for any [`Randomizer`], [`check_unbiased`] also what a decoder owes. Where the case
//! lists all reports the laws are added up; where it does not, `draws` reports are drawn for each input and a
//! deviation counts when it is beyond five standard errors.

mod decoder;
mod likelihood;
mod sampler;

pub use decoder::{decoder_is_unbiased, variance_is_as_stated};
pub use likelihood::{likelihood_sums_to_one, ratios_keep_the_promise};
pub use sampler::sampler_follows_likelihood;

use crate::{Case, Failure};
use rand_core::CryptoRng;
use undertone_privacy::{PrivacyError, Randomizer, Unbiased};

/// Sums over an alphabet agree to this, relatively.
const SUM: f64 = 1e-9;

/// The probability of a deviation beyond five sigma on one side.
const FIVE_SIGMA: f64 = 2.867e-7;

/// Every law that holds for any randomizer.
pub fn check<R: Randomizer>(case: &Case<R>, draws: u64, rng: &mut impl CryptoRng) -> Result<(), Failure> {
    likelihood_sums_to_one(case)?;
    ratios_keep_the_promise(case, draws, rng)?;
    sampler_follows_likelihood(case, draws, rng)
}

/// Every law, for a randomizer with a decoder.
pub fn check_unbiased<R: Unbiased>(
    case: &Case<R>,
    draws: u64,
    rng: &mut impl CryptoRng,
) -> Result<(), Failure> {
    check(case, draws, rng)?;
    decoder_is_unbiased(case, draws, rng)?;
    variance_is_as_stated(case, draws, rng)
}

/// One report about `input`.
fn draw<R: Randomizer>(
    case: &Case<R>,
    input: &R::Input,
    rng: &mut impl CryptoRng,
) -> Result<R::Report, Failure> {
    case.randomizer.randomize(input, rng).map_err(|error| refused(case, error))
}

fn refused<R: Randomizer>(case: &Case<R>, error: PrivacyError) -> Failure {
    Failure::Refused { case: case.name.clone(), error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reports;
    use crate::doubles::{Bits, Channel, FloatGaussian, Response, Subset};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::{Guarantee, Mu};

    #[test]
    fn honest_mechanisms_pass_every_law_that_applies_to_them() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        for epsilon in [1e-6, 0.5, 4.0, 50.0] {
            for reports in
                [Reports::All(vec![0, 1, 2, 3]), Reports::Representatives(vec![0, 1, 2]), Reports::Sampled]
            {
                let case = Case::local("rr", Response::honest(4, epsilon), vec![0, 1, 2, 3], reports);
                check_unbiased(&case, 20_000, &mut rng).unwrap();
            }
        }
        let bits = Case::new("bits", Bits { labels: 10, epsilon: 1.0 }, vec![(0, 9)], Reports::Sampled);
        check(&bits, 20_000, &mut rng).unwrap();
        let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| vec![i, j])).collect();
        let subset = Subset { labels: 5, size: 2, epsilon: 1.0 };
        check(&Case::local("subset", subset, vec![0, 2, 4], Reports::All(pairs)), 20_000, &mut rng).unwrap();
        let gaussian = FloatGaussian { shift: 1.0 };
        check(&Case::new("gaussian", gaussian, vec![(false, true)], Reports::Sampled), 20_000, &mut rng)
            .unwrap();
        let claimed = Guarantee::Gaussian(Mu::new(1.0).unwrap());
        let rounded = Channel::rounded_gaussian(claimed, 8, 8.0);
        let reports = Reports::All(rounded.reports());
        check(&Case::new("rounded", rounded, vec![(0, 1)], reports), 20_000, &mut rng).unwrap();
    }

    #[test]
    fn a_refused_input_is_a_failure_that_says_why() {
        #[derive(Debug)]
        struct Refuses;
        impl Randomizer for Refuses {
            type Input = ();
            type Report = ();
            fn guarantee(&self) -> Guarantee {
                crate::doubles::pure(1.0)
            }
            fn randomize(&self, (): &(), _: &mut impl CryptoRng) -> Result<(), PrivacyError> {
                Err(PrivacyError::NotANumber)
            }
            fn ln_likelihood(&self, (): &(), (): &()) -> f64 {
                0.0
            }
        }
        let case = Case::new("refuses", Refuses, vec![((), ())], Reports::All(vec![()]));
        let failure = check(&case, 10, &mut ChaCha12Rng::seed_from_u64(2)).unwrap_err();
        assert_eq!(failure.to_string(), "refuses: an input was refused: the value is not a number");
    }
}
