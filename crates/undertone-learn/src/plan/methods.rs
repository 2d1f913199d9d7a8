//! The predicted excess risk of each method, not of label mechanisms alone.
//!
//! | method | second moment G²/L² | bias |
//! |---|---|---|
//! | Algorithm 1 with a label mechanism | 1 + V | – |
//! | the same among k likely labels (Corollary 10) | 1 + V at k | 2·D·L·P(y ∉ Y_k) |
//! | LP-Normal-SGD at (ε, δ) | 1 + (K-1)·(Δ/(L·μ))² | – |
//! | vectors asked for in turn (Appendix B) | B² + 1/(1 + B²) | – |
//!
//! The risk is R₀·L·√(G²/L²/n) + bias, and n = (R₀·L/(target - bias))²·G²/L² people reach a target.

use super::{Geometry, Problem};
use crate::LearnError;
use crate::convex::{LabelSgd, NormalSgd, VectorSgd};
use serde::Serialize;
use undertone_privacy::{Delta, Epsilon};

/// What is known beyond K, ε, n and the geometry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// δ, for Gaussian noise
    pub delta: Option<Delta>,
    /// k likely labels are known for everybody, and this share of people hold another
    pub top: Option<(u32, f64)>,
    /// The excess risk that is wanted
    pub target: Option<f64>,
}

/// What one method would give.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Method {
    /// Its name
    pub name: String,
    /// Whether people are asked one after the other, each about the current model
    pub interactive: bool,
    /// Whether what is reported is made of floats and may not leave a device
    pub simulation_only: bool,
    /// δ, if the promise has one
    pub delta: Option<f64>,
    /// G²/L²
    pub second_moment: f64,
    /// What remains however many report
    pub bias: f64,
    /// R₀·G/√n + bias
    pub risk_bound: f64,
    /// How many people reach the target, if any number does
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_needed: Option<u64>,
}

impl Method {
    fn new(
        name: impl Into<String>,
        second_moment: f64,
        bias: f64,
        problem: &Problem,
        target: Option<f64>,
    ) -> Self {
        Self {
            name: name.into(),
            interactive: false,
            simulation_only: false,
            delta: None,
            second_moment,
            bias,
            risk_bound: problem.risk(second_moment) + bias,
            n_needed: target.and_then(|target| problem.people_for(second_moment, target - bias)),
        }
    }

    /// All methods beside Algorithm 1 with a symmetric label mechanism, in no order.
    pub(super) fn others(
        problem: &Problem,
        epsilon: Epsilon,
        options: &Options,
    ) -> Result<Vec<Self>, LearnError> {
        let Geometry { lipschitz, diameter, sensitivity, .. } = problem.geometry;
        let dimension = problem.classes as usize - 1;
        let mut methods = Vec::new();
        if let Some((size, miss)) = options.top {
            if !(0.0..=1.0).contains(&miss) {
                let expected = "a share between 0 and 1";
                return Err(LearnError::Parameter { what: "the missed share", value: miss, expected });
            }
            let sgd = LabelSgd::top_k(problem.classes, (0..size).collect(), epsilon)?;
            let bias = LabelSgd::miss_bias(diameter, lipschitz, miss);
            let name = format!("Algorithm 1, rr-top-k of {size}");
            methods.push(Self::new(name, sgd.second_moment(), bias, problem, options.target));
        }
        if let Some(delta) = options.delta {
            let moment = NormalSgd::new(epsilon, delta)?.second_moment(dimension, sensitivity / lipschitz);
            methods.push(Self {
                interactive: true,
                delta: Some(delta.get()),
                ..Self::new("LP-Normal-SGD", moment, 0.0, problem, options.target)
            });
        }
        let duchi = VectorSgd::simulated_duchi(dimension, epsilon)?.worst_case_second_moment();
        methods.push(Self {
            interactive: true,
            simulation_only: true,
            ..Self::new("vectors, duchi", duchi, 0.0, problem, options.target)
        });
        // An ε too small for 64-bit words to keep is no reason to have no plan.
        if let Ok(codebook) = VectorSgd::codebook(dimension, epsilon) {
            let moment = codebook.worst_case_second_moment();
            let method = Self::new("vectors, codebook", moment, 0.0, problem, options.target);
            methods.push(Self { interactive: true, ..method });
        }
        Ok(methods)
    }

    /// Algorithm 1 with the mechanism `kind`.
    pub(super) fn of_mechanism(
        kind: &str,
        second_moment: f64,
        problem: &Problem,
        target: Option<f64>,
    ) -> Self {
        Self::new(format!("Algorithm 1, {kind}"), second_moment, 0.0, problem, target)
    }
}
