//! `task show`: what is asked, in plain words.

use super::{civil_time, document, doubts};
use crate::digits::{all_digits, digits};
use crate::output;
use crate::promise::{self, Promise};
use anyhow::Context;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use undertone_privacy::Epsilon;
use undertone_privacy::label::LabelRandomizer;
use undertone_privacy::number::NumberRandomizer;
use undertone_report::{
    CategoryWords, Collection, ColumnKind, EncodingWords, FeatureColumn, FunctionalTerm, FunctionalWords,
    LearnerWords, NumberWords, OnlineWords, Stretch, Task, TaskError, TextWords,
};

/// Show what a task asks, of whom, under which promise
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone task show task.toml")]
pub(crate) struct Show {
    /// A task, as TOML or JSON
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    id: String,
    tiers: Vec<Tier>,
    /// What speaks against it
    warnings: Vec<String>,
    task: &'a Task,
}

/// One of the promises that a person may choose, and what it means for a report.
#[derive(Debug, Serialize)]
struct Tier {
    #[serde(flatten)]
    promise: Promise,
    /// The exact loss of the integers that run; none if each person has a mechanism of their own
    realised_epsilon: Option<f64>,
    /// The labels in a report, if their number is fixed
    set_size: Option<u32>,
}

impl Show {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let task = document::read(&self.file)?;
        let tiers = tiers(&task).with_context(|| self.file.display().to_string())?;
        let shown = Shown { id: task.id().to_string(), tiers, warnings: doubts::about(&task), task: &task };
        doubts::warn(&shown.warnings);
        if self.json { output::json(&shown, out) } else { tell(&shown, out) }
    }
}

fn tiers(task: &Task) -> Result<Vec<Tier>, TaskError> {
    let own = [task.mechanism.level()];
    let levels = task.collection.as_ref().map_or(&own[..], |collection| &collection.tiers);
    let tier = |&level: &f64| {
        let promise = Promise::from(task.promise_at(level)?);
        if task.keeps_columns_private() {
            return Ok(Tier { promise, realised_epsilon: None, set_size: None });
        }
        if task.has_priors() {
            return Ok(Tier { promise, realised_epsilon: None, set_size: Some(1) });
        }
        if task.asks_for_numbers() {
            let mechanism = task.number_mechanism_at(Epsilon::new(level)?)?;
            return Ok(Tier {
                promise,
                realised_epsilon: Some(mechanism.realised_epsilon()),
                set_size: None,
            });
        }
        let mechanism = task.mechanism_at(Epsilon::new(level)?)?;
        Ok(Tier {
            promise,
            realised_epsilon: Some(mechanism.realised_epsilon()),
            set_size: mechanism.set_size(),
        })
    };
    levels.iter().map(tier).collect()
}

fn tell(shown: &Shown<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let Shown { id, tiers, task, .. } = shown;
    if let Some(collection) = &task.collection {
        writeln!(out, "{}\n", visible(&collection.name))?;
    }
    tell_private(task, out)?;
    let levels = task.collection.as_ref().map_or_else(|| vec![task.mechanism.level()], |of| of.tiers.clone());
    for (place, (tier, level)) in tiers.iter().zip(levels).enumerate() {
        let what = if place == 0 { "promise     " } else { "  or        " };
        writeln!(out, "{what}{}", promise::in_words(&task.promise_at(level)?, task.secret()))?;
        writeln!(out, "            by {}: {}", task.mechanism.kind, said(task, tier, level)?)?;
    }
    if let Some(collection) = &task.collection {
        tell_collection(task, collection, out)?;
    } else {
        let names: Vec<&str> = task.features.iter().map(|column| column.name.as_str()).collect();
        writeln!(
            out,
            "public      {}",
            if names.is_empty() { "nothing".into() } else { visible(&names.join(", ")) }
        )?;
        writeln!(out, "collection  none")?;
    }
    writeln!(out, "task        {id}")?;
    Ok(())
}

/// What nobody else gets to know.
fn tell_private(task: &Task, out: &mut impl Write) -> anyhow::Result<()> {
    let label = visible(&task.label);
    if let Some(NumberWords { low, high }) = task.number {
        let (low, high) = (all_digits(low), all_digits(high));
        writeln!(out, "private     `{label}`, a number, clipped to {low} to {high}")?;
        return Ok(());
    }
    if !task.keeps_columns_private() {
        writeln!(out, "private     `{label}`, one of {}", visible(&task.classes.join(", ")))?;
        return Ok(());
    }
    let explained = (!task.label.is_empty()).then_some(task.label.as_str());
    let columns = explained.into_iter().chain(task.features.iter().map(|column| column.name.as_str()));
    let columns: Vec<&str> = columns.collect();
    writeln!(out, "private     the whole record: {}", visible(&columns.join(", ")))?;
    Ok(())
}

/// What is in a report.
fn said(task: &Task, tier: &Tier, level: f64) -> anyhow::Result<String> {
    if task.asks_once() {
        let survey = task.survey_at(level)?;
        let (questions, bytes) = (survey.questions(), 8 * (1 + survey.most_words()?));
        return Ok(format!("the answer to one of {questions} questions, in at most {bytes} bytes"));
    }
    if task.asks_for_records() {
        let (model, mechanism) = (task.record_model()?, task.vector_mechanism(level)?);
        let bytes = mechanism.report_bytes().unwrap_or_default();
        let (p, radius) = (model.parameters(), all_digits(model.radius()));
        return Ok(format!(
            "the gradient of {p} parameters, from a ball of radius {radius}, in {bytes} bytes"
        ));
    }
    let realised = tier
        .realised_epsilon
        .map_or(String::new(), |realised| format!(", realised ε = {}", all_digits(realised)));
    if task.asks_for_numbers() {
        let deviation = task.number_mechanism_at(Epsilon::new(level)?)?.worst_variance().sqrt();
        return Ok(format!("one integer, within about ±{} of the number{realised}", digits(deviation)));
    }
    let names = match tier.set_size {
        Some(1) => "one label".to_owned(),
        Some(size) => format!("{size} labels"),
        None => "any number of labels".to_owned(),
    };
    Ok(format!("{names} of {} in a report{realised}", task.classes.len()))
}

fn tell_collection(task: &Task, collection: &Collection, out: &mut impl Write) -> anyhow::Result<()> {
    if task.features.is_empty() {
        writeln!(out, "public      nothing")?;
    }
    for (place, (column, words)) in task.features.iter().zip(&collection.encoding).enumerate() {
        let what = match (place, task.keeps_columns_private()) {
            (0, false) => "public      ",
            (0, true) => "scaled      ",
            _ => "            ",
        };
        writeln!(out, "{what}{}: {}", visible(&column.name), encoding(column, words))?;
    }
    let Collection { time_precision, expiry_age, clock_skew, min_reports, .. } = collection;
    tell_learner(task, collection.learner, out)?;
    writeln!(out, "open        from {}", civil_time::shown(collection.opens))?;
    writeln!(out, "            until {}", civil_time::shown(collection.closes))?;
    writeln!(
        out,
        "times       to {time_precision} s; reports older than {expiry_age} s are refused, clocks may be {clock_skew} s ahead"
    )?;
    writeln!(out, "shown       from {min_reports} reports on")?;
    writeln!(
        out,
        "admission   {}",
        if collection.admission { "by a token of the collector's" } else { "of anybody" }
    )?;
    Ok(())
}

fn tell_learner(task: &Task, learner: LearnerWords, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "learner     {}", learner.name())?;
    let LearnerWords::Online(words) = learner else { return Ok(()) };
    let OnlineWords { eta, alpha, offset, burn_in, stale, curvature, decay, two_chains } = words;
    let (eta, alpha) = (all_digits(eta), all_digits(alpha));
    writeln!(
        out,
        "            steps of {eta}·(i + {offset})^-{alpha}, a mean from report {} on",
        burn_in + 1
    )?;
    let steady = match doubts::steady_from(task, words) {
        Some(1) => "steady from the first report on".to_owned(),
        Some(first) => format!("steady from report {first} on"),
        None => "never steady".to_owned(),
    };
    writeln!(out, "            at points up to {stale} reports old: {steady}, if columns are standardised")?;
    if let Some(curvature) = curvature {
        writeln!(out, "            intervals for a curvature of {} or more", all_digits(curvature))?;
    }
    if let Some(decay) = decay {
        writeln!(out, "            later points count more in the mean, by the power {}", all_digits(decay))?;
    }
    if two_chains {
        writeln!(out, "            two chains, one with half the steps, which tell whether it is biased")?;
    }
    for FunctionalWords { name, terms } in task.record.iter().flat_map(|record| &record.functionals) {
        let term =
            |term: &FunctionalTerm| format!("{}·({})", all_digits(term.factor), visible(&term.parameter));
        let sum = terms.iter().map(term).collect::<Vec<_>>().join(" + ");
        writeln!(out, "            an interval of {}: {sum}", visible(name))?;
    }
    Ok(())
}

/// Words of the document for a terminal, which obeys some characters instead of showing them: it can be made to show
/// another promise than the document's.
fn visible(words: &str) -> String {
    let obeyed = |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    words.chars().fold(String::with_capacity(words.len()), |mut shown, c| {
        if obeyed(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
        shown
    })
}

fn encoding(column: &FeatureColumn, words: &EncodingWords) -> String {
    let stretched = |stretch: &Stretch| match stretch {
        Stretch::Standard { mean, scale, .. } => {
            format!("minus {}, times {}", all_digits(*mean), all_digits(*scale))
        }
        Stretch::Range { low, high, .. } => {
            format!("from {} to {} becomes -1 to 1", all_digits(*low), all_digits(*high))
        }
    };
    match words {
        EncodingWords::Number(stretch) => format!("a number, {}", stretched(stretch)),
        EncodingWords::Category(CategoryWords::Values { values, .. }) => {
            format!("a category of {} values", values.len())
        }
        EncodingWords::Category(CategoryWords::Hashed { buckets }) => format!("a category, {buckets} hashes"),
        EncodingWords::Text(TextWords { buckets }) => format!("a text, {buckets} hashes"),
        EncodingWords::Vector(stretch) => {
            let ColumnKind::Vector(width) = column.kind else { return "a vector".into() };
            format!("{width} numbers, {}", stretched(stretch))
        }
    }
}
