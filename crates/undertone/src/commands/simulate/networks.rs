//! Networks, alone and in stages.

use super::data::Data;
use super::methods::{StageOptions, Taken};
use super::staged::run;
use rand_chacha::ChaCha12Rng;
use undertone_learn::networks::{Loss, NetKind, NetTrainer, Training};
use undertone_learn::stages::MultiStage;
use undertone_learn::{Examples, LearnError, Predictor};
use undertone_privacy::Epsilon;

impl Taken {
    fn net_loss(self) -> Loss {
        match self {
            Self::Likelihood => Loss::Forward,
            Self::Debiased => Loss::Debiased,
            Self::Posterior => Loss::Soft,
            Self::Naive => Loss::Plain,
        }
    }
}

fn trainer(kind: NetKind, taken: Taken, data: &Data, seed: u64) -> Result<NetTrainer<'static>, LearnError> {
    let training = kind.training(data.rows.len() as u64, None, taken.net_loss(), seed);
    kind.trainer(&data.encoder, data.classes, training)
}

/// Of reports that are there.
pub(super) fn network(
    mut people: Vec<Examples>,
    kind: NetKind,
    taken: Taken,
    data: &Data,
    seed: u64,
) -> Result<Predictor, LearnError> {
    let model = trainer(kind, taken, data, seed)?.fit(&mut people, None)?;
    Ok(Predictor::Network(Box::new(model)))
}

/// As published: reports are believed, all of them are trained on to the end, and two people are mixed, the less the later the stage.
pub(super) fn network_stages(
    data: &Data,
    epsilon: Epsilon,
    count: usize,
    kind: NetKind,
    options: &StageOptions,
    seed: u64,
    rng: &mut ChaCha12Rng,
) -> Result<Predictor, LearnError> {
    let fractions = vec![1.0 / count as f64; count];
    let plan = options.apply(MultiStage::as_published(data.classes as u32, epsilon, &fractions));
    let usual = trainer(kind, Taken::Naive, data, seed)?;
    let mixed = |alpha| Training { mixup: Some(alpha), patience: None, ..usual.training.clone() };
    let trainer = NetTrainer { later: Some(mixed(2.0)), training: mixed(4.0), ..usual.clone() };
    Ok(Predictor::Network(Box::new(run(data, plan, &trainer, rng)?)))
}
