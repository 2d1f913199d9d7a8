//! Which label mechanism to choose, before anyone is asked.
//!
//! Stochastic gradient descent over n reports, from a start within R of the best point and with gradients of
//! length at most L, has with its best step the expected excess risk
//!
//! > E\[risk\] - best ≤ R·L·√((1 + V)/n)
//!
//! where 1 + V is the mechanism's worst-case second moment; the constant is one.

use serde::Serialize;
use undertone_privacy::label::{LabelKind, LabelRandomizer, lower_bound_second_moment};
use undertone_privacy::{Epsilon, PrivacyError};

/// The learning problem: how far, how steep, how many people.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Problem {
    pub(crate) classes: u32,
    pub(crate) n: u64,
    pub(crate) radius: f64,
    pub(crate) lipschitz: f64,
}

impl Problem {
    /// R·L·√(second_moment/n).
    fn risk(&self, second_moment: f64) -> f64 {
        self.radius * self.lipschitz * (second_moment / self.n as f64).sqrt()
    }
}

/// What one mechanism would give.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Candidate {
    pub(crate) kind: &'static str,
    pub(crate) set_size: Option<u32>,
    pub(crate) second_moment: f64,
    pub(crate) risk_bound: f64,
    pub(crate) expected_report_bits: f64,
}

/// All mechanisms that need no prior, best first, beside what none can beat.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LabelPlan {
    #[serde(flatten)]
    pub(crate) problem: Problem,
    pub(crate) epsilon: f64,
    pub(crate) mechanisms: Vec<Candidate>,
    /// The second moment below which no mechanism can go
    pub(crate) lower_bound: f64,
    pub(crate) lower_bound_risk: f64,
    pub(crate) choice: &'static str,
}

/// Ranks the mechanisms for this problem under a promise of `epsilon`.
///
/// Mechanisms that differ only in how their integers were rounded count as equal, and the simpler comes first:
/// randomized response before subset selection with sets of one.
pub(crate) fn label_plan(problem: Problem, epsilon: Epsilon) -> Result<LabelPlan, PrivacyError> {
    let lower_bound = twelve_digits(lower_bound_second_moment(problem.classes, epsilon)?);
    let candidate = |kind: LabelKind| {
        let mechanism = kind.mechanism(problem.classes, epsilon)?;
        let second_moment = twelve_digits(mechanism.covariance().worst_case_second_moment());
        Ok(Candidate {
            kind: kind.name(),
            set_size: mechanism.set_size(),
            second_moment,
            risk_bound: problem.risk(second_moment),
            expected_report_bits: mechanism.expected_report_bits(),
        })
    };
    let symmetric = LabelKind::ALL.into_iter().filter(|kind| kind.is_symmetric());
    let mut mechanisms = symmetric.map(candidate).collect::<Result<Vec<_>, PrivacyError>>()?;
    // A stable sort keeps the order of the kinds among equals.
    mechanisms.sort_by(|a, b| a.second_moment.total_cmp(&b.second_moment));
    Ok(LabelPlan {
        problem,
        epsilon: epsilon.get(),
        choice: mechanisms[0].kind,
        mechanisms,
        lower_bound,
        lower_bound_risk: problem.risk(lower_bound),
    })
}

/// `value` to twelve significant digits.
fn twelve_digits(value: f64) -> f64 {
    // What was written as a number reads as one.
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(classes: u32, epsilon: f64) -> LabelPlan {
        let problem = Problem { classes, n: 10_000, radius: 2.0, lipschitz: 3.0 };
        label_plan(problem, Epsilon::new(epsilon).unwrap()).unwrap()
    }

    #[test]
    fn randomized_response_for_two_labels_has_the_bound_worked_out_by_hand() {
        // e^ε = 3: p = 3/4, V = 4·p·(1-p)/(2p-1)² = 3, so G² = 4 and the risk 2·3·√(4/10000)
        let plan = plan(2, 3f64.ln());
        assert_eq!(plan.choice, "rr");
        assert!((plan.mechanisms[0].second_moment - 4.0).abs() < 1e-9);
        assert!((plan.lower_bound - 4.0).abs() < 1e-9);
        assert!((plan.mechanisms[0].risk_bound - 0.12).abs() < 1e-9);
    }

    #[test]
    fn the_best_comes_first_and_nothing_goes_below_the_bound() {
        for classes in [2, 3, 5, 10, 100, 1000] {
            for epsilon in [1e-4, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 100.0] {
                let plan = plan(classes, epsilon);
                assert_eq!(plan.mechanisms.len(), 7);
                assert!(plan.mechanisms.is_sorted_by_key(|candidate| candidate.second_moment));
                assert!(plan.mechanisms[0].second_moment >= plan.lower_bound);
                assert!(["rr", "subset"].contains(&plan.choice), "K = {classes}, ε = {epsilon}");
                assert_eq!(plan.choice, plan.mechanisms[0].kind);
            }
        }
    }
}
