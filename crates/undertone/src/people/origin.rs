//! Where rows come from: reports, or a table with true labels.

use super::Part;
use crate::exit::Usage;
use crate::reports::{Marks, ReportBlock, ReportsFile};
use crate::tables::{self, ClassIndex, TableFile, Unlabelled};
use anyhow::{Context, bail, ensure};
use arrow_array::RecordBatch;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use undertone_learn::Examples;
use undertone_learn::features::{Batch, Encoder};
use undertone_learn::labels::Channel;
use undertone_learn::nonparametric::BinReports;
use undertone_learn::numbers::NumberChannel;
use undertone_privacy::label::Label;
use undertone_report::{FeatureColumn, NumberWords, Task};

/// Rows with something known about their labels.
pub(crate) struct Origin {
    label: String,
    classes: Vec<String>,
    number: Option<NumberWords>,
    columns: Vec<FeatureColumn>,
    rows: Rows,
    /// Rows of a table that have no label
    left_out: u64,
}

enum Rows {
    /// Reports of tasks that ask for the same, each with its channel
    Reports(Vec<(ReportsFile, Reading)>),
    /// True labels
    Labels(Box<Labelled>),
    /// True numbers
    Numbers(Box<Numbered>),
}

/// How the reports of a task are read.
enum Reading {
    Labels(Channel),
    Numbers(NumberChannel),
}

/// A table and the place of its label, a number, with the bounds to which it is clipped, if it is.
struct Numbered {
    table: TableFile,
    place: usize,
    clip: Option<NumberWords>,
    unlabelled: Unlabelled,
}

/// A table, the place of its label and how that is read.
struct Labelled {
    table: TableFile,
    place: usize,
    index: ClassIndex,
    unlabelled: Unlabelled,
}

/// Some encoded rows that still have to be given their labels.
pub(crate) struct Chunk<'a> {
    encoder: &'a Encoder,
    content: Content<'a>,
}

enum Content<'a> {
    Reports(ReportBlock, &'a Reading),
    Labels(RecordBatch, Vec<Label>),
    Numbers(RecordBatch, Vec<f64>),
}

impl Origin {
    /// The reports at these paths. Their tasks may differ in the mechanism, as those of later stages do, but neither in
    /// what is asked nor in what is promised.
    pub(crate) fn reports(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let files = paths.iter().map(|path| ReportsFile::open(path)).collect::<anyhow::Result<Vec<_>>>()?;
        refuse_twice(&files)?;
        let first = files.first().context("no reports were named")?.task().clone();
        for (path, file) in paths.iter().zip(&files).skip(1) {
            same_question(&first, file.task())
                .with_context(|| format!("{} and {}", paths[0].display(), path.display()))?;
        }
        let files = files.into_iter().map(|file| Reading::of(file.task()).map(|reading| (file, reading)));
        Ok(Self {
            label: first.label,
            classes: first.classes,
            number: first.number,
            columns: first.features,
            rows: Rows::Reports(files.collect::<anyhow::Result<_>>()?),
            left_out: 0,
        })
    }

    /// A table with true labels, whose classes are `classes` or else those that occur, sorted.
    pub(crate) fn labels(
        table: TableFile,
        label: &str,
        classes: Option<&[String]>,
        unlabelled: Unlabelled,
    ) -> anyhow::Result<Self> {
        let place = tables::label_place(table.schema(), label)?;
        let columns = tables::feature_columns(table.schema(), &[label])?;
        let classes = match classes {
            Some(classes) => classes.to_vec(),
            None => ClassIndex::classes_in(&table, place, unlabelled, |_| ())?,
        };
        let index = ClassIndex::new(classes.iter().cloned());
        let left_out = unlabelled.left_out(&table, place)?;
        Ok(Self {
            label: label.to_owned(),
            classes,
            number: None,
            columns,
            rows: Rows::Labels(Box::new(Labelled { table, place, index, unlabelled })),
            left_out,
        })
    }

    /// A table with true numbers; they are clipped to the bounds if they are learnt from, as devices would, and not if they judge.
    pub(crate) fn numbers(
        table: TableFile,
        label: &str,
        number: NumberWords,
        clip: bool,
        unlabelled: Unlabelled,
    ) -> anyhow::Result<Self> {
        number.bounds().map_err(Usage::new)?;
        let place = tables::number_place(table.schema(), label)?;
        let columns = tables::feature_columns(table.schema(), &[label])?;
        let clip = clip.then_some(number);
        let left_out = unlabelled.left_out(&table, place)?;
        let rows = Rows::Numbers(Box::new(Numbered { table, place, clip, unlabelled }));
        Ok(Self {
            label: label.to_owned(),
            classes: Vec::new(),
            number: Some(number),
            columns,
            rows,
            left_out,
        })
    }

    /// The column that is learnt.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Its values.
    pub(crate) fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Where it lies, if it is a number.
    pub(crate) fn number(&self) -> Option<NumberWords> {
        self.number
    }

    /// What is known from reports by bins, of nobody yet, if everybody has reported a number by the same bins.
    pub(crate) fn bin_reports(&self) -> anyhow::Result<Option<BinReports>> {
        let mechanisms =
            self.tasks().into_iter().map(Task::number_mechanism).collect::<Result<Vec<_>, _>>()?;
        let same = mechanisms.iter().all(|other| *other == mechanisms[0]);
        Ok(mechanisms.first().filter(|_| same).and_then(BinReports::new))
    }

    /// What the mechanisms hide of the variance of numbers, at most.
    pub(crate) fn hidden(&self) -> f64 {
        let Rows::Reports(files) = &self.rows else { return 0.0 };
        let hidden = files.iter().map(|(_, reading)| match reading {
            Reading::Labels(_) => 0.0,
            Reading::Numbers(channel) => channel.hidden(),
        });
        hidden.fold(0.0, f64::max)
    }

    /// The public columns.
    pub(crate) fn columns(&self) -> &[FeatureColumn] {
        &self.columns
    }

    /// The tasks that were answered; none for true labels.
    pub(crate) fn tasks(&self) -> Vec<&Task> {
        match &self.rows {
            Rows::Reports(files) => files.iter().map(|(file, _)| file.task()).collect(),
            Rows::Labels(..) | Rows::Numbers(..) => Vec::new(),
        }
    }

    /// What the files of reports say about how they came to be.
    fn marks(&self) -> impl Iterator<Item = &Marks> {
        let files = match &self.rows {
            Rows::Reports(files) => files.as_slice(),
            Rows::Labels(..) | Rows::Numbers(..) => &[],
        };
        files.iter().flat_map(|(file, _)| file.marks())
    }

    /// Whether any report was drawn from a seed.
    pub(crate) fn is_simulation(&self) -> bool {
        self.marks().any(|marks| marks.simulation)
    }

    /// Whether the classes of any were read from the labels.
    pub(crate) fn has_classes_from_labels(&self) -> bool {
        self.marks().any(|marks| marks.classes_from_labels)
    }

    /// The parts of a table whose people answered, each once.
    pub(crate) fn parts(&self) -> Vec<String> {
        let parts: BTreeSet<_> = self.marks().filter_map(|marks| marks.part.clone()).collect();
        parts.into_iter().collect()
    }

    /// Whether people may be in several of the places that were named, for nothing says that those are different parts.
    pub(crate) fn may_ask_twice(&self) -> bool {
        let part = |marks: &Marks| marks.part.as_ref()?.parse().ok();
        let parts: Option<Vec<Part>> = self.marks().map(part).collect();
        let apart = |parts: Vec<Part>| {
            let others = |place: usize| parts[place + 1..].iter();
            parts.iter().enumerate().all(|(place, part)| !others(place).any(|other| part.overlaps(*other)))
        };
        self.tasks().len() > 1 && !parts.is_some_and(apart)
    }

    /// The number of rows that are read.
    pub(crate) fn len(&self) -> u64 {
        match &self.rows {
            Rows::Reports(files) => files.iter().map(|(file, _)| file.rows()).sum(),
            Rows::Labels(labelled) => labelled.table.rows() - self.left_out,
            Rows::Numbers(numbered) => numbered.table.rows() - self.left_out,
        }
    }

    /// Rows without a label, which are not read.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Says how many rows are not read, if there are any.
    pub(crate) fn tell_left_out(&self) {
        if self.left_out > 0 {
            // Should the standard error be closed, what is learnt is the same.
            let _ = writeln!(
                io::stderr(),
                "note: {} rows have no `{}` and are left out",
                self.left_out,
                self.label
            );
        }
    }

    /// The public columns, batch by batch.
    pub(crate) fn batches(&self) -> anyhow::Result<Box<dyn Iterator<Item = anyhow::Result<Batch>> + '_>> {
        let features = |batch: &RecordBatch| tables::features(batch, &self.columns);
        Ok(match &self.rows {
            Rows::Reports(files) => {
                let blocks = files.iter().flat_map(|(file, _)| file.blocks());
                Box::new(blocks.map(move |block| features(block?.features())))
            }
            Rows::Labels(labelled) => Box::new(labelled.table.batches()?.map(move |batch| features(&batch?))),
            Rows::Numbers(numbered) => {
                Box::new(numbered.table.batches()?.map(move |batch| features(&batch?)))
            }
        })
    }

    /// All rows, some at a time.
    pub(super) fn chunks<'a>(
        &'a self,
        encoder: &'a Encoder,
    ) -> anyhow::Result<Box<dyn Iterator<Item = anyhow::Result<Chunk<'a>>> + 'a>> {
        let chunk = move |content| Chunk { encoder, content };
        Ok(match &self.rows {
            Rows::Reports(files) => Box::new(files.iter().flat_map(move |(file, reading)| {
                file.blocks().map(move |block| Ok(chunk(Content::Reports(block?, reading))))
            })),
            Rows::Labels(labelled) => {
                let (Labelled { table, place, index, unlabelled }, mut first) = (&**labelled, 1);
                Box::new(table.batches()?.map(move |batch| {
                    let (batch, mut labels) = (batch?, Vec::new());
                    let cells = batch.column(*place).clone();
                    let stretches = unlabelled.stretches(cells.as_ref());
                    for stretch in &stretches {
                        let cells = cells.slice(stretch.start, stretch.len());
                        let known = index.look_up(cells.as_ref(), first + stretch.start as u64, &mut labels);
                        known.with_context(|| table.path().display().to_string())?;
                    }
                    first += batch.num_rows() as u64;
                    Ok(chunk(Content::Labels(tables::only(batch, &stretches)?, labels)))
                }))
            }
            Rows::Numbers(numbered) => {
                let (Numbered { table, place, clip, unlabelled }, mut first) = (&**numbered, 1);
                Box::new(table.batches()?.map(move |batch| {
                    let (batch, mut numbers) = (batch?, Vec::new());
                    let cells = batch.column(*place).clone();
                    let stretches = unlabelled.stretches(cells.as_ref());
                    for stretch in &stretches {
                        let cells = cells.slice(stretch.start, stretch.len());
                        let row = first + stretch.start as u64;
                        let read = tables::label_numbers(cells.as_ref(), row, &mut numbers);
                        read.with_context(|| table.path().display().to_string())?;
                    }
                    first += batch.num_rows() as u64;
                    if let Some(NumberWords { low, high }) = clip {
                        for number in &mut numbers {
                            *number = number.clamp(*low, *high);
                        }
                    }
                    Ok(chunk(Content::Numbers(tables::only(batch, &stretches)?, numbers)))
                }))
            }
        })
    }
}

impl Chunk<'_> {
    pub(super) fn append_to(&self, examples: &mut Examples) -> anyhow::Result<()> {
        let columns = self.encoder.columns();
        match &self.content {
            Content::Reports(block, reading) => {
                let cells = tables::features(block.features(), columns)?;
                self.encoder.encode(&cells, &mut examples.rows).map_err(|error| block.place(error))?;
                match reading {
                    Reading::Labels(channel) => {
                        block.decode(channel, &mut examples.unbiased, &mut examples.likelihood)
                    }
                    Reading::Numbers(channel) => block.decode_numbers(channel, &mut examples.numbers),
                }
            }
            Content::Numbers(batch, numbers) => {
                self.encoder.encode(&tables::features(batch, columns)?, &mut examples.rows)?;
                for &number in numbers {
                    examples.numbers.push(number, 0.0);
                }
                Ok(())
            }
            Content::Labels(batch, labels) => {
                self.encoder.encode(&tables::features(batch, columns)?, &mut examples.rows)?;
                for &Label(label) in labels {
                    examples.unbiased.push(0.0, [(label, 1.0)]);
                    examples.likelihood.push(0.0, [(label, 1.0)]);
                }
                Ok(())
            }
        }
    }
}

impl Reading {
    fn of(task: &Task) -> anyhow::Result<Self> {
        Ok(if task.asks_for_numbers() {
            Self::Numbers(NumberChannel::of(task)?)
        } else {
            Self::Labels(Channel::of(task)?)
        })
    }
}

/// Refuses a file that is named twice, by itself or as one of a directory: its people would be heard twice.
fn refuse_twice(reports: &[ReportsFile]) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    for file in reports.iter().flat_map(ReportsFile::files) {
        let place = fs::canonicalize(file).with_context(|| file.display().to_string())?;
        ensure!(seen.insert(place), Usage::new(format!("{} is named twice", file.display())));
    }
    Ok(())
}

/// The first column in which two tasks differ.
fn different(first: &[FeatureColumn], other: &[FeatureColumn]) -> String {
    let words = |column: Option<&FeatureColumn>| match column {
        Some(FeatureColumn { name, kind }) => format!("`{name}` of {kind}"),
        None => "no more".into(),
    };
    let columns = (0..).map(|place| (first.get(place), other.get(place)));
    let found = columns.take(first.len().max(other.len())).find(|(first, other)| first != other);
    found
        .map(|(first, other)| format!("{} in one, {} in the other", words(first), words(other)))
        .unwrap_or_default()
}

/// Refuses reports that do not belong together.
fn same_question(first: &Task, other: &Task) -> anyhow::Result<()> {
    if first.label != other.label {
        bail!("one task asks for `{}`, the other for `{}`", first.label, other.label);
    }
    if first.classes != other.classes {
        bail!("one task has {} classes, the other {}, and not the same", first.labels(), other.labels());
    }
    if first.number != other.number {
        bail!("the tasks have different bounds for `{}`, or one asks for classes", first.label);
    }
    if first.mechanism.level().to_bits() != other.mechanism.level().to_bits() {
        bail!("one task promises ε = {}, the other {}", first.mechanism.level(), other.mechanism.level());
    }
    if first.features != other.features {
        bail!("the tasks have different public columns: {}", different(&first.features, &other.features));
    }
    Ok(())
}
