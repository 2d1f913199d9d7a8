//! Which sorts of model, from reports alone ([`undertone_learn::auto`]); what is kept is learnt again, from everybody.

use super::averages::number_question;
use super::numbers::LearntNumber;
use super::representation::{class_name, judged, represented};
use super::summary::NotTried;
use super::{Candidate, Kind, Learnt, Train, name};
use crate::digits::digits;
use crate::people::Origin;
use crate::stages::Stages;
use anyhow::anyhow;
use std::io::Write;
use undertone_learn::auto::{
    Contest, Entrants, Field, Line, Question, Sort, Standing, Untried, contest, judging,
};
use undertone_learn::evaluation::Figure;
use undertone_learn::features::Encoder;
use undertone_learn::held_out::parts;
use undertone_learn::linear::{ErmOptions, LinearModel};
use undertone_learn::regression::{LinearNumber, ridge_choosing_l2};
use undertone_learn::represented::{Seen, Sight};
use undertone_learn::shelf::{Digest, stage};
use undertone_learn::{Examples, LearnError, Predictor, Source};
use undertone_report::NumberWords;

impl Kind {
    fn of(sort: Sort, line: Self) -> Self {
        match sort {
            Sort::Line => line,
            Sort::Average(average) => average.into(),
            Sort::Represented => Self::Representation,
            Sort::Factors => Self::Factors,
        }
    }
}

fn candidates(contest: &Contest, line: Kind) -> Vec<Candidate> {
    let candidate = |standing: &Standing| {
        let Standing { sort, loss, behind, weight, .. } = *standing;
        Candidate { model: name(&Kind::of(sort, line)), loss, behind, weight }
    };
    contest.standings.iter().map(candidate).collect()
}

fn untried(contest: &Contest, line: Kind, classes: &[String]) -> Vec<NotTried> {
    let why = |why: &Untried| match why {
        Untried::NeverReported { class } => {
            format!("class `{}` is in no report", class_name(classes, *class))
        }
        why => why.to_string(),
    };
    let not_tried = |(sort, reason): &(Sort, Untried)| NotTried {
        model: name(&Kind::of(*sort, line)),
        why: why(reason),
        unexpected: !matches!(reason, Untried::OnlyClasses | Untried::NoPairs),
    };
    contest.untried.iter().map(not_tried).collect()
}

/// How lines are fitted, in words; threads change nothing.
fn words(options: &ErmOptions) -> String {
    format!("{:?}", ErmOptions { threads: 0, ..options.clone() })
}

/// There is no λ to give where the sort of model is chosen, too.
fn without_penalty(error: LearnError) -> LearnError {
    match error {
        LearnError::TooFewForPenalty => LearnError::TooFewReports,
        error => error,
    }
}

impl Train {
    /// Seconds of one core that all together may take that are tried beside a line.
    pub(super) fn seconds(&self) -> f64 {
        60.0 * self.budget
    }

    /// Of softmax, averages and representations those that together make reports likeliest.
    pub(super) fn best(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
    ) -> anyhow::Result<Learnt> {
        let (everybody, classes) = (self.gather(people)?, origin.classes().len());
        let stages = Stages::new(self.cache.as_deref())?;
        stages.expect(1);
        let name = self.line_name(&everybody, origin.len());
        let fitted = || self.fitted(people, encoder.width(), (origin, None)).map_err(without_penalty);
        let fitted = stage(&stages, &name, fitted)?;
        let scores = self.learnt_line(&fitted);
        let line =
            |others: &mut dyn Source| fitted.again(others).map(Line::<LinearModel, LinearNumber>::Classes);
        let question = Question::Classes(classes);
        let mut field = Field::new(&everybody, question, Some(Sight::of(encoder)), self.seconds());
        let seen = self.seen_by(&mut field, &everybody, encoder, classes, &stages)?;
        stages.expect(parts(everybody.len()) * field.sorts().count());
        let line_words = format!("{} {}", words(&fitted.options), fitted.sharpness);
        let entrants =
            Entrants { field, seen: seen.as_ref(), line: &line_words, seed: self.seed(), shelf: &stages };
        let contest = contest(&everybody, question, &entrants, line).map_err(without_penalty)?;
        let candidates = candidates(&contest, scores.kind);
        let untried = untried(&contest, scores.kind, origin.classes());
        let said = judging(everybody.len()).zip(contest.beliefs.iter().map(Vec::as_slice));
        let judged = Some(judged(&everybody, classes, said)?);
        stages.expect(usize::from(contest.keeps(Sort::Represented)));
        let learnt = match (contest.only(), &seen) {
            (None, seen) => {
                self.mixture(&contest, &everybody, classes, seen.as_ref(), &scores.predictor, &stages)?
            }
            (Some(Sort::Represented), Some(seen)) => represented(seen, &everybody, classes, &stages)?,
            (Some(Sort::Average(average)), _) => self.average(&everybody, question, average)?,
            _ => scores,
        };
        stages.finish();
        Ok(Learnt { judged, candidates, untried, stages: stages.told(), ..learnt })
    }

    /// Several sorts that speak together, each learnt from everybody.
    fn mixture(
        &self,
        contest: &Contest,
        everybody: &Examples,
        classes: usize,
        seen: Option<&Seen>,
        line: &Predictor,
        stages: &Stages,
    ) -> anyhow::Result<Learnt> {
        let predictor = contest.keep(|sort| match (sort, seen) {
            (Sort::Represented, Some(seen)) => {
                let model = seen.model(everybody, classes, stages)?;
                Ok(Predictor::Represented(Box::new(model)))
            }
            (Sort::Average(average), _) => {
                Ok(self.average(everybody, Question::Classes(classes), average)?.predictor)
            }
            (Sort::Line, _) => Ok(line.clone()),
            (Sort::Represented | Sort::Factors, _) => Err(anyhow!("{sort:?} does not take part")),
        })?;
        Ok(Learnt::new(Kind::Auto, predictor, "mixture".into()))
    }

    /// The name of the line that everybody's reports make.
    fn line_name(&self, everybody: &Examples, rows: u64) -> String {
        let digest = Digest::new("line").rows(&everybody.rows);
        let digest = digest.reports(&everybody.unbiased).reports(&everybody.likelihood);
        digest.word(&words(&self.options(rows))).name("softmax")
    }

    /// Of a line, averages and factors what has the least squared error.
    pub(super) fn best_number(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
        number: NumberWords,
    ) -> anyhow::Result<LearntNumber> {
        let (bounds, hidden) = (number.bounds()?, origin.hidden());
        let everybody = self.gather(people)?;
        let line = |others: &mut dyn Source| {
            let line = ridge_choosing_l2(others, encoder.width(), bounds, hidden)?.model;
            Ok(Line::<LinearModel, LinearNumber>::Number(line))
        };
        let question = number_question(origin, number)?;
        let stages = Stages::new(self.cache.as_deref())?;
        let field = Field::new(&everybody, question, None, self.seconds());
        stages.expect(parts(everybody.len()) * field.sorts().count());
        let entrants = Entrants { field, seen: None, line: "ridge", seed: self.seed(), shelf: &stages };
        let contest = contest(&everybody, question, &entrants, line).map_err(without_penalty)?;
        stages.finish();
        drop(everybody);
        let learnt = match contest.best() {
            Sort::Average(average) => self.number_averages(origin, people, number, average)?,
            Sort::Factors => self.factors(origin, people, number)?,
            Sort::Line | Sort::Represented => self.line(origin, encoder, people, number)?,
        };
        let (candidates, untried) =
            (candidates(&contest, Kind::Linear), untried(&contest, Kind::Linear, &[]));
        Ok(LearntNumber { candidates, untried, ..learnt })
    }
}

/// What was not tried. What suits the question and was kept out by something else is always said: it might have been the best.
pub(super) fn left_out(untried: &[NotTried], all: bool, out: &mut impl Write) -> anyhow::Result<()> {
    for NotTried { model, why, .. } in untried.iter().filter(|sort| all || sort.unexpected) {
        writeln!(out, "Not tried: {model}, {why}")?;
    }
    Ok(())
}

/// What was tried; nothing where the model was given.
pub(super) fn table(candidates: &[Candidate], loss: &str, out: &mut impl Write) -> anyhow::Result<()> {
    if candidates.is_empty() {
        return Ok(());
    }
    let likelihood = if candidates.iter().any(|candidate| candidate.behind.is_some()) {
        "; nats by which it makes a report less likely than the likeliest does"
    } else {
        ""
    };
    writeln!(out, "\n{:<16}{loss} on people who were kept aside, debiased{likelihood}", "model")?;
    let figure = |figure: Figure| format!("{:>12} ± {:<10}", digits(figure.value), digits(figure.margin()));
    for Candidate { model, loss, behind, weight } in candidates {
        let mark = match *weight {
            0.0 => String::new(),
            1.0 => "  ← chosen".into(),
            weight => format!("  ← {weight:.2} of the mixture"),
        };
        let behind = behind.map(figure).unwrap_or_default();
        writeln!(out, "{model:<16}{}{behind}{mark}", figure(*loss))?;
    }
    Ok(())
}
