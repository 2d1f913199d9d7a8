//! Everything that can be said before anyone is asked, in one document.

use super::{Problem, Task};
use crate::LearnError;
use crate::nonparametric::TrustModel;
use serde::Serialize;

/// The plan of a [`Problem`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// What is learnt
    pub task: Task,
    /// Who has to be trusted
    pub trust: TrustModel,
    /// The excess risk, up to a constant
    pub rate: f64,
    /// The same without privacy
    pub non_private_rate: f64,
    /// h, of features on [0, 1]
    pub cell_width: f64,
    /// k, or the people expected in a cell where there are cells
    pub neighbours: u64,
    /// T, in units of the p-th root of the bounded moment; of bounded numbers the bound; null for classes
    pub clip: Option<f64>,
    /// The ε above which privacy no longer costs the most; null without privacy
    pub crossover_epsilon: Option<f64>,
    /// Whether γβ > d, so that no lower bound is known to match the rate
    pub upper_bound_only: bool,
    /// What is to be feared
    pub warnings: Vec<String>,
}

impl Plan {
    /// What follows from the theory; refuses what no theorem is about.
    pub fn new(problem: &Problem) -> Result<Self, LearnError> {
        problem.check()?;
        let width = problem.cell_width()?;
        let (n, d) = (problem.people as f64, f64::from(problem.dimension));
        let occupancy = n * width.powf(d);
        let local_numbers = problem.trust == TrustModel::LabelLocal && problem.task != Task::Classification;
        let plain_numbers = problem.trust == TrustModel::None && problem.task != Task::Classification;
        let neighbours = if local_numbers || plain_numbers {
            problem.regression_neighbours()?
        } else {
            occupancy.round().clamp(1.0, n)
        };
        Ok(Self {
            task: problem.task,
            trust: problem.trust,
            rate: problem.rate(),
            non_private_rate: problem.non_private_rate(),
            cell_width: width,
            neighbours: neighbours as u64,
            clip: problem.clip(neighbours),
            crossover_epsilon: problem.crossover(),
            upper_bound_only: problem.is_upper_bound_only(),
            warnings: warnings(problem, width, occupancy),
        })
    }
}

/// A cell has to hold 2·ln(2K)/s² reports to name its class, 8/ε² to give its mean.
fn warnings(problem: &Problem, width: f64, occupancy: f64) -> Vec<String> {
    let epsilon = problem.epsilon.get();
    let needed = match (problem.task, problem.trust) {
        (Task::Classification, TrustModel::LabelLocal) => {
            2.0 * (2.0 * f64::from(problem.classes)).ln() / (epsilon / 4.0).tanh().powi(2)
        }
        (_, TrustModel::LabelLocal) => 8.0 / (epsilon * epsilon),
        _ => 0.0,
    };
    let mut warnings = Vec::new();
    if width >= 1.0 || occupancy < needed {
        warnings.push("the dimension is too high for so few people at this ε: use fewer features".into());
    }
    if problem.is_upper_bound_only() {
        warnings.push("γβ exceeds the dimension: the rate is an upper bound only".into());
    }
    if epsilon > 10.0 && problem.trust != TrustModel::None {
        warnings.push(format!("ε = {epsilon} promises next to nothing"));
    }
    warnings
}
