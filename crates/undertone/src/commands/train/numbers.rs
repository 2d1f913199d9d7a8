//! From reports about numbers to a line, or to averages.

use super::summary::NotTried;
use super::{Candidate, Kind, Train, Tried, auto, averages, coverage, name};
use crate::exit::Usage;
use crate::new_file::NewFile;
use crate::output;
use crate::people::{Origin, fit_encoder};
use serde::Serialize;
use std::io::Write;
use undertone_learn::evaluation::{NumberFigures, Ranged};
use undertone_learn::features::Encoder;
use undertone_learn::nonparametric::{Coverage, TrustModel};
use undertone_learn::regression::{LinearNumber, RidgeFit, fit_ridge, ridge_choosing_l2};
use undertone_learn::{Model, NumberPredictor, Source, Training};
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
    /// Who sees true numbers
    trust: TrustModel,
    mechanism: Option<&'a str>,
    features: usize,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    l2: Option<f64>,
    /// Depth of cells, neighbours, or for how many people the parent of a forest's cell counts
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Each λ that was tried, with the debiased mean squared error on those who were kept aside; of averages each size, with
    /// its mean squared error up to a constant
    tried: Vec<Tried>,
    /// With auto, what was tried, with its error on those who were kept aside
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Candidate>,
    /// And what was not tried, and why
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_tried: Vec<NotTried>,
    /// Of everybody, each by a line that was fitted without them; of other models, of one in eight
    held_out_rmse: Option<Ranged>,
    held_out_r2: Option<Ranged>,
    /// What the mechanism hides: if above zero, the error is at most that, and r² at least
    hidden_variance: f64,
    simulation: bool,
    /// Some people may have answered in several files
    may_ask_twice: bool,
    #[serde(flatten)]
    coverage: Option<coverage::Told>,
    output: String,
}

/// What came of it.
pub(super) struct LearntNumber {
    pub(super) kind: Kind,
    pub(super) predictor: NumberPredictor,
    pub(super) method: &'static str,
    pub(super) l2: Option<f64>,
    /// Depth of cells, neighbours, or for how many people the parent of a forest's cell counts
    pub(super) size: Option<u64>,
    pub(super) tried: Vec<Tried>,
    pub(super) judged: Option<NumberFigures>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) untried: Vec<NotTried>,
    pub(super) coverage: Option<Coverage>,
}

impl LearntNumber {
    fn line(model: LinearNumber, l2: f64) -> Self {
        Self {
            kind: Kind::Linear,
            predictor: NumberPredictor::Linear(model),
            method: "ridge",
            l2: Some(l2),
            size: None,
            tried: Vec::new(),
            judged: None,
            candidates: Vec::new(),
            untried: Vec::new(),
            coverage: None,
        }
    }
}

impl Train {
    pub(super) fn run_numbers(
        &self,
        origin: &Origin,
        number: NumberWords,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        self.check_numbers()?;
        let file = NewFile::create(&self.output, self.force)?;
        let encoder = fit_encoder(origin, self.encoding(origin))?;
        let learnt = self.learn_number(origin, &encoder, number)?;
        let summary = self.number_summary(origin, &encoder, number, &learnt);
        self.save_number(origin, encoder, number, learnt, file)?;
        if self.json { output::json(&summary, out) } else { summary.explain(origin, self.explain, out) }
    }

    /// From these people, who are all or some of the origin's.
    pub(super) fn learn_number_from(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
        number: NumberWords,
    ) -> anyhow::Result<LearntNumber> {
        match (self.model, self.kind().average()) {
            (Some(Kind::Auto), _) => self.best_number(origin, encoder, people, number),
            (Some(Kind::Factors), _) => self.factors(origin, people, number),
            (_, Some(average)) => self.number_averages(origin, people, number, average),
            (_, None) => self.line(origin, encoder, people, number),
        }
    }

    /// Whether the options go with numbers.
    fn check_numbers(&self) -> Result<(), Usage> {
        if let Some(kind) = self.model.filter(|kind| kind.is_for_classes_only()) {
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

    pub(super) fn line(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
        number: NumberWords,
    ) -> anyhow::Result<LearntNumber> {
        let (features, bounds) = (encoder.width(), number.bounds()?);
        if let Some(l2) = self.l2 {
            let model = fit_ridge(people, features, bounds, l2)?;
            return Ok(LearntNumber::line(model, l2));
        }
        let RidgeFit { model, l2, tried, judged } =
            ridge_choosing_l2(people, features, bounds, origin.hidden())?;
        let tried = Tried::penalties(&tried);
        Ok(LearntNumber { tried, judged: Some(judged), ..LearntNumber::line(model, l2) })
    }

    fn number_summary<'a>(
        &self,
        origin: &'a Origin,
        encoder: &Encoder,
        number: NumberWords,
        learnt: &LearntNumber,
    ) -> NumberSummary<'a> {
        let task = origin.tasks().first().copied();
        NumberSummary {
            model: name(&learnt.kind),
            label: origin.label(),
            low: number.low,
            high: number.high,
            reports: origin.len(),
            epsilon: task.map(|task| task.mechanism.level()),
            trust: self.trust(),
            mechanism: task.map(|task| task.mechanism.kind.as_str()),
            features: encoder.width(),
            method: learnt.method,
            l2: learnt.l2,
            size: learnt.size,
            tried: learnt.tried.clone(),
            candidates: learnt.candidates.clone(),
            not_tried: learnt.untried.clone(),
            held_out_rmse: learnt.judged.as_ref().map(|figures| figures.rmse),
            held_out_r2: learnt.judged.as_ref().map(|figures| figures.r2),
            hidden_variance: origin.hidden(),
            simulation: origin.is_simulation(),
            may_ask_twice: origin.may_ask_twice(),
            coverage: learnt.coverage.as_ref().map(coverage::Told::new),
            output: self.output.display().to_string(),
        }
    }

    fn save_number(
        &self,
        origin: &Origin,
        encoder: Encoder,
        number: NumberWords,
        learnt: LearntNumber,
        file: NewFile,
    ) -> anyhow::Result<()> {
        let training = Training {
            reports: origin.len(),
            method: learnt.method.into(),
            l2: learnt.l2,
            seed: self.seed(),
            simulation: origin.is_simulation(),
            parts: origin.parts(),
            expected: None,
            curator: None,
        };
        let tasks = origin.tasks().into_iter().cloned().collect();
        let model =
            Model::of_number((origin.label().to_owned(), number), tasks, encoder, learnt.predictor, training);
        self.write(&model.covering(learnt.coverage), file)
    }
}

impl NumberSummary<'_> {
    fn explain(&self, origin: &Origin, all: bool, out: &mut impl Write) -> anyhow::Result<()> {
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
        let penalty = l2.map_or_else(String::new, |l2| format!(", λ = {l2:e}"));
        writeln!(out, "Model: {}, {}{penalty}", self.model, self.method)?;
        auto::left_out(&self.not_tried, all, out)?;
        if all {
            auto::table(&self.candidates, "mean squared error", out)?;
        }
        if self.size.is_some() {
            averages::table(
                &self.tried,
                (&self.model, self.size),
                "mean squared error up to a constant",
                out,
            )?;
        } else if !self.tried.is_empty() {
            writeln!(out, "\n        λ   mean squared error, debiased, of those kept aside in turn")?;
            for Tried { l2: tried, score, .. } in &self.tried {
                let mark = if tried == l2 { "  ← chosen" } else { "" };
                let tried = tried.unwrap_or_default();
                writeln!(out, "{tried:>9.1e}   {:>12.6} ± {:.6}{mark}", score.value, score.margin())?;
            }
        }
        if let Some((rmse, r2)) = self.held_out_rmse.zip(self.held_out_r2) {
            let [most, least] = if self.hidden_variance > 0.0 { ["at most ", "at least "] } else { [""; 2] };
            writeln!(
                out,
                "\nOn {}: root mean square error {most}{:.4} ({:.4} to {:.4}), r² {least}{:.4} ({:.4} to {:.4})",
                if self.l2.is_none() {
                    "one in eight who were kept aside"
                } else {
                    "those kept aside in turn"
                },
                rmse.value,
                rmse.low,
                rmse.high,
                r2.value,
                r2.low,
                r2.high
            )?;
        }
        if let Some(coverage) = &self.coverage {
            coverage.explain(out)?;
        }
        writeln!(out, "\nWritten: {}", self.output)?;
        Ok(())
    }
}
