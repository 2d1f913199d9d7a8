//! What a few people have said about how large their numbers are, and hence where those of the others are to be clipped.

use crate::digits::digits;
use crate::exit::Usage;
use crate::people::Part;
use crate::reports::ReportsFile;
use anyhow::Context;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use undertone_learn::labels::{Channel, LabelVectors};
use undertone_learn::nonparametric::{Magnitudes, PilotMoment};

/// The probability with which the bound may fail, over people and coins.
const DELTA: f64 = 0.05;

/// A pilot that was read.
pub(super) struct Pilot {
    label: String,
    /// p
    order: f64,
    found: PilotMoment,
    /// Whom it did not ask, where that is a part
    others: Option<Part>,
}

/// What it says, for machines.
#[derive(Serialize)]
pub(super) struct Told {
    /// The most of E min(|y|, t)^p
    moment: f64,
    /// The part of it that stands for noise
    moment_noise: f64,
    /// t
    pilot_within: f64,
    /// The share of people whose numbers are t or more, at most
    pilot_beyond: f64,
    pilot_people: u64,
}

impl Pilot {
    /// Reads what people said about magnitudes, and bounds the moment of this order.
    pub(super) fn read(path: &Path, order: f64) -> anyhow::Result<Self> {
        let file = ReportsFile::open(path).map_err(|error| Usage::new(format!("--pilot: {error:#}")))?;
        let task = file.task();
        let even = !task.has_priors() && task.mechanism.top.is_none();
        let magnitudes = Magnitudes::named(&task.classes).filter(|_| even).ok_or_else(|| {
            Usage::new(format!(
                "--pilot: the reports in {} are not about magnitudes; `undertone privatize --magnitudes` makes a pilot",
                path.display()
            ))
        })?;
        let (mut vectors, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
        let channel = Channel::of(task)?;
        for block in file.blocks() {
            likelihood.clear();
            block?.decode(&channel, &mut vectors, &mut likelihood)?;
        }
        let found = magnitudes.moment(&vectors, order, DELTA);
        let found = found.with_context(|| path.display().to_string())?;
        let part = match file.marks() {
            [marks] => marks.part.as_ref().and_then(|part| part.parse::<Part>().ok()),
            _ => None,
        };
        Ok(Self { label: task.label.clone(), order, found, others: part.and_then(Part::others) })
    }

    /// T in units of the label, for one in units of the moment.
    pub(super) fn clip(&self, clip: f64) -> f64 {
        clip * self.found.unit(self.order)
    }

    pub(super) fn told(&self) -> Told {
        let PilotMoment { moment, noise, within, beyond, people } = self.found;
        Told { moment, moment_noise: noise, pilot_within: within, pilot_beyond: beyond, pilot_people: people }
    }

    /// How the others are asked.
    pub(super) fn next(&self, clip: f64, epsilon: f64, out: &mut impl Write) -> anyhow::Result<()> {
        let (clip, label) = (digits(clip), &self.label);
        let others = match self.others {
            Some(part) => format!(" --part {part}"),
            None => String::new(),
        };
        writeln!(
            out,
            "\nNext, of the others, whom the pilot has not asked:\n  undertone privatize TABLE --label {label} --low=-{clip} --high={clip} --epsilon {epsilon}{others} -o reports.parquet"
        )?;
        Ok(())
    }
}

impl Told {
    pub(super) fn explain(&self, order: f64, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { moment, moment_noise, pilot_within, pilot_beyond, pilot_people } = self;
        let (t, sure) = (digits(*pilot_within), 100.0 * (1.0 - DELTA));
        writeln!(
            out,
            "\nThe {pilot_people} people of the pilot say, {sure} % sure:\n  the mean of |label|^{order}, larger labels counted as {t}, is at most {}, of which {} stand for noise\n  at most {:.1} % of people have labels of {t} or more",
            digits(*moment),
            digits(*moment_noise),
            100.0 * pilot_beyond,
        )?;
        Ok(())
    }
}
