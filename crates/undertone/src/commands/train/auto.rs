//! Which sort of model, from reports alone ([`undertone_learn::auto`]); what is chosen is learnt again, from everybody.

use super::averages::number_question;
use super::numbers::LearntNumber;
use super::representation::represented;
use super::{Candidate, Kind, Learnt, Train, name};
use crate::people::Origin;
use anyhow::{Context, anyhow};
use std::io::Write;
use undertone_learn::auto::{Contest, Line, Question, Sort, contest};
use undertone_learn::features::Encoder;
use undertone_learn::linear::{ErmOptions, LinearModel, fit};
use undertone_learn::regression::{LinearNumber, ridge_choosing_l2};
use undertone_learn::{LearnError, Source};
use undertone_report::NumberWords;

/// A line that is only tried is fitted in so many times fewer passes.
const SHORTER: u32 = 4;

fn candidates(contest: &Contest, line: Kind) -> Vec<Candidate> {
    let kind = |sort: Sort| match sort {
        Sort::Line => line,
        Sort::Average(average) => average.into(),
        Sort::Represented => Kind::Representation,
    };
    let each = contest.losses.iter();
    each.map(|&(sort, loss)| Candidate { model: name(&kind(sort)), loss }).collect()
}

fn too_few(error: LearnError) -> anyhow::Error {
    match error {
        LearnError::TooFewReports => {
            anyhow!("there are too few reports to keep some aside, as a choice needs")
        }
        error => error.into(),
    }
}

impl Train {
    /// Of softmax, averages and representations what errs least often.
    pub(super) fn best(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
    ) -> anyhow::Result<Learnt> {
        let scores = self.scores(origin, encoder, people, None)?;
        let chosen = scores.options.clone().context("nobody was kept aside")?;
        let options = ErmOptions { epochs: chosen.epochs.div_ceil(SHORTER), ..chosen };
        let (everybody, classes) = (self.gather(people)?, origin.classes().len());
        let line = |others| {
            let line = fit(&mut vec![others], encoder.width(), classes, &options, None, |_| ())?;
            Ok(Line::<LinearModel, LinearNumber>::Classes(line))
        };
        let seen = self.seen_within_budget(&everybody, encoder)?;
        let contest = contest(&everybody, Question::Classes(classes), seen.as_ref(), self.seed(), line)
            .map_err(too_few)?;
        let candidates = candidates(&contest, scores.kind);
        if let (Sort::Represented, Some(seen)) = (contest.chosen, &seen) {
            return Ok(Learnt { candidates, ..represented(seen, &everybody, classes)? });
        }
        drop(everybody);
        let learnt = match contest.chosen {
            Sort::Average(average) => self.averages(origin, people, average)?,
            Sort::Line | Sort::Represented => scores,
        };
        Ok(Learnt { candidates, ..learnt })
    }

    /// Of a line and averages what has the least squared error.
    pub(super) fn best_number(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
        number: NumberWords,
    ) -> anyhow::Result<LearntNumber> {
        let (bounds, hidden) = (number.bounds()?, origin.hidden());
        let everybody = self.gather(people)?;
        let line = |others| {
            let line = ridge_choosing_l2(&mut vec![others], encoder.width(), bounds, hidden)?.model;
            Ok(Line::<LinearModel, LinearNumber>::Number(line))
        };
        let question = number_question(origin, number)?;
        let contest = contest(&everybody, question, None, self.seed(), line).map_err(too_few)?;
        drop(everybody);
        let learnt = match contest.chosen {
            Sort::Average(average) => self.number_averages(origin, people, number, average)?,
            Sort::Line | Sort::Represented => self.line(origin, encoder, people, number)?,
        };
        Ok(LearntNumber { candidates: candidates(&contest, Kind::Linear), ..learnt })
    }
}

/// What was tried; nothing where the model was given.
pub(super) fn table(
    candidates: &[Candidate],
    chosen: &str,
    loss: &str,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    if candidates.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{:<12}{loss} on people who were kept aside, debiased", "model")?;
    for Candidate { model, loss } in candidates {
        let mark = if model == chosen { "  ← chosen" } else { "" };
        writeln!(out, "{model:<12}{:>12.6} ± {:.6}{mark}", loss.value, loss.margin())?;
    }
    Ok(())
}
