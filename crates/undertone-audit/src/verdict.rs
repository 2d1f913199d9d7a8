//! The verdict about one mechanism, from everything that can be found out about it.

use crate::exact::{exact_loss, most_telling_pair};
use crate::statistical::lower_bound_over;
use crate::{Case, Leak, Settings, claimed_loss, one_sided_report};
use rand_core::CryptoRng;
use std::fmt;
use undertone_privacy::{Guarantee, PrivacyError, Randomizer};

/// A reason to call a promise broken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant's message says what its fields are")]
pub enum Breach {
    #[error("the likelihood allows a loss of {loss:.9}")]
    Exact { loss: f64 },
    #[error("the samples prove a loss of at least {loss:.5}")]
    Proved { loss: f64 },
    #[error(transparent)]
    Leak(Leak),
}

/// What was promised, what was found, and whether the one covers the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The name of the case.
    pub mechanism: String,
    /// The promise.
    pub claimed: Guarantee,
    /// The loss that the likelihood adds up to, in the currency of the claim, if the reports can be listed or a formula is
    /// known.
    pub exact: Option<f64>,
    /// The loss that the samples prove, in the currency of the claim.
    pub lower_bound: f64,
    /// The probability with which `lower_bound` is right.
    pub confidence: f64,
    /// Samples drawn under each input of the pair that `lower_bound` is about.
    pub trials: u64,
    /// Every way in which the promise was found broken.
    pub breaches: Vec<Breach>,
    /// The largest share of the claimed loss that was found, exactly or by samples: far below one, nothing is known.
    pub found: f64,
    /// Whether the mechanism computes with floats and so promises nothing outside a simulation.
    pub simulation_only: bool,
}

impl Verdict {
    /// Whether nothing was found to be broken.
    pub fn kept(&self) -> bool {
        self.breaches.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mechanism, claimed, lower_bound, confidence, trials, .. } = self;
        let outcome = match (self.simulation_only, self.kept()) {
            (true, _) => "simulation only",
            (false, true) => "kept",
            (false, false) => "BROKEN",
        };
        write!(f, "{mechanism}: {outcome}; promised {claimed}")?;
        if let Some(exact) = self.exact {
            write!(f, ", exactly {exact:.6}")?;
        }
        write!(f, ", at least {lower_bound:.6} by {trials} trials at confidence {confidence}")?;
        self.breaches.iter().try_for_each(|breach| write!(f, "\n  {breach}"))
    }
}

/// Judges `case`: the exact loss if its reports are listed, the lower bound that samples prove, and a search for
/// reports that only one input can give, over a tenth as many samples. A promise is broken only beyond doubt (see
/// [`LowerBound::beyond_doubt`](crate::LowerBound::beyond_doubt)), so that an honest mechanism passes every day.
///
/// The lower bound is about the pair that gives most away, by its likelihood or else the first; half as many trials again
/// are spread over all pairs, in case the sampler is broken where the likelihood does not look for it.
pub fn audit<R: Randomizer>(
    case: &Case<R>,
    settings: &Settings,
    rng: &mut impl CryptoRng,
) -> Result<Verdict, PrivacyError> {
    let claimed = case.randomizer.guarantee();
    let most = claimed_loss(&claimed);
    let exact = exact_loss(case);
    let pair = most_telling_pair(case, settings.trials).unwrap_or(0);
    let bound = lower_bound_over(case, pair..(pair + 1).min(case.pairs.len()), settings, rng)?;
    let spread = Settings { trials: settings.trials / (2 * case.pairs.len().max(1)) as u64, ..*settings };
    let anywhere = lower_bound_over(case, 0..case.pairs.len(), &spread, rng)?;
    let leak = one_sided_report(case, settings.trials.div_ceil(10), rng)?;

    let over = exact.filter(|exact| exact.exceeds(most)).map(|exact| Breach::Exact { loss: exact.loss });
    let proved = bound.beyond_doubt.max(anywhere.beyond_doubt);
    let proved = (proved > most).then_some(Breach::Proved { loss: proved });
    Ok(Verdict {
        mechanism: case.name.clone(),
        claimed,
        exact: exact.map(|exact| exact.loss),
        lower_bound: bound.loss,
        confidence: settings.confidence,
        trials: settings.trials,
        breaches: over.into_iter().chain(proved).chain(leak.map(Breach::Leak)).collect(),
        found: exact.map_or(bound.loss, |exact| exact.loss.max(bound.loss)) / most,
        simulation_only: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reports;
    use crate::doubles::{Channel, Response, pure};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn verdict<R: Randomizer>(case: &Case<R>) -> Verdict {
        let settings = Settings { trials: 50_000, confidence: 0.95 };
        audit(case, &settings, &mut ChaCha12Rng::seed_from_u64(51)).unwrap()
    }

    fn response(double: Response) -> Case<Response> {
        Case::local("randomized response", double, vec![0, 1, 2], Reports::All(vec![0, 1, 2]))
    }

    #[test]
    fn an_honest_mechanism_is_found_to_keep_its_promise() {
        let verdict = verdict(&response(Response::honest(3, 1.0)));
        assert!(verdict.kept(), "{verdict}");
        assert!((verdict.exact.unwrap() - 1.0).abs() < 1e-12);
        assert!(verdict.lower_bound > 0.9 && verdict.lower_bound <= 1.0);
        assert!(
            verdict.to_string().starts_with("randomized response: kept; promised ε = 1, exactly 1.000000")
        );
    }

    #[test]
    fn a_likelihood_over_the_promise_breaks_it() {
        let verdict = verdict(&response(Response { claimed: 0.999, ..Response::honest(3, 1.0) }));
        assert!(matches!(verdict.breaches[..], [Breach::Exact { .. }]), "{verdict}");
    }

    #[test]
    fn a_sampler_over_the_promise_breaks_it_though_the_likelihood_looks_right() {
        let verdict = verdict(&response(Response { sampled: 1.2, ..Response::honest(3, 1.0) }));
        assert!(matches!(verdict.breaches[..], [Breach::Proved { .. }]), "{verdict}");
    }

    /// Randomized response that tells the truth about label 7.
    #[derive(Clone)]
    struct Candid(Response);

    impl Randomizer for Candid {
        type Input = u32;
        type Report = u32;

        fn guarantee(&self) -> Guarantee {
            self.0.guarantee()
        }

        fn randomize(&self, input: &u32, rng: &mut impl CryptoRng) -> Result<u32, PrivacyError> {
            if *input == 7 { Ok(7) } else { self.0.randomize(input, rng) }
        }

        fn ln_likelihood(&self, report: &u32, input: &u32) -> f64 {
            self.0.ln_likelihood(report, input)
        }
    }

    #[test]
    fn a_sampler_that_is_broken_for_one_input_is_found_whatever_the_likelihood_says() {
        let all: Vec<u32> = (0..10).collect();
        let candid = Candid(Response::honest(10, 1.0));
        let verdict = verdict(&Case::local("candid", candid, all.clone(), Reports::All(all)));
        assert!(matches!(verdict.breaches[..], [Breach::Proved { .. }]), "{verdict}");
    }

    #[test]
    fn a_report_that_only_one_input_gives_breaks_it() {
        let rows = vec![vec![0.5, 0.499, 0.001], vec![0.5, 0.5, 0.0]];
        let channel = Channel { claimed: pure(1.0), rows };
        let verdict = verdict(&Case::new("channel", channel, vec![(0, 1)], Reports::Sampled));
        assert!(verdict.breaches.iter().any(|breach| matches!(breach, Breach::Leak(_))), "{verdict}");
    }
}
