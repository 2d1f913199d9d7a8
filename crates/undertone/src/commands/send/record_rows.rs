//! The rows of a table as records.
//!
//! Whether there is an answer must not depend on the record: a collector that hears nothing would have learnt something. So what
//! the columns hold is checked, which everybody may know, and what is in a cell is not. A number that cannot be read, or a class
//! that the task does not have, goes to the device as what is no number, and the device answers with the centre of the ball.

use super::Pace;
use crate::tables::{self, ClassIndex, TableFile};
use anyhow::{Context, bail};
use arrow_array::{Array, RecordBatch};
use tokio::sync::mpsc;
use undertone_device::Record;
use undertone_privacy::label::Label;
use undertone_report::{Cell, ColumnKind, FeatureColumn, Task};

/// Reads records from a table.
pub(super) struct RecordRows {
    features: Vec<FeatureColumn>,
    label: String,
    /// Nothing where a number is explained
    classes: Option<ClassIndex>,
}

impl RecordRows {
    pub(super) fn new(task: &Task) -> Self {
        let classes = (!task.classes.is_empty()).then(|| ClassIndex::new(task.classes.iter().cloned()));
        Self { features: task.features.clone(), label: task.label.clone(), classes }
    }

    /// The columns that are needed.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.features.iter().map(|column| column.name.as_str()).chain([self.label.as_str()])
    }

    /// Hands every row on, with its number, not too fast.
    pub(super) fn read(
        &self,
        table: &TableFile,
        mut pace: Pace,
        rows: &mpsc::Sender<(u64, Record)>,
    ) -> anyhow::Result<()> {
        let mut row = 1;
        for batch in table.batches()? {
            let records = self.records(&batch?).with_context(|| table.path().display().to_string())?;
            for record in records {
                pace.wait(1);
                // If nobody takes them any more, the workers know why.
                if rows.blocking_send((row, record)).is_err() {
                    return Ok(());
                }
                row += 1;
            }
        }
        Ok(())
    }

    fn records(&self, batch: &RecordBatch) -> anyhow::Result<Vec<Record>> {
        let columns = self.features.iter().map(|column| cells(batch, column));
        let columns = columns.collect::<anyhow::Result<Vec<Vec<Cell>>>>()?;
        let record = |(row, response): (usize, f64)| Record {
            features: columns.iter().map(|cells| cells[row].clone()).collect(),
            response,
        };
        Ok(self.responses(batch)?.into_iter().enumerate().map(record).collect())
    }

    /// What is explained: a number, or the place of a class.
    fn responses(&self, batch: &RecordBatch) -> anyhow::Result<Vec<f64>> {
        let (kind, array) = column(batch, &self.label)?;
        let Some(classes) = &self.classes else {
            let numbers = numbers(kind, array, &self.label)?;
            return Ok(numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect());
        };
        let words = tables::words(array).with_context(|| format!("column `{}`", self.label))?;
        let place = |cell: Option<&str>| {
            cell.and_then(|cell| classes.find(cell)).map_or(f64::NAN, |Label(place)| f64::from(place))
        };
        Ok(words.iter().map(place).collect())
    }
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> anyhow::Result<(ColumnKind, &'a dyn Array)> {
    let place = batch.schema_ref().index_of(name)?;
    Ok((tables::column_kind(batch.schema_ref().field(place))?, batch.column(place).as_ref()))
}

/// The cells of a column, as a device takes them.
fn cells(batch: &RecordBatch, wanted: &FeatureColumn) -> anyhow::Result<Vec<Cell>> {
    let (kind, array) = column(batch, &wanted.name)?;
    match wanted.kind {
        ColumnKind::Number => {
            let cell = |number: Option<f64>| number.map_or(Cell::Missing, Cell::Number);
            Ok(numbers(kind, array, &wanted.name)?.into_iter().map(cell).collect())
        }
        ColumnKind::Words => {
            let words = tables::words(array).with_context(|| format!("column `{}`", wanted.name))?;
            let cell =
                |words: Option<&str>| words.map_or(Cell::Missing, |words| Cell::Words(words.to_owned()));
            Ok(words.iter().map(cell).collect())
        }
        ColumnKind::Vector(_) => bail!("column `{}`: whole records have no vectors", wanted.name),
    }
}

/// Numbers, as they are or as they are written; nothing where a cell is empty, and NaN where it holds something else.
fn numbers(kind: ColumnKind, array: &dyn Array, name: &str) -> anyhow::Result<Vec<Option<f64>>> {
    match kind {
        ColumnKind::Number => {
            let nulls = array.logical_nulls();
            let there = |row| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            let numbers = tables::numbers(array)?.into_iter().enumerate();
            Ok(numbers.map(|(row, number)| there(row).then_some(number)).collect())
        }
        ColumnKind::Words => {
            let there = |cell: &&str| !matches!(*cell, "" | "?" | "NA");
            let number = |cell: &str| cell.parse().unwrap_or(f64::NAN);
            let words = tables::words(array)?;
            Ok(words.iter().map(|cell| cell.filter(there).map(number)).collect())
        }
        ColumnKind::Vector(_) => bail!("column `{name}`: numbers are needed, but it holds vectors"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Float64Array, Int32Array, StringArray};
    use std::sync::Arc;

    fn rows(classes: &[&str]) -> RecordRows {
        let column = |name: &str, kind| FeatureColumn { name: name.into(), kind };
        let index = ClassIndex::new(classes.iter().map(ToString::to_string));
        RecordRows {
            features: vec![column("age", ColumnKind::Number), column("town", ColumnKind::Words)],
            label: "y".into(),
            classes: (!classes.is_empty()).then_some(index),
        }
    }

    fn batch(age: ArrayRef, town: ArrayRef, y: ArrayRef) -> RecordBatch {
        RecordBatch::try_from_iter([("age", age), ("town", town), ("y", y)]).unwrap()
    }

    /// The records, with what is no number spelt so that it can be compared.
    fn read(rows: &RecordRows, batch: &RecordBatch) -> Vec<String> {
        let records = rows.records(batch).unwrap();
        records.iter().map(|record| format!("{:?} {}", record.features, record.response)).collect()
    }

    #[test]
    fn what_cannot_be_read_is_no_number_and_what_is_empty_is_missing() {
        let ages = ["38.5", "old", "nan", "1e999", "NA"].map(Some).into_iter().chain([None]);
        let age: ArrayRef = Arc::new(ages.collect::<StringArray>());
        let town: ArrayRef = Arc::new(["Ulm"; 6].map(Some).into_iter().collect::<StringArray>());
        let classes = ["no", "yes", "perhaps", "1.0", "1"].map(Some).into_iter().chain([None]);
        let y: ArrayRef = Arc::new(classes.collect::<StringArray>());
        let found = read(&rows(&["no", "yes"]), &batch(age.clone(), town.clone(), y));
        let cells = ["Number(38.5)", "Number(NaN)", "Number(NaN)", "Number(inf)", "Missing", "Missing"];
        let places = ["0", "1", "NaN", "NaN", "NaN", "NaN"];
        for (row, (cell, place)) in cells.into_iter().zip(places).enumerate() {
            assert_eq!(found[row], format!("[{cell}, Words(\"Ulm\")] {place}"), "row {row}");
        }
        // Numbers and classes that are numbers, in columns of numbers
        let numbers = [Some(1.0), Some(f64::NAN), None, Some(2.0), Some(0.5), Some(3.0)];
        let numbers: ArrayRef = Arc::new(Float64Array::from(numbers.to_vec()));
        let found = read(&rows(&["1", "2"]), &batch(numbers.clone(), town.clone(), numbers.clone()));
        let cells = ["Number(1.0)", "Number(NaN)", "Missing", "Number(2.0)", "Number(0.5)", "Number(3.0)"];
        let places = ["0", "NaN", "NaN", "1", "NaN", "NaN"];
        for (row, (cell, place)) in cells.into_iter().zip(places).enumerate() {
            assert_eq!(found[row], format!("[{cell}, Words(\"Ulm\")] {place}"), "row {row}");
        }
        let found = read(&rows(&[]), &batch(age, Arc::new(Int32Array::from(vec![7; 6])), numbers));
        assert_eq!(found[0], "[Number(38.5), Words(\"7\")] 1");
        assert!(found[2].ends_with(" NaN"), "{}", found[2]);
    }
}
