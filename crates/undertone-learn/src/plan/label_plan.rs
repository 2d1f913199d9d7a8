//! Which label mechanism to choose, before anyone is asked.
//!
//! Stochastic gradient descent over n reports, from a start within R of the best point and with gradients of
//! length at most L, has with its best step the expected excess risk
//!
//! > E\[risk\] - best ≤ R·L·√((1 + V)/n)
//!
//! where 1 + V is the mechanism's worst-case second moment; the constant is one.

use super::{Geometry, Method, Options};
use crate::LearnError;
use serde::Serialize;
use undertone_privacy::Epsilon;
use undertone_privacy::label::{LabelKind, LabelRandomizer, lower_bound_second_moment};

/// The learning problem: how many labels, how many people, how far and how steep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// K
    pub classes: u32,
    /// How many people report
    pub n: u64,
    /// How far, how steep
    #[serde(flatten)]
    pub geometry: Geometry,
}

impl Problem {
    /// R₀·L·√(second_moment/n).
    pub fn risk(&self, second_moment: f64) -> f64 {
        self.geometry.radius * self.geometry.lipschitz * (second_moment / self.n as f64).sqrt()
    }

    /// The least n at which that is at most `risk`; none if no number is enough.
    pub fn people_for(&self, second_moment: f64, risk: f64) -> Option<u64> {
        let n = second_moment * (self.geometry.radius * self.geometry.lipschitz / risk).powi(2);
        // `as` saturates, and more than 2^53 people are not to be had.
        (risk > 0.0 && n < 9e15).then(|| (n * (1.0 - 1e-12)).ceil().max(1.0) as u64)
    }
}

/// What one label mechanism would give.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Its name
    pub kind: &'static str,
    /// The labels in a report, if their number is fixed
    pub set_size: Option<u32>,
    /// 1 + V
    pub second_moment: f64,
    /// R₀·L·√((1 + V)/n)
    pub risk_bound: f64,
    /// The size of a report whose members are written out
    pub expected_report_bits: f64,
    /// How many people reach the target, if one was given and any number does
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_needed: Option<u64>,
}

/// All mechanisms that need no prior, best first, beside what none can beat, and all methods.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelPlan {
    /// What was asked
    #[serde(flatten)]
    pub problem: Problem,
    /// ε
    pub epsilon: f64,
    /// The label mechanisms, best first
    pub mechanisms: Vec<Candidate>,
    /// The second moment below which no mechanism can go
    pub lower_bound: f64,
    /// R₀·L·√(lower bound/n)
    pub lower_bound_risk: f64,
    /// The first of the mechanisms
    pub choice: &'static str,
    /// The excess risk that is wanted
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
    /// Every way to learn, by its predicted excess risk, best first
    pub methods: Vec<Method>,
}

/// Ranks the mechanisms and methods for this problem under a promise of `epsilon`.
///
/// Mechanisms that differ only in how their integers were rounded count as equal, and the simpler comes first:
/// randomized response before subset selection with sets of one.
pub fn label_plan(problem: Problem, epsilon: Epsilon, options: &Options) -> Result<LabelPlan, LearnError> {
    let lower_bound = twelve_digits(lower_bound_second_moment(problem.classes, epsilon)?);
    let target = options.target;
    if let Some(value) = target.filter(|target| !(*target > 0.0 && target.is_finite())) {
        return Err(LearnError::Parameter { what: "the target", value, expected: "positive and finite" });
    }
    let candidate = |kind: LabelKind| {
        let mechanism = kind.mechanism(problem.classes, epsilon)?;
        let second_moment = twelve_digits(mechanism.covariance().worst_case_second_moment());
        Ok(Candidate {
            kind: kind.name(),
            set_size: mechanism.set_size(),
            second_moment,
            risk_bound: problem.risk(second_moment),
            expected_report_bits: mechanism.expected_report_bits(),
            n_needed: target.and_then(|target| problem.people_for(second_moment, target)),
        })
    };
    let symmetric = LabelKind::ALL.into_iter().filter(|kind| kind.is_symmetric());
    let mut mechanisms = symmetric.map(candidate).collect::<Result<Vec<_>, LearnError>>()?;
    // A stable sort keeps the order of the kinds among equals.
    mechanisms.sort_by(|a, b| a.second_moment.total_cmp(&b.second_moment));
    let named = |candidate: &Candidate| {
        Method::of_mechanism(candidate.kind, candidate.second_moment, &problem, target)
    };
    let mut methods: Vec<Method> = mechanisms.iter().map(named).collect();
    methods.extend(Method::others(&problem, epsilon, options)?);
    methods.sort_by(|a, b| a.risk_bound.total_cmp(&b.risk_bound));
    Ok(LabelPlan {
        problem,
        epsilon: epsilon.get(),
        choice: mechanisms[0].kind,
        mechanisms,
        lower_bound,
        lower_bound_risk: problem.risk(lower_bound),
        target,
        methods,
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

    fn plan_with(classes: u32, epsilon: f64, options: &Options) -> LabelPlan {
        let problem = Problem { classes, n: 10_000, geometry: Geometry::new(2.0, 3.0).unwrap() };
        label_plan(problem, Epsilon::new(epsilon).unwrap(), options).unwrap()
    }

    fn plan(classes: u32, epsilon: f64) -> LabelPlan {
        plan_with(classes, epsilon, &Options::default())
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

    #[test]
    fn as_many_people_as_needed_reach_the_target_and_one_fewer_does_not() {
        let options = Options { target: Some(0.05), ..Options::default() };
        for classes in [2, 10, 100] {
            let plan = plan_with(classes, 1.0, &options);
            for Candidate { kind, second_moment, n_needed, .. } in &plan.mechanisms {
                let n = n_needed.unwrap();
                let risk = |n| Problem { n, ..plan.problem }.risk(*second_moment);
                assert!(risk(n) <= 0.05 * (1.0 + 1e-12) && risk(n - 1) > 0.05, "{kind}: {n}");
            }
        }
    }

    #[test]
    fn every_method_has_its_bound() {
        let options = Options {
            delta: Some(undertone_privacy::Delta::new(1e-6).unwrap()),
            top: Some((3, 0.001)),
            target: Some(0.2),
        };
        let plan = plan_with(10, 1.0, &options);
        let find = |name: &str| plan.methods.iter().find(|method| method.name == name).unwrap();
        assert_eq!(plan.methods.len(), 11);
        assert!(plan.methods.is_sorted_by_key(|method| method.risk_bound));
        // printed as 62.63 for dimension K - 1, low by up to 1/(1 + B²)
        let duchi = find("vectors, duchi");
        assert!((duchi.second_moment - 62.63).abs() < 0.03 && duchi.simulation_only && duchi.interactive);
        let top = find("Algorithm 1, rr-top-k of 3");
        // 2·D·L·miss = 2·4·3/1000
        assert!((top.bias - 0.024).abs() < 1e-12 && top.risk_bound < plan.mechanisms[0].risk_bound);
        assert!(find("LP-Normal-SGD").delta.is_some() && find("vectors, codebook").interactive);
        let gaussian = find("LP-Normal-SGD").second_moment;
        let mu = undertone_privacy::accounting::mu_for(Epsilon::new(1.0).unwrap(), options.delta.unwrap());
        assert!((gaussian - (1.0 + 9.0 * 4.0 / mu.unwrap().get().powi(2))).abs() < 1e-9);
    }

    #[test]
    fn no_number_of_people_overcomes_a_bias_above_the_target() {
        let options = Options { top: Some((1, 0.1)), target: Some(0.5), ..Options::default() };
        let plan = plan_with(10, 1.0, &options);
        let top = plan.methods.iter().find(|method| method.bias > 0.0).unwrap();
        assert!(top.bias > 0.5 && top.n_needed.is_none());
    }

    #[test]
    fn a_share_or_a_target_that_is_none_is_refused() {
        let problem = Problem { classes: 4, n: 10, geometry: Geometry::new(1.0, 1.0).unwrap() };
        let refused = |options: Options| label_plan(problem, Epsilon::new(1.0).unwrap(), &options).is_err();
        assert!(refused(Options { top: Some((2, 1.5)), ..Options::default() }));
        assert!(refused(Options { top: Some((5, 0.5)), ..Options::default() }));
        assert!(refused(Options { target: Some(0.0), ..Options::default() }));
    }
}
