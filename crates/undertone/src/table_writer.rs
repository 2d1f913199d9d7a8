//! A table that a command leaves behind: Parquet, CSV, or CSV packed by gzip, as its name says.

use crate::new_file::NewFile;
use crate::tables;
use anyhow::Context;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

/// A table on its way to the disk. What is not finished leaves no file.
pub(crate) struct TableWriter {
    path: PathBuf,
    schema: SchemaRef,
    sink: Sink,
}

enum Sink {
    Parquet(Box<ArrowWriter<NewFile>>),
    Csv(Box<csv::Writer<Text>>),
}

/// Plain or packed.
enum Text {
    Plain(BufWriter<NewFile>),
    Packed(Box<GzEncoder<BufWriter<NewFile>>>),
}

impl TableWriter {
    /// A table at `path`, where nothing may be yet unless `force` is set.
    pub(crate) fn create(path: &Path, force: bool, schema: SchemaRef) -> anyhow::Result<Self> {
        let file = NewFile::create(path, force)?;
        let ends_in = |end: &str| path.extension().is_some_and(|extension| extension == end);
        let sink = if ends_in("parquet") {
            Sink::Parquet(Box::new(ArrowWriter::try_new(file, schema.clone(), None)?))
        } else {
            let file = BufWriter::new(file);
            let text = if ends_in("gz") {
                Text::Packed(Box::new(GzEncoder::new(file, Compression::default())))
            } else {
                Text::Plain(file)
            };
            let mut writer = csv::Writer::from_writer(text);
            writer.write_record(schema.fields().iter().map(|field| field.name()))?;
            Sink::Csv(Box::new(writer))
        };
        Ok(Self { path: path.to_owned(), schema, sink })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        match &mut self.sink {
            Sink::Parquet(writer) => writer.write(batch)?,
            Sink::Csv(writer) => {
                let columns = batch.columns().iter().map(|column| tables::words(column));
                let columns = columns.collect::<anyhow::Result<Vec<_>>>()?;
                for row in 0..batch.num_rows() {
                    writer.write_record(columns.iter().map(|column| column.get(row).unwrap_or_default()))?;
                }
            }
        }
        Ok(())
    }

    /// Moves the whole table to its place.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let file = match self.sink {
            Sink::Parquet(writer) => writer.into_inner()?,
            Sink::Csv(writer) => {
                let text = writer.into_inner().map_err(csv::IntoInnerError::into_error);
                text.and_then(Text::into_file)
                    .with_context(|| format!("{} cannot be written", self.path.display()))?
            }
        };
        file.keep()?;
        Ok(())
    }
}

impl Text {
    fn into_file(self) -> io::Result<NewFile> {
        let buffer = match self {
            Self::Plain(buffer) => buffer,
            Self::Packed(packer) => packer.finish()?,
        };
        buffer.into_inner().map_err(IntoInnerError::into_error)
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(buffer) => buffer.write(bytes),
            Self::Packed(packer) => packer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(buffer) => buffer.flush(),
            Self::Packed(packer) => packer.flush(),
        }
    }
}
