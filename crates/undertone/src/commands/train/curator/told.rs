//! What is told about a release: its promise, and who is trusted with what.

use super::release::{Release, Released, Thin};
use crate::commands::train::{Train, coverage};
use crate::people::Origin;
use serde::Serialize;
use std::io::{self, Write};
use undertone_learn::features::Encoder;
use undertone_learn::nonparametric::{CellModel, Output, TrustModel};
use undertone_report::NumberWords;

/// What was released and under which promise, for machines.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    model: &'static str,
    trust: TrustModel,
    /// Who has to be trusted with what
    needs: &'static str,
    epsilon: f64,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<NumberWords>,
    people: u64,
    features: usize,
    /// Cells, whether or not they answer for themselves
    cells: usize,
    method: &'static str,
    #[serde(flatten)]
    coverage: Option<coverage::Told>,
    simulation: bool,
    classes_from_labels: bool,
    output: String,
}

impl Train {
    pub(super) fn curator_summary<'a>(
        &self,
        release: &Release<'_>,
        origin: &'a Origin,
        encoder: &Encoder,
        released: &Released,
    ) -> Summary<'a> {
        let partition = released.model.partition();
        Summary {
            model: "cells",
            trust: release.trust,
            needs: needs(release.trust),
            epsilon: release.epsilon.get(),
            label: origin.label(),
            classes: release.number.is_none().then(|| origin.classes().len()),
            number: bounds_of(&released.model),
            people: origin.len(),
            features: encoder.width(),
            cells: partition.leaves().into_iter().filter(|&leaf| leaf).count(),
            method: released.method,
            coverage: released.coverage.as_ref().map(coverage::Told::new),
            simulation: self.seed.is_some(),
            classes_from_labels: release.number.is_none() && self.curator.classes.is_none(),
            output: self.output.display().to_string(),
        }
    }
}

/// The bounds of what cells predict, if it is a number.
pub(super) fn bounds_of(model: &CellModel) -> Option<NumberWords> {
    match model.output() {
        Output::Number { low, high } => Some(NumberWords { low, high }),
        Output::Classes(_) => None,
    }
}

fn needs(trust: TrustModel) -> &'static str {
    match trust {
        TrustModel::FullCentral => "a curator who sees every record; the change of any one of them is hidden",
        _ => {
            "a curator who sees every true label; the change of any one of them is hidden, features are public"
        }
    }
}

/// What is for the curator's eyes, and no part of the release.
pub(super) fn tell_curator(released: &Released, simulation: bool) {
    // Should the standard error be closed, the summary still tells what is released.
    if released.clipped > 0 {
        let _ = writeln!(
            io::stderr(),
            "note: {} labels were clipped; this number is for the curator alone, it is not private",
            released.clipped
        );
    }
    if let Some(Thin { people, cells, least }) = released.thin {
        let _ = writeln!(
            io::stderr(),
            "note: {cells} cells have to answer for {people} people, and each is heard through its noise with about {least:.0}: \
             fewer columns in --domain, or a larger --width, would tell more"
        );
    }
    if simulation {
        let _ = writeln!(
            io::stderr(),
            "warning: with --seed the noise can be repeated: a simulation, without privacy"
        );
    }
}

impl Summary<'_> {
    pub(super) fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { people, label, epsilon, cells, features, method, .. } = self;
        let what = match (self.classes, self.number) {
            (Some(classes), _) => format!("{classes} classes"),
            (None, Some(NumberWords { low, high })) => format!("a number from {low} to {high}"),
            (None, None) => String::new(),
        };
        writeln!(out, "{people} people's `{label}`, {what}, released under ε = {epsilon}")?;
        writeln!(out, "Trust: {}, {}", self.trust.name(), self.needs)?;
        if self.simulation {
            writeln!(out, "The noise was drawn from a seed: a simulation, without privacy")?;
        }
        if self.classes_from_labels {
            writeln!(out, "The set of classes was read from the labels: that a class occurs is not private")?;
        }
        writeln!(out, "Model: cells, {method}; {cells} cells, {features} features")?;
        if let Some(coverage) = &self.coverage {
            coverage.explain(out)?;
        }
        writeln!(
            out,
            "How good it is costs more to tell from the same labels: `undertone evaluate` with others does not"
        )?;
        writeln!(out, "\nWritten: {}", self.output)?;
        Ok(())
    }
}
