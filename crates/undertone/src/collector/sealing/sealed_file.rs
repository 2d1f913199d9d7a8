//! The reports of one segment on their way into a file.

use crate::reports::{Answers, Form, LabelLists, Layout, Marks, ReportsWriter};
use anyhow::bail;
use arrow_array::{
    ArrayRef, FixedSizeBinaryArray, FixedSizeListArray, Float32Array, Float64Array, StringArray,
    TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, FieldRef, TimeUnit};
use std::path::Path;
use std::sync::Arc;
use undertone_report::{Cell, ColumnKind, Report, Task};

/// The column of the id of each report.
const ID: &str = "report_id";
/// The column of its time.
const TIME: &str = "report_time";
/// Reports that are encoded together, unless [`BLOCK_BYTES`] come first.
const BLOCK: usize = 1 << 13;
const BLOCK_BYTES: usize = 1 << 24;

/// A file that is there when it is [finished](Self::finish). Its bytes are a function of the task and of the reports.
pub(super) struct SealedFile {
    writer: ReportsWriter,
    form: Form,
    columns: Vec<(FieldRef, ColumnKind)>,
    priors: bool,
    /// Seconds of a unit of time
    precision: u64,
    block: Vec<Report>,
    bytes: usize,
}

impl SealedFile {
    /// A file for reports of the segment that `mark` says.
    pub(super) fn create(path: &Path, task: &Task, mark: &str) -> anyhow::Result<Self> {
        let field = |name: &str, kind| (Arc::new(Field::new(name, data_type(kind), is_nullable(kind))), kind);
        let columns: Vec<_> =
            task.public_columns().iter().map(|column| field(&column.name, column.kind)).collect();
        let fields: Vec<FieldRef> =
            columns.iter().map(|(field, _)| field.clone()).chain(own_fields()).collect();
        let marks = Marks { segment: Some(mark.to_owned()), ..Marks::default() };
        Ok(Self {
            // By force: a file that is made again takes the place of the same bytes.
            writer: ReportsWriter::create(path, true, task, &fields, &marks)?,
            form: Layout::of(task)?.form,
            columns,
            priors: task.has_priors(),
            precision: task.collection.as_ref().map_or(1, |collection| collection.time_precision),
            block: Vec::new(),
            bytes: 0,
        })
    }

    /// One more report, which took so many bytes in the log.
    pub(super) fn push(&mut self, report: Report, bytes: usize) -> anyhow::Result<()> {
        self.block.push(report);
        self.bytes += bytes;
        if self.block.len() >= BLOCK || self.bytes >= BLOCK_BYTES { self.write() } else { Ok(()) }
    }

    /// Puts the file in its place.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        if !self.block.is_empty() {
            self.write()?;
        }
        self.writer.finish()?;
        Ok(())
    }

    fn write(&mut self) -> anyhow::Result<()> {
        let block = std::mem::take(&mut self.block);
        self.bytes = 0;
        let mut answers = Answers::new(self.form);
        let mut among = self.priors.then(LabelLists::new);
        for report in &block {
            match (&report.survey, report.number) {
                (Some(said), _) => answers.push_survey(said),
                (_, Some(said)) => answers.push_integer(said),
                _ => answers.push(&report.members),
            }
            if let Some(among) = &mut among {
                among.push_with(|labels| labels.extend(&report.among));
            }
        }
        self.writer.write(self.columns_of(&block)?, answers, among)
    }

    /// The public columns, ids and times.
    fn columns_of(&self, block: &[Report]) -> anyhow::Result<Vec<ArrayRef>> {
        let mut columns = Vec::with_capacity(self.columns.len() + 2);
        for (place, (field, kind)) in self.columns.iter().enumerate() {
            columns.push(array(field, *kind, block.iter().map(|report| &report.features[place]))?);
        }
        columns.push(Arc::new(FixedSizeBinaryArray::try_from_iter(block.iter().map(|report| report.id.0))?));
        // Times are below 2^53 s, so that milliseconds fit.
        let begins = |report: &Report| (report.time * self.precision * 1000) as i64;
        let times = TimestampMillisecondArray::from_iter_values(block.iter().map(begins));
        columns.push(Arc::new(times.with_timezone("UTC")));
        Ok(columns)
    }
}

/// Refuses a task of which no such file can be made.
pub(in crate::collector) fn refuse_taken_names(task: &Task) -> anyhow::Result<()> {
    match task.features.iter().find(|column| [ID, TIME].contains(&column.name.as_str())) {
        Some(taken) => bail!(
            "a public column is named `{}`, as is a column of collected reports: give it another name in the task",
            taken.name
        ),
        None => Ok(()),
    }
}

fn own_fields() -> [FieldRef; 2] {
    let time = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    [Arc::new(Field::new(ID, DataType::FixedSizeBinary(16), false)), Arc::new(Field::new(TIME, time, false))]
}

fn data_type(kind: ColumnKind) -> DataType {
    match kind {
        ColumnKind::Number => DataType::Float64,
        ColumnKind::Words => DataType::Utf8,
        ColumnKind::Vector(width) => DataType::FixedSizeList(coordinate(), width as i32),
    }
}

/// Whether a cell may be missing.
fn is_nullable(kind: ColumnKind) -> bool {
    !matches!(kind, ColumnKind::Vector(_))
}

fn coordinate() -> FieldRef {
    Arc::new(Field::new("element", DataType::Float32, false))
}

/// The cells of a public column. The format has seen to it that each is of its column's kind, or missing where it may be.
fn array<'a>(
    field: &Field,
    kind: ColumnKind,
    cells: impl Iterator<Item = &'a Cell>,
) -> anyhow::Result<ArrayRef> {
    Ok(match kind {
        ColumnKind::Number => {
            let number = |cell: &Cell| if let Cell::Number(x) = cell { Some(*x) } else { None };
            Arc::new(cells.map(number).collect::<Float64Array>())
        }
        ColumnKind::Words => {
            let words = |cell: &'a Cell| if let Cell::Words(words) = cell { Some(words) } else { None };
            Arc::new(cells.map(words).collect::<StringArray>())
        }
        ColumnKind::Vector(width) => {
            let mut values = Vec::new();
            for cell in cells {
                let Cell::Vector(vector) = cell else { bail!("a vector is missing in `{}`", field.name()) };
                values.extend_from_slice(vector);
            }
            let values = Arc::new(Float32Array::from(values));
            Arc::new(FixedSizeListArray::try_new(coordinate(), width as i32, values, None)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reports::ReportsFile;
    use crate::tables;
    use undertone_learn::features::{Batch, Column};
    use undertone_report::{FeatureColumn, MechanismWords, ReportId, TASK_VERSION};

    fn task(classes: usize, kind: &str) -> Task {
        let column = |name: &str, kind| FeatureColumn { name: name.into(), kind };
        Task {
            version: TASK_VERSION,
            label: "y".into(),
            classes: (0..classes).map(|class| class.to_string()).collect(),
            mechanism: MechanismWords {
                kind: kind.into(),
                epsilon: Some(1.0),
                delta: None,
                mu: None,
                set_size: None,
                top: None,
                prior: None,
            },
            features: vec![
                column("age", ColumnKind::Number),
                column("town", ColumnKind::Words),
                column("photo", ColumnKind::Vector(2)),
            ],
            collection: None,
            number: None,
            record: None,
            survey: None,
        }
    }

    fn report(id: u8, features: Vec<Cell>, members: Vec<u32>) -> Report {
        let id = ReportId([id; 16]);
        Report { id, time: 7, tier: 0, features, members, among: vec![], ..Report::default() }
    }

    /// Writes two reports that name these labels, and what is read again.
    fn round_trip(task: &Task, said: &[Vec<u32>; 2]) -> (Vec<Vec<u32>>, Batch) {
        let path = std::env::temp_dir().join(format!(
            "undertone-sealed-{}-{}-{}.parquet",
            std::process::id(),
            task.mechanism.kind,
            task.classes.len()
        ));
        let mut file = SealedFile::create(&path, task, "1-2").unwrap();
        let full = vec![Cell::Number(-1.5), Cell::Words("Ulm".into()), Cell::Vector(vec![0.5, 3.0])];
        file.push(report(1, full, said[0].clone()), 1).unwrap();
        let empty = vec![Cell::Missing, Cell::Missing, Cell::Vector(vec![0.0, 1.0])];
        // Large enough to be written at once
        file.push(report(2, empty, said[1].clone()), BLOCK_BYTES).unwrap();
        assert!(file.block.is_empty());
        file.finish().unwrap();
        let read = ReportsFile::open(&path).unwrap();
        assert_eq!((read.task(), read.rows()), (task, 2));
        assert_eq!(read.marks()[0].segment.as_deref(), Some("1-2"));
        let block = read.blocks().next().unwrap().unwrap();
        std::fs::remove_file(path).unwrap();
        let members = (0..2).map(|row| block.members(row).to_vec()).collect();
        (members, tables::features(block.features(), &task.features).unwrap())
    }

    #[test]
    fn reports_of_every_form_and_columns_of_every_kind_read_back() {
        for (classes, kind, said) in [
            (3, "rr", [vec![2], vec![0]]),
            (5, "bits", [vec![0, 4], vec![]]),
            (64, "bits", [vec![63], vec![0, 1, 63]]),
            (70, "bits", [vec![1, 69], vec![]]),
        ] {
            let (members, features) = round_trip(&task(classes, kind), &said);
            assert_eq!(members, said, "{classes} {kind}");
            let [Column::Numbers(ages), Column::Words(towns), Column::Vectors { width: 2, values }] =
                &features.columns[..]
            else {
                panic!("{features:?}");
            };
            assert!(ages[0].to_bits() == (-1.5f64).to_bits() && ages[1].is_nan());
            assert_eq!((towns.get(0), towns.get(1)), (Some("Ulm"), None));
            assert_eq!(values, &[0.5, 3.0, 0.0, 1.0]);
        }
    }

    #[test]
    fn a_public_column_with_the_name_of_one_of_ours_is_named() {
        let named = |name: &str| {
            let mut task = task(3, "rr");
            task.features[1].name = name.into();
            task
        };
        refuse_taken_names(&named("id")).unwrap();
        for name in [ID, TIME] {
            let error = refuse_taken_names(&named(name)).unwrap_err().to_string();
            assert!(error.contains(&format!("a public column is named `{name}`")), "{error}");
        }
        let path = std::env::temp_dir().join(format!("undertone-unsealed-{}", std::process::id()));
        let error = SealedFile::create(&path, &named("report"), "1-2").err().unwrap().to_string();
        assert!(error.contains("a public column is named `report`"), "{error}");
        assert!(!path.exists());
    }
}
