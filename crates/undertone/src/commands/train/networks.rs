//! Networks of classes ([`undertone_learn::networks`]).
//!
//! One person in eight is kept aside: training ends when their reports become no likelier, and they tell how good the network of that epoch is.

use super::kind::{Kind, Method};
use super::representation::by_name;
use super::scores::Learnt;
use super::{Train, name};
use crate::arguments;
use crate::exit::Usage;
use crate::people::Origin;
use crate::progress::progress_bar;
use clap::ValueEnum;
use serde::Serialize;
use std::cell::RefCell;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;
use undertone_learn::evaluation::Evaluation;
use undertone_learn::features::{Encoder, Override, Treatment};
use undertone_learn::held_out::Those;
use undertone_learn::networks::{
    Augmentation, Loss, NetKind, NetModel, NetTrainer, Progress, Relabel, Schedule, Training,
};
use undertone_learn::{Predictor, Source};
use undertone_report::FeatureColumn;

/// Labels to train again on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Retrain {
    /// What the network predicts, whatever was reported
    Predicted,
    /// What the network predicts, of people whose report names it; without the others
    Consensus,
    /// What is believed after network and report
    Posterior,
}

/// How an epoch went.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Round {
    /// One, or two for the network that is trained on what the first has learnt
    network: usize,
    epoch: usize,
    /// Of those who are trained on
    loss: f64,
    /// By how many nats reports of those who are kept aside are likelier than under even chances
    report_likelihood: Option<f64>,
}

/// How a network is trained; what is not said is as usual for its kind.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Networks")]
pub(super) struct NetworkWords {
    /// A folder in which a network is kept after each epoch: what was interrupted goes on from there, and ends in the same bits
    #[arg(long, value_name = "DIR")]
    checkpoints: Option<PathBuf>,
    /// Train another network on labels that the first makes of the reports
    #[arg(long, value_enum, value_name = "LABELS")]
    retrain: Option<Retrain>,
    /// The largest step, before and after which they are shorter; 0.1 if not given, of ratings 1
    #[arg(long, value_name = "R", value_parser = arguments::positive, allow_hyphen_values = true)]
    rate: Option<f64>,
    /// Mix people in pairs, in shares of law Beta(A, A), and their losses alike
    #[arg(long, value_name = "A", value_parser = arguments::positive, allow_hyphen_values = true)]
    mixup: Option<f64>,
    /// Move images by up to so many pixels; a fourteenth of their side if not given
    #[arg(long, value_name = "PIXELS")]
    shift: Option<usize>,
    /// Mirror images every other time, where left and right mean the same
    #[arg(long)]
    flip: bool,
    /// Blank a square with a side of so many pixels in each image
    #[arg(long, value_name = "PIXELS", value_parser = arguments::count)]
    cutout: Option<NonZeroU32>,
}

impl NetworkWords {
    /// What may be given, and whether it is.
    pub(super) fn given(&self) -> [(&'static str, bool); 7] {
        let [shift, flip, cutout] = self.of_images();
        let checkpoints = ("--checkpoints", self.checkpoints.is_some());
        let retrain = ("--retrain", self.retrain.is_some());
        let (rate, mixup) = (("--rate", self.rate.is_some()), ("--mixup", self.mixup.is_some()));
        [checkpoints, retrain, rate, mixup, shift, flip, cutout]
    }

    /// The same of what is done to images.
    fn of_images(&self) -> [(&'static str, bool); 3] {
        [("--shift", self.shift.is_some()), ("--flip", self.flip), ("--cutout", self.cutout.is_some())]
    }

    fn augmentation(&self, usual: Augmentation) -> Augmentation {
        Augmentation {
            shift: self.shift.unwrap_or(usual.shift),
            flip: self.flip,
            cutout: self.cutout.map_or(0, |side| side.get() as usize),
        }
    }
}

impl Kind {
    /// The network, if it is one.
    pub(super) fn network(self) -> Option<NetKind> {
        match self {
            Self::Mlp => Some(NetKind::Mlp),
            Self::Cnn => Some(NetKind::Cnn),
            Self::Inception => Some(NetKind::Inception),
            Self::Rating => Some(NetKind::Rating),
            _ => None,
        }
    }
}

impl Train {
    /// Whether the options go with networks, or without.
    pub(super) fn check_networks(&self) -> Result<(), Usage> {
        let (words, model) = (&self.networks, name(&self.kind()));
        let radius = ("--radius", self.radius.is_some());
        // The number between those of two names is a third name.
        let mixup = ("--mixup", words.mixup.is_some());
        let useless = match self.kind().network() {
            None => words.given().to_vec(),
            Some(_) if self.method == Some(Method::Sgd) => {
                return Err(Usage::new(format!("--method sgd is for lines, not for {model}")));
            }
            Some(NetKind::Cnn | NetKind::Inception) => vec![radius],
            Some(NetKind::Mlp) => [&[radius], &words.of_images()[..]].concat(),
            Some(NetKind::Rating) => [&[radius, mixup], &words.of_images()[..]].concat(),
        };
        match useless.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Usage::new(format!("--model {model} has no use for {option}"))),
            None => Ok(()),
        }
    }

    /// How to treat columns that nothing was said about: those of ratings are categories.
    pub(super) fn usual_columns(&self, columns: &[FeatureColumn]) -> Vec<Override> {
        let said = |column: &&FeatureColumn| self.columns.iter().any(|said| said.column == column.name);
        let category =
            |column: &FeatureColumn| Override { column: column.name.clone(), treatment: Treatment::Category };
        let rating = columns.iter().filter(|column| self.kind() == Kind::Rating && !said(column));
        self.columns.iter().cloned().chain(rating.map(category)).collect()
    }

    pub(super) fn network(
        &self,
        kind: NetKind,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
        start: Option<&NetModel>,
    ) -> anyhow::Result<Learnt> {
        let epochs = RefCell::new(Vec::new());
        let bar = progress_bar(0);
        let tell = |network: usize, seen: &Progress| {
            let Progress { epoch, epochs: all, loss, report_likelihood, .. } = *seen;
            bar.set_length(all as u64);
            bar.set_position(epoch as u64);
            bar.set_message(format!("epoch {epoch}, loss {loss:.4}"));
            epochs.borrow_mut().push(Round { network, epoch, loss, report_likelihood });
        };
        let (first, second) = (|seen: &Progress| tell(1, seen), |seen: &Progress| tell(2, seen));
        let trainer = NetTrainer { progress: Some(&first), ..self.trainer(kind, origin, encoder)? };
        trainer.check(origin.len())?;
        let mut model = trainer
            .fit(people, start)
            .map_err(|error| by_name(error.into(), "a network", origin.classes()))?;
        if let Some(how) = self.networks.retrain {
            // The same network on the same people, beside the weights of the first: it takes what was counted
            let trainer = NetTrainer { progress: Some(&second), ..trainer };
            model = trainer.fit_again(people, &model, how.into())?;
        }
        bar.finish_and_clear();
        let judged = Evaluation::of(&model, &mut Those::held_out(people))?.figures()?;
        Ok(Learnt {
            l2: self.l2,
            epochs: epochs.into_inner(),
            judged: Some(judged.into()),
            ..Learnt::new(self.kind(), Predictor::Network(Box::new(model)), name(&self.method()))
        })
    }

    fn trainer(
        &self,
        kind: NetKind,
        origin: &Origin,
        encoder: &Encoder,
    ) -> anyhow::Result<NetTrainer<'static>> {
        let epochs = self.epochs.map(|epochs| epochs.get() as usize);
        let usual = kind.training(origin.len(), epochs, self.method().net_loss(), self.seed());
        let usual = kind.trainer(encoder, origin.classes().len(), usual)?;
        let words = &self.networks;
        let training = Training {
            batch: self.batch.get() as usize,
            schedule: Schedule {
                peak: words.rate.unwrap_or(usual.training.schedule.peak),
                ..usual.training.schedule
            },
            l2: self.l2.unwrap_or(usual.training.l2),
            mixup: words.mixup,
            augmentation: words.augmentation(usual.training.augmentation),
            ..usual.training
        };
        Ok(NetTrainer {
            training,
            checkpoints: words.checkpoints.clone(),
            bytes: self.limits().bytes,
            ..usual
        })
    }
}

impl Method {
    fn net_loss(self) -> Loss {
        match self {
            Self::Likelihood => Loss::Forward,
            Self::Debiased => Loss::Debiased,
            Self::Posterior => Loss::Soft,
            // The others are refused.
            Self::Naive | Self::Sgd | Self::Algorithm4 | Self::Algorithm5 | Self::Direct => Loss::Plain,
        }
    }
}

impl From<Retrain> for Relabel {
    fn from(labels: Retrain) -> Self {
        match labels {
            Retrain::Predicted => Self::Predicted,
            Retrain::Consensus => Self::Consensus,
            Retrain::Posterior => Self::Posterior,
        }
    }
}

/// How each epoch went; nothing where there was none.
pub(super) fn table(epochs: &[Round], out: &mut impl Write) -> anyhow::Result<()> {
    let (Some(first), Some(last)) = (epochs.first(), epochs.last()) else { return Ok(()) };
    let heading = "report likelihood on one in eight who were kept aside, in nats above even chances";
    for network in first.network..=last.network {
        let of_network = || epochs.iter().filter(move |epoch| epoch.network == network);
        let gain = |epoch: &Round| epoch.report_likelihood.unwrap_or(f64::NAN);
        let best = of_network().map(gain).fold(f64::MIN, f64::max);
        writeln!(out, "\nepoch       loss   {heading}")?;
        for epoch in of_network() {
            let mark = if gain(epoch) >= best { "  ← kept" } else { "" };
            writeln!(out, "{:>5} {:>10.5}   {:>8.5}{mark}", epoch.epoch, epoch.loss, gain(epoch))?;
        }
    }
    Ok(())
}
