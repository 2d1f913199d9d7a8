//! From reports about numbers to a line.

use super::{Kind, Train, Tried, name};
use crate::exit::Usage;
use crate::new_file::NewFile;
use crate::output;
use crate::people::{Origin, People, fit_encoder};
use serde::Serialize;
use std::io::Write;
use undertone_learn::evaluation::{Figure, NumberFigures, Ranged};
use undertone_learn::features::Encoder;
use undertone_learn::regression::{LinearNumber, RidgeFit, fit_ridge, ridge_choosing_l2};
use undertone_learn::{Model, NumberPredictor, Training};
use undertone_report::NumberWords;

/// What was learnt and how, for machines.
#[derive(Serialize)]
struct NumberSummary<'a> {
    model: String,
    label: &'a str,
    low: f64,
    high: f64,
    reports: u64,
    epsilon: Option<f64>,
    mechanism: Option<&'a str>,
    features: usize,
    method: &'static str,
    l2: f64,
    /// Each λ that was tried, with the debiased mean squared error on those who were kept aside
    tried: Vec<Tried>,
    /// Of everybody, each by a line that was fitted without them
    held_out_rmse: Option<Ranged>,
    held_out_r2: Option<Ranged>,
    /// What the mechanism hides: if above zero, the error is at most that, and r² at least
    hidden_variance: f64,
    simulation: bool,
    /// Some people may have answered in several files
    may_ask_twice: bool,
    output: String,
}

/// What came of it.
struct Line {
    model: LinearNumber,
    l2: f64,
    tried: Vec<(f64, Figure)>,
    judged: Option<NumberFigures>,
}

const METHOD: &str = "ridge";

impl Train {
    pub(super) fn run_numbers(
        &self,
        origin: &Origin,
        number: NumberWords,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        self.check_numbers()?;
        let file = NewFile::create(&self.output, self.force)?;
        let encoder = fit_encoder(origin, self.encoding())?;
        let line = self.line(origin, &encoder, number)?;
        let summary = self.number_summary(origin, &encoder, number, &line);
        self.save_line(origin, encoder, number, line, file)?;
        if self.json { output::json(&summary, out) } else { summary.explain(origin, out) }
    }

    /// Whether the options go with numbers.
    fn check_numbers(&self) -> Result<(), Usage> {
        if let Some(kind) = self.model.filter(|kind| *kind != Kind::Linear) {
            return Err(Usage::new(format!(
                "--model {} is for classes, and the label is a number",
                name(&kind)
            )));
        }
        let given = [
            ("--method", self.method.is_some()),
            ("--start", self.start.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--radius", self.radius.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Usage::new(format!("least squares on numbers has no use for {option}"))),
            None => Ok(()),
        }
    }

    fn line(&self, origin: &Origin, encoder: &Encoder, number: NumberWords) -> anyhow::Result<Line> {
        let mut people = People::new(origin, encoder, self.memory.saturating_mul(1 << 20));
        let (features, bounds) = (encoder.width(), number.bounds()?);
        if let Some(l2) = self.l2 {
            let model = fit_ridge(&mut people, features, bounds, l2)?;
            return Ok(Line { model, l2, tried: Vec::new(), judged: None });
        }
        let RidgeFit { model, l2, tried, judged } =
            ridge_choosing_l2(&mut people, features, bounds, origin.hidden())?;
        Ok(Line { model, l2, tried, judged: Some(judged) })
    }

    fn number_summary<'a>(
        &self,
        origin: &'a Origin,
        encoder: &Encoder,
        number: NumberWords,
        line: &Line,
    ) -> NumberSummary<'a> {
        let task = origin.tasks().first().copied();
        NumberSummary {
            model: name(&Kind::Linear),
            label: origin.label(),
            low: number.low,
            high: number.high,
            reports: origin.len(),
            epsilon: task.map(|task| task.mechanism.level()),
            mechanism: task.map(|task| task.mechanism.kind.as_str()),
            features: encoder.width(),
            method: METHOD,
            l2: line.l2,
            tried: line.tried.iter().map(|&(l2, score)| Tried { l2, score }).collect(),
            held_out_rmse: line.judged.as_ref().map(|figures| figures.rmse),
            held_out_r2: line.judged.as_ref().map(|figures| figures.r2),
            hidden_variance: origin.hidden(),
            simulation: origin.is_simulation(),
            may_ask_twice: origin.may_ask_twice(),
            output: self.output.display().to_string(),
        }
    }

    fn save_line(
        &self,
        origin: &Origin,
        encoder: Encoder,
        number: NumberWords,
        line: Line,
        file: NewFile,
    ) -> anyhow::Result<()> {
        let training = Training {
            reports: origin.len(),
            method: METHOD.into(),
            l2: Some(line.l2),
            seed: self.seed,
            simulation: origin.is_simulation(),
            parts: origin.parts(),
            expected: None,
        };
        let tasks = origin.tasks().into_iter().cloned().collect();
        let predictor = NumberPredictor::Linear(line.model);
        let model =
            Model::of_number((origin.label().to_owned(), number), tasks, encoder, predictor, training);
        self.write(&model, file)
    }
}

impl NumberSummary<'_> {
    fn explain(&self, origin: &Origin, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { label, reports, low, high, features, l2, .. } = self;
        match self.epsilon.zip(self.mechanism) {
            Some((epsilon, mechanism)) => writeln!(
                out,
                "{reports} reports about `{label}`, a number from {low} to {high}, each under ε = {epsilon} by {mechanism}"
            )?,
            None => writeln!(
                out,
                "{reports} true numbers `{label}`, clipped to {low} to {high}: NO PRIVACY, for comparison only"
            )?,
        }
        if self.simulation {
            writeln!(out, "The reports were drawn from a seed: a simulation, without privacy")?;
        }
        if self.may_ask_twice {
            writeln!(
                out,
                "Whoever is in several of these files was asked several times: their promises add up"
            )?;
        }
        writeln!(out, "{} public columns, {features} features", origin.columns().len())?;
        writeln!(out, "Model: {}, {}, λ = {l2:e}", self.model, self.method)?;
        if !self.tried.is_empty() {
            writeln!(out, "\n        λ   mean squared error, debiased, of those kept aside in turn")?;
            for Tried { l2: tried, score } in &self.tried {
                let mark = if (tried - l2).abs() <= 0.0 { "  ← chosen" } else { "" };
                writeln!(out, "{tried:>9.1e}   {:>12.6} ± {:.6}{mark}", score.value, score.margin())?;
            }
        }
        if let Some((rmse, r2)) = self.held_out_rmse.zip(self.held_out_r2) {
            let [most, least] = if self.hidden_variance > 0.0 { ["at most ", "at least "] } else { [""; 2] };
            writeln!(
                out,
                "\nOn those kept aside in turn: root mean square error {most}{:.4} ({:.4} to {:.4}), r² {least}{:.4} ({:.4} to {:.4})",
                rmse.value, rmse.low, rmse.high, r2.value, r2.low, r2.high
            )?;
        }
        writeln!(out, "\nWritten: {}", self.output)?;
        Ok(())
    }
}
