//! Reading reports: one file, or a directory of them.

use super::difference::difference;
use super::layout::{Layout, same_type};
use super::{CLASSES, Marks, PART, ReportBlock, SEGMENT, SIMULATION, TASK, TASK_ID};
use crate::tables::column_kind;
use anyhow::{Context, bail, ensure};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undertone_report::Task;

/// Rows in a block.
const BLOCK: usize = 1 << 13;

/// The reports of one task, to be read from the beginning as often as one likes.
#[derive(Clone, Debug)]
pub(crate) struct ReportsFile {
    files: Vec<Arc<Path>>,
    task: Task,
    rows: u64,
    /// Of each file
    marks: Vec<Marks>,
}

/// What the head of one file says.
struct Head {
    task: Task,
    rows: u64,
    marks: Marks,
}

impl ReportsFile {
    /// The reports of the file at `path`, or of all `*.parquet` files in the directory there, in the order of their
    /// names.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let files = files_at(path)?;
        let mut heads = files.iter().map(|file| head(file).with_context(|| file.display().to_string()));
        let Head { task, mut rows, marks } =
            heads.next().with_context(|| format!("there are no *.parquet files in {}", path.display()))??;
        let mut marks = vec![marks];
        for (file, head) in files.iter().skip(1).zip(heads) {
            let head = head?;
            if head.task != task {
                let name = |file: &Path| file.display().to_string();
                let (first, other) = (name(&files[0]), name(file));
                bail!("two tasks in one directory: {}", difference((&first, &task), (&other, &head.task)));
            }
            rows += head.rows;
            marks.push(head.marks);
        }
        ensure!(rows > 0, "there are no reports in {}", path.display());
        Ok(Self { files, task, rows, marks })
    }

    /// The files that they are in.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(AsRef::as_ref)
    }

    /// The task that all reports answer.
    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    /// How many reports there are.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// What each file says about how it came to be.
    pub(crate) fn marks(&self) -> &[Marks] {
        &self.marks
    }

    /// All reports, block by block.
    pub(crate) fn blocks(&self) -> Blocks<'_> {
        Blocks { task: &self.task, files: self.files.iter(), open: None }
    }
}

/// The blocks of one file after the other.
pub(crate) struct Blocks<'a> {
    task: &'a Task,
    files: std::slice::Iter<'a, Arc<Path>>,
    open: Option<Open<'a>>,
}

struct Open<'a> {
    file: &'a Arc<Path>,
    next_row: u64,
    batches: ParquetRecordBatchReader,
}

impl Iterator for Blocks<'_> {
    type Item = anyhow::Result<ReportBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(open) = &mut self.open
                && let Some(batch) = open.batches.next()
            {
                let first_row = open.next_row;
                let block = batch.map_err(anyhow::Error::from).and_then(|batch| {
                    open.next_row += batch.num_rows() as u64;
                    ReportBlock::new(open.file, first_row, &batch, self.task)
                });
                return Some(block.with_context(|| open.file.display().to_string()));
            }
            let file = self.files.next()?;
            match batches(file, self.task) {
                Ok(batches) => self.open = Some(Open { file, next_row: 1, batches }),
                Err(error) => return Some(Err(error.context(file.display().to_string()))),
            }
        }
    }
}

fn files_at(path: &Path) -> anyhow::Result<Vec<Arc<Path>>> {
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.with_context(|| format!("{} cannot be read", path.display()))?;
    let mut files: Vec<PathBuf> =
        entries.iter().map(fs::DirEntry::path).filter(|file| is_reports(file)).collect();
    files.sort();
    Ok(files.into_iter().map(Arc::from).collect())
}

/// Whether a file of a directory is to be read: not one that is still being written, whose name begins with a dot.
fn is_reports(file: &Path) -> bool {
    let hidden = file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && file.extension().is_some_and(|extension| extension == "parquet")
}

fn reader(file: &Path) -> anyhow::Result<ParquetRecordBatchReaderBuilder<File>> {
    let opened = File::open(file).context("the file cannot be read")?;
    ParquetRecordBatchReaderBuilder::try_new(opened)
        .context("this is not a Parquet file; reports are made by `undertone privatize`, and --label learns from a table")
}

/// The columns that the task names, and none that somebody has added.
fn batches(file: &Path, task: &Task) -> anyhow::Result<ParquetRecordBatchReader> {
    let reader = reader(file)?;
    let own = Layout::of(task)?.own_fields();
    let wanted = |name: &str| {
        task.features.iter().any(|column| column.name == name) || own.iter().any(|own| own.name() == name)
    };
    let fields = reader.schema().fields().iter().enumerate();
    let places: Vec<usize> =
        fields.filter(|(_, field)| wanted(field.name())).map(|(place, _)| place).collect();
    let columns = ProjectionMask::roots(reader.parquet_schema(), places);
    Ok(reader.with_projection(columns).with_batch_size(BLOCK).build()?)
}

/// What a file says about how its reports came to be, if there are any.
pub(crate) fn marks_of(file: &Path) -> anyhow::Result<Marks> {
    Ok(head(file)?.marks)
}

/// Reads the task of a file and checks the columns against it.
fn head(file: &Path) -> anyhow::Result<Head> {
    let reader = reader(file)?;
    let metadata = reader.metadata().file_metadata();
    let value = |key: &str| {
        let entries = metadata.key_value_metadata()?;
        entries.iter().find(|entry| entry.key == key)?.value.as_deref()
    };
    let Some(document) = value(TASK) else {
        bail!(
            "there is no task in this Parquet file, so its rows are not reports; `undertone privatize` makes them"
        );
    };
    let task = Task::from_json(document)?;
    let (id, stated) = (task.id().to_string(), value(TASK_ID).unwrap_or("missing"));
    ensure!(
        id == stated,
        "the task in this file was changed: its id is {id}, the id in the file is {stated}"
    );
    check_columns(&task, reader.schema())?;
    let rows = metadata.num_rows() as u64;
    let marks = Marks {
        simulation: value(SIMULATION).is_some(),
        part: value(PART).map(str::to_owned),
        classes_from_labels: value(CLASSES).is_some(),
        segment: value(SEGMENT).map(str::to_owned),
    };
    Ok(Head { task, rows, marks })
}

fn check_columns(task: &Task, schema: &arrow_schema::Schema) -> anyhow::Result<()> {
    let find =
        |name: &str| schema.field_with_name(name).map_err(|_| anyhow::anyhow!("there is no column `{name}`"));
    for column in task.public_columns() {
        let found = column_kind(find(&column.name)?)?;
        ensure!(
            found == column.kind,
            "column `{}` holds {found:?}, the task says {:?}",
            column.name,
            column.kind
        );
    }
    for own in Layout::of(task)?.own_fields() {
        let (found, expected) = (find(own.name())?.data_type(), own.data_type());
        ensure!(
            same_type(found, expected),
            "column `{}` has the type {found}, reports of this task have {expected}",
            own.name()
        );
    }
    Ok(())
}
