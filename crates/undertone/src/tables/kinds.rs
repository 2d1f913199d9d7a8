//! What the columns of a table hold, in the words of a task, and the cells that an encoder takes.

use super::{ClassIndex, cells};
use crate::exit::Usage;
use anyhow::{Context, bail, ensure};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, FieldRef, Schema};
use undertone_learn::features::{Batch, Column};
use undertone_report::{ColumnKind, FeatureColumn};

/// What cells of a type hold; `None` for what no feature can be made of.
pub(super) fn kind_of(data_type: &DataType) -> Option<ColumnKind> {
    match data_type {
        _ if is_number(data_type) => Some(ColumnKind::Number),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(ColumnKind::Words),
        DataType::Dictionary(_, values) => {
            kind_of(values).filter(|kind| !matches!(kind, ColumnKind::Vector(_)))
        }
        DataType::FixedSizeList(item, width) if is_number(item.data_type()) => {
            u32::try_from(*width).ok().map(ColumnKind::Vector)
        }
        _ => None,
    }
}

pub(super) fn is_number(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Null | DataType::Boolean)
        || data_type.is_integer()
        || data_type.is_floating()
}

/// What the cells of a column hold; an error for what no feature can be made of.
pub(crate) fn column_kind(field: &Field) -> anyhow::Result<ColumnKind> {
    let (name, data_type) = (field.name(), field.data_type());
    kind_of(data_type).with_context(|| {
        format!("column `{name}`: {data_type} is neither a number nor words nor a vector of numbers")
    })
}

/// Where the column is that an option names.
pub(crate) fn column_place(schema: &Schema, option: &str, name: &str) -> Result<usize, Usage> {
    schema.index_of(name).map_err(|_| {
        let names: Vec<String> = schema.fields().iter().map(|field| format!("`{}`", field.name())).collect();
        Usage::new(format!("{option}: there is no column `{name}`; there are {}", names.join(", ")))
    })
}

/// Where the column is that `--label` names, which has to be of a type that labels can have.
pub(crate) fn label_place(schema: &Schema, label: &str) -> Result<usize, Usage> {
    let place = column_place(schema, "--label", label)?;
    let data_type = schema.field(place).data_type();
    if ClassIndex::reads(data_type) {
        Ok(place)
    } else {
        Err(Usage::new(format!("column `{label}` has the type {data_type}, which cannot be a label")))
    }
}

/// The columns of a table, without those named in `without`.
pub(crate) fn feature_columns(schema: &Schema, without: &[&str]) -> anyhow::Result<Vec<FeatureColumn>> {
    let wanted = schema.fields().iter().filter(|field| !without.contains(&field.name().as_str()));
    let column =
        |field: &FieldRef| Ok(FeatureColumn { name: field.name().clone(), kind: column_kind(field)? });
    wanted.map(column).collect()
}

/// The cells of these columns, in this order.
pub(crate) fn features<'a>(
    batch: &RecordBatch,
    columns: impl IntoIterator<Item = &'a FeatureColumn>,
) -> anyhow::Result<Batch> {
    let cells = columns.into_iter().map(|wanted| {
        let FeatureColumn { name, kind } = wanted;
        let array = batch.column_by_name(name).with_context(|| format!("there is no column `{name}`"))?;
        let found = kind_of(array.data_type());
        ensure!(found == Some(*kind), mismatch(name, *kind, array.data_type()));
        Ok(match found {
            Some(ColumnKind::Number) => Column::Numbers(cells::numbers(array)?),
            Some(ColumnKind::Words) => Column::Words(cells::words(array)?),
            Some(ColumnKind::Vector(width)) => {
                Column::Vectors { width: width as usize, values: cells::vectors(array)? }
            }
            None => bail!(mismatch(name, *kind, array.data_type())),
        })
    });
    Ok(Batch { columns: cells.collect::<anyhow::Result<_>>()?, rows: batch.num_rows() })
}

fn mismatch(name: &str, wanted: ColumnKind, found: &DataType) -> String {
    let found = kind_of(found).map_or_else(|| found.to_string(), |kind| kind.to_string());
    format!("column `{name}`: {wanted} are needed, but it holds {found}")
}
