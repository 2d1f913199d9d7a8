//! What the demonstration has found, for machines and for people.

use super::audit::audit_lines;
use super::comparison::{Comparison, REPETITIONS};
use super::{Collection, Demo, kind_of, true_shares};
use crate::bar_chart::{self, Bar};
use crate::finding::Finding;
use crate::nursery;
use serde::Serialize;
use std::io::{self, Write};
use undertone_learn::labels::Share;
use undertone_privacy::label::{Label, LabelMechanism, LabelRandomizer, LabelSet};

/// One share, told with its uncertainty and the truth that only a demonstration knows.
#[derive(Serialize)]
struct Told {
    label: &'static str,
    truth: f64,
    estimate: f64,
    standard_error: f64,
    low: f64,
    high: f64,
    covered: bool,
}

/// Everything the demonstration has to say.
#[derive(Serialize)]
pub(super) struct Story {
    data: &'static str,
    devices: usize,
    epsilon: f64,
    mechanism: &'static str,
    set_size: Option<u32>,
    randomness: String,
    shares: Vec<Told>,
    covered: usize,
    repetitions: u32,
    comparison: Vec<Comparison>,
    pub(super) audit: Finding,
}

impl Story {
    pub(super) fn new(
        demo: &Demo,
        mechanism: &LabelMechanism,
        labels: &[Label],
        collection: &Collection,
        comparison: Vec<Comparison>,
        audit: Finding,
    ) -> Self {
        let told = |((label, truth), share): ((&'static str, f64), &Share)| {
            let (low, high) = share.interval();
            let Share { estimate, standard_error } = *share;
            Told { label, truth, estimate, standard_error, low, high, covered: share.covers(truth) }
        };
        let known = nursery::CLASSES.into_iter().zip(true_shares(labels));
        let shares: Vec<Told> = known.zip(&collection.shares).map(told).collect();
        Self {
            data: "Nursery, UCI Machine Learning Repository, CC BY 4.0",
            devices: labels.len(),
            epsilon: demo.epsilon.get(),
            mechanism: kind_of(mechanism).name(),
            set_size: mechanism.set_size(),
            randomness: match demo.seed {
                Some(seed) => format!("seed {seed}, for simulation only"),
                None => "operating system".to_string(),
            },
            covered: shares.iter().filter(|share| share.covered).count(),
            shares,
            repetitions: REPETITIONS,
            comparison,
            audit,
        }
    }

    /// Tells it to people.
    pub(super) fn tell(
        &self,
        mechanism: &LabelMechanism,
        labels: &[Label],
        collection: &Collection,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        self.tell_question(out)?;
        self.tell_mechanism(mechanism, out)?;
        let names = |set: &LabelSet| {
            let names: Vec<_> = set.members().iter().map(|&label| nursery::CLASSES[label as usize]).collect();
            names.join(", ")
        };
        let (holds, sends) = (nursery::CLASSES[labels[0].0 as usize], names(&collection.example));
        writeln!(out, "  The first (simulated) device holds {holds} and sends {sends}.")?;
        self.tell_progress(collection, out)?;
        self.tell_shares(out)?;
        self.tell_comparison(out)?;
        writeln!(out, "\nThe audit\n  {}", audit_lines(&self.audit))?;
        Ok(())
    }

    fn tell_question(&self, out: &mut impl Write) -> io::Result<()> {
        let (devices, names) = (thousands(self.devices as u64), nursery::CLASSES.join(", "));
        writeln!(out, "The question")?;
        writeln!(
            out,
            "  {devices} applications to a nursery school were ranked. Let each belong to a family"
        )?;
        writeln!(out, "  that keeps its rank to itself: {names}.")?;
        writeln!(out, "  What share of the families has each rank?")?;
        writeln!(out, "  ({}; randomness: {})", self.data, self.randomness)?;

        let (epsilon, times) = (self.epsilon, self.epsilon.exp());
        writeln!(out, "\nThe promise")?;
        writeln!(
            out,
            "  ε = {epsilon}. Whatever a device sends, it would have sent with a probability at most"
        )?;
        writeln!(out, "  {times:.2} times smaller or larger had the family's rank been any other.")
    }

    fn tell_mechanism(&self, mechanism: &LabelMechanism, out: &mut impl Write) -> io::Result<()> {
        let (p, q) = mechanism.inclusion();
        let k = mechanism.labels();
        let (name, sends) = match self.set_size {
            Some(size) if size > 1 => ("Subset selection", format!("{size} of them")),
            _ => ("Randomized response", "one of them".to_string()),
        };
        writeln!(out, "\nThe mechanism")?;
        writeln!(out, "  {name}, the best for counting {k} labels at this ε: a device sends {sends},")?;
        writeln!(out, "  its own with probability {p:.4}, any one other with {q:.4}.")
    }

    fn tell_progress(&self, collection: &Collection, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nThe reports come in")?;
        for milestone in [1000, 4000, self.devices as u64] {
            if let Some((reports, margin)) = collection.progress.iter().find(|(n, _)| *n >= milestone) {
                let (reports, points) = (thousands(*reports), 100.0 * margin);
                writeln!(
                    out,
                    "  {reports:>7} devices: every share is known to within ± {points:.1} points (95 %)"
                )?;
            }
        }
        Ok(())
    }

    fn tell_shares(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nThe shares, with 95 % intervals")?;
        let bar = |told: &Told| {
            let &Told { label: name, truth, estimate, low, high, .. } = told;
            Bar { name, truth, estimate, low, high }
        };
        bar_chart::draw(&self.shares.iter().map(bar).collect::<Vec<_>>(), out)?;
        writeln!(out, "  {} of {} intervals cover the truth.", self.covered, self.shares.len())?;
        if self.shares.iter().any(|share| share.estimate < 0.0) {
            writeln!(out, "  (An unbiased estimate of a small share falls below zero at times.)")?;
        }
        Ok(())
    }

    fn tell_comparison(&self, out: &mut impl Write) -> io::Result<()> {
        let times = self.repetitions;
        writeln!(out, "\nThe same labels, collected {times} times over: the error of all shares together")?;
        let chosen = self.comparison.first().map_or(1.0, |first| first.exact_error);
        for Comparison { kind, set_size, error, error_standard_error, exact_error } in &self.comparison {
            let name = match set_size {
                Some(size) if *size > 1 => format!("{kind} of {size}"),
                _ => (*kind).to_string(),
            };
            let people = (exact_error / chosen).powi(2);
            let cost = if (*kind, *set_size) == (self.mechanism, self.set_size) {
                "chosen".to_string()
            } else {
                format!("needs {people:.2} times the people")
            };
            let [error, spread, exact] =
                [error, error_standard_error, exact_error].map(|value| 100.0 * value);
            writeln!(out, "  {name:<12} {error:7.3} ± {spread:.3} points   expected {exact:7.3}   {cost}")?;
        }
        Ok(())
    }
}

/// 12960 as 12,960.
fn thousands(number: u64) -> String {
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
