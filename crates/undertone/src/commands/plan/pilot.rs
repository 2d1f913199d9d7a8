//! What a few people have said about how large their numbers are, and hence where those of the others are to be clipped.

use crate::digits::digits;
use crate::exit::Usage;
use crate::people::Part;
use crate::reports::{Marks, ReportsFile};
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
    /// Whom of its table it did not ask, as far as it says so
    others: Vec<Part>,
    /// Whether it was drawn from a seed
    simulation: bool,
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
    /// Whether people's answers were drawn from a seed
    simulation: bool,
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
        let found = magnitudes.moment(&task.mechanism()?, &vectors, order, DELTA);
        let found = found.with_context(|| path.display().to_string())?;
        let simulation = file.marks().iter().any(|marks| marks.simulation);
        Ok(Self { label: task.label.clone(), order, found, others: others(file.marks()), simulation })
    }

    /// T in units of the label, for one in units of the moment.
    pub(super) fn clip(&self, clip: f64) -> f64 {
        clip * self.found.unit(self.order)
    }

    pub(super) fn told(&self) -> Told {
        let PilotMoment { moment, noise, within, beyond, people } = self.found;
        Told {
            moment,
            moment_noise: noise,
            pilot_within: within,
            pilot_beyond: beyond,
            pilot_people: people,
            simulation: self.simulation,
        }
    }

    /// How the others are asked: nobody of the pilot is among them, for they have answered.
    pub(super) fn next(&self, clip: f64, epsilon: f64, out: &mut impl Write) -> anyhow::Result<()> {
        let (clip, label) = (digits(clip), quoted(&self.label));
        let bounds = format!("--low=-{clip} --high={clip} --epsilon {epsilon}");
        if self.others.is_empty() {
            writeln!(
                out,
                "\nNext, of people of another table, for nothing tells whom of its own the pilot has not asked: {bounds}"
            )?;
            return Ok(());
        }
        writeln!(out, "\nNext, of the others of the same table, whom the pilot has not asked:")?;
        for (place, part) in (1..).zip(&self.others) {
            let reports = if self.others.len() == 1 { String::new() } else { format!("-{place}") };
            writeln!(
                out,
                "  undertone privatize TABLE --label {label} {bounds} --part {part} -o reports{reports}.parquet"
            )?;
        }
        Ok(())
    }
}

/// Whom of its table a pilot has not asked, which only a single part of it tells.
fn others(marks: &[Marks]) -> Vec<Part> {
    let [Marks { part: Some(part), .. }] = marks else { return Vec::new() };
    part.parse::<Part>().map_or(Vec::new(), |part| part.others().collect())
}

/// A word as a shell reads it whole.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl Told {
    pub(super) fn explain(&self, order: f64, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { moment, moment_noise, pilot_within, pilot_beyond, pilot_people, simulation } = self;
        let (t, sure) = (digits(*pilot_within), 100.0 * (1.0 - DELTA));
        writeln!(
            out,
            "\nThe {pilot_people} people of the pilot say, {sure} % sure:\n  the mean of |label|^{order}, larger labels counted as {t}, is at most {}, of which {} stand for noise\n  at most {:.1} % of people have labels of {t} or more",
            digits(*moment),
            digits(*moment_noise),
            100.0 * pilot_beyond,
        )?;
        if *simulation {
            writeln!(out, "The reports were drawn from a seed: a simulation, without privacy")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(part: Option<&str>) -> Marks {
        Marks { part: part.map(str::to_owned), ..Marks::default() }
    }

    #[test]
    fn only_a_single_part_tells_whom_a_pilot_has_not_asked() {
        let shown = |marks: &[Marks]| others(marks).iter().map(Part::to_string).collect::<Vec<_>>();
        assert_eq!(shown(&[marks(Some("3/20"))]), ["1-2/20", "4-20/20"]);
        assert_eq!(shown(&[marks(Some("1/20"))]), ["2-20/20"]);
        for nobody in [
            vec![],
            vec![marks(None)],
            vec![marks(Some("1/1"))],
            vec![marks(Some("no part"))],
            vec![marks(Some("1/20")), marks(Some("2/20"))],
        ] {
            assert!(shown(&nobody).is_empty(), "{nobody:?}");
        }
    }

    #[test]
    fn a_label_of_several_words_is_one_to_a_shell() {
        let shown = ["height", "höhe_2", "height in cm", "mother's age", ""].map(quoted);
        assert_eq!(shown, ["height", "höhe_2", "'height in cm'", "'mother'\\''s age'", "''"]);
    }
}
