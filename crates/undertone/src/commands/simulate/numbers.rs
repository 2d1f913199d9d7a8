//! The same for labels that are numbers: mechanisms, and what is learnt, compared by the error on others.

use super::averages::NumberLearner;
use super::comparison::{Comparison, Promise};
use super::data::TEST_SHARE;
use crate::exit::Usage;
use crate::output;
use crate::people::{self, Origin, People};
use crate::progress::progress_bar;
use crate::seed_purpose;
use crate::tables::{TableFile, Unlabelled};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use undertone_learn::evaluation::{Figure, NumberEvaluation, mean};
use undertone_learn::features::{Encoder, Rows};
use undertone_learn::nonparametric::Average;
use undertone_learn::numbers::{NumberChannel, NumberValues};
use undertone_learn::split::{Purpose, place};
use undertone_learn::{Examples, LearnError, Regressor, Source};
use undertone_privacy::number::{Bounds, NumberKind, NumberMechanism, NumberRandomizer};
use undertone_report::NumberWords;

/// The mechanism that is best at each ε.
const DEFAULT: &str = "default";

/// Everybody, in memory.
struct Data {
    bounds: Bounds,
    /// Those who are asked
    rows: Rows,
    /// What only their devices know
    numbers: Vec<f64>,
    /// Those by whom lines are judged
    test: Examples,
    /// Rows without a label
    left_out: u64,
    /// Of one core, that auto may take
    seconds: f64,
}

/// How numbers are randomized, the best way or one by its name, and what is learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Method {
    name: &'static str,
    kind: Option<NumberKind>,
    learner: NumberLearner,
}

/// What came of one method under one promise.
#[derive(Debug, Serialize)]
struct Outcome {
    method: &'static str,
    epsilon: Option<f64>,
    rmse: Figure,
    r2: Figure,
    repetitions: u32,
}

#[derive(Serialize)]
struct Summary<'a> {
    table: String,
    people: usize,
    judged_by: usize,
    low: f64,
    high: f64,
    features: usize,
    /// Rows without a label
    left_out: u64,
    seed: u64,
    purpose: seed_purpose::Purpose,
    outcomes: &'a [Outcome],
}

impl Method {
    fn all() -> impl Iterator<Item = Self> {
        let line = |name, kind| Self { name, kind, learner: NumberLearner::Line };
        let lines = NumberKind::ALL.map(|kind| line(kind.name(), Some(kind)));
        let best = |name, learner| Self { name, kind: None, learner };
        let averages = Average::ALL.map(|average| best(average.name(), NumberLearner::Average(average)));
        [line(DEFAULT, None)]
            .into_iter()
            .chain(lines)
            .chain(averages)
            .chain([best("factors", NumberLearner::Factors), best("auto", NumberLearner::Auto)])
    }

    /// What is learnt from, reports or the clipped numbers themselves; the largest variance of a report, and what is hidden of it.
    fn examples(
        self,
        data: &Data,
        promise: Promise,
        seed: u64,
    ) -> Result<(Examples, (f64, f64)), LearnError> {
        let bounds = data.bounds;
        let Promise::Private(epsilon) = promise else {
            let clipped = data.numbers.iter().map(|number| number.clamp(bounds.low(), bounds.high()));
            return Ok((Examples::certain_numbers(data.rows.clone(), clipped), (0.0, 0.0)));
        };
        let mechanism = match self.kind {
            Some(kind) => NumberMechanism::new(kind, bounds, epsilon)?,
            None => NumberMechanism::best(bounds, epsilon)?,
        };
        let (channel, mut numbers) = (NumberChannel::of_mechanism(mechanism), NumberValues::new());
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        for &number in &data.numbers {
            channel.push(mechanism.report(&bounds.place(number)?, &mut rng)?, &mut numbers)?;
        }
        let noise = (mechanism.worst_variance(), channel.hidden());
        Ok((Examples { rows: data.rows.clone(), numbers, ..Examples::default() }, noise))
    }

    /// The error and r² of the model on those who were not asked.
    fn judge(self, data: &Data, promise: Promise, seed: u64) -> Result<(f64, f64), LearnError> {
        let (examples, noise) = self.examples(data, promise, seed)?;
        let model = self.learner.learn(&examples, data.bounds, noise, data.seconds, seed)?;
        let mut evaluation = NumberEvaluation::new(data.bounds, 0.0);
        for (guess, number) in model.predict(&data.test.rows).into_iter().zip(data.test.numbers.iter()) {
            evaluation.observe(guess.clamp(data.bounds.low(), data.bounds.high()), number);
        }
        let figures = evaluation.figures()?;
        Ok((figures.rmse.value, figures.r2.value))
    }
}

impl Comparison {
    pub(super) fn run_numbers(&self, number: NumberWords, out: &mut impl Write) -> anyhow::Result<()> {
        let methods = self.number_methods()?;
        let data = self.number_data(number)?;
        let outcomes = self.number_outcomes(&data, &methods)?;
        let summary = Summary {
            table: self.table.display().to_string(),
            people: data.numbers.len(),
            judged_by: data.test.len(),
            low: number.low,
            high: number.high,
            features: data.rows.width(),
            left_out: data.left_out,
            seed: self.seed,
            purpose: seed_purpose::Purpose::of(self.seed),
            outcomes: &outcomes,
        };
        if self.json { output::json(&summary, out) } else { self.tell_numbers(&summary, &methods, out) }
    }

    fn number_methods(&self) -> Result<Vec<Method>, Usage> {
        let Some(names) = &self.method else { return Ok(Method::all().take(2).collect()) };
        if names.iter().any(|name| name == "all") {
            return Ok(Method::all().collect());
        }
        let method = |name: &String| {
            let known = || Method::all().map(|method| method.name).collect::<Vec<_>>().join(", ");
            let found = Method::all().find(|method| method.name == name);
            found.ok_or_else(|| {
                Usage::new(format!("--method: `{name}` is none of {}, all, which are for numbers", known()))
            })
        };
        names.iter().map(method).collect()
    }

    fn number_data(&self, number: NumberWords) -> anyhow::Result<Data> {
        let people =
            Origin::numbers(TableFile::open(&self.table)?, &self.label, number, false, Unlabelled::LeftOut)?;
        people.tell_left_out();
        let encoder = people::fit_encoder(&people, self.encoding())?;
        let mut data = Data {
            bounds: number.bounds()?,
            rows: encoder.rows(),
            numbers: Vec::new(),
            test: Examples::new(encoder.rows()),
            left_out: people.left_out(),
            seconds: self.limits().seconds,
        };
        let mut row = 0;
        let split = self.test.is_none();
        data.read(&people, &encoder, || {
            row += 1;
            split && place(row - 1, Purpose::Test) < TEST_SHARE
        })?;
        if let Some(path) = &self.test {
            let table = TableFile::open_as(path, encoder.columns())?;
            let judges = Origin::numbers(table, &self.label, number, false, Unlabelled::LeftOut)?;
            judges.tell_left_out();
            data.left_out += judges.left_out();
            data.read(&judges, &encoder, || true)?;
        }
        if data.rows.is_empty() || data.test.is_empty() {
            return Err(LearnError::NoReports.into());
        }
        Ok(data)
    }

    fn number_outcomes(&self, data: &Data, methods: &[Method]) -> anyhow::Result<Vec<Outcome>> {
        let promises = self.epsilon.iter();
        let pairs: Vec<(Promise, Method)> =
            promises.flat_map(|&promise| methods.iter().map(move |&method| (promise, method))).collect();
        let runs: Vec<_> =
            pairs.iter().flat_map(|&pair| (0..self.repetitions).map(move |run| (pair, run))).collect();
        let bar = progress_bar(runs.len() as u64);
        let one = |&((promise, method), run): &((Promise, Method), u32)| {
            let judged = method.judge(data, promise, self.seed_of(run));
            bar.inc(1);
            judged
        };
        let judged = runs.par_iter().map(one).collect::<Result<Vec<(f64, f64)>, LearnError>>()?;
        bar.finish_and_clear();
        let outcome = |(&(promise, method), judged): (&(Promise, Method), &[(f64, f64)])| Outcome {
            method: method.name,
            epsilon: promise.epsilon(),
            rmse: mean(&judged.iter().map(|of| of.0).collect::<Vec<_>>()),
            r2: mean(&judged.iter().map(|of| of.1).collect::<Vec<_>>()),
            repetitions: self.repetitions,
        };
        Ok(pairs.iter().zip(judged.chunks_exact(self.repetitions as usize)).map(outcome).collect())
    }

    fn tell_numbers(
        &self,
        summary: &Summary<'_>,
        methods: &[Method],
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let Summary { people, judged_by, low, high, features, seed, purpose, .. } = summary;
        writeln!(
            out,
            "Simulation with seed {seed}, for {}: {people} people, a number from {low} to {high}, {features} features;",
            purpose.name()
        )?;
        let repetitions = self.repetitions;
        writeln!(out, "on {judged_by} others, mean ± standard error of {repetitions} repetitions")?;
        for (name, figure) in [
            ("root mean square error", (|outcome: &Outcome| outcome.rmse) as fn(&Outcome) -> Figure),
            ("r²", |outcome: &Outcome| outcome.r2),
        ] {
            write!(out, "\n{name:<24}")?;
            for promise in &self.epsilon {
                write!(out, "{:>26}", promise.words())?;
            }
            writeln!(out)?;
            for (place, method) in methods.iter().enumerate() {
                write!(out, "{:<24}", method.name)?;
                for outcome in summary.outcomes.iter().skip(place).step_by(methods.len()) {
                    let Figure { value, standard_error } = figure(outcome);
                    let shown = if standard_error.is_nan() {
                        format!("{value:.4}")
                    } else {
                        format!("{value:.4} ± {standard_error:.4}")
                    };
                    write!(out, "{shown:>26}")?;
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }
}

impl Data {
    /// Takes in everybody of a table: those who are not asked are judged by.
    fn read(
        &mut self,
        people: &Origin,
        encoder: &Encoder,
        mut judges: impl FnMut() -> bool,
    ) -> Result<(), LearnError> {
        People::new(people, encoder, 0).pass(&mut |block| {
            for (features, &number) in block.rows.iter().zip(block.numbers.values()) {
                if judges() {
                    self.test.rows.push(features);
                    self.test.numbers.push(number, 0.0);
                } else {
                    self.rows.push(features);
                    self.numbers.push(number);
                }
            }
            Ok(())
        })
    }
}
