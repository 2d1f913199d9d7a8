//! Which question to ask about whole records, once.

use super::labels::Labels;
use crate::arguments;
use crate::digits::digits;
use crate::exit::Usage;
use crate::output;
use anyhow::Context;
use std::io::Write;
use undertone_learn::loss::Loss;
use undertone_learn::moments::MarginLoss;
use undertone_learn::plan::{OneRoundMethod, OneRoundPlan, OneRoundProblem, one_round_plan};
use undertone_privacy::Delta;

/// What is asked about a survey.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Learning from whole records, in one round")]
pub(super) struct OneRound {
    /// Compare the questions of surveys that explain a label; also with --loss logistic, hinge or squared, --radius, 4√P if not
    /// given, and --delta, 1e-6 if not given, of Gaussian copies
    #[arg(
        id = "one_round",
        long = "one-round",
        requires_all = ["covariates", "epsilon"],
        conflicts_with_all = ["online", "classes", "lipschitz", "longest", "features", "top", "target", "svg"]
    )]
    wanted: bool,
    /// P, with the constant
    #[arg(long, value_name = "P", value_parser = arguments::dimension, allow_hyphen_values = true, requires = "one_round")]
    covariates: Option<usize>,
}

/// δ of copies, where none is given.
const DELTA: f64 = 1e-6;

impl OneRound {
    /// What was asked for, if anything was.
    pub(super) fn problem(&self, labels: &Labels, n: u64) -> anyhow::Result<Option<OneRoundProblem>> {
        if !self.wanted {
            return Ok(None);
        }
        let covariates = self.covariates.context("--covariates is needed")?;
        let loss = match labels.loss {
            None | Some(Loss::Logistic) => MarginLoss::Logistic,
            Some(Loss::Hinge) => MarginLoss::Hinge,
            Some(Loss::Squared) => MarginLoss::Squared,
            Some(Loss::Softmax) => {
                return Err(
                    Usage::new("--loss softmax: in one round it is logistic, hinge or squared").into()
                );
            }
        };
        Ok(Some(OneRoundProblem {
            loss,
            radius: labels.radius.unwrap_or(4.0 * (covariates as f64).sqrt()),
            covariates,
            people: n,
            epsilon: labels.epsilon.context("--epsilon is needed")?,
            delta: labels.delta.map_or_else(|| Delta::new(DELTA), Ok)?,
        }))
    }
}

pub(super) fn run(problem: &OneRoundProblem, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let plan = one_round_plan(problem).map_err(Usage::new)?;
    if json { output::json(&plan, out) } else { table(&plan, out) }
}

fn table(plan: &OneRoundPlan, out: &mut impl Write) -> anyhow::Result<()> {
    let OneRoundPlan { covariates, n, epsilon, radius, .. } = plan;
    writeln!(
        out,
        "{covariates} covariates, {n} people, each asked once under ε = {epsilon}, weights within {radius:.4}\n"
    )?;
    writeln!(out, "{:<22}{:>14}{:>12}{:>14}", "method", "excess risk", "±", "at most")?;
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), digits);
    for OneRoundMethod { name, excess_risk, standard_error, bound, what, .. } in &plan.methods {
        let [excess, error, most] = [excess_risk, standard_error, bound].map(|value| shown(*value));
        writeln!(out, "{name:<22}{excess:>14}{error:>12}{most:>14}   {what}")?;
    }
    if let Some(constant) = plan.constant {
        writeln!(out, "{:<22}{:>14}", "constant predictor", digits(constant))?;
    }
    writeln!(out, "\nChoice: {}: {}", plan.choice, plan.reason)?;
    writeln!(
        out,
        "So many people fill {} covariates of moments, {} of losses. Risks are those on near-elliptical records with logistic\n\
         labels; other records may be harder.",
        plan.largest.moments, plan.largest.losses
    )?;
    Ok(())
}
