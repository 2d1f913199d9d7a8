//! How fast cells and neighbours can learn at all, and how fine or how many to take them.

use super::labels::Labels;
use super::pilot::{self, Pilot};
use crate::arguments;
use crate::digits::digits;
use crate::exit::Usage;
use crate::output;
use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use undertone_learn::nonparametric::TrustModel;
use undertone_learn::nonparametric::rates::{Plan, Problem, Task};
use undertone_privacy::Epsilon;

/// What is asked about learning without a model to believe in.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Learning by cells or neighbours, without a model to believe in")]
pub(super) struct Limits {
    /// What is learnt: classes, a bounded number, or one of which only a moment is bounded
    #[arg(
        id = "task",
        long = "task",
        value_name = "TASK",
        value_parser = tasks(),
        requires_all = ["trust", "dimension", "beta"],
        conflicts_with_all = ["radius", "lipschitz", "loss", "delta", "top", "svg"]
    )]
    task: Option<Task>,
    /// Who sees what: devices hide labels or whole records, a curator keeps them, or nothing is private
    #[arg(long, value_name = "TRUST", value_parser = trusts(), requires = "task")]
    trust: Option<TrustModel>,
    /// β, how smooth what is learnt is: nearby people differ by at most distance^β; above 0 and at most 1
    #[arg(long, value_name = "B", value_parser = arguments::number, allow_hyphen_values = true, requires = "task")]
    beta: Option<f64>,
    /// γ, how rarely two classes are nearly as likely as each other; 0 if not given, which says nothing
    #[arg(long, value_name = "G", value_parser = arguments::number, allow_hyphen_values = true, requires = "task")]
    gamma: Option<f64>,
    /// p, the order of the moment that is bounded, by one; 2 if not given
    #[arg(long, value_name = "P", value_parser = arguments::number, allow_hyphen_values = true, requires = "task")]
    moments: Option<f64>,
    /// Reports of a few people about how large their labels are, which `undertone privatize --magnitudes` makes: they bound the moment,
    /// larger labels counted as a largest one, and labels are then clipped in their own units, not in those of a bound that nobody knows
    #[arg(long, value_name = "REPORTS", requires = "task")]
    pilot: Option<PathBuf>,
}

fn tasks() -> impl TypedValueParser<Value = Task> {
    PossibleValuesParser::new(Task::ALL.map(Task::name))
        .try_map(|name| Task::named(&name).context("no such task"))
}

fn trusts() -> impl TypedValueParser<Value = TrustModel> {
    PossibleValuesParser::new(TrustModel::ALL.map(TrustModel::name))
        .try_map(|name| TrustModel::named(&name).context("no such model of trust"))
}

impl Limits {
    /// The problem that was asked about, if any was.
    pub(super) fn problem(
        &self,
        n: u64,
        dimension: Option<usize>,
        labels: &Labels,
    ) -> anyhow::Result<Option<Problem>> {
        let Some(task) = self.task else { return Ok(None) };
        self.check(task, labels)?;
        let trust = self.trust.context("--trust is needed")?;
        let dimension = dimension.context("--dimension is needed")?;
        let dimension = u32::try_from(dimension)
            .map_err(|_| Usage::new(format!("{dimension} dimensions are too many")))?;
        let epsilon = match (labels.epsilon, trust) {
            (Some(epsilon), _) => epsilon,
            // Without effect
            (None, TrustModel::None) => Epsilon::new(1.0)?,
            (None, _) => return Err(Usage::new(format!("--trust {} needs --epsilon", trust.name())).into()),
        };
        let beta = self.beta.context("--beta is needed")?;
        let usual = Problem::new(task, trust, n, epsilon, dimension, beta);
        let problem = Problem {
            gamma: self.gamma.unwrap_or(usual.gamma),
            moments: self.moments.unwrap_or(usual.moments),
            classes: labels.classes.unwrap_or(usual.classes),
            ..usual
        };
        problem.check().map_err(Usage::new)?;
        Ok(Some(problem))
    }

    /// What a pilot says about the problem, if there is one.
    pub(super) fn pilot(&self, problem: &Problem) -> anyhow::Result<Option<Pilot>> {
        let Some(path) = &self.pilot else { return Ok(None) };
        if problem.trust == TrustModel::None {
            return Err(
                Usage::new("--pilot finds where to clip, and with --trust none nothing is clipped").into()
            );
        }
        Pilot::read(path, problem.moments).map(Some)
    }

    /// Whether the options go with the task.
    fn check(&self, task: Task, labels: &Labels) -> Result<(), Usage> {
        let given = [
            ("--classes", labels.classes.is_some(), Task::Classification),
            ("--gamma", self.gamma.is_some(), Task::Classification),
            ("--moments", self.moments.is_some(), Task::Heavy),
            ("--pilot", self.pilot.is_some(), Task::Heavy),
        ];
        match given.iter().find(|(_, given, of)| *given && task != *of) {
            Some((option, _, of)) => {
                Err(Usage::new(format!("{option} is for --task {}, not for {}", of.name(), task.name())))
            }
            None => Ok(()),
        }
    }
}

/// What is printed for machines.
#[derive(Serialize)]
struct LimitsPlan {
    #[serde(flatten)]
    plan: Plan,
    n: u64,
    /// `null` without privacy
    epsilon: Option<f64>,
    dimension: u32,
    beta: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moments: Option<f64>,
    /// The rate under every model of trust
    rates: Vec<TrustRate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<f64>,
    #[serde(flatten)]
    pilot: Option<pilot::Told>,
}

/// What one model of trust comes to.
#[derive(Serialize)]
struct TrustRate {
    trust: TrustModel,
    rate: f64,
    /// For the target; `null` if there is none or if no number of people will do
    n_needed: Option<u64>,
}

pub(super) fn run(
    problem: &Problem,
    target: Option<f64>,
    pilot: Option<&Pilot>,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let document = document(problem, target, pilot)?;
    if json {
        return output::json(&document, out);
    }
    table(&document, out)?;
    match (pilot, document.plan.clip) {
        (Some(pilot), Some(clip)) if problem.trust == TrustModel::LabelLocal => {
            pilot.next(clip, problem.epsilon.get(), out)
        }
        _ => Ok(()),
    }
}

fn document(problem: &Problem, target: Option<f64>, pilot: Option<&Pilot>) -> anyhow::Result<LimitsPlan> {
    let of = |trust| {
        let problem = Problem { trust, ..*problem };
        TrustRate { trust, rate: problem.rate(), n_needed: target.and_then(|risk| problem.people_for(risk)) }
    };
    let classes = problem.task == Task::Classification;
    let plan = Plan::new(problem).map_err(Usage::new)?;
    // T in units of the p-th root of the moment, or of the label where the moment is known
    let clip = plan.clip.map(|clip| pilot.map_or(clip, |pilot| pilot.clip(clip)));
    Ok(LimitsPlan {
        plan: Plan { clip, ..plan },
        n: problem.people,
        epsilon: (problem.trust != TrustModel::None).then_some(problem.epsilon.get()),
        dimension: problem.dimension,
        beta: problem.beta,
        gamma: classes.then_some(problem.gamma),
        classes: classes.then_some(problem.classes),
        moments: (problem.task == Task::Heavy).then_some(problem.moments),
        rates: TrustModel::ALL.map(of).into(),
        target,
        pilot: pilot.map(Pilot::told),
    })
}

fn table(document: &LimitsPlan, out: &mut impl Write) -> anyhow::Result<()> {
    let LimitsPlan { plan, n, dimension, beta, .. } = document;
    let promise = document.epsilon.map_or("no privacy".to_owned(), |epsilon| format!("ε = {epsilon}"));
    let more = [
        document.classes.map(|classes| format!(", {classes} classes")),
        document.gamma.map(|gamma| format!(", γ = {gamma}")),
        document.moments.map(|p| format!(", moments up to {p}")),
    ];
    let more: String = more.into_iter().flatten().collect();
    let (task, trust) = (plan.task.name(), plan.trust.name());
    writeln!(
        out,
        "{task}, {trust}: {n} people, {promise}, {dimension} feature(s) on [0, 1], β = {beta}{more}\n"
    )?;
    let mut line = |what: &str, value: &str| writeln!(out, "{what:<52}{value:>14}");
    line("rate: excess risk up to a constant", &digits(plan.rate))?;
    line("the same without privacy", &digits(plan.non_private_rate))?;
    if let Some(epsilon) = plan.crossover_epsilon {
        line("ε above which privacy no longer costs the most", &digits(epsilon))?;
    }
    line("width of a cell", &digits(plan.cell_width))?;
    line("neighbours, or people in a cell", &plan.neighbours.to_string())?;
    if let Some(clip) = plan.clip {
        let unit = if document.pilot.is_some() { "" } else { ", in units of their bound" };
        line(&format!("labels are clipped at{unit}"), &digits(clip))?;
    }
    if let Some((pilot, order)) = document.pilot.as_ref().zip(document.moments) {
        pilot.explain(order, out)?;
    }
    rates(document, out)?;
    for warning in &plan.warnings {
        writeln!(out, "  warning: {warning}")?;
    }
    Ok(())
}

/// The rate under every model of trust, with the people that the target takes if there is one.
fn rates(document: &LimitsPlan, out: &mut impl Write) -> anyhow::Result<()> {
    let needed = document.target.map_or(String::new(), |risk| format!("people for {risk}"));
    writeln!(out, "\n{:<16}{:>14}{needed:>24}", "trust", "rate")?;
    for TrustRate { trust, rate, n_needed } in &document.rates {
        let people = match (document.target, n_needed) {
            (None, _) => String::new(),
            (Some(_), Some(n)) => n.to_string(),
            (Some(_), None) => "never".to_owned(),
        };
        writeln!(out, "{:<16}{:>14}{people:>24}", trust.name(), digits(*rate))?;
    }
    Ok(())
}
