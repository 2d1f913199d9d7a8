//! Where each person's prior comes from: a public model, or public columns.

use super::devices::Priors;
use crate::exit::Usage;
use crate::tables;
use anyhow::ensure;
use arrow_array::RecordBatch;
use std::io::{self, Write};
use undertone_learn::Model;
use undertone_learn::features::{Column, Rows};
use undertone_learn::stages::{ModelPrior, Prior, Telling};
use undertone_privacy::Epsilon;
use undertone_privacy::label::LabelMechanism;
use undertone_report::{ColumnKind, FeatureColumn, PriorWords};

/// The probabilities of a model, which must have been learnt from other people's reports.
pub(super) struct FromModel {
    model: Model,
    sha256: String,
    temperature: Option<f64>,
    epsilon: Epsilon,
    /// Whether it is known if people tell more with it than without
    compared: bool,
}

impl FromModel {
    /// A model and its hash, for labels that are private unless a `seed` is given.
    pub(super) fn new(
        (model, sha256): (Model, String),
        temperature: Option<f64>,
        epsilon: Epsilon,
        label: &str,
        classes: &[String],
        seed: Option<u64>,
    ) -> anyhow::Result<Self> {
        ensure!(
            model.label == label && model.classes == classes,
            "the model predicts `{}` with {} classes, the labels are `{label}` with {}",
            model.label,
            model.classes.len(),
            classes.len()
        );
        ensure!(
            model.training.curator.is_none(),
            "the model was released by a curator who saw the true labels, whom this task does not trust; make the prior from \
             reports"
        );
        ensure!(
            !model.tasks.is_empty(),
            "the model was learnt from true labels without privacy; a prior from it would tell about them"
        );
        ensure!(
            !model.training.simulation || seed.is_some(),
            "the model was learnt from reports that were drawn from a seed, hence without privacy; a prior from it would \
             tell about them"
        );
        Ok(Self { model, sha256, temperature, epsilon, compared: false })
    }

    /// Says so if people would tell more without it.
    fn compare(&self, telling: &Telling<impl Prior>, rows: &Rows) -> anyhow::Result<()> {
        let alike = LabelMechanism::best(self.model.classes.len() as u32, self.epsilon)?;
        let (with, without) = (telling.told(rows)?, telling.told_by(&alike, rows)?);
        if without > with {
            // Should the standard error be closed, the reports are still good.
            let _ = writeln!(
                io::stderr(),
                "warning: people would tell more without --prior: {without:.4} against {with:.4} nats each"
            );
        }
        Ok(())
    }
}

impl Priors for FromModel {
    fn words(&self) -> PriorWords {
        PriorWords::Model { sha256: self.sha256.clone(), temperature: self.temperature }
    }

    fn append(&mut self, features: &RecordBatch, priors: &mut Vec<f64>) -> anyhow::Result<()> {
        let encoder = &self.model.encoder;
        let mut rows = encoder.rows();
        encoder.encode(&tables::features(features, encoder.columns())?, &mut rows)?;
        let beliefs = ModelPrior::new(&self.model.predictor, self.temperature.unwrap_or(1.0))?;
        let Some(_) = self.temperature else {
            let telling = Telling::new(beliefs, self.epsilon);
            if !rows.is_empty() && !std::mem::replace(&mut self.compared, true) {
                self.compare(&telling, &rows)?;
            }
            priors.extend(telling.of(&rows)?);
            return Ok(());
        };
        priors.extend(beliefs.of(&rows)?);
        Ok(())
    }
}

/// Public columns of the table, one for each class.
pub(super) struct FromColumns {
    columns: Vec<FeatureColumn>,
}

impl FromColumns {
    pub(super) fn new(names: &[String], classes: &[String]) -> Result<Self, Usage> {
        if names.len() != classes.len() {
            let (columns, classes) = (names.len(), classes.len());
            return Err(Usage::new(format!("--prior-columns names {columns} columns for {classes} classes")));
        }
        let column = |name: &String| FeatureColumn { name: name.clone(), kind: ColumnKind::Number };
        Ok(Self { columns: names.iter().map(column).collect() })
    }
}

impl Priors for FromColumns {
    fn words(&self) -> PriorWords {
        PriorWords::Columns(self.columns.iter().map(|column| column.name.clone()).collect())
    }

    fn append(&mut self, features: &RecordBatch, priors: &mut Vec<f64>) -> anyhow::Result<()> {
        let cells = tables::features(features, &self.columns)?;
        for row in 0..cells.rows {
            priors.extend(cells.columns.iter().map(|column| match column {
                Column::Numbers(numbers) => numbers[row],
                // Not a number, which no prior may be
                Column::Words(_) | Column::Vectors { .. } => f64::NAN,
            }));
        }
        Ok(())
    }
}
