//! From a stream of reports to a file.

use super::layout::Layout;
use super::settings::writer_properties;
use super::{LabelLists, SIMULATION, TASK, TASK_ID};
use crate::new_file::NewFile;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use std::path::Path;
use undertone_report::Task;

/// Writes the reports of one task, block by block. What is not [finished](Self::finish) leaves no file.
pub(crate) struct ReportsWriter {
    writer: ArrowWriter<NewFile>,
    layout: Layout,
    schema: SchemaRef,
}

impl ReportsWriter {
    /// A file at `path` for reports of `task`, beside the public columns `features`. `simulation` marks reports that
    /// were drawn from a seed.
    pub(crate) fn create(
        path: &Path,
        force: bool,
        task: &Task,
        features: &[FieldRef],
        simulation: bool,
    ) -> anyhow::Result<Self> {
        let layout = Layout::of(task)?;
        let schema = layout.schema(features)?;
        let entry = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
        let mut entries = vec![entry(TASK, task.to_json()), entry(TASK_ID, task.id().to_string())];
        if simulation {
            entries.push(entry(SIMULATION, "drawn from a seed: no privacy".to_owned()));
        }
        let settings = writer_properties(&schema)?.set_key_value_metadata(Some(entries)).build();
        let writer = ArrowWriter::try_new(NewFile::create(path, force)?, schema.clone(), Some(settings))?;
        Ok(Self { writer, layout, schema })
    }

    /// Some more people: their public columns, their reports and, with priors, what they chose among.
    pub(crate) fn write(
        &mut self,
        mut columns: Vec<ArrayRef>,
        reports: LabelLists,
        among: Option<LabelLists>,
    ) -> anyhow::Result<()> {
        columns.push(if self.layout.single { reports.into_numbers() } else { reports.into_lists() });
        columns.extend(among.map(LabelLists::into_lists));
        Ok(self.writer.write(&RecordBatch::try_new(self.schema.clone(), columns)?)?)
    }

    /// Puts the file in its place and says how many bytes it has.
    pub(crate) fn finish(self) -> anyhow::Result<u64> {
        self.writer.into_inner()?.keep()
    }
}
