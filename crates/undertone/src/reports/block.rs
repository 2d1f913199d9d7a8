//! Some reports as they were read.

use super::layout::{AMONG, REPORT};
use super::word_lists::Words;
use anyhow::{Context, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use std::path::Path;
use std::sync::Arc;
use undertone_learn::LearnError;
use undertone_learn::labels::{Channel, LabelVectors};
use undertone_learn::numbers::{NumberChannel, NumberValues};
use undertone_privacy::survey::{Survey, SurveyReport};
use undertone_report::Task;

/// Consecutive rows of one file of reports.
#[derive(Clone, Debug)]
pub(crate) struct ReportBlock {
    file: Arc<Path>,
    /// The row of the file that comes first here, counted from one
    first_row: u64,
    rows: usize,
    features: RecordBatch,
    reports: Said,
    among: Option<Labels>,
}

/// What each row says.
#[derive(Clone, Debug)]
enum Said {
    Labels(Labels),
    /// Something about a number
    Integers(ScalarBuffer<i64>),
    /// Answers to a survey
    Words(Words),
}

/// The labels of each row.
#[derive(Clone, Debug)]
enum Labels {
    /// One in each
    Single(ScalarBuffer<u32>),
    /// Any number of them
    Lists(OffsetBuffer<i32>, ScalarBuffer<u32>),
}

impl ReportBlock {
    /// What a batch of a file holds, whose columns were checked against the task.
    pub(super) fn new(
        file: &Arc<Path>,
        first_row: u64,
        batch: &RecordBatch,
        task: &Task,
    ) -> anyhow::Result<Self> {
        let labels = |name: &str| {
            let column = batch.column_by_name(name);
            column.map(|column| Labels::new(column, name, first_row)).transpose()
        };
        let reports = if task.asks_once() {
            Said::Words(Words::new(&whole(batch, first_row)?))
        } else if task.asks_for_numbers() {
            Said::Integers(integers(batch, first_row)?)
        } else {
            Said::Labels(labels(REPORT)?.context("no column `report`")?)
        };
        let among = if task.has_priors() { labels(AMONG)? } else { None };
        let places: Result<Vec<usize>, _> =
            task.public_columns().iter().map(|column| batch.schema_ref().index_of(&column.name)).collect();
        let (rows, features) = (batch.num_rows(), batch.project(&places?)?);
        Ok(Self { file: file.clone(), first_row, rows, features, reports, among })
    }

    /// How many people.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// The public columns, in the order of the task.
    pub(crate) fn features(&self) -> &RecordBatch {
        &self.features
    }

    /// The labels that the person of `row` reported; none where labels are numbers.
    pub(crate) fn members(&self, row: usize) -> &[u32] {
        match &self.reports {
            Said::Labels(labels) => labels.get(row),
            Said::Integers(_) | Said::Words(_) => &[],
        }
    }

    /// Appends what each report says about a number. One that the mechanism cannot have made is an error that names its file and its
    /// row there.
    pub(crate) fn decode_numbers(
        &self,
        channel: &NumberChannel,
        into: &mut NumberValues,
    ) -> anyhow::Result<()> {
        let Said::Integers(integers) = &self.reports else { return Ok(()) };
        for (row, &said) in integers.iter().enumerate() {
            channel.push(said, into).map_err(|error| self.refuse(row, error))?;
        }
        Ok(())
    }

    /// The answer of `row` to a survey, if the survey can have been answered like that.
    pub(crate) fn survey(&self, row: usize, survey: &Survey) -> anyhow::Result<SurveyReport> {
        let said = if let Said::Words(words) = &self.reports { words.get(row) } else { None };
        let problem = |problem: String| {
            anyhow::anyhow!("{}: report {}: {problem}", self.file.display(), self.first_row + row as u64)
        };
        let said = said.ok_or_else(|| problem("it answers no question".into()))?;
        survey.check(&said).map_err(|error| problem(error.to_string()))?;
        Ok(said)
    }

    /// The labels that the person of `row` chose among; none without priors.
    pub(crate) fn among(&self, row: usize) -> &[u32] {
        self.among.as_ref().map_or(&[], |among| among.get(row))
    }

    /// Appends what each report says: a(S) to `unbiased` and P(S | ·) to `likelihood`. A report that the mechanism
    /// cannot have made is an error that names its file and its row there.
    pub(crate) fn decode(
        &self,
        channel: &Channel,
        unbiased: &mut LabelVectors,
        likelihood: &mut LabelVectors,
    ) -> anyhow::Result<()> {
        for row in 0..self.len() {
            let (members, among) = (self.members(row), self.among(row));
            channel
                .push_unbiased(members, among, unbiased)
                .and_then(|()| channel.push_likelihood(members, among, likelihood))
                .map_err(|error| self.refuse(row, error))?;
        }
        Ok(())
    }

    /// The same error with the file, and its row there.
    pub(crate) fn place(&self, error: LearnError) -> anyhow::Error {
        let error = match error {
            LearnError::Cell { column, row, problem } => {
                LearnError::Cell { column, row: row + self.first_row - 1, problem }
            }
            other => other,
        };
        anyhow::Error::new(error).context(self.file.display().to_string())
    }

    fn refuse(&self, row: usize, error: LearnError) -> anyhow::Error {
        let problem = match error {
            LearnError::Report { problem, .. } => problem,
            other => other.to_string(),
        };
        anyhow::anyhow!("{}: report {}: {problem}", self.file.display(), self.first_row + row as u64)
    }
}

/// The column of reports, none of which is missing.
fn whole(batch: &RecordBatch, first_row: u64) -> anyhow::Result<ArrayRef> {
    let column = batch.column_by_name(REPORT).context("no column `report`")?;
    if let Some(row) = (0..column.len()).find(|&row| column.is_null(row)) {
        bail!("row {}: `{REPORT}` is missing", first_row + row as u64);
    }
    Ok(column.clone())
}

/// The integers of a column of a type that was checked.
fn integers(batch: &RecordBatch, first_row: u64) -> anyhow::Result<ScalarBuffer<i64>> {
    Ok(whole(batch, first_row)?.as_primitive::<Int64Type>().values().clone())
}

impl Labels {
    /// Reads a column of a type that was checked.
    fn new(column: &ArrayRef, name: &str, first_row: u64) -> anyhow::Result<Self> {
        if let Some(row) = (0..column.len()).find(|&row| column.is_null(row)) {
            bail!("row {}: `{name}` is missing", first_row + row as u64);
        }
        if let Some(labels) = column.as_primitive_opt::<UInt32Type>() {
            return Ok(Self::Single(labels.values().clone()));
        }
        if let Some(masks) = column.as_primitive_opt::<UInt64Type>() {
            return Ok(Self::of_masks(masks.values()));
        }
        let lists = column.as_list::<i32>();
        let values = lists.values().as_primitive::<UInt32Type>();
        if values.null_count() > 0 {
            bail!("a label in `{name}` is missing, within {} rows from row {first_row}", column.len());
        }
        Ok(Self::Lists(lists.offsets().clone(), values.values().clone()))
    }

    fn of_masks(masks: &[u64]) -> Self {
        let mut members = Vec::new();
        for &mask in masks {
            let mut rest = mask;
            while rest != 0 {
                members.push(rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        let offsets = OffsetBuffer::from_lengths(masks.iter().map(|mask| mask.count_ones() as usize));
        Self::Lists(offsets, members.into())
    }

    fn get(&self, row: usize) -> &[u32] {
        match self {
            Self::Single(values) => &values[row..=row],
            Self::Lists(offsets, values) => &values[offsets[row] as usize..offsets[row + 1] as usize],
        }
    }
}
