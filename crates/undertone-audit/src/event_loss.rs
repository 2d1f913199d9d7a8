//! What one event proves: the least loss under which it can have probability p for one input, q for another.

use crate::{at_least, at_most, renyi};
use undertone_privacy::Guarantee;
use undertone_privacy::accounting::normal;

/// The loss that is claimed, in the currency of the claim: ε, ε (at the claimed δ), μ or ρ.
pub fn claimed_loss(claimed: &Guarantee) -> f64 {
    match claimed {
        Guarantee::Pure(epsilon) | Guarantee::Approximate(epsilon, _) => epsilon.get(),
        Guarantee::Gaussian(mu) => mu.get(),
        Guarantee::Concentrated(rho) => rho.get(),
    }
}

/// The least loss, in the currency of `claimed`, that allows an event of probability at least `p` under one input
/// and at most `q` under the other.
///
/// > ε: ln(p/q) (ε, δ): ln((p - δ)/q) μ: Φ⁻¹(p) - Φ⁻¹(q) ρ: sup_α D_α(Bernoulli(p)‖Bernoulli(q))/α
///
/// Each grows with p and falls with q, so bounds may stand in for the probabilities. Never below zero.
pub fn event_loss(claimed: &Guarantee, p: f64, q: f64) -> f64 {
    if p <= q {
        return 0.0;
    }
    let loss = match claimed {
        Guarantee::Pure(_) => libm::log(p / q),
        Guarantee::Approximate(_, delta) => libm::log((p - delta.get()).max(0.0) / q),
        Guarantee::Gaussian(_) => normal::quantile(p) - normal::quantile(q),
        Guarantee::Concentrated(_) => {
            renyi::concentration(&[(libm::log(p), libm::log(q)), (libm::log1p(-p), libm::log1p(-q))])
        }
    };
    // 0/0: an event within δ that the other input never shows
    if loss.is_nan() { 0.0 } else { loss.max(0.0) }
}

/// How often an event was seen, in how many trials, under the input it points to (p) and under the other (q).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) p: u64,
    pub(crate) p_trials: u64,
    pub(crate) q: u64,
    pub(crate) q_trials: u64,
}

impl Tally {
    /// Counts a trial under the input that the event points to, or under the other.
    pub(crate) fn add(&mut self, pointed_to: bool, held: bool) {
        let (count, trials) =
            if pointed_to { (&mut self.p, &mut self.p_trials) } else { (&mut self.q, &mut self.q_trials) };
        *count += u64::from(held);
        *trials += 1;
    }

    /// What the event seems to prove, when each count is moved by three standard deviations against us: those of its
    /// square root, which are 1/2 for a small count as for a large one.
    ///
    /// It serves to choose an event on a first part of the samples, where a rare one must not win by luck.
    pub(crate) fn cautious_loss(&self, claimed: &Guarantee) -> f64 {
        let (p, q) = (self.p as f64, self.q as f64);
        let p = (p.sqrt() - 1.5).max(0.0).powi(2) / self.p_trials as f64;
        let q = ((q + 1.0).sqrt() + 1.5).powi(2) / self.q_trials as f64;
        event_loss(claimed, p, q)
    }

    /// Bounds on the two probabilities, each wrong with probability `alpha`: at least p, at most q.
    pub(crate) fn bounds(&self, alpha: f64) -> (f64, f64) {
        (at_least(self.p, self.p_trials, alpha), at_most(self.q, self.q_trials, alpha))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::{Delta, Epsilon, Mu, Rho};

    #[test]
    fn an_event_three_times_as_likely_costs_ln_three() {
        let pure = Guarantee::Pure(Epsilon::new(1.0).unwrap());
        assert!((event_loss(&pure, 0.6, 0.2) - 3f64.ln()).abs() < 1e-15);
        assert_eq!(event_loss(&pure, 0.2, 0.6), 0.0);
        assert_eq!(event_loss(&pure, 0.2, 0.0), f64::INFINITY);
    }

    #[test]
    fn three_against_none_prove_less_than_three_hundred_against_a_hundred() {
        let pure = Guarantee::Pure(Epsilon::new(1.0).unwrap());
        let tally = |p, q| Tally { p, p_trials: 1000, q, q_trials: 1000 };
        assert_eq!(tally(3, 0).cautious_loss(&pure), 0.0);
        assert!(tally(300, 100).cautious_loss(&pure) > 0.5);
    }

    #[test]
    fn delta_is_taken_off_before_the_ratio() {
        let approximate = Guarantee::Approximate(Epsilon::new(1.0).unwrap(), Delta::new(0.2).unwrap());
        assert!((event_loss(&approximate, 0.6, 0.2) - 2f64.ln()).abs() < 1e-15);
        assert_eq!(event_loss(&approximate, 0.2, 0.0), 0.0);
        assert_eq!(event_loss(&approximate, 0.3, 0.0), f64::INFINITY);
    }

    #[test]
    fn the_best_test_of_two_unit_gaussians_proves_their_distance() {
        let gaussian = Guarantee::Gaussian(Mu::new(1.0).unwrap());
        let above = |z: f64| 0.5 * libm::erfc(z / std::f64::consts::SQRT_2);
        // the event x > 1 under N(1.5, 1) and N(0, 1)
        assert!((event_loss(&gaussian, above(-0.5), above(1.0)) - 1.5).abs() < 1e-13);
    }

    #[test]
    fn no_event_of_a_gaussian_proves_more_than_its_rho() {
        let concentrated = Guarantee::Concentrated(Rho::new(0.5).unwrap());
        let above = |z: f64| 0.5 * libm::erfc(z / std::f64::consts::SQRT_2);
        for i in -40..40 {
            let z = f64::from(i) / 10.0;
            let loss = event_loss(&concentrated, above(z - 1.0), above(z));
            assert!(loss > 0.0 && loss <= 0.5, "{z}: {loss}");
        }
    }
}
