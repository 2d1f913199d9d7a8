//! Which sort of model, from reports alone.
//!
//! Each is learnt without one person in eight, whose reports then tell its loss: 1 - a_ŷ for classes, (η - z)² less the variance of z for
//! numbers. Both are right on average for the true labels, and as all are judged by the same reports, much of the noise is
//! the same for all and does not disturb the comparison. What is least is learnt again, from everybody. The choice is a function
//! of reports and public features, and free.

use super::averages::{Average, Question, judge, judge_numbers};
use super::numbers::LearntNumber;
use super::{Candidate, Kind, Learnt, Train, name};
use crate::people::Origin;
use anyhow::Context;
use std::io::Write;
use undertone_learn::Source;
use undertone_learn::evaluation::Figure;
use undertone_learn::features::Encoder;
use undertone_learn::held_out::Those;
use undertone_learn::regression::ridge_choosing_l2;
use undertone_report::NumberWords;

/// With more people than this, searching for neighbours takes too long for a try.
const MOST_FOR_NEIGHBOURS: u64 = 1 << 17;

/// The averages that are tried.
fn averages(people: u64) -> &'static [Average] {
    if people <= MOST_FOR_NEIGHBOURS { &[Average::Cells, Average::Neighbours] } else { &[Average::Cells] }
}

/// The candidate with the least loss; the first of those that are equal.
fn least(losses: &[(Kind, Figure)]) -> Option<Kind> {
    losses.iter().min_by(|(_, a), (_, b)| a.value.total_cmp(&b.value)).map(|(kind, _)| *kind)
}

fn candidates(losses: &[(Kind, Figure)]) -> Vec<Candidate> {
    losses.iter().map(|(kind, loss)| Candidate { model: name(kind), loss: *loss }).collect()
}

impl Train {
    /// Of softmax and averages what errs least often.
    pub(super) fn best(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
    ) -> anyhow::Result<Learnt> {
        let scores = self.scores(origin, encoder, people, None)?;
        let error = |accuracy: Figure| Figure { value: 1.0 - accuracy.value, ..accuracy };
        let judged = scores.judged.as_ref().context("nobody was kept aside")?;
        let mut losses = vec![(scores.kind, error(judged.accuracy))];
        let others = self.gather(&mut Those::others(people))?;
        let question = Question::Classes(origin.classes().len());
        for average in averages(origin.len()) {
            let model = average.fit(&others, question, self.seed())?.model;
            losses.push((average.kind(), error(judge(&model, people)?.accuracy)));
        }
        drop(others);
        let learnt = match least(&losses).and_then(Kind::average) {
            Some(average) => self.averages(origin, people, average)?,
            None => scores,
        };
        Ok(Learnt { candidates: candidates(&losses), ..learnt })
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
        let line = ridge_choosing_l2(&mut Those::others(people), encoder.width(), bounds, hidden)?.model;
        let mut losses = vec![(Kind::Linear, judge_numbers(&line, people, number, hidden)?.mse)];
        let others = self.gather(&mut Those::others(people))?;
        let question = Question::number(origin, number)?;
        for average in averages(origin.len()) {
            let model = average.fit(&others, question, self.seed())?.model;
            losses.push((average.kind(), judge_numbers(&model, people, number, hidden)?.mse));
        }
        drop(others);
        let learnt = match least(&losses).and_then(Kind::average) {
            Some(average) => self.number_averages(origin, people, number, average)?,
            None => self.line(origin, encoder, people, number)?,
        };
        Ok(LearntNumber { candidates: candidates(&losses), ..learnt })
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
    writeln!(out, "\n{:<12}{loss} on one in eight who were kept aside, debiased", "model")?;
    for Candidate { model, loss } in candidates {
        let mark = if model == chosen { "  ← chosen" } else { "" };
        writeln!(out, "{model:<12}{:>12.6} ± {:.6}{mark}", loss.value, loss.margin())?;
    }
    Ok(())
}
