//! A whole protocol on a table whose labels are known, many times over.
//!
//! Simulated devices answer with the very code that devices run, but from a seed; what is learnt is then judged by true
//! labels. Nothing of this is private, and nothing of it is needed to learn from real reports.

use super::data::Data;
use super::methods::{self, Method, StageOptions};
use crate::exit::Usage;
use crate::output;
use crate::progress::progress_bar;
use crate::seed_purpose::Purpose;
use crate::tables::{TableFile, Unlabelled};
use crate::{arguments, people};
use clap::ValueEnum;
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;
use undertone_learn::LearnError;
use undertone_learn::evaluation::{Figure, mean};
use undertone_learn::features::{EncoderOptions, Override};
use undertone_learn::represented::Limits;
use undertone_learn::stages::Trust;
use undertone_privacy::Epsilon;
use undertone_report::NumberWords;

/// What is compared.
#[derive(clap::Args, Debug)]
pub(crate) struct Comparison {
    /// CSV (also .gz), Parquet or IDX, with labels
    pub(super) table: PathBuf,
    /// The column of the labels
    #[arg(long, value_name = "COLUMN")]
    pub(super) label: String,
    /// The label is a number, and smaller ones count as this one
    #[arg(long, value_name = "A", value_parser = arguments::number, allow_hyphen_values = true, requires = "high")]
    low: Option<f64>,
    /// The label is a number, and larger ones count as this one
    #[arg(long, value_name = "B", value_parser = arguments::number, allow_hyphen_values = true, requires = "low")]
    high: Option<f64>,
    /// A table to judge by; one row in four of the first if not given
    #[arg(long, value_name = "TABLE")]
    pub(super) test: Option<PathBuf>,
    /// Promises to compare; `inf` for none
    #[arg(long, value_name = "E,…", value_delimiter = ',', value_parser = promise, default_value = "1")]
    pub(super) epsilon: Vec<Promise>,
    /// Methods to compare, or `all` that --trust, --warm-start and the columns allow; default and rr-naive if not given, and for numbers, whose methods are mechanisms
    /// or averages, default and laplace
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(super) method: Option<Vec<String>>,
    /// How often each is repeated with other coins
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 5)]
    pub(super) repetitions: u32,
    /// Of all coins. Up to 100 they are for development, from 101 on for confirmation
    #[arg(long, value_name = "SEED", value_parser = arguments::seed, default_value = "1")]
    pub(super) seed: u64,
    /// What the scores of a model are divided by before they are priors, for methods in stages
    #[arg(long, value_name = "T", value_parser = arguments::positive, allow_hyphen_values = true, default_value = "1")]
    temperature: f64,
    /// Start each stage from the model of the one before
    #[arg(long)]
    warm_start: bool,
    /// Leave out earlier reports that a later stage's model finds unlikely
    #[arg(long)]
    filter: bool,
    /// Who may see true labels; the methods of clusters need a curator
    #[arg(long, value_enum, default_value_t = Who::Local)]
    trust: Who,
    /// Clusters of the public features in which a curator counts labels
    #[arg(long, value_name = "N", value_parser = arguments::count, default_value = "50")]
    clusters: NonZeroU32,
    /// How to treat a public column, such as `zip=category`: number, category, text or skip
    #[arg(long = "column", value_name = "NAME=KIND", value_delimiter = ',')]
    columns: Vec<Override>,
    /// Features for each text column
    #[arg(long, value_name = "N", value_parser = arguments::count, default_value = "16384")]
    buckets: NonZeroU32,
    /// With representations, networks or auto: megabytes that a model may take, each of those that are learnt at the same time, one on every core.
    /// What needs more is refused, or left out of auto
    #[arg(long, value_name = "MB", default_value_t = 8192)]
    memory: u64,
    /// With representations or auto: minutes of one core that a representation, or all that auto tries beside a line, is expected to take at most
    #[arg(long, value_name = "MINUTES", value_parser = arguments::positive, allow_hyphen_values = true, default_value = "20")]
    budget: f64,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Who may see true labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Who {
    /// Nobody but each person's own device
    Local,
    /// A curator, who counts them
    Central,
}

/// ε, or nothing at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Promise {
    Private(Epsilon),
    None,
}

impl Promise {
    /// ε, if there is one.
    pub(super) fn epsilon(self) -> Option<f64> {
        match self {
            Self::Private(epsilon) => Some(epsilon.get()),
            Self::None => None,
        }
    }

    pub(super) fn words(self) -> String {
        self.epsilon().map_or_else(|| "no privacy".into(), |epsilon| format!("ε = {epsilon}"))
    }
}

fn promise(text: &str) -> anyhow::Result<Promise> {
    if text == "inf" { Ok(Promise::None) } else { Ok(Promise::Private(arguments::epsilon(text)?)) }
}

/// What came of one method under one promise.
#[derive(Debug, Serialize)]
struct Outcome {
    method: &'static str,
    epsilon: Option<f64>,
    accuracy: Figure,
    repetitions: u32,
}

#[derive(Serialize)]
struct Summary<'a> {
    table: String,
    people: usize,
    judged_by: usize,
    classes: usize,
    features: usize,
    /// Rows without a label
    left_out: u64,
    seed: u64,
    purpose: Purpose,
    outcomes: &'a [Outcome],
}

impl Comparison {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some((low, high)) = self.low.zip(self.high) {
            return self.run_numbers(NumberWords { low, high }, out);
        }
        let mut methods = self.methods()?;
        let data = self.data()?;
        if self.method.iter().flatten().any(|name| name == "all") {
            methods.retain(|method| method.suits(&data));
        }
        let outcomes = self.outcomes(&data, &methods)?;
        let summary = Summary {
            table: self.table.display().to_string(),
            people: data.labels.len(),
            judged_by: data.test.len(),
            classes: data.classes,
            features: data.rows.width(),
            left_out: data.left_out,
            seed: self.seed,
            purpose: Purpose::of(self.seed),
            outcomes: &outcomes,
        };
        if self.json { output::json(&summary, out) } else { self.tell(&summary, &methods, out) }
    }

    fn methods(&self) -> Result<Vec<Method>, Usage> {
        let trusted = |method: &Method| self.trust == Who::Central || method.trust() == Trust::Local;
        let usual = || ["default", "rr-naive"].map(String::from).to_vec();
        let names = self.method.clone().unwrap_or_else(usual);
        if names.iter().any(|name| name == "all") {
            let startable = |method: &Method| !self.warm_start || method.can_start();
            return Ok(methods::ALL.into_iter().filter(trusted).filter(startable).collect());
        }
        let method = |name: &String| {
            let known = || methods::ALL.map(|method| method.name).join(", ");
            Method::named(name)
                .ok_or_else(|| Usage::new(format!("--method: `{name}` is none of {}, all", known())))
        };
        let methods = names.iter().map(method).collect::<Result<Vec<_>, _>>()?;
        if let Some(method) = methods.iter().find(|method| self.warm_start && !method.can_start()) {
            return Err(Usage::new(format!(
                "--warm-start: `{}` solves for its model, which has no place to start from",
                method.name
            )));
        }
        match methods.iter().find(|method| !trusted(method)) {
            Some(method) => Err(Usage::new(format!(
                "--method: `{}` is of the central model, where a curator counts true labels: --trust central allows it",
                method.name
            ))),
            None => Ok(methods),
        }
    }

    fn stage_options(&self) -> StageOptions {
        StageOptions {
            temperature: self.temperature,
            warm_start: self.warm_start,
            filter: self.filter,
            clusters: self.clusters.get() as usize,
            trust: match self.trust {
                Who::Local => Trust::Local,
                Who::Central => Trust::Central,
            },
        }
    }

    pub(super) fn encoding(&self) -> EncoderOptions {
        EncoderOptions {
            overrides: self.columns.clone(),
            buckets: self.buckets.get(),
            ..EncoderOptions::default()
        }
    }

    /// What learners may take.
    pub(super) fn limits(&self) -> Limits {
        Limits { seconds: 60.0 * self.budget, bytes: self.memory.saturating_mul(1 << 20), held: 0 }
    }

    /// The seed of one of the repetitions.
    pub(super) fn seed_of(&self, run: u32) -> u64 {
        self.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(run))
    }

    fn data(&self) -> anyhow::Result<Data> {
        let table = TableFile::open(&self.table)?;
        let people = people::Origin::labels(table, &self.label, None, Unlabelled::LeftOut)?;
        people.tell_left_out();
        let encoder = people::fit_encoder(&people, self.encoding())?;
        let mut data = match &self.test {
            None => Data::split(&people, &encoder)?,
            Some(path) => {
                let known = TableFile::open_as(path, encoder.columns())?;
                let classes = Some(people.classes());
                let test = people::Origin::labels(known, &self.label, classes, Unlabelled::LeftOut)?;
                test.tell_left_out();
                Data::with_test(&people, &test, &encoder)?
            }
        };
        data.limits = self.limits();
        Ok(data)
    }

    fn outcomes(&self, data: &Data, methods: &[Method]) -> anyhow::Result<Vec<Outcome>> {
        let pairs: Vec<(Promise, Method)> = self
            .epsilon
            .iter()
            .flat_map(|&epsilon| methods.iter().map(move |&method| (epsilon, method)))
            .collect();
        let runs: Vec<_> =
            pairs.iter().flat_map(|&pair| (0..self.repetitions).map(move |run| (pair, run))).collect();
        // What all runs share is made before they begin, not by several of them at the same time.
        if methods.iter().any(Method::looks_at_features) {
            // Whoever needs it and cannot have it will say why
            let _ = data.seen()?;
        }
        let (bar, stage_options) = (progress_bar(runs.len() as u64), self.stage_options());
        let one = |&((promise, method), run): &((Promise, Method), u32)| {
            let model = method.model(data, promise, &stage_options, self.seed_of(run))?;
            bar.inc(1);
            Ok(data.accuracy(&model)?.value)
        };
        let accuracies = runs.par_iter().map(one).collect::<Result<Vec<f64>, LearnError>>()?;
        bar.finish_and_clear();
        let each = pairs.iter().zip(accuracies.chunks_exact(self.repetitions as usize));
        Ok(each
            .map(|(&(promise, method), accuracies)| Outcome {
                method: method.name,
                epsilon: promise.epsilon(),
                accuracy: mean(accuracies),
                repetitions: self.repetitions,
            })
            .collect())
    }

    fn tell(&self, summary: &Summary<'_>, methods: &[Method], out: &mut impl Write) -> anyhow::Result<()> {
        let Summary { people, judged_by, classes, features, seed, purpose, .. } = summary;
        writeln!(
            out,
            "Simulation with seed {seed}, for {}: {people} people, {classes} classes, {features} features;",
            purpose.name()
        )?;
        writeln!(
            out,
            "accuracy in % on {judged_by} others, mean ± standard error of {} repetitions\n",
            self.repetitions
        )?;
        write!(out, "{:<20}", "method")?;
        for promise in &self.epsilon {
            write!(out, "{:>18}", promise.words())?;
        }
        writeln!(out)?;
        for (place, method) in methods.iter().enumerate() {
            write!(out, "{:<20}", method.name)?;
            for outcome in summary.outcomes.iter().skip(place).step_by(methods.len()) {
                write!(out, "{:>18}", percent(outcome.accuracy))?;
            }
            writeln!(out, "   {}", method.about)?;
        }
        Ok(())
    }
}

/// In percent, with the standard error if there is one.
fn percent(accuracy: Figure) -> String {
    let (value, error) = (100.0 * accuracy.value, 100.0 * accuracy.standard_error);
    if error.is_nan() { format!("{value:.2}") } else { format!("{value:.2} ± {error:.2}") }
}
