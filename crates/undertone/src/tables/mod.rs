//! Tables: CSV, Parquet and IDX, read in batches, as often as one likes.
//!
//! What a file is shows in its first bytes, not in its name. Memory does not grow with the number of rows. An error names
//! the file and, where there is one, the row (counted from one, the header not counted) and the column.

mod cells;
mod class_index;
mod csv;
mod idx;
mod kinds;
mod label_numbers;
mod labelled;
mod parquet;
mod source;

#[cfg(test)]
mod tests;

pub(crate) use cells::{numbers, vectors, words};
pub(crate) use class_index::ClassIndex;
pub(crate) use kinds::{column_kind, column_place, feature_columns, features, label_place};
pub(crate) use label_numbers::{label_numbers, number_place};
pub(crate) use labelled::{Unlabelled, only};

use anyhow::{Context, bail};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};
use source::Format;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undertone_report::{ColumnKind, FeatureColumn};

/// The most rows of a batch, and the most cells that it has if its rows are wide.
const BATCH_ROWS: usize = 1 << 16;
const BATCH_CELLS: usize = 1 << 20;

/// Batches of a table, in order.
pub(crate) type Batches = Box<dyn Iterator<Item = anyhow::Result<RecordBatch>> + Send>;

/// A table that can be read from its beginning again and again.
#[derive(Debug)]
pub(crate) struct TableFile {
    path: PathBuf,
    table: Table,
    /// The columns to read, by their places in the file; their schema
    selected: Vec<usize>,
    schema: SchemaRef,
    /// Whether a number that is not finite, or half a vector, is an error
    checked: bool,
}

#[derive(Debug)]
enum Table {
    Csv(csv::CsvTable),
    Parquet(parquet::ParquetTable),
    Idx(idx::IdxTable),
}

impl TableFile {
    /// Looks at a file: which format, which columns.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        Self::open_as(path, &[])
    }

    /// The same; where a file does not say what a column holds, as a CSV does not, `known` does.
    pub(crate) fn open_as(path: &Path, known: &[FeatureColumn]) -> anyhow::Result<Self> {
        let kind_of = |name: &str| known.iter().find(|column| column.name == name).map(|column| column.kind);
        Self::new(path, kind_of, true)
    }

    /// Takes cells for whatever they are: all those of a CSV are words, and no value is an error. For those who must not let
    /// show what is in a table, not even by refusing to read it.
    pub(crate) fn open_unchecked(path: &Path) -> anyhow::Result<Self> {
        Self::new(path, |_| Some(ColumnKind::Words), false)
    }

    fn new(path: &Path, kind_of: impl Fn(&str) -> Option<ColumnKind>, checked: bool) -> anyhow::Result<Self> {
        let table = Table::open(path, kind_of).with_context(|| path.display().to_string())?;
        let schema = table.schema().clone();
        let selected = (0..schema.fields().len()).collect();
        Ok(Self { path: path.to_owned(), table, selected, schema, checked })
    }

    /// The same table with these columns only, in this order.
    pub(crate) fn select<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> anyhow::Result<Self> {
        let place = |name: &str| {
            let place = self.table.schema().index_of(name);
            place.ok().with_context(|| format!("{}: there is no column `{name}`", self.path.display()))
        };
        let selected = names.into_iter().map(place).collect::<anyhow::Result<Vec<_>>>()?;
        self.schema = Arc::new(self.table.schema().project(&selected)?);
        self.selected = selected;
        Ok(self)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        match &self.table {
            Table::Csv(table) => table.rows(),
            Table::Parquet(table) => table.rows(),
            Table::Idx(table) => table.rows(),
        }
    }

    /// All files that it is read from.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let labels = match &self.table {
            Table::Idx(table) => table.labels(),
            Table::Csv(_) | Table::Parquet(_) => None,
        };
        [self.path.as_path()].into_iter().chain(labels).map(Path::to_owned).collect()
    }

    /// All rows, from the first; nothing follows an error.
    pub(crate) fn batches(&self) -> anyhow::Result<Batches> {
        self.batches_at(&self.selected)
    }

    /// The same of one column alone.
    pub(crate) fn batches_of(&self, column: usize) -> anyhow::Result<Batches> {
        self.batches_at(&self.selected[column..=column])
    }

    fn batches_at(&self, selected: &[usize]) -> anyhow::Result<Batches> {
        let path = self.path.display().to_string();
        let batches = match &self.table {
            Table::Csv(table) => project(table.batches(&self.path), selected),
            Table::Parquet(table) => table.batches(&self.path, selected),
            Table::Idx(table) => project(table.batches(&self.path), selected),
        };
        let mut batches = batches.with_context(|| path.clone())?;
        let (mut row, mut failed, checked) = (1, false, self.checked);
        Ok(Box::new(std::iter::from_fn(move || {
            let batch = if failed { None } else { batches.next() }?;
            let batch = batch.and_then(|batch| {
                if checked {
                    cells::check(&batch, row)?;
                }
                row += batch.num_rows() as u64;
                Ok(batch)
            });
            failed = batch.is_err();
            Some(batch.with_context(|| path.clone()))
        })))
    }
}

/// The columns at these places.
fn project(batches: anyhow::Result<Batches>, places: &[usize]) -> anyhow::Result<Batches> {
    let places = places.to_vec();
    Ok(Box::new(batches?.map(move |batch| Ok(batch?.project(&places)?))))
}

impl Table {
    fn open(path: &Path, kind_of: impl Fn(&str) -> Option<ColumnKind>) -> anyhow::Result<Self> {
        let table = match source::format_of(path)? {
            Format::Csv => Self::Csv(csv::CsvTable::open(path, kind_of)?),
            Format::Parquet => Self::Parquet(parquet::ParquetTable::open(path)?),
            Format::Idx => Self::Idx(idx::IdxTable::open(path)?),
        };
        unique_names(table.schema())?;
        Ok(table)
    }

    fn schema(&self) -> &SchemaRef {
        match self {
            Self::Csv(table) => table.schema(),
            Self::Parquet(table) => table.schema(),
            Self::Idx(table) => table.schema(),
        }
    }
}

/// Refuses columns without a name, and two of the same name.
fn unique_names(schema: &Schema) -> anyhow::Result<()> {
    let mut seen = std::collections::HashSet::new();
    for (place, field) in (1..).zip(schema.fields()) {
        if field.name().is_empty() {
            bail!("column {place} has no name");
        }
        if !seen.insert(field.name()) {
            bail!("there are two columns `{}`", field.name());
        }
    }
    Ok(())
}

/// How many rows of these columns make a batch.
fn batch_rows<'a>(types: impl IntoIterator<Item = &'a DataType>) -> usize {
    let cells = types.into_iter().map(|data_type| match data_type {
        DataType::FixedSizeList(_, width) => *width as usize,
        _ => 1,
    });
    (BATCH_CELLS / cells.sum::<usize>().max(1)).clamp(1, BATCH_ROWS)
}
