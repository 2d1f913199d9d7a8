//! The decoder is right on average, and as noisy as it says.

use super::{SUM, draw};
use crate::moments::Moments;
use crate::{Case, Failure, Reports};
use rand_core::CryptoRng;
use undertone_privacy::Unbiased;

/// E\[estimate | x\] = truth(x) in every coordinate, for each input: added up where all reports are listed, else
/// over `draws` reports.
pub fn decoder_is_unbiased<R: Unbiased>(
    case: &Case<R>,
    draws: u64,
    rng: &mut impl CryptoRng,
) -> Result<(), Failure> {
    for (input, x) in case.inputs().enumerate() {
        let decoded = Decoded { case, input, x, truth: case.randomizer.truth(x) };
        let means = match &case.reports {
            Reports::All(reports) => decoded.summed_means(reports)?,
            _ => decoded.drawn_means(draws, rng)?,
        };
        for (coordinate, ((mean, tolerance), &truth)) in means.into_iter().zip(&decoded.truth).enumerate() {
            if mean.is_nan() || (mean - truth).abs() > tolerance + SUM * truth.abs() {
                let case = case.name.clone();
                return Err(Failure::Bias { case, input, coordinate, mean, truth, tolerance });
            }
        }
    }
    Ok(())
}

/// E|estimate − truth|² is what the randomizer states, for each input: added up where all reports are listed, else
/// over `draws` reports, whose own fourth moment tells how far off chance may lead.
pub fn variance_is_as_stated<R: Unbiased>(
    case: &Case<R>,
    draws: u64,
    rng: &mut impl CryptoRng,
) -> Result<(), Failure> {
    for (input, x) in case.inputs().enumerate() {
        let decoded = Decoded { case, input, x, truth: case.randomizer.truth(x) };
        let (found, chance) = match &case.reports {
            Reports::All(reports) => (decoded.summed_square(reports)?, 0.0),
            _ => decoded.drawn_square(draws, rng)?,
        };
        let stated = case.randomizer.variance(x);
        let tolerance = chance + SUM * stated.abs();
        if found.is_nan() || stated.is_nan() || (found - stated).abs() > tolerance {
            return Err(Failure::Variance { case: case.name.clone(), input, found, stated, tolerance });
        }
    }
    Ok(())
}

/// What the reports about one input are decoded to.
struct Decoded<'a, R: Unbiased> {
    case: &'a Case<R>,
    input: usize,
    x: &'a R::Input,
    truth: Vec<f64>,
}

impl<R: Unbiased> Decoded<'_, R> {
    fn probability(&self, report: &R::Report) -> f64 {
        libm::exp(self.case.randomizer.ln_likelihood(report, self.x))
    }

    /// The estimate from `report`, which has to have as many coordinates as the truth.
    fn estimate(&self, report: &R::Report) -> Result<Vec<f64>, Failure> {
        let estimate = self.case.randomizer.estimate(report);
        let (found, expected) = (estimate.len(), self.truth.len());
        if found == expected {
            Ok(estimate)
        } else {
            Err(Failure::Length { case: self.case.name.clone(), input: self.input, found, expected })
        }
    }

    /// |estimate − truth|²
    fn square(&self, report: &R::Report) -> Result<f64, Failure> {
        let estimate = self.estimate(report)?;
        Ok(estimate.iter().zip(&self.truth).map(|(e, t)| (e - t) * (e - t)).sum())
    }

    /// Σ P(r | x)·estimate(r), and how far rounding may lead it off: Σ P(r | x)·|estimate(r)| has the same
    /// roundings, and the longest coordinate sets the scale for all.
    fn summed_means(&self, reports: &[R::Report]) -> Result<Vec<(f64, f64)>, Failure> {
        let mut means = vec![0.0; self.truth.len()];
        let mut sizes = means.clone();
        for report in reports {
            let p = self.probability(report);
            for (coordinate, e) in self.estimate(report)?.into_iter().enumerate() {
                means[coordinate] += p * e;
                sizes[coordinate] += p * e.abs();
            }
        }
        let tolerance = SUM * sizes.into_iter().fold(0.0, f64::max);
        Ok(means.into_iter().map(|mean| (mean, tolerance)).collect())
    }

    /// The mean of `draws` estimates, and how far chance may lead it off.
    fn drawn_means(&self, draws: u64, rng: &mut impl CryptoRng) -> Result<Vec<(f64, f64)>, Failure> {
        let mut moments = vec![Moments::default(); self.truth.len()];
        for _ in 0..draws {
            let estimate = self.estimate(&draw(self.case, self.x, rng)?)?;
            moments.iter_mut().zip(estimate).for_each(|(moments, e)| moments.add(e));
        }
        // what was seen in any coordinate may be too rare to be seen in this one …
        let seen = moments.iter().map(Moments::largest);
        let mut range = seen.chain(self.truth.iter().map(|t| t.abs())).fold(0.0, f64::max);
        // … and where nothing but one report was seen, it may be as much as any that is listed
        let constant = moments.iter().all(Moments::is_constant);
        if let (Reports::Representatives(reports), true) = (&self.case.reports, constant) {
            for report in reports {
                range = self.estimate(report)?.iter().fold(range, |range, e| range.max(e.abs()));
            }
        }
        Ok(moments.iter().map(|m| (m.mean, m.tolerance(range, moments.len()))).collect())
    }

    /// Σ P(r | x)·|estimate(r) − truth|²
    fn summed_square(&self, reports: &[R::Report]) -> Result<f64, Failure> {
        reports.iter().try_fold(0.0, |sum, report| Ok(sum + self.probability(report) * self.square(report)?))
    }

    /// The mean of |estimate − truth|² over `draws` reports, and how far chance may lead it off.
    fn drawn_square(&self, draws: u64, rng: &mut impl CryptoRng) -> Result<(f64, f64), Failure> {
        let mut squares = Moments::default();
        for _ in 0..draws {
            squares.add(self.square(&draw(self.case, self.x, rng)?)?);
        }
        // a report too rare to be seen is off by about as much as one seen, or as the truth is long …
        let length = self.truth.iter().map(|t| t * t).sum();
        let mut range = squares.largest().max(length);
        // … or, where nothing but one report was seen, as much as any that is listed
        if let (Reports::Representatives(reports), true) = (&self.case.reports, squares.is_constant()) {
            for report in reports {
                range = range.max(self.square(report)?);
            }
        }
        Ok((squares.mean, squares.tolerance(range, 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubles::Response;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::{Guarantee, PrivacyError, Randomizer};

    fn case(double: Response, listed: bool) -> Case<Response> {
        let reports = if listed { Reports::All(vec![0, 1, 2]) } else { Reports::Sampled };
        Case::local("rr", double, vec![0, 1, 2], reports)
    }

    fn rng() -> ChaCha12Rng {
        ChaCha12Rng::seed_from_u64(21)
    }

    #[test]
    fn a_biased_decoder_is_caught_by_sums_and_by_samples() {
        let biased = |factor| Response { decoder_factor: factor, ..Response::honest(3, 1.0) };
        let summed = decoder_is_unbiased(&case(biased(1.0 + 1e-7), true), 0, &mut rng());
        assert!(matches!(summed, Err(Failure::Bias { input: 0, coordinate: 0, .. })), "{summed:?}");
        let drawn = decoder_is_unbiased(&case(biased(1.05), false), 100_000, &mut rng());
        assert!(matches!(drawn, Err(Failure::Bias { .. })), "{drawn:?}");
    }

    #[test]
    fn an_estimate_shorter_than_the_truth_is_caught() {
        struct Short(Response);
        impl Randomizer for Short {
            type Input = u32;
            type Report = u32;
            fn guarantee(&self) -> Guarantee {
                self.0.guarantee()
            }
            fn randomize(&self, input: &u32, rng: &mut impl CryptoRng) -> Result<u32, PrivacyError> {
                self.0.randomize(input, rng)
            }
            fn ln_likelihood(&self, report: &u32, input: &u32) -> f64 {
                self.0.ln_likelihood(report, input)
            }
        }
        impl Unbiased for Short {
            fn truth(&self, input: &u32) -> Vec<f64> {
                self.0.truth(input)
            }
            fn estimate(&self, report: &u32) -> Vec<f64> {
                self.0.estimate(report)[1..].to_vec()
            }
            fn variance(&self, input: &u32) -> f64 {
                self.0.variance(input)
            }
        }
        let case = Case::new("short", Short(Response::honest(3, 1.0)), vec![(0, 1)], Reports::Sampled);
        let failure = decoder_is_unbiased(&case, 10, &mut rng());
        assert!(matches!(failure, Err(Failure::Length { found: 2, expected: 3, .. })), "{failure:?}");
    }

    #[test]
    fn a_wrong_variance_is_caught_by_sums_and_by_samples() {
        let wrong = |factor| Response { variance_factor: factor, ..Response::honest(3, 1.0) };
        let summed = variance_is_as_stated(&case(wrong(1.0 + 1e-7), true), 0, &mut rng());
        assert!(matches!(summed, Err(Failure::Variance { input: 0, .. })), "{summed:?}");
        for factor in [0.97, 1.03] {
            let drawn = variance_is_as_stated(&case(wrong(factor), false), 100_000, &mut rng());
            assert!(matches!(drawn, Err(Failure::Variance { .. })), "{drawn:?}");
        }
    }
}
