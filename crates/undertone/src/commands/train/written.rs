//! A model as a file: what is told about it, what is written, and what another one starts from.

use super::scores::Learnt;
use super::{Summary, Train, coverage, name};
use crate::model_file;
use crate::new_file::NewFile;
use crate::people::Origin;
use anyhow::{Context, ensure};
use std::io::Write;
use std::path::Path;
use undertone_learn::features::Encoder;
use undertone_learn::{Model, Predictor, Training};
use undertone_report::Task;

impl Train {
    pub(super) fn summary<'a>(&self, origin: &'a Origin, encoder: &Encoder, learnt: &Learnt) -> Summary<'a> {
        Summary {
            model: name(&learnt.kind),
            label: origin.label(),
            classes: origin.classes().len(),
            reports: origin.len(),
            epsilon: origin.tasks().first().map(|task| task.mechanism.level()),
            trust: self.trust(),
            features: encoder.width(),
            method: learnt.method.clone(),
            l2: learnt.l2,
            passes: learnt.passes,
            size: learnt.size,
            tried: learnt.tried.clone(),
            candidates: learnt.candidates.clone(),
            epochs: learnt.epochs.clone(),
            steps: steps(&learnt.predictor),
            not_tried: learnt.untried.clone(),
            cache: learnt.stages.clone(),
            held_out_accuracy: learnt.judged.as_ref().map(|judged| judged.accuracy),
            held_out_log_loss: learnt.judged.as_ref().map(|judged| judged.log_loss),
            judges_chose: learnt.judges_chose(),
            simulation: origin.is_simulation(),
            classes_from_labels: origin.has_classes_from_labels(),
            may_ask_twice: origin.may_ask_twice(),
            coverage: learnt.coverage.as_ref().map(coverage::Told::new),
            output: self.output.display().to_string(),
        }
    }

    pub(super) fn save(
        &self,
        origin: &Origin,
        encoder: Encoder,
        learnt: Learnt,
        start: Option<Model>,
        file: NewFile,
    ) -> anyhow::Result<()> {
        let mut training = Training {
            reports: origin.len(),
            method: learnt.method,
            l2: learnt.l2,
            seed: self.seed(),
            simulation: origin.is_simulation(),
            parts: origin.parts(),
            expected: None,
            curator: None,
        };
        let mut tasks: Vec<Task> = origin.tasks().into_iter().cloned().collect();
        // What it started from was learnt from somebody's reports too.
        if let Some(start) = start {
            training.simulation |= start.training.simulation;
            let others = start.training.parts.into_iter().filter(|part| !training.parts.contains(part));
            let others: Vec<String> = others.collect();
            training.parts.extend(others);
            // With true labels there is no promise left to speak of, whatever it started from.
            if self.label.is_none() {
                tasks.extend(start.tasks);
            }
        }
        let about = (origin.label().to_owned(), origin.classes().to_vec());
        let model = Model::new(about, tasks, encoder, learnt.predictor, training);
        self.write(&model.covering(learnt.coverage), file)
    }

    pub(super) fn write(&self, model: &Model, mut file: NewFile) -> anyhow::Result<()> {
        let written = file.write_all(model.to_json()?.as_bytes());
        written.with_context(|| format!("{} cannot be written", self.output.display()))?;
        file.keep()?;
        Ok(())
    }

    /// Reads the model to start from, which has to be about the same question and to be no less private.
    pub(super) fn start(&self, path: &Path, origin: &Origin) -> anyhow::Result<Model> {
        let model = model_file::read(path)?;
        model_file::same_question(&model, origin).with_context(|| path.display().to_string())?;
        ensure!(
            self.label.is_some() || model.training.curator.is_none(),
            "{} was released by a curator who saw the true labels, whom these reports do not trust",
            path.display()
        );
        ensure!(
            self.label.is_some() || !model.tasks.is_empty(),
            "{} was learnt from true labels without privacy; what starts from it would tell about them",
            path.display()
        );
        let (found, wanted) = match &model.predictor {
            Predictor::Linear(_) => ("a line", self.kind().network().is_none()),
            Predictor::Network(_) => ("a network", self.kind().network().is_some()),
            Predictor::Nonparametric(_) => ("averages over people who are alike", false),
            Predictor::Represented(_) => ("a representation", false),
            Predictor::Mixture(_) => ("a mixture", false),
            Predictor::Number(_) => ("numbers", false),
        };
        ensure!(
            wanted,
            "{} holds {found}: --model {} cannot start from it",
            path.display(),
            name(&self.kind())
        );
        Ok(model)
    }
}

/// What was chosen of a representation, which may be one of several models.
fn steps(predictor: &Predictor) -> Vec<String> {
    match predictor {
        Predictor::Represented(model) => model.steps().to_vec(),
        Predictor::Mixture(mixture) => {
            mixture.members().iter().flat_map(|member| steps(&member.predictor)).collect()
        }
        _ => Vec::new(),
    }
}
