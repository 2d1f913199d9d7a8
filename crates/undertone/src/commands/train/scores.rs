//! Scores that are linear in the features, of classes.

use super::kind::{Kind, Method};
use super::{Candidate, Train, Tried, name};
use crate::people::Origin;
use crate::progress::progress_bar;
use std::num::NonZeroU32;
use undertone_learn::evaluation::{Evaluation, Figures};
use undertone_learn::features::Encoder;
use undertone_learn::held_out::Those;
use undertone_learn::linear::{
    ErmOptions, Fitted, LinearModel, OnlineLinear, Progress, Step, Target, Weights, default_epochs, fit,
    fit_choosing_l2,
};
use undertone_learn::nonparametric::Coverage;
use undertone_learn::{Predictor, Source};

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
    /// How a model that was learnt from the others does on those who were kept aside
    pub(super) judged: Option<Figures>,
    /// What else was tried, if the kind was not given
    pub(super) candidates: Vec<Candidate>,
    pub(super) coverage: Option<Coverage>,
    /// What was chosen, of a line
    pub(super) options: Option<ErmOptions>,
}

impl Learnt {
    pub(super) fn linear(kind: Kind, model: LinearModel, method: Method, l2: Option<f64>) -> Self {
        Self {
            kind,
            predictor: Predictor::Linear(model),
            method: name(&method),
            l2,
            size: None,
            tried: Vec::new(),
            judged: None,
            candidates: Vec::new(),
            coverage: None,
            options: None,
        }
    }
}

impl Train {
    fn options(&self, rows: u64) -> ErmOptions {
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
        let kind = if self.kind() == Kind::Auto { Kind::Softmax } else { self.kind() };
        let (features, classes) = (encoder.width(), origin.classes().len());
        let options = self.options(origin.len());
        let bar = progress_bar(0);
        let report = |seen: Progress| {
            bar.set_length(seen.of);
            bar.set_position(seen.rows);
        };
        let learnt = match self.l2 {
            _ if self.method() == Method::Sgd => {
                let model = self.one_pass(people, features, classes)?;
                Learnt::linear(kind, model, self.method(), None)
            }
            Some(l2) => {
                let model = fit(people, features, classes, &options, start, report)?;
                Learnt::linear(kind, model, self.method(), Some(l2))
            }
            None => {
                let Fitted { model, target, l2, learning_rate, tried, judged } =
                    fit_choosing_l2(people, features, classes, &options, start, report)?;
                let judged = Some(Evaluation::of(&judged, &mut Those::held_out(people))?.figures()?);
                let soft = matches!(target, Target::Posterior(_));
                let method = if soft { Method::Posterior } else { self.method() };
                let tried = Tried::penalties(&tried);
                let options = Some(ErmOptions { target, l2, learning_rate, ..options });
                Learnt { tried, judged, options, ..Learnt::linear(kind, model, method, Some(l2)) }
            }
        };
        bar.finish_and_clear();
        Ok(learnt)
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
