//! Models on the disk, and tables that fit them.

use crate::exit::Usage;
use crate::people::Origin;
use crate::tables::{self, TableFile};
use anyhow::{Context, bail, ensure};
use std::fs;
use std::path::Path;
use undertone_learn::Model;
use undertone_report::sha256_of;

/// Reads and checks a model.
pub(crate) fn read(path: &Path) -> anyhow::Result<Model> {
    Ok(read_with_hash(path)?.0)
}

/// The same, and the SHA-256 of its bytes.
pub(crate) fn read_with_hash(path: &Path) -> anyhow::Result<(Model, String)> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let model = Model::from_json(&text).with_context(|| path.display().to_string())?;
    Ok((model, sha256_of(text.as_bytes())))
}

/// A table that has every column that the model looks at, each of the kind that it knows; no others are read, but for
/// the true label, if it is named.
pub(crate) fn matching_table(model: &Model, path: &Path, label: Option<&str>) -> anyhow::Result<TableFile> {
    let known = model.encoder.columns();
    let table = TableFile::open_as(path, known)?;
    if let Some(label) = label {
        tables::column_place(table.schema(), "--label", label)?;
        let learnt = known.iter().any(|column| column.name == label);
        ensure!(!learnt, Usage::new(format!("--label: the model predicts from `{label}`")));
    }
    let names = known.iter().map(|column| column.name.as_str()).chain(label);
    let table = table.select(names).context("the table does not have the columns of the model")?;
    let columns = tables::feature_columns(table.schema(), label.as_slice())?;
    let fits = model.encoder.check_columns(&columns);
    fits.with_context(|| format!("{} does not have the columns of the model", path.display()))?;
    Ok(table)
}

/// Refuses reports about something else than the model predicts.
pub(crate) fn same_question(model: &Model, reports: &Origin) -> anyhow::Result<()> {
    if reports.label() != model.label {
        bail!("the reports are about `{}`, the model predicts `{}`", reports.label(), model.label);
    }
    if reports.classes() != model.classes {
        let (reported, predicted) = (reports.classes().len(), model.classes.len());
        bail!("the reports are about {reported} classes, the model predicts {predicted}, and not the same");
    }
    if reports.number() != model.number {
        bail!("the reports and the model do not have the same bounds of `{}`", model.label);
    }
    Ok(model.encoder.check_columns(reports.columns())?)
}
