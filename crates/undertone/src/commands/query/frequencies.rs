//! `query frequencies`: how many people there are of each value.

use super::tables::{Table, Tables};
use crate::output;
use crate::reports::ReportsFile;
use crate::survey_reports::SurveyReports;
use anyhow::ensure;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use undertone_learn::labels::{LabelCounts, LabelShares};
use undertone_privacy::label::LabelRandomizer;

/// How many people there are of each value, of every column of a survey or of a private label
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone query frequencies reports.parquet")]
pub(crate) struct Frequencies {
    /// A file or a directory of answers to a survey, or of reports of labels
    reports: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Found {
    answers: u64,
    columns: Vec<Column>,
}

#[derive(Debug, Serialize)]
struct Column {
    name: String,
    values: Vec<Counted>,
}

#[derive(Debug, Serialize)]
struct Counted {
    value: String,
    share: f64,
    /// Covers the truth 95 times in 100
    low: f64,
    high: f64,
}

/// Half of an interval that covers 95 times in 100, in standard errors.
const NINETY_FIVE: f64 = 1.959_963_984_540_054;

impl Frequencies {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let found = if ReportsFile::open(&self.reports)?.task().asks_once() {
            self.of_survey()?
        } else {
            self.of_labels()?
        };
        if self.json {
            return output::json(&found, out);
        }
        writeln!(out, "{} people; shares in %, the interval covers 95 times in 100", found.answers)?;
        for column in &found.columns {
            writeln!(out, "{}", column.name)?;
            let width = column.values.iter().map(|value| value.value.chars().count()).max().unwrap_or(0);
            for Counted { value, share, low, high } in &column.values {
                let [share, low, high] = [share, low, high].map(|share| 100.0 * share);
                writeln!(out, "  {value:<width$}  {share:6.2}   from {low:6.2} to {high:6.2}")?;
            }
        }
        Ok(())
    }

    fn of_survey(&self) -> anyhow::Result<Found> {
        let reports = SurveyReports::open(&self.reports)?;
        let tables = Tables::read(&reports, 1)?;
        let sets: Vec<Vec<usize>> = (0..reports.task().features.len()).map(|place| vec![place]).collect();
        let column = |table: Table| Column {
            name: table.columns.concat(),
            values: table
                .cells
                .into_iter()
                .map(|cell| Counted {
                    value: cell.values.concat(),
                    share: cell.share,
                    low: cell.low,
                    high: cell.high,
                })
                .collect(),
        };
        Ok(Found { answers: tables.answers, columns: tables.over(&sets)?.into_iter().map(column).collect() })
    }

    fn of_labels(&self) -> anyhow::Result<Found> {
        let reports = ReportsFile::open(&self.reports)?;
        let task = reports.task();
        ensure!(
            !task.has_priors() && !task.asks_for_numbers(),
            "{}: frequencies need labels that everybody was asked for alike",
            self.reports.display()
        );
        let mechanism = task.mechanism()?;
        ensure!(
            mechanism.support().is_none(),
            "some classes were never asked about, so their shares are unknown"
        );
        let (mut counts, mut answers) = (LabelCounts::new(mechanism.labels()), 0);
        for block in reports.blocks() {
            let block = block?;
            for row in 0..block.len() {
                counts.observe(block.members(row));
            }
            answers += block.len() as u64;
        }
        let shares = LabelShares::of(&mechanism, counts).shares();
        let value = |(class, share): (&String, undertone_learn::labels::Share)| {
            let reach = NINETY_FIVE * share.standard_error;
            let (low, high) = (share.estimate - reach, share.estimate + reach);
            Counted { value: class.clone(), share: share.estimate, low, high }
        };
        let values = task.classes.iter().zip(shares).map(value).collect();
        Ok(Found { answers, columns: vec![Column { name: task.label.clone(), values }] })
    }
}
