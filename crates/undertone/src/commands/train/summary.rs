//! What was learnt and how, for machines and for people.

use super::networks::Round;
use super::{auto, averages, coverage, networks};
use crate::people::Origin;
use crate::stages::Told;
use serde::Serialize;
use std::io::Write;
use undertone_learn::evaluation::Figure;
use undertone_learn::nonparametric::TrustModel;
use undertone_report::Task;

/// What was learnt and how, for machines.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    pub(super) model: String,
    pub(super) label: &'a str,
    pub(super) classes: usize,
    pub(super) reports: u64,
    pub(super) epsilon: Option<f64>,
    /// Who sees true labels
    pub(super) trust: TrustModel,
    pub(super) features: usize,
    pub(super) method: String,
    pub(super) l2: Option<f64>,
    /// Of a line, the passes over all reports that were chosen
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) passes: Option<u32>,
    /// Depth of cells, neighbours, or for how many people the parent of a forest's cell counts
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u64>,
    /// Each λ that was tried, with its score on those who were kept aside; of averages each size, with its error
    pub(super) tried: Vec<Tried>,
    /// With auto, what was tried, with its error on those who were kept aside
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) candidates: Vec<Candidate>,
    /// And what was not tried, and why
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) not_tried: Vec<NotTried>,
    /// Of a network, how training went
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) epochs: Vec<Round>,
    /// Of a representation, what was chosen, a line for each step
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) steps: Vec<String>,
    /// With a cache, which stages were there and which were not
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache: Option<Told>,
    /// Of the people who were kept aside, by a model learnt from the others
    pub(super) held_out_accuracy: Option<Figure>,
    pub(super) held_out_log_loss: Option<Figure>,
    /// What those who were kept aside have chosen, too
    #[serde(skip)]
    pub(super) judges_chose: Option<&'static str>,
    pub(super) simulation: bool,
    /// That a class occurs is not private
    pub(super) classes_from_labels: bool,
    /// Some people may have answered in several files
    pub(super) may_ask_twice: bool,
    #[serde(flatten)]
    pub(super) coverage: Option<coverage::Told>,
    pub(super) output: String,
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct Tried {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) l2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u64>,
    pub(super) score: Figure,
}

impl Tried {
    pub(super) fn penalties(tried: &[(f64, Figure)]) -> Vec<Self> {
        tried.iter().map(|&(l2, score)| Self { l2: Some(l2), size: None, score }).collect()
    }
}

/// A sort of model and how it did on those who were kept aside, learnt from the others.
#[derive(Clone, Serialize)]
pub(super) struct Candidate {
    pub(super) model: String,
    /// The share of people who are predicted wrongly, or the mean squared error; debiased
    pub(super) loss: Figure,
    /// Of classes: how much less likely than the likeliest sort it makes a report, in nats
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) behind: Option<Figure>,
    /// How much it counts in what is kept
    pub(super) weight: f64,
}

/// A sort of model that was not tried.
#[derive(Clone, Serialize)]
pub(super) struct NotTried {
    pub(super) model: String,
    pub(super) why: String,
    /// It suits the question, and time, memory, reports or features kept it out
    #[serde(skip)]
    pub(super) unexpected: bool,
}

impl Summary<'_> {
    /// What those who judge have chosen, if anything.
    fn flattery(&self) -> String {
        self.judges_chose.map_or_else(String::new, |what| {
            format!(
                ";\na little flattering, since they also chose {what}: `undertone evaluate` with reports of others does not flatter"
            )
        })
    }

    /// What a mixture is made of; nothing if it is none.
    fn members(&self) -> String {
        let share = |candidate: &Candidate| {
            let part = candidate.weight > 0.0 && candidate.weight < 1.0;
            part.then(|| format!("{:.0} % {}", 100.0 * candidate.weight, candidate.model))
        };
        let mut members: Vec<String> = self.candidates.iter().filter_map(share).collect();
        if members.is_empty() {
            return String::new();
        }
        let even = 1.0 - self.candidates.iter().map(|candidate| candidate.weight).sum::<f64>();
        if even >= 0.005 {
            members.push(format!("{:.0} % even chances", 100.0 * even));
        }
        format!(" of {}", members.join(", "))
    }

    pub(super) fn explain(&self, origin: &Origin, all: bool, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { model, label, classes, reports, features, method, l2, .. } = self;
        match self.epsilon {
            Some(epsilon) => writeln!(
                out,
                "{reports} reports about `{label}`, {classes} classes, each under ε = {epsilon}"
            )?,
            None => writeln!(
                out,
                "{reports} true labels `{label}`, {classes} classes: NO PRIVACY, for comparison only"
            )?,
        }
        if self.simulation {
            writeln!(out, "The reports were drawn from a seed: a simulation, without privacy")?;
        }
        if self.classes_from_labels {
            writeln!(out, "The set of classes was read from the labels: that a class occurs is not private")?;
        }
        if self.may_ask_twice {
            writeln!(
                out,
                "Whoever is in several of these files was asked several times: their promises add up"
            )?;
        }
        writeln!(out, "{} public columns, {features} features", origin.columns().len())?;
        let penalty = l2.map_or_else(String::new, |l2| format!(", λ = {l2:e}"));
        let passes = self.passes.map_or_else(String::new, |passes| format!(", {passes} passes"));
        writeln!(out, "Model: {model}, {method}{}{penalty}{passes}", self.members())?;
        auto::left_out(&self.not_tried, all, out)?;
        if all {
            auto::table(&self.candidates, "error", out)?;
            networks::table(&self.epochs, out)?;
            for step in &self.steps {
                writeln!(out, "  {step}")?;
            }
        }
        if self.size.is_some() {
            averages::table(&self.tried, (model, self.size), "error", out)?;
        } else if !self.tried.is_empty() {
            writeln!(out, "\n      λ   score on people who were kept aside")?;
            for Tried { l2: tried, score, .. } in &self.tried {
                let mark = if tried == l2 { "  ← chosen" } else { "" };
                let tried = tried.unwrap_or_default();
                writeln!(out, "{tried:>7.0e}   {:>9.5} ± {:.5}{mark}", score.value, score.margin())?;
            }
        }
        if let Some(accuracy) = self.held_out_accuracy {
            let (value, margin) = (100.0 * accuracy.value, 100.0 * accuracy.margin());
            let partial = |task: &&Task| task.has_priors() || task.mechanism.top.is_some();
            writeln!(
                out,
                "\nAccuracy on those who were kept aside, from their reports alone: {value:.2} % ± {margin:.2} (95 %){}",
                self.flattery()
            )?;
            if origin.tasks().iter().any(partial) {
                writeln!(
                    out,
                    "Those who answered among some labels only count as if theirs was one of them"
                )?;
            }
        }
        if let Some(coverage) = &self.coverage {
            writeln!(out)?;
            coverage.explain(out)?;
        }
        if let Some(Told { found, made }) = &self.cache {
            let words = |words: &[String]| if words.is_empty() { "none".into() } else { words.join(", ") };
            writeln!(out, "\nStages that were in the cache: {}; made: {}", words(found), words(made))?;
        }
        writeln!(out, "\nWritten: {}", self.output)?;
        Ok(())
    }
}
