//! Labels that are numbers: clipped to public bounds, then randomized.

use super::{Columns, Privatize, only};
use crate::exit::Usage;
use crate::progress::row_counter;
use crate::reports::{Answers, Marks, ReportsWriter};
use crate::tables::{TableFile, label_numbers};
use crate::{output, randomness};
use anyhow::{Context, ensure};
use rand_core::CryptoRng;
use std::io::{self, Write};
use undertone_privacy::Epsilon;
use undertone_privacy::number::{GridNumber, NumberKind, NumberMechanism, NumberRandomizer};
use undertone_report::{MechanismWords, NumberWords, TASK_VERSION, Task};

use super::summary::{NumberSummary, SIMULATION};

/// What came of it.
pub(super) struct Asked {
    pub(super) rows: u64,
    /// Of whom the number was outside of the bounds
    pub(super) clipped: u64,
    pub(super) bytes: u64,
}

/// Everybody's devices.
pub(super) struct NumberDevices {
    mechanism: NumberMechanism,
    places: Vec<GridNumber>,
    clipped: u64,
}

impl NumberDevices {
    fn new(mechanism: NumberMechanism) -> Self {
        Self { mechanism, places: Vec::new(), clipped: 0 }
    }

    /// One report for each number.
    fn answer(&mut self, numbers: &[f64], rng: &mut impl CryptoRng) -> anyhow::Result<Answers> {
        let bounds = self.mechanism.bounds();
        let outside = numbers.iter().filter(|&&number| number < bounds.low() || number > bounds.high());
        self.clipped += outside.count() as u64;
        self.places.clear();
        for &number in numbers {
            self.places.push(bounds.place(number)?);
        }
        let said = self.places.iter().map(|place| self.mechanism.report(place, rng));
        Ok(Answers::Integers(said.collect::<Result<_, _>>()?))
    }
}

/// The kind that was asked for, or the one of least worst-case variance.
pub(crate) fn number_kind(
    words: NumberWords,
    mechanism: Option<&str>,
    epsilon: Epsilon,
) -> Result<NumberKind, Usage> {
    let bounds = words.bounds().map_err(Usage::new)?;
    match mechanism {
        Some(name) => name.parse().map_err(|error| Usage::new(format!("--mechanism: {error}"))),
        None => NumberMechanism::best(bounds, epsilon).map(|best| best.kind()).map_err(Usage::new),
    }
}

impl Privatize {
    /// The bounds, if the label is a number.
    pub(super) fn number(&self) -> Option<NumberWords> {
        self.low.zip(self.high).map(|(low, high)| NumberWords { low, high })
    }

    pub(super) fn run_numbers(&self, words: NumberWords, out: &mut impl Write) -> anyhow::Result<()> {
        let table = TableFile::open(&self.table)?;
        let columns = Columns::of_number(table.schema(), self.label()?, &self.drop)?;
        let task = self.number_task(words, &columns)?;
        if self.seed.is_some() {
            // Should the standard error be closed, the summary still tells.
            let _ = writeln!(io::stderr(), "warning: {SIMULATION}");
        }
        let asked = self.stream_numbers(&table, &columns, &task)?;
        let mechanism = task.number_mechanism()?;
        let summary = NumberSummary::new(self, &task, &asked, &mechanism);
        if self.json { output::json(&summary, out) } else { summary.tell(out) }
    }

    fn number_task(&self, words: NumberWords, columns: &Columns) -> anyhow::Result<Task> {
        let task = Task {
            version: TASK_VERSION,
            label: self.label()?.to_owned(),
            classes: Vec::new(),
            mechanism: MechanismWords {
                kind: number_kind(words, self.mechanism.as_deref(), self.epsilon()?)?.name().to_owned(),
                epsilon: Some(self.epsilon()?.get()),
                ..MechanismWords::default()
            },
            features: columns.described()?,
            number: Some(words),
            record: None,
            survey: None,
            collection: None,
        };
        task.check().map_err(Usage::new)?;
        Ok(task)
    }

    /// Reads, clips, randomizes and writes, block by block.
    fn stream_numbers(&self, table: &TableFile, columns: &Columns, task: &Task) -> anyhow::Result<Asked> {
        let mut rng = randomness::generator(self.seed)?;
        let mut devices = NumberDevices::new(task.number_mechanism()?);
        let marks = Marks {
            simulation: self.seed.is_some(),
            part: self.part.map(|part| part.to_string()),
            ..Marks::default()
        };
        let mut writer = ReportsWriter::create(&self.output, self.force, task, &columns.fields(), &marks)?;
        let place = || self.table.display().to_string();
        let (mut numbers, mut next_row, mut rows, progress) = (Vec::new(), 1, 0, row_counter("reports"));
        for batch in table.batches()? {
            let batch = batch?;
            numbers.clear();
            label_numbers(batch.column(columns.label).as_ref(), next_row, &mut numbers)
                .with_context(place)?;
            let mut features = columns.public(&batch)?;
            if let Some(part) = self.part {
                features = only(part, next_row, &features, &mut numbers)?;
            }
            writer.write(features.columns().to_vec(), devices.answer(&numbers, &mut rng)?, None)?;
            rows += numbers.len() as u64;
            next_row += batch.num_rows() as u64;
            progress.inc(batch.num_rows() as u64);
        }
        progress.finish_and_clear();
        ensure!(next_row > 1, "{}: the table has no rows", place());
        ensure!(rows > 0, "{}: none of its {} rows is in the part", place(), next_row - 1);
        Ok(Asked { rows, clipped: devices.clipped, bytes: writer.finish()? })
    }
}
