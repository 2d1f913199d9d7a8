//! A whole table in memory.

use crate::tables::{TableFile, column_kind, numbers, words};
use anyhow::Context;
use std::path::{Path, PathBuf};
use undertone_report::ColumnKind;

/// One column.
pub(super) enum Column {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

/// Columns by name.
pub(super) struct Table {
    pub(super) columns: Vec<(String, Column)>,
}

impl Table {
    /// Reads files with the same columns, one after the other.
    pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let mut table = Self { columns: Vec::new() };
        for path in paths {
            table.append(path)?;
        }
        Ok(table)
    }

    fn append(&mut self, path: &Path) -> anyhow::Result<()> {
        let file = TableFile::open(path)?;
        if self.columns.is_empty() {
            for field in file.schema().fields() {
                let empty = match column_kind(field)? {
                    ColumnKind::Number => Column::Numbers(Vec::new()),
                    _ => Column::Words(Vec::new()),
                };
                self.columns.push((field.name().clone(), empty));
            }
        }
        for batch in file.batches()? {
            let batch = batch?;
            for (name, column) in &mut self.columns {
                let cells = batch.column_by_name(name).with_context(|| missing(name))?;
                match column {
                    Column::Numbers(values) => values.extend(numbers(cells)?),
                    Column::Words(values) => {
                        let cells = words(cells)?;
                        values
                            .extend((0..batch.num_rows()).map(|row| cells.get(row).unwrap_or("").to_owned()));
                    }
                }
            }
        }
        Ok(())
    }

    fn column(&self, name: &str) -> anyhow::Result<&Column> {
        let found = self.columns.iter().find(|(other, _)| other == name);
        found.map(|(_, column)| column).with_context(|| missing(name))
    }

    /// A column of numbers.
    pub(super) fn numbers(&self, name: &str) -> anyhow::Result<&[f64]> {
        match self.column(name)? {
            Column::Numbers(values) => Ok(values),
            Column::Words(_) => anyhow::bail!("column `{name}` has to hold numbers"),
        }
    }

    /// One where a column has this word, zero elsewhere.
    pub(super) fn is(&self, name: &str, word: &str) -> anyhow::Result<Vec<f64>> {
        match self.column(name)? {
            Column::Words(values) => {
                Ok(values.iter().map(|value| f64::from(u8::from(value == word))).collect())
            }
            Column::Numbers(_) => anyhow::bail!("column `{name}` has to hold words"),
        }
    }
}

fn missing(name: &str) -> String {
    format!("there is no column `{name}`")
}
