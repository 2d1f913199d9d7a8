//! What makes a network of reports: alone, or stage after stage.
//!
//! A [`NetTrainer`] is a [`Trainer`], so that [`MultiStage`](undertone_learn::stages::MultiStage) runs LP-MST with networks: shares of the stages, temperature, warm
//! start and filter are its options. The trainer sees [`Examples`](undertone_learn::Examples), in which no true label can be.

use crate::model::{NetModel, Saved};
use crate::training::{Dataset, Hooks, Scale, Training, fit};
use crate::{Architecture, NetError};
use std::path::PathBuf;
use undertone_learn::stages::Trainer;
use undertone_learn::{LearnError, Source};

/// How far training has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Epochs that are over
    pub epoch: usize,
    /// Epochs there are to be at most
    pub epochs: usize,
    /// The mean loss of the last epoch
    pub loss: f64,
    /// By how many nats reports that were kept aside are likelier than under even chances, if some were kept aside
    pub report_likelihood: Option<f64>,
}

/// Trains networks of one architecture.
#[derive(Clone)]
pub struct NetTrainer<'a> {
    /// What they look like
    pub architecture: Architecture,
    /// K
    pub classes: usize,
    /// How they are trained
    pub training: Training,
    /// How they are trained from the weights of an earlier stage, if otherwise
    pub later: Option<Training>,
    /// A folder for checkpoints. What was interrupted goes on from there, what has ended is not done again.
    pub checkpoints: Option<PathBuf>,
    /// Is told after each epoch
    pub progress: Option<&'a dyn Fn(&Progress)>,
}

impl NetTrainer<'_> {
    /// Without checkpoints, and in silence.
    pub fn new(architecture: Architecture, classes: usize, training: Training) -> Self {
        Self { architecture, classes, training, later: None, checkpoints: None, progress: None }
    }

    /// A network of these examples, from the weights of `start` if there is one.
    pub fn fit(&self, examples: &mut dyn Source, start: Option<&NetModel>) -> Result<NetModel, NetError> {
        let network = self.architecture.network(self.classes)?;
        let training = start.and(self.later.as_ref()).unwrap_or(&self.training);
        let scale = match start {
            Some(start) => Some(start.saved.scale),
            None => self.architecture.takes_names().then_some(Scale::NONE),
        };
        let shape = (network.inputs(), self.classes);
        let data = Dataset::read(examples, shape, training.loss, training.patience.is_some(), scale)?;
        let weights = match start {
            Some(start) if start.network != network => {
                let (found, expected) = (start.weights().len(), network.weights());
                return Err(NetError::Shape { what: "the network to start from", found, expected });
            }
            Some(start) => start.weights().to_vec(),
            None => network.initial(training.seed),
        };
        let hooks = Hooks { progress: self.progress, checkpoints: self.checkpoints.as_deref() };
        let weights = fit(&network, self.architecture.image(), training, &data, weights, hooks)?;
        let architecture = self.architecture.clone();
        NetModel::new(Saved { architecture, classes: self.classes, scale: data.scale, weights })
    }
}

impl Trainer for NetTrainer<'_> {
    type Model = NetModel;

    fn train(&self, examples: &mut dyn Source, start: Option<&NetModel>) -> Result<NetModel, LearnError> {
        Ok(self.fit(examples, start)?)
    }
}
