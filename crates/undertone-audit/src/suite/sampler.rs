//! The sampler does what the likelihood says.

use super::{FIVE_SIGMA, SUM, draw};
use crate::binomial::{lower_tail, upper_tail};
use crate::moments::{Moments, tolerance};
use crate::{Case, Failure, Reports};
use rand_core::CryptoRng;
use std::collections::HashMap;
use undertone_privacy::Randomizer;

/// Reports expected fewer times than this are also counted together.
const RARE: f64 = 25.0;

/// `draws` reports under each input are as frequent as the likelihood says.
///
/// Where all reports are listed, each of them is, and all rare ones together. Otherwise the likelihood ratios of
/// each pair are what the frequencies say: for reports that favour one input,
///
/// > E_a\[P(r | b) / P(r | a); P(r | a) > P(r | b)\] = P_b(P(r | a) > P(r | b))
///
/// whose two sides are means of numbers in \[0, 1\]. A likelihood with the right ratios but a wrong constant
/// passes the latter.
pub fn sampler_follows_likelihood<R: Randomizer>(
    case: &Case<R>,
    draws: u64,
    rng: &mut impl CryptoRng,
) -> Result<(), Failure> {
    if let Reports::All(reports) = &case.reports {
        let alphabet = Alphabet::new(reports);
        return case.inputs().enumerate().try_for_each(|(input, x)| {
            let counts = count(case, &alphabet, x, draws, rng)?;
            frequencies(case, reports, (input, x), &counts, draws)
        });
    }
    (0..case.pairs.len()).try_for_each(|pair| ratios(case, pair, draws, rng))
}

/// Where a report stands in the list.
struct Alphabet<'a, T> {
    reports: &'a [T],
    places: HashMap<String, usize>,
}

impl<'a, T: PartialEq + std::fmt::Debug> Alphabet<'a, T> {
    fn new(reports: &'a [T]) -> Self {
        let places = reports.iter().enumerate().map(|(place, report)| (format!("{report:?}"), place));
        Self { reports, places: places.collect() }
    }

    /// Reports can be compared and printed, no more; how one prints is where to look first.
    fn place(&self, report: &T) -> Option<usize> {
        let guess = self.places.get(&format!("{report:?}")).copied();
        guess
            .filter(|&place| self.reports[place] == *report)
            .or_else(|| self.reports.iter().position(|r| r == report))
    }
}

/// How often each report of the alphabet was drawn; last, how often one outside.
fn count<R: Randomizer>(
    case: &Case<R>,
    alphabet: &Alphabet<'_, R::Report>,
    x: &R::Input,
    draws: u64,
    rng: &mut impl CryptoRng,
) -> Result<Vec<u64>, Failure> {
    let mut counts = vec![0; alphabet.reports.len() + 1];
    for _ in 0..draws {
        let report = draw(case, x, rng)?;
        counts[alphabet.place(&report).unwrap_or(alphabet.reports.len())] += 1;
    }
    Ok(counts)
}

/// Each count, and the sum of the rare ones, is likely under the likelihood.
fn frequencies<R: Randomizer>(
    case: &Case<R>,
    reports: &[R::Report],
    (input, x): (usize, &R::Input),
    counts: &[u64],
    draws: u64,
) -> Result<(), Failure> {
    let alpha = FIVE_SIGMA / counts.len() as f64;
    let expect = |report: String, count: u64, probability: f64| {
        let (p, q) = (probability.clamp(0.0, 1.0), (1.0 - probability).clamp(0.0, 1.0));
        if lower_tail(count, draws, p, q) >= alpha && upper_tail(count, draws, p, q) >= alpha {
            return Ok(());
        }
        Err(Failure::Frequency { case: case.name.clone(), input, report, count, draws, probability })
    };
    // the list may leave out a tail as rare as sums are inexact
    let (mut rare_count, mut rare_probability) = (counts[reports.len()], SUM);
    expect("a report that is not listed".into(), rare_count, rare_probability)?;
    for (report, &count) in reports.iter().zip(counts) {
        let probability = libm::exp(case.randomizer.ln_likelihood(report, x));
        expect(format!("{report:?}"), count, probability)?;
        if probability * (draws as f64) < RARE {
            rare_count += count;
            rare_probability += probability;
        }
    }
    expect("one of the rare reports".into(), rare_count, rare_probability)
}

/// Both ways, what favours one input is as frequent under the other as the ratios say.
fn ratios<R: Randomizer>(
    case: &Case<R>,
    pair: usize,
    draws: u64,
    rng: &mut impl CryptoRng,
) -> Result<(), Failure> {
    let (a, b) = &case.pairs[pair];
    // under a: [P_b/P_a; score > 0] and [score ≤ 0]; under b: [score > 0] and [P_a/P_b; score ≤ 0]
    let mut means = [[Moments::default(); 2]; 2];
    for (side, x) in [a, b].into_iter().enumerate() {
        for _ in 0..draws {
            let report = draw(case, x, rng)?;
            let impossible = case.randomizer.ln_likelihood(&report, x) == f64::NEG_INFINITY;
            let score = case.score(&report, a, b).filter(|score| !score.is_nan() && !impossible);
            let Some(score) = score else {
                return Err(Failure::Impossible { case: case.name.clone(), report: format!("{report:?}") });
            };
            let favoured = usize::from(score <= 0.0);
            let weight = if side == favoured { libm::exp(-score.abs()) } else { 1.0 };
            means[side][favoured].add(weight);
            means[side][1 - favoured].add(0.0);
        }
    }
    for favoured in [0, 1] {
        let (weighted, counted) = (means[favoured][favoured], means[1 - favoured][favoured]);
        let squares = weighted.error_squared() + counted.error_squared();
        let tolerance = tolerance(squares, 1.0, draws as f64, 2 * case.pairs.len());
        if (weighted.mean - counted.mean).abs() > tolerance {
            let (found, expected) = (counted.mean, weighted.mean);
            return Err(Failure::Ratio { case: case.name.clone(), pair, found, expected, tolerance });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubles::Response;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::{Guarantee, PrivacyError};

    fn rng() -> ChaCha12Rng {
        ChaCha12Rng::seed_from_u64(31)
    }

    #[test]
    fn a_sampler_with_another_epsilon_than_the_likelihood_is_caught() {
        for sampled in [0.95, 1.05] {
            let double = Response { sampled, ..Response::honest(3, 1.0) };
            let listed = Case::local("rr", double.clone(), vec![0, 1, 2], Reports::All(vec![0, 1, 2]));
            let failure = sampler_follows_likelihood(&listed, 100_000, &mut rng());
            assert!(matches!(failure, Err(Failure::Frequency { .. })), "{failure:?}");
            let drawn = Case::local("rr", double, vec![0, 1, 2], Reports::Sampled);
            let failure = sampler_follows_likelihood(&drawn, 100_000, &mut rng());
            assert!(matches!(failure, Err(Failure::Ratio { .. })), "{failure:?}");
        }
    }

    #[test]
    fn a_report_outside_the_list_is_caught() {
        let case = Case::new("rr", Response::honest(3, 1.0), vec![(0, 1)], Reports::All(vec![0, 1]));
        let failure = sampler_follows_likelihood(&case, 1000, &mut rng()).unwrap_err();
        assert!(failure.to_string().contains("a report that is not listed"), "{failure}");
    }

    #[test]
    fn rare_reports_that_are_each_too_few_to_judge_are_caught_together() {
        // the likelihood gives each of 10,000 rare reports 2·10^-5, the sampler half of that
        #[derive(Clone, Debug)]
        struct Shy;
        impl Randomizer for Shy {
            type Input = ();
            type Report = u64;
            fn guarantee(&self) -> Guarantee {
                crate::doubles::pure(1.0)
            }
            fn randomize(&self, (): &(), rng: &mut impl CryptoRng) -> Result<u64, PrivacyError> {
                let draw = undertone_privacy::exact::uniform_below(100_000, rng);
                Ok(if draw < 10_000 { draw } else { 10_000 })
            }
            fn ln_likelihood(&self, report: &u64, (): &()) -> f64 {
                if *report < 10_000 { 2e-5f64.ln() } else { 0.8f64.ln() }
            }
        }
        // the frequent report is left out of the list, so that only the rare ones can show it
        let reports: Vec<u64> = (0..10_000).collect();
        let mut counts = vec![0; 10_001];
        let mut rng = rng();
        let case = Case::new("shy", Shy, vec![((), ())], Reports::All(reports.clone()));
        for _ in 0..10_000 {
            let report = Shy.randomize(&(), &mut rng).unwrap();
            if report < 10_000 {
                counts[report as usize] += 1;
            }
        }
        let failure = frequencies(&case, &reports, (0, &()), &counts, 10_000).unwrap_err();
        assert!(failure.to_string().contains("one of the rare reports"), "{failure}");
    }

    #[test]
    fn a_report_that_the_likelihood_forbids_is_caught() {
        let double = Response { likelihood_factor: 0.0, ..Response::honest(3, 1.0) };
        let case = Case::new("rr", double, vec![(0, 1)], Reports::Sampled);
        let failure = sampler_follows_likelihood(&case, 10, &mut rng());
        assert!(matches!(failure, Err(Failure::Impossible { .. })), "{failure:?}");
    }
}
