//! Everybody's devices: all alike, or each with a prior of its own.

use crate::reports::LabelLists;
use anyhow::ensure;
use arrow_array::RecordBatch;
use rand_core::CryptoRng;
use undertone_privacy::Epsilon;
use undertone_privacy::exact::{SetMemory, WordBuffer};
use undertone_privacy::label::{Label, LabelMechanism, LabelRandomizer, ReportColumn, RrWithPrior};
use undertone_report::{PriorWords, Task};

/// The labels that reports may name in one block, which bounds its memory.
const MEMBERS: f64 = 4_000_000.0;

/// What is publicly believed about each person's label.
pub(crate) trait Priors {
    /// How a task names it.
    fn words(&self) -> PriorWords;

    /// Appends the prior of each row of `features`, K probabilities a row.
    fn append(&mut self, features: &RecordBatch, priors: &mut Vec<f64>) -> anyhow::Result<()>;
}

/// Turns labels into reports.
pub(super) enum Devices {
    Alike(LabelMechanism, ReportColumn),
    WithPriors { priors: Box<dyn Priors>, labels: u32, epsilon: Epsilon, realised: f64 },
}

impl Devices {
    /// The devices of a task; those with priors take them from `priors`.
    pub(super) fn of(task: &Task, priors: Option<Box<dyn Priors>>) -> anyhow::Result<Self> {
        Ok(match priors {
            None => Self::Alike(task.mechanism()?, ReportColumn::new()),
            Some(priors) => {
                Self::WithPriors { priors, labels: task.labels(), epsilon: task.epsilon()?, realised: 0.0 }
            }
        })
    }

    /// How many people are asked at once.
    pub(super) fn at_once(&self) -> usize {
        let members = match self {
            Self::Alike(mechanism, _) => mechanism.expected_members(),
            // K numbers are computed for each.
            Self::WithPriors { labels, .. } => f64::from(*labels),
        };
        (MEMBERS / members).ceil() as usize
    }

    /// One report for each of `labels`, and what it was chosen among if that is a matter of its own.
    pub(super) fn answer(
        &mut self,
        labels: &[Label],
        features: &RecordBatch,
        rng: &mut impl CryptoRng,
    ) -> anyhow::Result<(LabelLists, Option<LabelLists>)> {
        match self {
            Self::Alike(mechanism, column) => {
                column.clear();
                mechanism.randomize_column(labels, column, rng)?;
                Ok((LabelLists::of(column, mechanism.set_size()), None))
            }
            Self::WithPriors { priors, labels: k, epsilon, realised } => {
                let (k, mut beliefs) = (*k as usize, Vec::new());
                priors.append(features, &mut beliefs)?;
                let (rows, values) = (labels.len(), beliefs.len());
                ensure!(
                    values == k * rows,
                    "{rows} priors over {k} classes were expected, not {values} values"
                );
                let (mut reports, mut among) = (LabelLists::new(), LabelLists::new());
                let (mut memory, mut rng) = (SetMemory::new(), WordBuffer::new(rng));
                for (&Label(truth), prior) in labels.iter().zip(beliefs.chunks_exact(k)) {
                    let mechanism = RrWithPrior::new(prior, *epsilon)?;
                    *realised = realised.max(mechanism.realised_epsilon());
                    reports.push_with(|members| mechanism.draw(truth, &mut memory, members, &mut rng));
                    among.push_with(|members| members.extend(mechanism.top()));
                }
                Ok((reports, Some(among)))
            }
        }
    }

    /// The exact loss of what ran, the largest of all people.
    pub(super) fn realised_epsilon(&self) -> f64 {
        match self {
            Self::Alike(mechanism, _) => mechanism.realised_epsilon(),
            Self::WithPriors { realised, .. } => *realised,
        }
    }

    /// The labels in each report, if their number is fixed.
    pub(super) fn set_size(&self) -> Option<u32> {
        match self {
            Self::Alike(mechanism, _) => mechanism.set_size(),
            Self::WithPriors { .. } => Some(1),
        }
    }
}
