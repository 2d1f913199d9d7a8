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
    let people = data.rows.len() as u64;
    let training = kind.training(people, None, taken.net_loss(), seed);
    let trainer = kind.trainer(&data.encoder, data.classes, training)?;
    let trainer = NetTrainer { bytes: data.limits.bytes, ..trainer };
    trainer.check(people).map_err(|error| error.helped_by(HELPS))?;
    Ok(trainer)
}

/// A simulation has no option for batches.
const HELPS: &str = "allow more (--memory), make fewer features (--buckets, --column NAME=skip), or take other methods (--method)";

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

/// As published: reports are believed, all of them are trained on to the end, and two people are mixed: less where a later stage starts from the
/// network of the one before, and as much where it begins anew.
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

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_learn::networks::Architecture;

    #[test]
    fn what_does_not_fit_is_told_with_what_helps_here() {
        let architecture = Architecture::Mlp { inputs: 1 << 10, hidden: vec![] };
        let training = NetKind::Mlp.training(10, None, Loss::Forward, 1);
        let trainer = NetTrainer { bytes: 3 << 20, ..NetTrainer::new(architecture, 2, training) };
        let told = trainer.check(1000).map_err(|error| error.helped_by(HELPS)).unwrap_err().to_string();
        assert!(
            told.contains("a network of 1000 people needs ") && told.contains(" and 3 MB are allowed"),
            "{told}"
        );
        assert!(
            told.contains("--memory") && told.contains("--method") && !told.contains("--batch"),
            "{told}"
        );
    }
}
