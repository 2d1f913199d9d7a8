//! The rows of a table as devices: each randomizes its own label and says it once.

use crate::randomness;
use crate::tables::{self, ClassIndex, TableFile};
use anyhow::Context;
use arrow_array::RecordBatch;
use rand_chacha::ChaCha12Rng;
use undertone_device::Question;
use undertone_learn::features::{Batch, Column};
use undertone_privacy::exact::WordBuffer;
use undertone_privacy::label::Label;
use undertone_report::{Cell, Task};

/// Makes reports of rows.
pub(crate) struct Devices {
    task: Task,
    question: Question,
    index: ClassIndex,
    rng: ChaCha12Rng,
    tier: u8,
}

impl Devices {
    /// Devices that answer this task, at this tier, with randomness of the system or, in a simulation, of a seed.
    pub(crate) fn new(task: &Task, tier: u8, seed: Option<u64>) -> anyhow::Result<Self> {
        let question = Question::new(task)?;
        question.price(tier).context("--tier")?;
        let index = ClassIndex::new(task.classes.iter().cloned());
        Ok(Self { task: task.clone(), question, index, rng: randomness::generator(seed)?, tier })
    }

    /// The reports of a batch of `table` that begins with row `first`, made at `now`.
    pub(crate) fn answer(
        &mut self,
        table: &TableFile,
        batch: &RecordBatch,
        first: u64,
        now: u64,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        let place = tables::label_place(batch.schema_ref(), &self.task.label)?;
        let mut labels = Vec::new();
        let known = self.index.look_up(batch.column(place).as_ref(), first, &mut labels);
        known.with_context(|| table.path().display().to_string())?;
        let features = tables::features(batch, &self.task.features)?;
        let mut rng = WordBuffer::new(&mut self.rng);
        let report = |(row, &label): (usize, &Label)| {
            let report = self.question.answer(cells(&features, row), label, self.tier, now, &mut rng);
            report.with_context(|| format!("row {}", first + row as u64))
        };
        labels.iter().enumerate().map(report).collect()
    }
}

/// The cells of a row.
fn cells(batch: &Batch, row: usize) -> Vec<Cell> {
    let cell = |column: &Column| match column {
        Column::Numbers(numbers) if numbers[row].is_nan() => Cell::Missing,
        // There is one zero in a report.
        Column::Numbers(numbers) => Cell::Number(numbers[row] + 0.0),
        Column::Words(words) => words.get(row).map_or(Cell::Missing, |words| Cell::Words(words.to_owned())),
        Column::Vectors { width, values } => {
            Cell::Vector(values[row * width..(row + 1) * width].iter().map(|x| x + 0.0).collect())
        }
    };
    batch.columns.iter().map(cell).collect()
}
