//! From the answers to a survey to a model.

use super::{Kind, Method, Train, name};
use crate::exit::Usage;
use crate::new_file::NewFile;
use crate::output;
use crate::reports::ReportsFile;
use crate::survey_reports::SurveyReports;
use anyhow::{Context, bail, ensure};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use undertone_learn::copies::Layout;
use undertone_learn::features::Encoder;
use undertone_learn::means::Tally;
use undertone_learn::moments::{MarginLoss, MomentSums, OneRound};
use undertone_learn::one_round::{
    CopiesFit, CopiesMethod, Expected, LossFit, Score, SurveyFit, Worth, from_losses, from_moments,
};
use undertone_learn::{Model, NumberPredictor, Predictor, Training};
use undertone_privacy::statistic::{LossAt, PointLoss};
use undertone_privacy::survey::{NumberAnswering, Survey};
use undertone_privacy::vector::GaussianCopies;
use undertone_report::{EncodingWords, SurveyWords, Task};

/// What was learnt and how, for machines.
#[derive(Serialize)]
struct SurveySummary<'a> {
    model: &'static str,
    label: &'a str,
    answers: u64,
    epsilon: Option<f64>,
    mu: Option<f64>,
    covariates: usize,
    method: &'static str,
    /// The weights of covariates within the unit ball stay within this
    radius: Option<f64>,
    /// How often the Bernstein operator is iterated
    order: Option<u32>,
    #[serde(flatten)]
    expected: Expected,
    simulation: bool,
    output: String,
}

/// What came of it.
struct Learnt {
    fit: SurveyFit,
    loss: MarginLoss,
    method: &'static str,
    radius: Option<f64>,
    order: Option<u32>,
}

/// Whether these are the answers to a survey, and not reports of labels.
pub(super) fn is_asked(reports: &Path) -> anyhow::Result<bool> {
    Ok(ReportsFile::open(reports)?.task().asks_once())
}

impl Train {
    pub(super) fn run_survey(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let [path] = &self.reports[..] else {
            return Err(Usage::new("the answers to a survey are one file or directory, not several").into());
        };
        self.check_survey()?;
        let reports = SurveyReports::open(path)?;
        let task = reports.task();
        let words = explaining(task)?;
        let encoder = Encoder::from_words(&task.features, encodings(task))?;
        let file = NewFile::create(&self.output, self.force)?;
        let learnt = self.learn_survey(&reports, words)?;
        let summary = SurveySummary {
            model: spelt(learnt.loss),
            label: &task.label,
            answers: reports.len(),
            epsilon: task.mechanism.epsilon,
            mu: task.mechanism.mu,
            covariates: learnt.fit.weights.len(),
            method: learnt.method,
            radius: learnt.radius,
            order: learnt.order,
            expected: learnt.fit.expected,
            simulation: reports.is_simulation(),
            output: self.output.display().to_string(),
        };
        let training = Training {
            reports: reports.len(),
            method: learnt.method.into(),
            l2: None,
            seed: self.seed(),
            simulation: reports.is_simulation(),
            parts: Vec::new(),
            expected: Some(learnt.fit.expected),
            curator: None,
        };
        self.write(&model(task, words, encoder, &learnt, training)?, file)?;
        if self.json { output::json(&summary, out) } else { summary.explain(task, out) }
    }

    /// Whether the options go with surveys.
    fn check_survey(&self) -> Result<(), Usage> {
        if let Some(model) = self.model.filter(|model| model.margin_loss().is_none()) {
            let model = name(&model);
            return Err(Usage::new(format!("learning from a survey has no use for --model {model}")));
        }
        let given = [
            ("--l2", self.l2.is_some()),
            ("--start", self.start.is_some()),
            ("--coverage", self.coverage.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--column", !self.columns.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Usage::new(format!("learning from a survey has no use for {option}"))),
            None => Ok(()),
        }
    }

    fn learn_survey(&self, reports: &SurveyReports, words: &SurveyWords) -> anyhow::Result<Learnt> {
        match (&reports.survey, words) {
            (Survey::Moments(release), SurveyWords::Moments(words)) => {
                self.refuse_method("moments")?;
                let number = words.response.is_some();
                let loss = self.survey_loss(number)?;
                let radius = self.ball(release.moments().covariates());
                let mut sums = MomentSums::new(*release);
                reports.each(|report| Ok(sums.observe(&reports.survey.moment_of(report)?)?))?;
                let method = OneRound::new(loss, radius)?;
                let fit = from_moments(&method, &sums.moments()?, words.radius)?;
                Ok(Learnt { fit, loss, method: "moments", radius: Some(radius), order: None })
            }
            (Survey::Losses { at, answering, .. }, _) => {
                self.refuse_method("losses")?;
                self.losses(reports, at, answering)
            }
            (Survey::Copies { copies, .. }, SurveyWords::Copies(words)) => {
                let layout = if words.blossom { Layout::Blossom } else { Layout::Printed };
                self.copies(reports, copies, layout, words.radius)
            }
            _ => bail!("no column is explained by this survey"),
        }
    }

    fn losses(
        &self,
        reports: &SurveyReports,
        at: &LossAt,
        answering: &NumberAnswering,
    ) -> anyhow::Result<Learnt> {
        let loss = match at.loss() {
            PointLoss::Logistic => MarginLoss::Logistic,
            PointLoss::Hinge | PointLoss::SmoothHinge { .. } => MarginLoss::Hinge,
            PointLoss::Squared { .. } => MarginLoss::Squared,
        };
        if let Some(kind) = self.model.filter(|kind| kind.margin_loss() != Some(loss)) {
            let (wanted, asked) = (name(&kind), spelt(loss));
            return Err(
                Usage::new(format!("--model {wanted}: people were asked for losses of {asked}")).into()
            );
        }
        ensure!(
            self.radius.is_none(),
            Usage::new("--radius: the task says where coefficients lie, and no ball is needed")
        );
        // The share of a range varies by 1/4 at most from person to person.
        let worst = answering.worst_variance() + 0.25;
        let mut tally = Tally::new(at.grid().nodes() as usize, worst.sqrt())?;
        reports
            .each(|report| Ok(tally.observe(report.question as u32, reports.survey.number_of(report)?)?))?;
        let LossFit { fit, order } = from_losses(at, &tally, worst)?;
        Ok(Learnt { fit, loss, method: "losses", radius: None, order: Some(order) })
    }

    fn copies(
        &self,
        reports: &SurveyReports,
        copies: &GaussianCopies,
        layout: Layout,
        scale: f64,
    ) -> anyhow::Result<Learnt> {
        let loss = self.survey_loss(false)?;
        ensure!(
            loss != MarginLoss::Squared,
            Usage::new("--model linear: copies are for the logistic loss and the hinge")
        );
        let (method, word) = match (self.method, loss) {
            (Some(Method::Algorithm4), _) | (None, MarginLoss::Hinge) => {
                (CopiesMethod::Algorithm4, "algorithm-4")
            }
            (Some(Method::Algorithm5), _) => (CopiesMethod::Algorithm5, "algorithm-5"),
            (Some(Method::Direct) | None, _) => (CopiesMethod::Direct, "direct"),
            (Some(method), _) => {
                let method = name(&method);
                return Err(Usage::new(format!(
                    "--method {method}: copies are learnt from by algorithm-4, algorithm-5 or direct"
                ))
                .into());
            }
        };
        ensure!(
            method != CopiesMethod::Algorithm4 || matches!(self.model, None | Some(Kind::Hinge)),
            Usage::new("--method algorithm-4 is for the hinge, not for another model")
        );
        let radius = self.radius.unwrap_or(1.0);
        let mut fit = CopiesFit::new(method, layout, loss, *copies, radius, reports.len())?;
        reports.each(|report| Ok(fit.learn(&report.words)?))?;
        reports.each(|report| {
            fit.judge(&report.words);
            Ok(())
        })?;
        let loss = fit.loss();
        let fit = fit.finish(scale)?;
        Ok(Learnt { fit, loss, method: word, radius: Some(radius), order: None })
    }

    /// Margins of the order of four, as those of a model that tells most classes apart.
    fn ball(&self, covariates: usize) -> f64 {
        self.radius.unwrap_or(4.0 * (covariates as f64).sqrt())
    }

    fn survey_loss(&self, number: bool) -> Result<MarginLoss, Usage> {
        let loss = self.model.and_then(Kind::margin_loss);
        match loss {
            Some(loss) if number && loss != MarginLoss::Squared => {
                Err(Usage::new(format!("--model {} is for classes, and the label is a number", spelt(loss))))
            }
            Some(loss) => Ok(loss),
            None if number => Ok(MarginLoss::Squared),
            None => Ok(MarginLoss::Logistic),
        }
    }

    fn refuse_method(&self, asked: &str) -> Result<(), Usage> {
        match self.method {
            None => Ok(()),
            Some(method) => {
                Err(Usage::new(format!("--method {}: people were asked for {asked}", name(&method))))
            }
        }
    }
}

impl Kind {
    fn margin_loss(self) -> Option<MarginLoss> {
        match self {
            Self::Logistic => Some(MarginLoss::Logistic),
            Self::Hinge => Some(MarginLoss::Hinge),
            Self::Linear => Some(MarginLoss::Squared),
            Self::Softmax
            | Self::Cells
            | Self::Neighbours
            | Self::Forest
            | Self::Planes
            | Self::Representation
            | Self::Factors
            | Self::Mlp
            | Self::Cnn
            | Self::Inception
            | Self::Rating
            | Self::Auto => None,
        }
    }
}

/// As `--model` has it.
fn spelt(loss: MarginLoss) -> &'static str {
    match loss {
        MarginLoss::Logistic => "logistic",
        MarginLoss::Hinge => "hinge",
        MarginLoss::Squared => "linear",
    }
}

/// What needs no survey to be used.
fn model(
    task: &Task,
    words: &SurveyWords,
    encoder: Encoder,
    learnt: &Learnt,
    training: Training,
) -> anyhow::Result<Model> {
    let scale = words.radius().unwrap_or(1.0);
    let score = Score::new(&learnt.fit.weights, scale, &encoder, encodings(task))?;
    let (label, tasks) = (task.label.clone(), vec![task.clone()]);
    if let (Some(response), Some(number)) = (words.response(), task.explained_number()) {
        let line = NumberPredictor::Linear(score.line(response));
        return Ok(Model::of_number((label, number), tasks, encoder, line, training));
    }
    let predictor = Predictor::Linear(score.classifier(learnt.loss));
    Ok(Model::new((label, task.classes.clone()), tasks, encoder, predictor, training))
}

/// What the survey asks, if a column is explained by it.
fn explaining(task: &Task) -> anyhow::Result<&SurveyWords> {
    let words = task.survey.as_ref().filter(|words| words.explains());
    words.context("nothing is explained by this survey: `undertone query` answers questions about it")
}

fn encodings(task: &Task) -> &[EncodingWords] {
    task.collection.as_ref().map(|collection| &collection.encoding[..]).unwrap_or_default()
}

impl SurveySummary<'_> {
    fn explain(&self, task: &Task, out: &mut impl Write) -> anyhow::Result<()> {
        let promise = match (task.mechanism.epsilon, task.mechanism.delta, task.mechanism.mu) {
            (Some(epsilon), Some(delta), _) => format!("ε = {epsilon}, δ = {delta}"),
            (Some(epsilon), None, _) => format!("ε = {epsilon}"),
            (_, _, mu) => format!("μ = {}", mu.unwrap_or_default()),
        };
        writeln!(out, "{} answers that explain `{}`, each under {promise}", self.answers, self.label)?;
        if self.simulation {
            writeln!(out, "The answers were drawn from a seed: a simulation, without privacy")?;
        }
        let ball = self.radius.map_or_else(String::new, |radius| format!(", weights within {radius:.4}"));
        let order = self.order.map_or_else(String::new, |order| format!(", operator of order {order}"));
        writeln!(out, "Model: {}, {}, {} covariates{ball}{order}", self.model, self.method, self.covariates)?;
        if self.model == "linear" {
            let less = if self.method == "moments" { ", less its mean" } else { "" };
            writeln!(out, "Risks are of the square of (y - mean)/most{less}")?;
        }
        let Expected { worth, constant, fitted, standard_error } = self.expected;
        writeln!(
            out,
            "Expected risk {fitted:.5} ± {standard_error:.5}, of the best constant {constant:.5}: {}",
            match worth {
                Worth::Fitted => "the model is expected to do better",
                Worth::Doubtful =>
                    "the model is expected to do better, but more than one such collection in ten would not",
                Worth::ConstantIsBetter =>
                    "THE CONSTANT IS EXPECTED TO DO BETTER, and it is what was written",
            }
        )?;
        writeln!(out, "\nWritten: {}", self.output)?;
        Ok(())
    }
}
