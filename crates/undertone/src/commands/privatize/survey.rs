//! Whole records: everybody answers one question of a survey.

use super::Privatize;
use super::summary::SIMULATION;
use crate::commands::task::document;
use crate::people::RecordRows;
use crate::progress::row_counter;
use crate::promise::{self, Promise};
use crate::reports::{Answers, Form, Marks, ReportsWriter};
use crate::tables::TableFile;
use crate::{output, randomness};
use anyhow::{Context, ensure};
use rand_core::CryptoRng;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use undertone_device::SurveyQuestion;
use undertone_privacy::exact::WordBuffer;
use undertone_report::Task;

/// What came of it.
#[derive(Debug, Serialize)]
struct Summary {
    rows: u64,
    reports: String,
    bytes: u64,
    task: String,
    promise: Promise,
    /// Whether the reports were drawn from a seed, hence without privacy
    simulation: bool,
}

impl Privatize {
    /// Answers the survey of a task, one question a row.
    pub(super) fn run_survey(&self, file: &Path, out: &mut impl Write) -> anyhow::Result<()> {
        let task = document::read(file)?;
        ensure!(
            task.asks_once(),
            "{}: --task is for surveys, which `undertone task survey` makes; labels are privatized with --label",
            file.display()
        );
        if self.seed.is_some() {
            // Should the standard error be closed, the summary still tells.
            let _ = writeln!(io::stderr(), "warning: {SIMULATION}");
        }
        let (rows, bytes) = self.stream_survey(&task)?;
        let level = task.mechanism.level();
        let summary = Summary {
            rows,
            reports: self.output.display().to_string(),
            bytes,
            task: task.id().to_string(),
            promise: Promise::from(task.promise_at(level)?),
            simulation: self.seed.is_some(),
        };
        if self.json {
            return output::json(&summary, out);
        }
        writeln!(out, "{rows} reports of whole records in {} ({bytes} bytes)", summary.reports)?;
        writeln!(out, "{}", promise::in_words(&task.promise_at(level)?, task.secret()))?;
        Ok(())
    }

    fn stream_survey(&self, task: &Task) -> anyhow::Result<(u64, u64)> {
        let (question, reader) = (SurveyQuestion::new(task)?, RecordRows::new(task));
        let table = TableFile::open_unchecked(&self.table)?.select(reader.columns())?;
        let marks = Marks { simulation: self.seed.is_some(), ..Marks::default() };
        let mut writer = ReportsWriter::create(&self.output, self.force, task, &[], &marks)?;
        let (mut rng, mut rows, progress) = (randomness::generator(self.seed)?, 0, row_counter("reports"));
        let mut rng = WordBuffer::new(&mut rng);
        let place = || self.table.display().to_string();
        for batch in table.batches()? {
            let records = reader.records(&batch?).with_context(place)?;
            writer.write(Vec::new(), answers(&question, &records, &mut rng)?, None)?;
            rows += records.len() as u64;
            progress.inc(records.len() as u64);
        }
        progress.finish_and_clear();
        ensure!(rows > 0, "{}: the table has no rows", place());
        Ok((rows, writer.finish()?))
    }
}

/// The answers of some records, in the first tier.
fn answers(
    question: &SurveyQuestion,
    records: &[undertone_device::Record],
    rng: &mut impl CryptoRng,
) -> anyhow::Result<Answers> {
    let mut answers = Answers::new(Form::Words);
    for record in records {
        let report = question.report(record, 0, 0, rng)?;
        answers.push_survey(&report.survey.context("a survey has answers")?);
    }
    Ok(answers)
}
