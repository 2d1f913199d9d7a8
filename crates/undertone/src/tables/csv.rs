//! CSV: commas between cells, one line of names first, gzipped or not.
//!
//! Nothing in such a file says what its columns hold, so it is read twice. The first pass finds the columns whose cells
//! are all numbers, `NA`, `?` or empty; they are read as numbers, the others as words. In a column of words a cell is
//! missing if it is empty or `?`; `NA` is a word there. Space around a cell does not count.

use super::{Batches, source};
use ::csv::{ByteRecord, Reader, ReaderBuilder};
use anyhow::{Context, bail, ensure};
use arrow_array::builder::{Float64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::path::Path;
use std::sync::Arc;
use undertone_report::ColumnKind;

/// A CSV file after its first pass.
#[derive(Debug)]
pub(super) struct CsvTable {
    schema: SchemaRef,
    rows: u64,
}

/// What the first pass knows of a column.
enum Guess {
    /// It was said
    Known(ColumnKind),
    /// Only numbers so far; the first one that is not finite, and its row
    Numbers { not_finite: Option<(u64, String)> },
    /// At least one cell is neither a number nor missing
    Words,
}

impl CsvTable {
    /// Finds the type of each column that is not known, and checks every cell.
    pub(super) fn open(path: &Path, kind_of: impl Fn(&str) -> Option<ColumnKind>) -> anyhow::Result<Self> {
        let mut rows = Rows::open(path)?;
        let guess = |name: &String| kind_of(name).map_or(Guess::Numbers { not_finite: None }, Guess::Known);
        let names = rows.names.clone();
        let mut guesses: Vec<Guess> = names.iter().map(guess).collect();
        while rows.advance()? {
            for (place, guess) in guesses.iter_mut().enumerate() {
                guess.observe(rows.cell(place)?, rows.row).with_context(|| rows.place(place))?;
            }
        }
        ensure!(rows.row > 0, "there is a header, but no row");
        let field = |(guess, name): (Guess, &String)| Ok(Field::new(name, guess.finish(name)?, true));
        let fields = guesses.into_iter().zip(&names).map(field).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self { schema: Arc::new(Schema::new(fields)), rows: rows.row })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The second pass, and every later one.
    pub(super) fn batches(&self, path: &Path) -> anyhow::Result<Batches> {
        let mut rows = Rows::open(path)?;
        let names = self.schema.fields().iter().map(|field| field.name());
        ensure!(names.eq(&rows.names), "the file was changed while it was read");
        let schema = Arc::clone(&self.schema);
        let size = super::batch_rows(schema.fields().iter().map(|field| field.data_type()));
        Ok(Box::new(std::iter::from_fn(move || batch(&mut rows, &schema, size).transpose())))
    }
}

/// The next rows; `None` after the last.
fn batch(rows: &mut Rows, schema: &SchemaRef, size: usize) -> anyhow::Result<Option<RecordBatch>> {
    let mut columns: Vec<Builder> =
        schema.fields().iter().map(|field| Builder::new(field.data_type())).collect();
    let mut count = 0;
    while count < size && rows.advance()? {
        for (place, column) in columns.iter_mut().enumerate() {
            column.push(rows.cell(place)?).with_context(|| rows.place(place))?;
        }
        count += 1;
    }
    let arrays = columns.into_iter().map(Builder::finish).collect();
    Ok(if count > 0 { Some(RecordBatch::try_new(Arc::clone(schema), arrays)?) } else { None })
}

impl Guess {
    fn observe(&mut self, cell: &str, row: u64) -> anyhow::Result<()> {
        match self {
            Self::Words | Self::Known(ColumnKind::Words | ColumnKind::Vector(_)) => {}
            Self::Known(ColumnKind::Number) => drop(number(cell)?),
            Self::Numbers { .. } if no_number(cell) => {}
            Self::Numbers { not_finite } => match cell.parse::<f64>() {
                Err(_) => *self = Self::Words,
                Ok(x) if x.is_finite() => {}
                Ok(_) => drop(not_finite.get_or_insert_with(|| (row, cell.to_owned()))),
            },
        }
        Ok(())
    }

    fn finish(self, name: &str) -> anyhow::Result<DataType> {
        match self {
            Self::Numbers { not_finite: Some((row, cell)) } => {
                bail!("row {row}, column `{name}`: {}", not_finite_number(&cell));
            }
            Self::Numbers { not_finite: None } | Self::Known(ColumnKind::Number) => Ok(DataType::Float64),
            Self::Words | Self::Known(_) => Ok(DataType::Utf8),
        }
    }
}

/// The cells of one column of a batch.
enum Builder {
    Numbers(Float64Builder),
    Words(StringBuilder),
}

impl Builder {
    fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Float64 => Self::Numbers(Float64Builder::new()),
            _ => Self::Words(StringBuilder::new()),
        }
    }

    fn push(&mut self, cell: &str) -> anyhow::Result<()> {
        match self {
            Self::Numbers(numbers) => numbers.append_option(number(cell)?),
            Self::Words(words) => words.append_option((!no_word(cell)).then_some(cell)),
        }
        Ok(())
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Numbers(mut numbers) => Arc::new(numbers.finish()),
            Self::Words(mut words) => Arc::new(words.finish()),
        }
    }
}

fn no_word(cell: &str) -> bool {
    matches!(cell, "" | "?")
}

fn no_number(cell: &str) -> bool {
    no_word(cell) || cell == "NA"
}

fn number(cell: &str) -> anyhow::Result<Option<f64>> {
    if no_number(cell) {
        return Ok(None);
    }
    match cell.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(Some(x)),
        Ok(_) => bail!(not_finite_number(cell)),
        Err(_) => bail!("`{cell}` is not a number"),
    }
}

fn not_finite_number(cell: &str) -> String {
    format!("{cell} is not a finite number; leave the cell empty if the value is missing")
}

/// The rows of a file, one at a time.
struct Rows {
    reader: Reader<source::Bytes>,
    record: ByteRecord,
    names: Vec<String>,
    /// The number of rows so far
    row: u64,
}

impl Rows {
    fn open(path: &Path) -> anyhow::Result<Self> {
        // Rows of another length than the header get an error of our own.
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(source::open(path)?);
        let names = reader.headers().context("the header cannot be read")?;
        let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        ensure!(!names.is_empty(), "the file is empty");
        Ok(Self { reader, record: ByteRecord::new(), names, row: 0 })
    }

    /// Goes to the next row, if there is one.
    fn advance(&mut self) -> anyhow::Result<bool> {
        let more = self.reader.read_byte_record(&mut self.record);
        if !more.with_context(|| format!("cannot be read after row {}", self.row))? {
            return Ok(false);
        }
        self.row += 1;
        let (cells, names) = (self.record.len(), self.names.len());
        ensure!(cells == names, "row {} has {cells} cell(s), but the header has {names}", self.row);
        Ok(true)
    }

    fn cell(&self, place: usize) -> anyhow::Result<&str> {
        let cell = std::str::from_utf8(&self.record[place]);
        Ok(cell.ok().with_context(|| format!("{}: the cell is not UTF-8", self.place(place)))?.trim())
    }

    fn place(&self, place: usize) -> String {
        format!("row {}, column `{}`", self.row, self.names[place])
    }
}
