//! From a stream of reports to a file.
//!
//! Encoding takes about as long as randomizing, so it has a thread of its own.

use super::layout::Layout;
use super::settings::writer_properties;
use super::{Answers, CLASSES, LabelLists, Marks, PART, SEGMENT, SIMULATION, TASK, TASK_ID};
use crate::new_file::NewFile;
use anyhow::anyhow;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use undertone_report::Task;

/// Blocks that may wait to be encoded.
const WAITING: usize = 2;

/// Writes the reports of one task, block by block. What is not [finished](Self::finish) leaves no file.
pub(crate) struct ReportsWriter {
    schema: SchemaRef,
    /// The thread that encodes and the way to it, until it is done
    encoder: Option<(SyncSender<RecordBatch>, Encoder)>,
}

type Encoder = JoinHandle<Result<ArrowWriter<NewFile>, ParquetError>>;

impl ReportsWriter {
    /// A file at `path` for reports of `task`, beside the public columns `features`.
    pub(crate) fn create(
        path: &Path,
        force: bool,
        task: &Task,
        features: &[FieldRef],
        marks: &Marks,
    ) -> anyhow::Result<Self> {
        let schema = Layout::of(task)?.schema(features)?;
        let entry = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
        let mut entries = vec![entry(TASK, task.to_json()), entry(TASK_ID, task.id().to_string())];
        if marks.simulation {
            entries.push(entry(SIMULATION, "drawn from a seed: no privacy".to_owned()));
        }
        if marks.classes_from_labels {
            entries
                .push(entry(CLASSES, "read from the labels: that a class occurs is not private".to_owned()));
        }
        entries.extend(marks.part.iter().map(|part| entry(PART, part.clone())));
        entries.extend(marks.segment.iter().map(|segment| entry(SEGMENT, segment.clone())));
        let settings = writer_properties(&schema)?.set_key_value_metadata(Some(entries)).build();
        let writer = ArrowWriter::try_new(NewFile::create(path, force)?, schema.clone(), Some(settings))?;
        let (sender, blocks) = sync_channel(WAITING);
        let thread =
            thread::Builder::new().name("encoder".to_owned()).spawn(move || encode(writer, &blocks))?;
        Ok(Self { schema, encoder: Some((sender, thread)) })
    }

    /// Some more people: their public columns, their reports and, with priors, what they chose among.
    pub(crate) fn write(
        &mut self,
        mut columns: Vec<ArrayRef>,
        reports: Answers,
        among: Option<LabelLists>,
    ) -> anyhow::Result<()> {
        columns.push(reports.into_array());
        columns.extend(among.map(LabelLists::into_array));
        let block = RecordBatch::try_new(self.schema.clone(), columns)?;
        match &self.encoder {
            Some((sender, _)) if sender.send(block).is_ok() => Ok(()),
            // The encoder stops early for an error only.
            _ => self.join().and_then(|_| Err(anyhow!("the encoder stopped early"))),
        }
    }

    /// Puts the file in its place and says how many bytes it has.
    pub(crate) fn finish(mut self) -> anyhow::Result<u64> {
        self.join()?.into_inner()?.keep()
    }

    /// Waits until everything is encoded.
    fn join(&mut self) -> anyhow::Result<ArrowWriter<NewFile>> {
        let (sender, thread) = self.encoder.take().ok_or_else(|| anyhow!("the encoder has stopped"))?;
        drop(sender);
        Ok(thread.join().map_err(|_| anyhow!("the encoder failed"))??)
    }
}

impl Drop for ReportsWriter {
    fn drop(&mut self) {
        // The unfinished file is gone when this returns; why it is unfinished was said elsewhere.
        let _ = self.join();
    }
}

fn encode(
    mut writer: ArrowWriter<NewFile>,
    blocks: &Receiver<RecordBatch>,
) -> Result<ArrowWriter<NewFile>, ParquetError> {
    for block in blocks {
        writer.write(&block)?;
    }
    Ok(writer)
}
