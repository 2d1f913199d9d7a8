//! Where each person's prior comes from: a public model, or public columns.

use super::devices::Priors;
use crate::exit::Usage;
use crate::{model_file, tables};
use anyhow::{Context, ensure};
use arrow_array::RecordBatch;
use std::fs;
use std::path::Path;
use undertone_learn::Model;
use undertone_learn::features::Column;
use undertone_learn::stages::{ModelPrior, Prior};
use undertone_report::{ColumnKind, FeatureColumn, PriorWords, sha256_of};

/// The probabilities of a model, which must have been learnt from other people's reports.
pub(super) struct FromModel {
    model: Model,
    sha256: String,
    temperature: f64,
}

impl FromModel {
    pub(super) fn open(
        path: &Path,
        temperature: f64,
        label: &str,
        classes: &[String],
    ) -> anyhow::Result<Self> {
        let model = model_file::read(path)?;
        ensure!(
            model.label == label && model.classes == classes,
            "{} predicts `{}` with {} classes, the labels are `{label}` with {}",
            path.display(),
            model.label,
            model.classes.len(),
            classes.len()
        );
        ensure!(
            !model.tasks.is_empty(),
            "{} was learnt from true labels without privacy; a prior from it would tell about them",
            path.display()
        );
        let document = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        Ok(Self { model, sha256: sha256_of(&document), temperature })
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
        priors.extend(ModelPrior::new(&self.model.predictor, self.temperature)?.of(&rows)?);
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
