//! `query marginal`: the table over several columns.

use super::tables::{Table, Tables, places};
use crate::exit::Usage;
use crate::heat_map::HeatMap;
use crate::survey_reports::SurveyReports;
use crate::{new_file, output};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

/// The table over several columns: the share of people in each cell, with its interval
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example:\n  undertone query marginal reports.parquet --columns smoker,region --csv table.csv"
)]
pub(crate) struct Marginal {
    /// A file or a directory of answers to a survey
    reports: PathBuf,
    /// The columns
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', required = true)]
    columns: Vec<String>,
    /// Also write the table as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Also draw it: the last column across, the others down
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Answer<'a> {
    answers: u64,
    #[serde(flatten)]
    table: &'a Table,
}

impl Marginal {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        for path in self.csv.iter().chain(&self.svg) {
            new_file::refuse_existing(path, self.force)?;
        }
        let reports = SurveyReports::open(&self.reports)?;
        let set = places(reports.task(), &self.columns)?;
        let tables = Tables::read(&reports, set.len())?;
        let table = tables.over(&[set])?.pop().ok_or_else(|| Usage::new("no columns were named"))?;
        if let Some(path) = &self.csv {
            output::write_file(path, &csv(&table)?, self.force)?;
        }
        if let Some(path) = &self.svg {
            output::write_file(path, &picture(&table).svg(), self.force)?;
        }
        if self.json {
            return output::json(&Answer { answers: tables.answers, table: &table }, out);
        }
        tell(&table, tables.answers, out)
    }
}

fn tell(table: &Table, answers: u64, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "{answers} people; shares in %, the interval covers 95 times in 100")?;
    let names: Vec<String> = table.cells.iter().map(|cell| cell.values.join(", ")).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (cell, name) in table.cells.iter().zip(names) {
        let [share, low, high] = [cell.share, cell.low, cell.high].map(|share| 100.0 * share);
        writeln!(out, "  {name:<width$}  {share:6.2}   from {low:6.2} to {high:6.2}")?;
    }
    Ok(())
}

fn csv(table: &Table) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let own = ["share", "low", "high", "unbiased", "standard_error"];
    writer.write_record(table.columns.iter().map(String::as_str).chain(own))?;
    for cell in &table.cells {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let numbers = [Some(cell.share), Some(cell.low), Some(cell.high), cell.unbiased, cell.standard_error];
        writer.write_record(cell.values.iter().cloned().chain(numbers.map(number)))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// The last column across, the others down.
fn picture(table: &Table) -> HeatMap {
    let mut columns: Vec<String> = Vec::new();
    for cell in &table.cells {
        let last = cell.values.last().cloned().unwrap_or_default();
        if !columns.contains(&last) {
            columns.push(last);
        }
    }
    let rows = table.cells.chunks(columns.len()).map(|cells| {
        let before = cells[0].values.split_last().map_or(String::new(), |(_, others)| others.join(", "));
        let each = cells.iter().map(|cell| (cell.share, half_width(cell.low, cell.high)));
        (before, each.collect())
    });
    let mut title = String::new();
    // Writing to a string does not fail.
    let _ = write!(title, "Share of people: {}", table.columns.join(" × "));
    HeatMap { title, columns, rows: rows.collect() }
}

fn half_width(low: f64, high: f64) -> f64 {
    0.5 * (high - low)
}
