//! `demo`: the whole story in one process, until there is a collector to tell it over the network.

mod audit;
mod comparison;
mod story;

use crate::exit::Usage;
use crate::finding::Outcome;
use crate::{arguments, nursery, output, randomness};
use anyhow::{Context, ensure};
use rand_core::CryptoRng;
use std::io::Write;
use story::Story;
use undertone_learn::labels::{LabelShares, Share};
use undertone_privacy::label::{
    Label, LabelKind, LabelMechanism, LabelRandomizer, LabelSet, ReportColumn, SubsetSelection,
};
use undertone_privacy::{Epsilon, PrivacyError};

/// Devices that report at a time.
const BATCH: usize = 1000;

/// See the whole story in a few seconds: simulated devices report, shares are learnt, the promise is audited
///
/// Each row of a small public table plays one device, which randomizes its label before anything leaves it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone demo --epsilon 0.5")]
pub(crate) struct Demo {
    /// ε, the promise to each device
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true, default_value = "1")]
    epsilon: Epsilon,
    /// Repeat a simulation exactly; without it, randomness comes from the operating system
    #[arg(long, value_name = "SEED", value_parser = arguments::seed)]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let labels = nursery::labels()?;
        let classes = nursery::CLASSES.len() as u32;
        let mechanism = best_for_shares(classes, self.epsilon).map_err(Usage::new)?;
        let mut rng = randomness::generator(self.seed)?;
        let collection = Collection::gather(&mechanism, &labels, &mut rng)?;
        let comparison = comparison::compare(&mechanism, &labels, &mut rng)?;
        let audit = audit::audit(kind_of(&mechanism), &mechanism, &mut rng)?;
        let story = Story::new(self, &mechanism, &labels, &collection, comparison, audit);
        if self.json {
            output::json(&story, out)?;
        } else {
            story.tell(&mechanism, &labels, &collection, out)?;
        }
        ensure!(story.audit.verdict == Outcome::Kept, "the promise is broken");
        Ok(())
    }
}

/// What a collector has when all devices have reported.
struct Collection {
    /// The report of the first device
    example: LabelSet,
    shares: Vec<Share>,
    /// The widest margin of a 95 % interval, after so many reports
    progress: Vec<(u64, f64)>,
}

impl Collection {
    /// Lets each device randomize its label, batch by batch, and learns from the reports alone.
    fn gather(
        mechanism: &LabelMechanism,
        labels: &[Label],
        rng: &mut impl CryptoRng,
    ) -> anyhow::Result<Self> {
        let mut learner = LabelShares::new(mechanism);
        let mut column = ReportColumn::new();
        let (mut example, mut progress) = (None, Vec::new());
        for devices in labels.chunks(BATCH) {
            column.clear();
            mechanism.randomize_column(devices, &mut column, rng)?;
            learner.observe(&column);
            example = example.or_else(|| column.iter().next().map(|members| LabelSet::new(members.to_vec())));
            let widest = learner.shares().iter().map(Share::margin).fold(0.0, f64::max);
            progress.push((learner.reports(), widest));
        }
        let example = example.context("nobody has reported")?;
        Ok(Self { example, shares: learner.shares(), progress })
    }
}

/// The share of each label among `labels`.
fn true_shares(labels: &[Label]) -> Vec<f64> {
    let holders = |class: u32| labels.iter().filter(|label| label.0 == class).count();
    (0..nursery::CLASSES.len() as u32).map(|class| holders(class) as f64 / labels.len() as f64).collect()
}

/// The mechanism for counting: sets of the size of least trace variance, to which the error of all shares together is
/// proportional. Learning by gradients depends on the worst case instead, for which another size may be best.
fn best_for_shares(labels: u32, epsilon: Epsilon) -> Result<LabelMechanism, PrivacyError> {
    let trace = |mechanism: &LabelMechanism| mechanism.covariance().trace();
    let mut best = LabelKind::Rr.mechanism(labels, epsilon)?;
    for size in 2..labels {
        let candidate = LabelMechanism::Subset(SubsetSelection::with_size(labels, size, epsilon)?);
        if trace(&candidate) < trace(&best) {
            best = candidate;
        }
    }
    Ok(best)
}

/// The name of what [`best_for_shares`] has chosen.
fn kind_of(mechanism: &LabelMechanism) -> LabelKind {
    if mechanism.set_size() == Some(1) { LabelKind::Rr } else { LabelKind::Subset }
}
