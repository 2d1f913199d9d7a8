//! How good a model is, from reports alone or from true labels.

mod held;

use crate::evaluation_report::{self, Context, Shown};
use crate::model_file;
use crate::people::{Origin, People};
use crate::progress::progress_bar;
use crate::tables::Unlabelled;
use anyhow::Context as _;
use held::{HeldClasses, HeldNumbers};
use std::io::Write;
use std::path::PathBuf;
use undertone_learn::evaluation::{Evaluation, NumberEvaluation, NumberFigures};
use undertone_learn::{Classifier, Model, Source};
use undertone_privacy::Guarantee;
use undertone_report::NumberWords;

/// How good a model is, from reports alone or from true labels
///
/// From REPORTS every figure is debiased: nobody's label is seen, and each figure comes with its interval. They should be
/// reports of people whom the model was not learnt from. From a TABLE with --label the figures are the usual ones,
/// those of numbers as they are, also outside of the bounds.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone evaluate model.json reports-of-others.parquet --report evaluation.html
  undertone evaluate model.json test.csv --label income --json")]
pub(crate) struct Evaluate {
    /// What `train` has written
    model: PathBuf,
    /// Reports, or a table with true labels
    data: PathBuf,
    /// The column of the true labels
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    #[command(flatten)]
    shown: Shown,
}

impl Evaluate {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        self.shown.check([&self.model, &self.data])?;
        let model = model_file::read(&self.model)?;
        let people = self.origin(&model)?;
        people.tell_left_out();
        warn_of_flattery(&model, &people);
        let mut context = Context {
            model: &self.model.display().to_string(),
            data: &self.data.display().to_string(),
            classes: &model.classes,
            origin: kind_of(&people)?,
            coverage: None,
        };
        if let Some(number) = model.number {
            let mut held = HeldNumbers::new(&model, number, &people)?;
            let figures = evaluate_numbers(&model, number, &people, &mut held)?;
            context.coverage = held.measured(figures.mse);
            return evaluation_report::show_numbers(&figures, number, &context, &self.shown, out);
        }
        let mut held = HeldClasses::new(&model);
        let evaluation = evaluate(&model, &people, &mut held)?;
        context.coverage = held.measured();
        evaluation_report::show(&evaluation, &context, &self.shown, out)
    }

    fn origin(&self, model: &Model) -> anyhow::Result<Origin> {
        if let Some(label) = &self.label {
            let table = model_file::matching_table(model, &self.data, Some(label))?;
            if let Some(number) = model.number {
                return Origin::numbers(table, label, number, false, Unlabelled::LeftOut);
            }
            return Origin::labels(table, label, Some(&model.classes), Unlabelled::LeftOut);
        }
        let reports = Origin::reports(std::slice::from_ref(&self.data))
            .context("without --label the data has to be reports")?;
        model_file::same_question(model, &reports).with_context(|| self.data.display().to_string())?;
        Ok(reports)
    }
}

fn evaluate(model: &Model, people: &Origin, held: &mut HeldClasses) -> anyhow::Result<Evaluation> {
    let mut evaluation = Evaluation::new(model.classes.len());
    let bar = progress_bar(people.len());
    // Each row is looked at once, so nothing is kept.
    People::new(people, &model.encoder, 0).pass(&mut |block| {
        let probabilities = model.predictor.probabilities(&block.rows);
        evaluation.observe(block, &probabilities)?;
        held.observe(block, &probabilities);
        bar.set_position(evaluation.rows());
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(evaluation)
}

fn evaluate_numbers(
    model: &Model,
    number: NumberWords,
    people: &Origin,
    held: &mut HeldNumbers,
) -> anyhow::Result<NumberFigures> {
    let mut evaluation = NumberEvaluation::new(number.bounds()?, people.hidden());
    let bar = progress_bar(people.len());
    People::new(people, &model.encoder, 0).pass(&mut |block| {
        let guesses = model.numbers(&block.rows);
        held.observe(block, &guesses)?;
        guesses
            .into_iter()
            .zip(block.numbers.iter())
            .for_each(|(guess, number)| evaluation.observe(guess, number));
        bar.set_position(evaluation.rows());
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(evaluation.figures()?)
}

/// Says so if these seem to be the very reports that the model was learnt from: their noise would be in both.
fn warn_of_flattery(model: &Model, people: &Origin) {
    let same_task = people.tasks().first().is_some_and(|task| model.tasks.contains(task));
    if same_task && people.len() == model.training.reports {
        // Should the standard error be closed, the figures are still there.
        let _ = writeln!(
            std::io::stderr(),
            "warning: these are as many reports of the same task as the model was learnt from; if they are the same ones, \
             they flatter it"
        );
    }
}

fn kind_of(people: &Origin) -> anyhow::Result<evaluation_report::Origin> {
    let Some(task) = people.tasks().first().copied() else {
        return Ok(evaluation_report::Origin::Labels);
    };
    let promise = Guarantee::Pure(task.epsilon()?);
    // Answers among some labels only say nothing about the others.
    let priors = task.has_priors() || task.mechanism.top.is_some();
    Ok(evaluation_report::Origin::Reports { promise, priors, simulation: people.is_simulation() })
}
