//! What is to be minimised, and who judges it.

use undertone_learn::moments::MarginLoss;
use undertone_learn::moments::study::Sample;

/// A loss on a ball.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Problem {
    pub(in super::super) loss: MarginLoss,
    /// Whether R is 4√p, so that margins reach beyond one, instead of 1
    pub(in super::super) large: bool,
    pub(in super::super) covariates: usize,
    /// The first covariate, where it is the same for everybody
    pub(in super::super) constant: Option<f64>,
}

impl Problem {
    /// R.
    pub(in super::super) fn radius(&self) -> f64 {
        if self.large { 4.0 * (self.covariates as f64).sqrt() } else { 1.0 }
    }

    /// In words.
    pub(in super::super) fn name(&self) -> String {
        let loss = match self.loss {
            MarginLoss::Logistic => "logistic",
            MarginLoss::Hinge => "hinge",
            MarginLoss::Squared => "squared",
        };
        format!("{loss}, R = {}, p = {}", if self.large { "4√p" } else { "1" }, self.covariates)
    }
}

/// People who did not report, and the least that anybody could lose on them.
pub(in super::super) struct Judge<'a> {
    pub(in super::super) problem: Problem,
    test: &'a Sample,
    least: f64,
}

impl<'a> Judge<'a> {
    pub(in super::super) fn new(problem: Problem, test: &'a Sample) -> Self {
        let least = test.risk(problem.loss, &test.optimum(problem.loss, problem.radius()));
        Self { problem, test, least }
    }

    /// The risk of w above the least.
    pub(in super::super) fn excess(&self, w: &[f64]) -> f64 {
        self.test.risk(self.problem.loss, w) - self.least
    }

    /// That of w = 0.
    pub(in super::super) fn constant(&self) -> f64 {
        self.excess(&vec![0.0; self.problem.covariates])
    }
}
