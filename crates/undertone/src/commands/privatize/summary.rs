//! What was done, for people and for machines.

use super::numbers::Asked;
use super::{Devices, Privatize};
use indicatif::HumanBytes;
use serde::Serialize;
use std::io::Write;
use undertone_privacy::number::{NumberMechanism, NumberRandomizer};
use undertone_report::Task;

/// What is said about a seed.
pub(crate) const SIMULATION: &str =
    "SIMULATION ONLY: the randomness came from --seed, so these reports have no privacy whatsoever";

/// The classes or columns that are named for people.
const SHOWN: usize = 12;

/// The result of a run.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    task_id: String,
    reports: String,
    bytes: u64,
    rows: u64,
    part: Option<String>,
    label: &'a str,
    classes: &'a [String],
    classes_from_labels: bool,
    mechanism: &'a str,
    set_size: Option<u32>,
    epsilon: f64,
    realised_epsilon: f64,
    columns: Vec<&'a str>,
    /// Whether a seed was used
    simulation: bool,
}

impl<'a> Summary<'a> {
    pub(super) fn new(
        options: &'a Privatize,
        task: &'a Task,
        rows: u64,
        devices: &Devices,
        bytes: u64,
    ) -> Self {
        Self {
            task_id: task.id().to_string(),
            reports: options.output.display().to_string(),
            bytes,
            rows,
            part: options.part.map(|part| part.to_string()),
            label: &task.label,
            classes: &task.classes,
            classes_from_labels: options.has_classes_from_labels(),
            mechanism: &task.mechanism.kind,
            set_size: devices.set_size(),
            epsilon: task.mechanism.level(),
            realised_epsilon: devices.realised_epsilon(),
            columns: task.features.iter().map(|column| column.name.as_str()).collect(),
            simulation: options.seed.is_some(),
        }
    }

    pub(super) fn tell(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { rows, label, reports, task_id, epsilon, realised_epsilon, .. } = self;
        let part = self.part.as_ref().map_or(String::new(), |part| format!(" (part {part})"));
        writeln!(out, "{rows} reports about `{label}`{part} in {reports}, {}\n", HumanBytes(self.bytes))?;
        writeln!(out, "promise     ε = {epsilon}, realised {realised_epsilon}")?;
        let size = match self.set_size {
            Some(size) => format!("{size} of {} labels in each report", self.classes.len()),
            None => format!("any number of {} labels in a report", self.classes.len()),
        };
        writeln!(out, "mechanism   {}, {size}", self.mechanism)?;
        writeln!(out, "classes     {}", listed(self.classes.iter().map(String::as_str)))?;
        writeln!(out, "public      {}", listed(self.columns.iter().copied()))?;
        writeln!(out, "task        {task_id}")?;
        if self.simulation {
            writeln!(out, "\n{SIMULATION}")?;
        }
        Ok(())
    }
}

/// The result of a run over numbers.
#[derive(Debug, Serialize)]
pub(super) struct NumberSummary<'a> {
    task_id: String,
    reports: String,
    bytes: u64,
    rows: u64,
    part: Option<String>,
    label: &'a str,
    low: f64,
    high: f64,
    /// For whoever holds the table: it is no figure to publish
    clipped: u64,
    mechanism: &'a str,
    epsilon: f64,
    realised_epsilon: f64,
    variance_worst: f64,
    columns: Vec<&'a str>,
    simulation: bool,
}

impl<'a> NumberSummary<'a> {
    pub(super) fn new(
        options: &'a Privatize,
        task: &'a Task,
        asked: &Asked,
        mechanism: &NumberMechanism,
    ) -> Self {
        let bounds = mechanism.bounds();
        Self {
            task_id: task.id().to_string(),
            reports: options.output.display().to_string(),
            bytes: asked.bytes,
            rows: asked.rows,
            part: options.part.map(|part| part.to_string()),
            label: &task.label,
            low: bounds.low(),
            high: bounds.high(),
            clipped: asked.clipped,
            mechanism: &task.mechanism.kind,
            epsilon: task.mechanism.level(),
            realised_epsilon: mechanism.realised_epsilon(),
            variance_worst: mechanism.worst_variance(),
            columns: task.features.iter().map(|column| column.name.as_str()).collect(),
            simulation: options.seed.is_some(),
        }
    }

    pub(super) fn tell(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { rows, label, reports, task_id, epsilon, realised_epsilon, low, high, .. } = self;
        let part = self.part.as_ref().map_or(String::new(), |part| format!(" (part {part})"));
        writeln!(out, "{rows} reports about `{label}`{part} in {reports}, {}\n", HumanBytes(self.bytes))?;
        writeln!(out, "promise     ε = {epsilon}, realised {realised_epsilon}")?;
        let deviation = self.variance_worst.sqrt();
        writeln!(
            out,
            "mechanism   {}, each report within about ±{deviation:.4} of its number",
            self.mechanism
        )?;
        writeln!(
            out,
            "bounds      {low} to {high}; {} outside, clipped (not for publication)",
            self.clipped
        )?;
        writeln!(out, "public      {}", listed(self.columns.iter().copied()))?;
        writeln!(out, "task        {task_id}")?;
        if self.simulation {
            writeln!(out, "\n{SIMULATION}")?;
        }
        Ok(())
    }
}

/// How many there are and the first of them by name.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = names.len();
    if count == 0 {
        return "none".to_owned();
    }
    let shown: Vec<&str> = names.take(SHOWN).collect();
    format!("{count}: {}{}", shown.join(", "), if count > SHOWN { ", …" } else { "" })
}
