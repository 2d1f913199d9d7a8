//! What is learnt from whom, by which method.

use super::{circle, classes, numbers, pareto, waves};
use crate::LearnError;
use crate::evaluation::{Figure, mean};
use crate::nonparametric::TrustModel;
use crate::nonparametric::rates::{Plan, Problem, Task};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use serde::Serialize;
use undertone_privacy::Epsilon;

/// A cell of Table I: what is learnt, who is trusted, in how many dimensions, under which promise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// What is learnt
    pub task: Task,
    /// Devices or a curator; features are public
    pub trust: TrustModel,
    /// d
    pub dimension: u32,
    /// The promise
    pub epsilon: Epsilon,
    /// The recommended width of cells, or number of neighbours, is multiplied by this
    pub constant: f64,
}

/// How it is learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The learner of this crate with the mechanism that measures best
    Ours,
    /// The paper's estimator with the paper's choices
    Printed,
    /// A curator who keeps features private, too, as we do it
    Full,
    /// The same as printed
    FullPrinted,
    /// No privacy
    NonPrivate,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Ours, Self::Printed, Self::Full, Self::FullPrinted, Self::NonPrivate];

    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Printed => "as printed",
            Self::Full => "full DP",
            Self::FullPrinted => "full DP as printed",
            Self::NonPrivate => "not private",
        }
    }
}

impl Setting {
    /// The problem as the theory sees it.
    pub fn problem(&self, people: u64) -> Problem {
        let Self { task, trust, dimension, epsilon, .. } = *self;
        let (beta, gamma) = if task == Task::Classification { (1.0, 1.0) } else { (waves::BETA, 0.0) };
        let moments = if task == Task::Heavy { pareto::ORDER } else { f64::INFINITY };
        let classes = circle::CLASSES as u32;
        Problem { task, trust, people, epsilon, dimension, beta, gamma, moments, classes }
    }

    /// The recommended width, times the constant; below one.
    pub(super) fn width(&self, people: u64) -> Result<f64, LearnError> {
        Ok((self.constant * Plan::new(&self.problem(people))?.cell_width).min(0.999))
    }

    /// The excess risk of each method on `people` who are the same for all of them. What is drawn depends on seed, people and
    /// repetition alone.
    pub fn excess(
        &self,
        people: u64,
        methods: &[Method],
        seed: u64,
        repetition: u64,
    ) -> Result<Vec<f64>, LearnError> {
        let mut rng = generator(seed, people, repetition);
        match self.task {
            Task::Classification => classes::excess(self, people, methods, &mut rng),
            Task::Regression | Task::Heavy => numbers::excess(self, people, methods, &mut rng),
        }
    }

    /// The same on all processors, averaged; `progress` is told of each repetition.
    pub fn excesses(
        &self,
        people: u64,
        methods: &[Method],
        repetitions: u64,
        seed: u64,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Vec<Figure>, LearnError> {
        let one = |repetition| {
            let found = self.excess(people, methods, seed, repetition);
            progress();
            found
        };
        let runs = (0..repetitions).into_par_iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let figure = |method| mean(&runs.iter().map(|run: &Vec<f64>| run[method]).collect::<Vec<_>>());
        Ok((0..methods.len()).map(figure).collect())
    }
}

/// A stream for each repetition with so many people.
pub(super) fn generator(seed: u64, people: u64, repetition: u64) -> ChaCha12Rng {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    rng.set_stream(people.rotate_left(20) ^ repetition);
    rng
}
