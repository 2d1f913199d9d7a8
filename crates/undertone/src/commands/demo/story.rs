//! What the demonstration has found, for machines and for people.

use super::audit::audit_lines;
use super::comparison::Learnt;
use super::stage::Stage;
use crate::bar_chart::{self, Bar};
use crate::collector::{ClassShare, Point, Status};
use crate::finding::{Finding, Outcome};
use crate::nursery;
use serde::Serialize;
use std::io::{self, Write};
use undertone_privacy::label::LabelRandomizer;

/// One share, told with its uncertainty and the truth that only a demonstration knows.
#[derive(Serialize)]
struct Told {
    label: String,
    truth: f64,
    estimate: f64,
    low: f64,
    high: f64,
    covered: bool,
}

impl Told {
    fn bar(&self) -> Bar<'_> {
        let &Self { ref label, truth, estimate, low, high, .. } = self;
        Bar { name: label, truth, estimate, low, high }
    }
}

/// Everything the demonstration has to say.
#[derive(Serialize)]
pub(super) struct Story<'a> {
    #[serde(skip)]
    stage: &'a Stage,
    data: &'static str,
    devices: u32,
    epsilon: f64,
    mechanism: &'a str,
    set_size: Option<u32>,
    randomness: String,
    /// Where the collector is
    url: String,
    shares: Vec<Told>,
    covered: usize,
    /// The accuracy of earlier models on the reports that came after them
    curve: Vec<Point>,
    pub(super) comparison: Vec<Learnt>,
    pub(super) audit: Option<Finding>,
}

impl<'a> Story<'a> {
    /// Before anybody has reported.
    pub(super) fn new(stage: &'a Stage, url: String, seed: Option<u64>) -> Self {
        Self {
            data: "Nursery, UCI Machine Learning Repository, CC BY 4.0",
            devices: stage.devices,
            epsilon: stage.task.mechanism.level(),
            mechanism: &stage.task.mechanism.kind,
            set_size: stage.mechanism.set_size(),
            randomness: match seed {
                Some(seed) => format!("seed {seed}, for simulation only"),
                None => "operating system".to_string(),
            },
            url,
            shares: Vec::new(),
            covered: 0,
            curve: Vec::new(),
            comparison: Vec::new(),
            audit: None,
            stage,
        }
    }

    /// What the collector knows when everybody has reported.
    pub(super) fn learnt(&mut self, status: &Status) {
        let told = |bar: Bar<'_>| {
            let Bar { name, truth, estimate, low, high } = bar;
            Told { label: name.into(), truth, estimate, low, high, covered: low <= truth && truth <= high }
        };
        self.shares = bars(status, &self.stage.truth).into_iter().map(told).collect();
        self.covered = self.shares.iter().filter(|share| share.covered).count();
        self.curve = status.curve.clone().unwrap_or_default();
    }

    /// Whether the promise is kept, once somebody has looked.
    pub(super) fn verdict(&self) -> Option<Outcome> {
        self.audit.as_ref().map(|audit| audit.verdict)
    }

    /// What is asked, and under which promise.
    pub(super) fn tell_beginning(&self, out: &mut impl Write) -> io::Result<()> {
        let (devices, names) = (thousands(self.devices.into()), nursery::CLASSES.join(", "));
        writeln!(out, "The question")?;
        writeln!(
            out,
            "  {devices} families apply to a nursery school. Each keeps the rank of its application to"
        )?;
        writeln!(out, "  itself: {names}.")?;
        writeln!(
            out,
            "  What share has each rank, and can a rank be told from what the school knows anyway?"
        )?;
        writeln!(out, "  ({}; randomness: {})", self.data, self.randomness)?;

        let (epsilon, times) = (self.epsilon, self.epsilon.exp());
        writeln!(out, "\nThe promise")?;
        writeln!(
            out,
            "  ε = {epsilon}. Whatever a device sends, it would have sent with a probability at most"
        )?;
        writeln!(out, "  {times:.2} times smaller or larger had the family's rank been any other.")?;
        self.tell_mechanism(out)?;
        writeln!(out, "\nThe reports come in over HTTP. Watch: {}", self.url)?;
        out.flush()
    }

    fn tell_mechanism(&self, out: &mut impl Write) -> io::Result<()> {
        let ((p, q), k) = (self.stage.mechanism.inclusion(), self.stage.mechanism.labels());
        let (name, sends) = match self.set_size {
            Some(size) if size > 1 => ("Subset selection", format!("{size} of them")),
            _ => ("Randomized response", "one of them".to_string()),
        };
        writeln!(out, "\nThe mechanism")?;
        writeln!(out, "  {name}, the best for {k} ranks at this ε: a device sends {sends},")?;
        writeln!(out, "  its own with probability {p:.4}, any one other with {q:.4}.")
    }

    /// What came of it.
    pub(super) fn tell_end(&self, out: &mut impl Write) -> io::Result<()> {
        self.tell_shares(out)?;
        self.tell_comparison(out)?;
        if let Some(audit) = &self.audit {
            writeln!(out, "\nThe audit\n  {}", audit_lines(audit))?;
        }
        Ok(())
    }

    fn tell_shares(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nThe shares, with 95 % intervals")?;
        bar_chart::draw(&self.shares.iter().map(Told::bar).collect::<Vec<_>>(), out)?;
        writeln!(out, "  {} of {} intervals cover the truth.", self.covered, self.shares.len())?;
        if self.shares.iter().any(|share| share.estimate < 0.0) {
            writeln!(out, "  (An unbiased estimate of a small share falls below zero at times.)")?;
        }
        Ok(())
    }

    fn tell_comparison(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "\nHow often the rank of a family that was never asked is told from its public columns, ± standard error"
        )?;
        for Learnt { method, about, accuracy } in &self.comparison {
            let (value, error) = (100.0 * accuracy.value, 100.0 * accuracy.standard_error);
            writeln!(out, "  {method:<20} {value:5.1} % ± {error:.1}   {about}")?;
        }
        Ok(())
    }

    /// Where to look on.
    pub(super) fn tell_invitation(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nThe dashboard stays at {} until Ctrl-C.", self.url)?;
        out.flush()
    }
}

/// Shares beside the truth.
pub(super) fn bars<'a>(status: &'a Status, truth: &[f64]) -> Vec<Bar<'a>> {
    let bar = |(share, truth): (&'a ClassShare, &f64)| {
        let ClassShare { class, estimate, low, high, .. } = share;
        Bar { name: class, truth: *truth, estimate: *estimate, low: *low, high: *high }
    };
    status.shares.iter().flatten().zip(truth).map(bar).collect()
}

/// 12960 as 12,960.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        assert_eq!(
            [0, 999, 1000, 12_960, 1_000_000].map(thousands),
            ["0", "999", "1,000", "12,960", "1,000,000"]
        );
    }
}
