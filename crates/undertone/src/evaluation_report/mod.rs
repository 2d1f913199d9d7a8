//! An evaluation as people and machines read it: a table, JSON, or one HTML page with pictures.

mod classes;
mod coverage;
mod json;
mod matrix;
mod numbers;
mod page;
mod reliability;
mod svg;
mod text;

pub(crate) use coverage::{MeasuredCoverage, Size};
pub(crate) use numbers::show_numbers;
pub(crate) use svg::escape;

use crate::{new_file, output};
use std::io::Write;
use std::path::PathBuf;
use undertone_learn::evaluation::Evaluation;
use undertone_privacy::Guarantee;

/// Classes that are shown one by one; of more, the most notable.
const MOST_SHOWN: usize = 30;

/// How an evaluation is to be shown.
#[derive(clap::Args, Debug)]
pub(crate) struct Shown {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also write a page with pictures, which needs nothing but a browser
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
    /// Replace HTML if it exists
    #[arg(long, requires = "report")]
    force: bool,
}

impl Shown {
    /// Whether the page may be written, before anything is read.
    pub(crate) fn check(&self, inputs: [&PathBuf; 2]) -> anyhow::Result<()> {
        let Some(path) = &self.report else { return Ok(()) };
        new_file::refuse_existing(path, self.force)?;
        Ok(new_file::refuse_input(path, inputs)?)
    }
}

/// What was evaluated.
#[derive(Clone, Debug)]
pub(crate) struct Context<'a> {
    /// The model, as it was named
    pub(crate) model: &'a str,
    /// The table or the reports, as they were named
    pub(crate) data: &'a str,
    /// The names of the classes in order
    pub(crate) classes: &'a [String],
    pub(crate) origin: Origin,
    /// How often its sets or intervals hold the truth, if it has any
    pub(crate) coverage: Option<MeasuredCoverage>,
}

impl Context<'_> {
    /// A line for each figure of sets or intervals.
    fn coverage_lines(&self) -> Vec<(&'static str, String, String)> {
        self.coverage.as_ref().map_or_else(Vec::new, MeasuredCoverage::lines)
    }
}

/// Where the figures come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Origin {
    /// Randomized reports, debiased
    Reports {
        promise: Guarantee,
        /// Whether people answered among labels of their own, so that those whose label was not among them count wrong
        priors: bool,
        /// Whether they were drawn from a seed
        simulation: bool,
    },
    /// Labels that somebody has
    Labels,
}

impl Origin {
    /// In JSON.
    fn name(self) -> &'static str {
        match self {
            Self::Reports { .. } => "reports",
            Self::Labels => "labels",
        }
    }

    /// What to keep in mind about the figures.
    fn note(self) -> &'static str {
        match self {
            Self::Reports { simulation: true, .. } => {
                "These reports were drawn from a seed: a simulation, without privacy. The figures are debiased like those of real \
                 ones; the intervals cover both whom we happened to ask and what the coins said."
            }
            Self::Reports { priors: false, .. } => {
                "These figures come from randomized reports alone; nobody's label was seen. Each is unbiased for the figure \
                 among the people who reported, and can therefore fall outside its natural range. Intervals cover both whom \
                 we happened to ask and what their devices' coins said."
            }
            Self::Reports { priors: true, .. } => {
                "These figures come from randomized reports alone; nobody's label was seen. People answered among the labels \
                 that a prior found likely: those whose label was not among them count as an even mixture, so the figures are \
                 off by up to the share of such people. Ask some people with all labels alike for figures without this bias."
            }
            Self::Labels => {
                "These figures come from true labels. Intervals cover whom we happened to look at; nothing was randomized."
            }
        }
    }
}

/// Prints the evaluation, and writes the page if one was asked for.
pub(crate) fn show(
    evaluation: &Evaluation,
    context: &Context<'_>,
    shown: &Shown,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let (named, classes) = (context.classes.len(), evaluation.classes());
    anyhow::ensure!(named == classes, "{named} classes are named, the model has {classes}");
    let figures = evaluation.figures()?;
    if let Some(path) = &shown.report {
        output::write_file(path, &page::html(evaluation, &figures, context), shown.force)?;
    }
    if shown.json {
        return output::json(&json::Flat { figures: &figures, context }, out);
    }
    text::write(&figures, context, out)?;
    if let Some(path) = &shown.report {
        writeln!(out, "\nShown in {}", path.display())?;
    }
    Ok(())
}

/// The places of the classes to show: all, or the largest by share, in order of the classes.
fn notable(figures: &undertone_learn::evaluation::Figures) -> Vec<usize> {
    let mut places: Vec<usize> = (0..figures.classes.len()).collect();
    let share = |&place: &usize| figures.classes[place].share.value;
    places.sort_by(|a, b| share(b).total_cmp(&share(a)));
    places.truncate(MOST_SHOWN);
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests;
