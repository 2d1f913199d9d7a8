//! Tables as batches of columns. For now Parquet alone.

use anyhow::Context;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Rows in a batch.
const BATCH: usize = 1 << 14;

/// A table that can be read from its beginning as often as one likes.
#[derive(Debug)]
pub(crate) struct TableFile {
    path: PathBuf,
    schema: SchemaRef,
}

impl TableFile {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let schema = reader(path)?.schema().clone();
        Ok(Self { path: path.to_owned(), schema })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// All rows, batch by batch.
    pub(crate) fn batches(&self) -> anyhow::Result<impl Iterator<Item = anyhow::Result<RecordBatch>>> {
        let batches = reader(&self.path)?.with_batch_size(BATCH).build()?;
        let path = self.path.clone();
        Ok(batches.map(move |batch| batch.with_context(|| format!("{} cannot be read", path.display()))))
    }
}

fn reader(path: &Path) -> anyhow::Result<ParquetRecordBatchReaderBuilder<File>> {
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    ParquetRecordBatchReaderBuilder::try_new(file)
        .with_context(|| format!("{} cannot be read as Parquet", path.display()))
}
