//! Scores that are linear in the features, of classes.

use super::kind::{Kind, Method};
use super::networks::Round;
use super::summary::NotTried;
use super::{Candidate, Train, Tried, name};
use crate::people::Origin;
use crate::progress::progress_bar;
use crate::stages::Told;
use std::num::NonZeroU32;
use undertone_learn::evaluation::{Figure, Figures};
use undertone_learn::features::Encoder;
use undertone_learn::linear::{
    ErmOptions, Fitted, LinearModel, OnlineLinear, Progress, Step, Target, Weights, default_epochs, fit,
    fit_choosing_l2,
};
use undertone_learn::nonparametric::Coverage;
use undertone_learn::{LearnError, Predictor, Source};

/// What came of it.
pub(super) struct Learnt {
    pub(super) kind: Kind,
    pub(super) predictor: Predictor,
    /// What the reports were taken for, in the end
    pub(super) method: String,
    pub(super) l2: Option<f64>,
    /// Depth of cells, neighbours, or for how many people the parent of a forest's cell counts
    pub(super) size: Option<u64>,
    /// Each λ or size that was tried, with its score
    pub(super) tried: Vec<Tried>,
    /// How models that were learnt from the others do on those who were kept aside
    pub(super) judged: Option<Judged>,
    /// What else was tried, if the kind was not given
    pub(super) candidates: Vec<Candidate>,
    /// And what was not
    pub(super) untried: Vec<NotTried>,
    /// What was kept of the work, if anything was
    pub(super) stages: Option<Told>,
    pub(super) coverage: Option<Coverage>,
    /// Passes over all reports that were chosen, of a line
    pub(super) passes: Option<u32>,
    /// How training went, of a network
    pub(super) epochs: Vec<Round>,
}

/// What those who were kept aside say.
pub(super) struct Judged {
    pub(super) accuracy: Figure,
    pub(super) log_loss: Figure,
}

impl From<Figures> for Judged {
    fn from(Figures { accuracy, log_loss, .. }: Figures) -> Self {
        Self { accuracy, log_loss }
    }
}

impl Learnt {
    /// Of which nothing else is known.
    pub(super) fn new(kind: Kind, predictor: Predictor, method: String) -> Self {
        Self {
            kind,
            predictor,
            method,
            l2: None,
            size: None,
            tried: Vec::new(),
            judged: None,
            candidates: Vec::new(),
            untried: Vec::new(),
            stages: None,
            coverage: None,
            passes: None,
            epochs: Vec::new(),
        }
    }

    /// What those who were kept aside have chosen besides judging. Averages and representations ask others.
    pub(super) fn judges_chose(&self) -> Option<&'static str> {
        match self.predictor {
            _ if !self.candidates.is_empty() => Some("the model"),
            Predictor::Linear(_) => Some("λ"),
            Predictor::Network(_) => Some("when to end"),
            Predictor::Nonparametric(_)
            | Predictor::Represented(_)
            | Predictor::Mixture(_)
            | Predictor::Number(_) => None,
        }
    }

    fn linear(kind: Kind, model: LinearModel, method: Method, l2: Option<f64>) -> Self {
        Self { l2, ..Self::new(kind, Predictor::Linear(model), name(&method)) }
    }
}

/// Work that shows how far it has come.
fn shown<T>(work: impl FnOnce(&mut dyn FnMut(Progress)) -> T) -> T {
    let bar = progress_bar(0);
    let done = work(&mut |seen: Progress| {
        bar.set_length(seen.of);
        bar.set_position(seen.rows);
    });
    bar.finish_and_clear();
    done
}

impl Train {
    pub(super) fn options(&self, rows: u64) -> ErmOptions {
        let batch = self.batch.get() as usize;
        ErmOptions {
            loss: self.kind().loss(),
            target: self.method().target(),
            l2: self.l2.unwrap_or_default(),
            epochs: self.epochs.map_or_else(|| default_epochs(rows, batch), NonZeroU32::get),
            batch,
            radius: self.radius,
            seed: self.seed(),
            threads: self.threads,
            ..ErmOptions::default()
        }
    }

    /// Scores that are linear in the features.
    pub(super) fn scores(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
        start: Option<&Weights>,
    ) -> anyhow::Result<Learnt> {
        let (features, classes) = (encoder.width(), origin.classes().len());
        Ok(match self.l2 {
            _ if self.method() == Method::Sgd => {
                let model = self.one_pass(people, features, classes)?;
                Learnt::linear(self.kind(), model, self.method(), None)
            }
            Some(l2) => {
                let options = self.options(origin.len());
                let model = shown(|report| fit(people, features, classes, &options, start, report))?;
                Learnt::linear(self.kind(), model, self.method(), Some(l2))
            }
            None => {
                let fitted = self.fitted(people, features, (origin, start))?;
                self.learnt_line(&fitted)
            }
        })
    }

    /// Scores with the λ that does best on those who are kept aside.
    pub(super) fn fitted(
        &self,
        people: &mut dyn Source,
        features: usize,
        (origin, start): (&Origin, Option<&Weights>),
    ) -> Result<Fitted, LearnError> {
        let (classes, options) = (origin.classes().len(), self.options(origin.len()));
        shown(|report| fit_choosing_l2(people, features, classes, &options, start, report))
    }

    /// What came of a fit, judged by those who were kept aside.
    pub(super) fn learnt_line(&self, fitted: &Fitted) -> Learnt {
        let kind = if self.kind() == Kind::Auto { Kind::Softmax } else { self.kind() };
        let &Fitted { ref model, ref options, ref tried, accuracy, log_loss, .. } = fitted;
        let soft = matches!(options.target, Target::Posterior(_));
        let method = if soft { Method::Posterior } else { self.method() };
        Learnt {
            tried: Tried::penalties(tried),
            judged: Some(Judged { accuracy, log_loss }),
            passes: Some(options.epochs),
            ..Learnt::linear(kind, model.clone(), method, Some(options.l2))
        }
    }

    /// Each report once, in order.
    fn one_pass(
        &self,
        people: &mut dyn Source,
        features: usize,
        classes: usize,
    ) -> anyhow::Result<LinearModel> {
        let mut learner =
            OnlineLinear::new(features, classes, self.kind().loss(), Step::default(), self.radius)?;
        people.pass(&mut |block| {
            let reports = block.rows.iter().zip(block.unbiased.iter());
            reports.for_each(|(row, label)| learner.observe(row, label));
            Ok(())
        })?;
        Ok(learner.model()?)
    }
}
