//! One pass over reports: SIGM along the gradients of an oracle, everybody used once.
//!
//! The paper draws people with replacement. A person's noise is drawn once and for all, so that using it twice breaks the
//! independence that the method rests on, and a third of the people is never used; here reports are taken as they come, the mean
//! gradient of some at each step.

use super::{Sigm, SlopeOracle};
use crate::LearnError;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_privacy::Unbiased;
use undertone_privacy::vector::GaussianCopies;

/// What a descent has to know beside its oracle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DescentOptions {
    /// q, from 1 to 2
    pub order: f64,
    /// How many reports make one gradient
    pub batch: u64,
    /// σ, the root of the second moment of the noise of one report's gradient
    pub noise: f64,
    /// β, the smoothness of the risk
    pub smoothness: f64,
    /// Of the kinks of a mixture
    pub seed: u64,
}

/// Reports of copies become weights.
pub struct CopiesDescent {
    mechanism: GaussianCopies,
    oracle: SlopeOracle,
    batch: u64,
    sigm: Sigm,
    gradient: Vec<f64>,
    waiting: u64,
    rng: ChaCha12Rng,
}

impl CopiesDescent {
    /// Before any report of `mechanism`, whose copies have to be those that the oracle multiplies.
    pub fn new(
        mechanism: GaussianCopies,
        oracle: SlopeOracle,
        options: DescentOptions,
    ) -> Result<Self, LearnError> {
        if mechanism.inner() != oracle.inner() {
            return Err(LearnError::Columns { found: mechanism.inner(), expected: oracle.inner() });
        }
        let batch = options.batch.max(1);
        let p = mechanism.ball().dimension();
        let noise = options.noise / (batch as f64).sqrt();
        let sigm = Sigm::new(p, options.order, options.smoothness, noise, oracle.radius())?;
        let rng = ChaCha12Rng::seed_from_u64(options.seed);
        Ok(Self { mechanism, oracle, batch, sigm, gradient: vec![0.0; p], waiting: 0, rng })
    }

    /// Takes one more report.
    pub fn observe(&mut self, report: &Vec<i64>) -> Result<(), LearnError> {
        let p = self.gradient.len();
        let expected = (1 + self.oracle.inner()) * p;
        if report.len() != expected {
            return Err(LearnError::Columns { found: report.len(), expected });
        }
        let copies = self.mechanism.estimate(report);
        self.oracle.add_gradient(&copies, self.sigm.point(), &mut self.gradient, &mut self.rng);
        self.waiting += 1;
        if self.waiting == self.batch {
            let scale = 1.0 / self.batch as f64;
            for g in &mut self.gradient {
                *g *= scale;
            }
            self.sigm.step(&self.gradient);
            self.gradient.fill(0.0);
            self.waiting = 0;
        }
        Ok(())
    }

    /// The weights so far.
    pub fn weights(&self) -> &[f64] {
        self.sigm.answer()
    }
}
