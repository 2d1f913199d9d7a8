//! One run: from what is public and what devices answer to a model.

use super::networks::{NetTrainer, Progress, training};
use super::people::{Learnt, Public, Raters};
use super::ratings;
use super::setting::{Set, Setting};
use anyhow::Context;
use std::path::Path;
use undertone_learn::Examples;
use undertone_learn::labels::{Channel, LabelVectors};
use undertone_learn::represented::Seen;
use undertone_learn::stages::{Asking, Devices, MultiStage};
use undertone_privacy::label::LabelMechanism;

/// What a run is given besides people.
pub(super) struct Circumstances<'a> {
    /// Those who are asked as their features show them; networks do without
    pub(super) seen: Option<&'a Seen>,
    /// A folder for checkpoints of this run alone
    pub(super) checkpoints: &'a Path,
    /// Is told after each epoch
    pub(super) tell: &'a dyn Fn(&Progress),
}

/// What is learnt of people in a setting.
pub(super) fn learn(
    setting: &Setting,
    public: &Public,
    devices: &mut dyn Raters,
    circumstances: &Circumstances<'_>,
) -> anyhow::Result<Learnt> {
    if setting.method.stages().is_some() {
        return published(setting, public, devices, circumstances);
    }
    match setting.set {
        Set::Ratings => ratings::factors(setting.epsilon.epsilon()?, public, devices),
        Set::Mnist | Set::Fashion | Set::Synthetic => {
            let reports = reports(setting, public, devices)?;
            let seen = circumstances.seen.context("our default looks at everybody's features first")?;
            Ok(Learnt::Labels(Box::new(seen.model(&reports, public.classes as usize, &())?)))
        }
    }
}

/// Stages with warm start and filter, reports taken as labels, as in the paper's appendix B.
fn published(
    setting: &Setting,
    public: &Public,
    devices: &mut dyn Raters,
    circumstances: &Circumstances<'_>,
) -> anyhow::Result<Learnt> {
    let fractions = setting.fractions();
    let plan = MultiStage {
        temperature: setting.temperature.unwrap_or(1.0),
        warm_start: true,
        filter: true,
        ..MultiStage::as_published(public.classes, setting.epsilon.epsilon()?, &fractions)
    };
    let trainer = trainer(setting, public, setting.mixup, circumstances)?;
    // What was asked with a prior is less noisy, and needs less of it.
    let later = training(setting, setting.mixup.map(|alpha| alpha / 2.0));
    let trainer = NetTrainer { later: Some(later), ..trainer };
    let mut staged = plan.run(std::slice::from_ref(&public.rows), devices, &trainer)?;
    Ok(Learnt::Labels(Box::new(staged.models.pop().context("a plan has a stage at least")?)))
}

fn trainer<'a>(
    setting: &Setting,
    public: &Public,
    mixup: Option<f64>,
    circumstances: &Circumstances<'a>,
) -> anyhow::Result<NetTrainer<'a>> {
    let network = setting.network.context("a setting with a network has its name")?;
    let (architecture, classes) = (network.architecture(public)?, public.classes as usize);
    let trainer = NetTrainer {
        checkpoints: Some(circumstances.checkpoints.to_owned()),
        progress: Some(circumstances.tell),
        ..NetTrainer::new(architecture, classes, training(setting, mixup))
    };
    trainer.check(public.rows.len() as u64).map_err(|error| error.helped_by(HELPS))?;
    Ok(trainer)
}

/// A study has no options for memory and batches.
const HELPS: &str = "ask fewer people (--people), or, of images, take a smaller network (--network)";

/// Everybody's report, by the best mechanism that treats all labels alike.
fn reports(setting: &Setting, public: &Public, devices: &mut dyn Devices) -> anyhow::Result<Examples> {
    let mechanism = LabelMechanism::best(public.classes, setting.epsilon.epsilon()?)?;
    let channel = Channel::of_mechanism(&mechanism);
    let mut asking = Asking::new(devices);
    let (mut unbiased, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
    for person in 0..public.rows.len() as u64 {
        let report = &asking.ask(person, 0, &mechanism)?.report;
        channel.push_unbiased(report.members(), &[], &mut unbiased)?;
        channel.push_likelihood(report.members(), &[], &mut likelihood)?;
    }
    Ok(Examples { rows: public.rows.clone(), unbiased, likelihood, ..Examples::default() })
}
