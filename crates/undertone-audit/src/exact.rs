//! The exact loss, by adding up the likelihood over all reports.
//!
//! Sort the reports by how much likelier they are under a than under b. By Neyman and Pearson the most telling
//! events are the beginnings of that list, and their probabilities P, Q give the least loss of each currency:
//!
//! > (ε, δ): max ln((P - δ)/Q)
//! > μ: max Φ⁻¹(P) - Φ⁻¹(Q); between two such points the trade-off curve is straight and Gaussian ones bend below
//!
//! while ε is the largest single ratio and ρ comes from the Rényi divergences. Whatever a truncated alphabet
//! leaves out only lowers the result.

use crate::{Case, Reports, event_loss, renyi};
use undertone_privacy::accounting::normal;
use undertone_privacy::{Guarantee, Randomizer};

/// Sums of probabilities, their logarithms and quantiles are right to about this much.
const SUMMATION: f64 = 1e-12;

/// What a truncated alphabet may have left out.
const LEFT_OUT: f64 = 1e-15;

/// Below this a probability is too near the end of the floats to be believed.
const BELIEVABLE: f64 = 1e-290;

/// A loss, and how far its evaluation in floating point may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactLoss {
    /// In the currency of the claim.
    pub loss: f64,
    /// A bound on the error of `loss`.
    pub error: f64,
}

impl ExactLoss {
    /// Whether the loss is above `claimed` whatever the rounding.
    pub fn exceeds(&self, claimed: f64) -> bool {
        self.loss - self.error > claimed * (1.0 + 1e-12)
    }

    fn worse(self, other: Self) -> Self {
        if other.loss - other.error > self.loss - self.error { other } else { self }
    }
}

/// The worst loss over all pairs, both ways, in the currency of the claim; `None` where the reports of the case do
/// not determine it (representatives settle a pure promise only, samples none) and no formula is known.
pub fn exact_loss<R: Randomizer>(case: &Case<R>) -> Option<ExactLoss> {
    case.known.or_else(|| worst_pair(case).map(|(_, loss)| loss))
}

/// The pair with the [`exact_loss`], and that loss.
pub(crate) fn worst_pair<R: Randomizer>(case: &Case<R>) -> Option<(usize, ExactLoss)> {
    let claimed = case.randomizer.guarantee();
    let ((Reports::All(reports), _) | (Reports::Representatives(reports), Guarantee::Pure(_))) =
        (&case.reports, claimed)
    else {
        return None;
    };
    let none = (0, ExactLoss { loss: 0.0, error: 0.0 });
    let losses = case.pairs.iter().map(|(a, b)| {
        let ln =
            |report| (case.randomizer.ln_likelihood(report, a), case.randomizer.ln_likelihood(report, b));
        let forwards: Vec<_> = reports.iter().map(ln).collect();
        let backwards: Vec<_> = forwards.iter().map(|&(ln_a, ln_b)| (ln_b, ln_a)).collect();
        one_way(&claimed, forwards).worse(one_way(&claimed, backwards))
    });
    let worse = |worst: (usize, ExactLoss), other: (usize, ExactLoss)| {
        if worst.1.worse(other.1) == worst.1 { worst } else { other }
    };
    Some(losses.enumerate().fold(none, worse))
}

/// The pair about which `trials` reports under each input would prove most, where all reports are listed; the
/// [`worst_pair`] where only some are. Its loss may hide in events too rare to be seen.
pub(crate) fn most_telling_pair<R: Randomizer>(case: &Case<R>, trials: u64) -> Option<usize> {
    let claimed = case.randomizer.guarantee();
    let Reports::All(reports) = &case.reports else {
        return worst_pair(case).map(|(pair, _)| pair).filter(|&pair| pair < case.pairs.len());
    };
    // Probabilities are moved by three standard deviations of their estimates, and one event, against us.
    let n = trials.max(1) as f64;
    let less = |p: f64| p - 3.0 * (p / n).sqrt() - 1.0 / n;
    let more = |q: f64| q + 3.0 * (q / n).sqrt() + 1.0 / n;
    let provable = |(a, b): &(R::Input, R::Input)| {
        let ln = |report, input| case.randomizer.ln_likelihood(report, input);
        let one_way = |a, b| {
            let masses = reports.iter().map(|report| (ln(report, a), ln(report, b)));
            let seen = masses.filter(|&(ln_p, _)| ln_p > f64::NEG_INFINITY).collect();
            let event = |event: &Masses| event_loss(&claimed, less(event.p), more(event.q));
            cuts(seen).iter().map(event).fold(0.0, f64::max)
        };
        f64::max(one_way(a, b), one_way(b, a))
    };
    let provable = case.pairs.iter().map(provable).enumerate();
    provable.max_by(|(_, x), (_, y)| x.total_cmp(y)).map(|(pair, _)| pair)
}

/// δ at `epsilon`, the worst over all pairs, both ways: Σ max(0, P − e^ε·Q). `None` unless all reports are listed.
pub fn hockey_stick<R: Randomizer>(case: &Case<R>, epsilon: f64) -> Option<f64> {
    let Reports::All(reports) = &case.reports else { return None };
    let delta = |a, b| -> f64 {
        let excess = |report| {
            let ln_p = case.randomizer.ln_likelihood(report, a);
            let ln_q = case.randomizer.ln_likelihood(report, b);
            (libm::exp(ln_p) - libm::exp(epsilon + ln_q)).max(0.0)
        };
        reports.iter().map(excess).sum()
    };
    Some(case.pairs.iter().flat_map(|(a, b)| [delta(a, b), delta(b, a)]).fold(0.0, f64::max))
}

/// The loss of P against Q, given as `(ln P, ln Q)` for each report.
fn one_way(claimed: &Guarantee, mut ln_masses: Vec<(f64, f64)>) -> ExactLoss {
    ln_masses.retain(|&(ln_p, _)| ln_p > f64::NEG_INFINITY);
    match claimed {
        Guarantee::Pure(_) => worst_ratio(&ln_masses),
        Guarantee::Approximate(..) => {
            let event = |event: &Masses| event_loss(claimed, event.p, event.q);
            summed(cuts(ln_masses).iter().map(event).fold(0.0, f64::max))
        }
        Guarantee::Gaussian(_) => {
            if ln_masses.iter().any(|&(_, ln_q)| ln_q == f64::NEG_INFINITY) {
                return summed(f64::INFINITY);
            }
            let believable = |event: &&Masses| event.p > BELIEVABLE;
            summed(cuts(ln_masses).iter().filter(believable).map(Masses::mu).fold(0.0, f64::max))
        }
        Guarantee::Concentrated(_) => summed(renyi::concentration(&ln_masses)),
    }
}

fn summed(loss: f64) -> ExactLoss {
    ExactLoss { loss, error: SUMMATION }
}

/// The largest ln P − ln Q.
fn worst_ratio(ln_masses: &[(f64, f64)]) -> ExactLoss {
    let ratios = ln_masses.iter().map(|&(ln_p, ln_q)| ratio(ln_p, ln_q));
    ratios.fold(ExactLoss { loss: 0.0, error: 0.0 }, ExactLoss::worse)
}

/// What one report gives away, ln P − ln Q, where each logarithm is right to four units in its last place.
pub(crate) fn ratio(ln_p: f64, ln_q: f64) -> ExactLoss {
    let rounding = 4.0 * f64::EPSILON * (ln_p.abs() + ln_q.abs());
    // an infinite loss is certain
    ExactLoss { loss: ln_p - ln_q, error: if rounding.is_finite() { rounding } else { 0.0 } }
}

/// An event and its complement, each summed by itself so that neither loses its digits.
#[derive(Clone, Copy, Default)]
struct Masses {
    p: f64,
    q: f64,
    not_p: f64,
    not_q: f64,
}

impl Masses {
    /// Φ⁻¹(p) − Φ⁻¹(q), through whichever side of one half is the smaller.
    fn mu(&self) -> f64 {
        let low =
            if self.p <= 0.5 { normal::quantile(self.p) } else { -normal::quantile(self.not_p + LEFT_OUT) };
        let high = if self.q <= 0.5 { normal::quantile(self.q) } else { -normal::quantile(self.not_q) };
        low - high
    }
}

/// The beginnings of the list of reports, most telling first.
fn cuts(mut ln_masses: Vec<(f64, f64)>) -> Vec<Masses> {
    ln_masses.sort_by(|a, b| (b.0 - b.1).total_cmp(&(a.0 - a.1)));
    let masses: Vec<_> = ln_masses.iter().map(|&(ln_p, ln_q)| (libm::exp(ln_p), libm::exp(ln_q))).collect();
    let mut events: Vec<_> = masses
        .iter()
        .scan(Masses::default(), |event, (p, q)| {
            event.p += p;
            event.q += q;
            Some(*event)
        })
        .collect();
    let (mut not_p, mut not_q) = (0.0, 0.0);
    for (event, (p, q)) in events.iter_mut().zip(&masses).rev() {
        (event.not_p, event.not_q) = (not_p, not_q);
        not_p += p;
        not_q += q;
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubles::{Channel, Response, Subset, pure};
    use undertone_privacy::{Delta, Epsilon, Mu, Rho};

    fn channel(channel: Channel) -> Case<Channel> {
        let reports = Reports::All(channel.reports());
        Case::new("channel", channel, vec![(0, 1)], reports)
    }

    fn loss(claimed: Guarantee, rows: [&[f64]; 2]) -> f64 {
        exact_loss(&channel(Channel { claimed, rows: rows.map(<[f64]>::to_vec).to_vec() })).unwrap().loss
    }

    #[test]
    fn randomized_response_loses_exactly_epsilon() {
        for epsilon in [1e-6, 1.0, 30.0] {
            let case = Case::local(
                "rr",
                Response::honest(4, epsilon),
                vec![0, 1, 2, 3],
                Reports::All(vec![0, 1, 2, 3]),
            );
            let exact = exact_loss(&case).unwrap();
            assert!((exact.loss - epsilon).abs() <= exact.error, "{exact:?}");
            assert!(!exact.exceeds(epsilon) && exact.exceeds(epsilon * 0.999_999));
        }
    }

    #[test]
    fn two_representatives_settle_subset_selection_over_any_number_of_labels() {
        let mechanism = Subset { labels: 1000, size: 3, epsilon: 2.0 };
        let representatives = Reports::Representatives(vec![vec![0, 5, 9], vec![1, 5, 9], vec![0, 1, 9]]);
        let case = Case::new("subset", mechanism, vec![(0, 1)], representatives);
        assert!((exact_loss(&case).unwrap().loss - 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_worse_direction_counts() {
        // forwards ln(0.6/0.5), backwards ln(0.5/0.4)
        assert!((loss(pure(1.0), [&[0.6, 0.4], &[0.5, 0.5]]) - 1.25f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn a_report_that_only_one_input_can_give_is_an_infinite_loss() {
        let rows: [&[f64]; 2] = [&[0.5, 0.5, 0.0], &[0.5, 0.4, 0.1]];
        assert_eq!(loss(pure(1.0), rows), f64::INFINITY);
        assert_eq!(loss(Guarantee::Gaussian(Mu::new(1.0).unwrap()), rows), f64::INFINITY);
        assert_eq!(loss(Guarantee::Concentrated(Rho::new(1.0).unwrap()), rows), f64::INFINITY);
        let approximate =
            |delta| Guarantee::Approximate(Epsilon::new(1.0).unwrap(), Delta::new(delta).unwrap());
        assert_eq!(loss(approximate(0.09), rows), f64::INFINITY);
        // 0.1 is within δ; what is left is forwards ln((0.5 - 0.1)/0.4) = 0 or ln((1 - 0.1)/0.9) = 0
        assert!(loss(approximate(0.100_001), rows) < 1e-4);
    }

    #[test]
    fn the_discrete_gaussian_meets_its_hockey_stick_and_its_rho() {
        // shift = s = 64: the hockey stick at ε = 1 is 0.1269296, against 0.1269367 for the continuous law
        let gaussian = |claimed| channel(Channel::discrete_gaussian(claimed, 64, 64.0));
        let concentrated = gaussian(Guarantee::Concentrated(Rho::new(0.5).unwrap()));
        assert!((hockey_stick(&concentrated, 1.0).unwrap() - 0.126_929_6).abs() < 1e-7);
        let rho = exact_loss(&concentrated).unwrap();
        assert!((rho.loss - 0.5).abs() < 1e-11 && !rho.exceeds(0.5), "{rho:?}");
        // and ε at that δ leads back to 1
        let delta = Delta::new(hockey_stick(&concentrated, 1.0).unwrap()).unwrap();
        let approximate = gaussian(Guarantee::Approximate(Epsilon::new(1.0).unwrap(), delta));
        assert!((exact_loss(&approximate).unwrap().loss - 1.0).abs() < 1e-10);
    }

    #[test]
    fn a_rounded_gaussian_keeps_exactly_its_mu() {
        let case = |mu| {
            let claimed = Guarantee::Gaussian(Mu::new(mu).unwrap());
            channel(Channel::rounded_gaussian(claimed, 8, 8.0 / mu))
        };
        for mu in [0.1, 1.0, 3.0] {
            let exact = exact_loss(&case(mu)).unwrap();
            assert!((exact.loss - mu).abs() < 1e-12, "{exact:?}");
            assert!(!exact.exceeds(mu));
        }
    }

    #[test]
    fn samples_determine_nothing_exactly() {
        let case = Case::new("rr", Response::honest(3, 1.0), vec![(0, 1)], Reports::Sampled);
        assert_eq!(exact_loss(&case), None);
        assert_eq!(hockey_stick(&case, 1.0), None);
    }
}
