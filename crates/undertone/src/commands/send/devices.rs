//! The rows of a table as devices: each randomizes its own label and says it once.

use crate::people::RecordRows;
use crate::randomness;
use crate::tables::{self, ClassIndex, TableFile};
use anyhow::Context;
use arrow_array::RecordBatch;
use rand_chacha::ChaCha12Rng;
use undertone_device::{NumberQuestion, Question, SurveyQuestion};
use undertone_learn::features::{Batch, Column};
use undertone_privacy::exact::WordBuffer;
use undertone_privacy::label::Label;
use undertone_report::{Cell, Task};

/// Makes reports of rows.
pub(crate) struct Devices {
    task: Task,
    asked: Asked,
    rng: ChaCha12Rng,
    tier: u8,
}

/// What they are asked for.
enum Asked {
    Class(Question, ClassIndex),
    Number(NumberQuestion),
    Survey(SurveyQuestion, RecordRows),
}

impl Devices {
    /// Devices that answer this task, at this tier, with randomness of the system or, in a simulation, of a seed.
    pub(crate) fn new(task: &Task, tier: u8, seed: Option<u64>) -> anyhow::Result<Self> {
        let asked = if task.asks_once() {
            let question = SurveyQuestion::new(task)?;
            question.price(tier).context("--tier")?;
            Asked::Survey(question, RecordRows::new(task))
        } else if task.asks_for_numbers() {
            let question = NumberQuestion::new(task)?;
            question.price(tier).context("--tier")?;
            Asked::Number(question)
        } else {
            let question = Question::new(task)?;
            question.price(tier).context("--tier")?;
            Asked::Class(question, ClassIndex::new(task.classes.iter().cloned()))
        };
        Ok(Self { task: task.clone(), asked, rng: randomness::generator(seed)?, tier })
    }

    /// The reports of a batch of `table` that begins with row `first`, made at `now`.
    pub(crate) fn answer(
        &mut self,
        table: &TableFile,
        batch: &RecordBatch,
        first: u64,
        now: u64,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        let features = tables::features(batch, self.task.public_columns())?;
        let mut rng = WordBuffer::new(&mut self.rng);
        let (name, tier, file) = (&self.task.label, self.tier, || table.path().display().to_string());
        let row_of = |row: usize| format!("row {}", first + row as u64);
        match &self.asked {
            Asked::Class(question, index) => {
                let (place, mut labels) = (tables::label_place(batch.schema_ref(), name)?, Vec::new());
                index.look_up(batch.column(place).as_ref(), first, &mut labels).with_context(file)?;
                let report = |(row, &label): (usize, &Label)| {
                    let report = question.answer(cells(&features, row), label, tier, now, &mut rng);
                    report.with_context(|| row_of(row))
                };
                labels.iter().enumerate().map(report).collect()
            }
            Asked::Survey(question, rows) => {
                let records = rows.records(batch).with_context(file)?;
                records.iter().map(|record| Ok(question.answer(record, tier, now, &mut rng)?)).collect()
            }
            Asked::Number(question) => {
                let (place, mut numbers) = (tables::number_place(batch.schema_ref(), name)?, Vec::new());
                tables::label_numbers(batch.column(place).as_ref(), first, &mut numbers)
                    .with_context(file)?;
                let report = |(row, &number): (usize, &f64)| {
                    let report = question.answer(cells(&features, row), number, tier, now, &mut rng);
                    report.with_context(|| row_of(row))
                };
                numbers.iter().enumerate().map(report).collect()
            }
        }
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
