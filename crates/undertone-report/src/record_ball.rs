//! What the noise of a task about whole records is made of, as its document states it.
//!
//! Nobody takes it from there. It follows from the loss, the weights and the promise; a device computes it from those, and does
//! not answer a document that states anything else, by one bit. So whoever reads a document knows what devices do, and programs
//! that would compute it differently, whose estimates would be wrong, find out before the first report.

use crate::{Task, TaskError};
use serde::{Deserialize, Serialize};
use undertone_privacy::vector::{Noise, STEPS, VectorMechanism};

/// The ball of all gradients, its grid, and the noise on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BallWords {
    /// The last coordinate of its centre; all others are zero
    pub centre: f64,
    /// r, half of the largest distance between the gradients of two records
    pub radius: f64,
    /// Steps of the grid from the centre to the sphere
    pub steps: u32,
    /// Of each tier: the scale of the noise in steps, or of a codebook the probability that a codeword is one of the best
    pub noise: Vec<f64>,
}

impl BallWords {
    /// What follows from the words of a task.
    pub fn of(task: &Task) -> Result<Self, TaskError> {
        let around = task.record_model()?.ball()?;
        let own = [task.mechanism.level()];
        let tiers = task.collection.as_ref().map_or(&own[..], |collection| &collection.tiers);
        let noise = tiers.iter().map(|&level| Ok(noise(&task.vector_mechanism(level)?)));
        Ok(Self {
            centre: around.centre.last().copied().unwrap_or_default(),
            radius: around.ball.radius(),
            steps: STEPS,
            noise: noise.collect::<Result<_, TaskError>>()?,
        })
    }

    /// Refuses what does not follow from the words of `task`.
    pub(crate) fn check(&self, task: &Task) -> Result<(), TaskError> {
        let own = Self::of(task)?;
        let differs = |what: &str, stated: &[f64], own: &[f64]| {
            let problem = format!("states {what} {stated:?}, and {own:?} follows from the task");
            Err(TaskError::Record { field: "ball", problem })
        };
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        for (what, stated, own) in [
            ("the centre", &[self.centre][..], &[own.centre][..]),
            ("the radius", &[self.radius], &[own.radius]),
            ("the steps", &[f64::from(self.steps)], &[f64::from(own.steps)]),
            ("the noise", &self.noise, &own.noise),
        ] {
            if bits(stated) != bits(own) {
                return differs(what, stated, own);
            }
        }
        Ok(())
    }
}

fn noise(mechanism: &VectorMechanism) -> f64 {
    match mechanism {
        VectorMechanism::Laplace(laplace) => laplace.noise().width(),
        VectorMechanism::Gaussian(gaussian) | VectorMechanism::Gdp(gaussian) => gaussian.noise().width(),
        VectorMechanism::DiscreteGaussian(gaussian) => gaussian.noise().width(),
        VectorMechanism::Codebook(codebook) => codebook.keep().probability(),
        // No task has any of these.
        VectorMechanism::L2Laplace(_) | VectorMechanism::Duchi(_) | VectorMechanism::PrivUnit(_) => f64::NAN,
    }
}

impl Task {
    /// The same task, stating what its noise is made of; a task about labels as it is.
    pub fn stating_its_noise(mut self) -> Result<Self, TaskError> {
        if self.record.is_some() {
            let ball = BallWords::of(&self)?;
            self.record.iter_mut().for_each(|record| record.ball = ball.clone());
        }
        Ok(self)
    }
}
