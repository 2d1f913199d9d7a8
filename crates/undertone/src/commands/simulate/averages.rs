//! Averages over people who are alike, and what they and a line make together, as `train` makes it.

use super::data::Data;
use super::methods::options;
use super::represented::represented;
use undertone_learn::auto::{Entrants, Field, Line, Question, Sort, contest};
use undertone_learn::factors::Factors;
use undertone_learn::linear::{LinearModel, Target, fit_choosing_l2};
use undertone_learn::loss::Loss;
use undertone_learn::nonparametric::{Average, NonparametricModel};
use undertone_learn::regression::{LinearNumber, ridge_choosing_l2};
use undertone_learn::represented::Seen;
use undertone_learn::{Examples, LearnError, NumberPredictor, Predictor, Source};
use undertone_privacy::number::Bounds;

/// Averages of classes.
pub(super) fn averaged(
    average: Average,
    people: &[Examples],
    classes: usize,
    seed: u64,
) -> Result<Predictor, LearnError> {
    let people = people.first().ok_or(LearnError::NoReports)?;
    let model = fitted(average, people, Question::Classes(classes), seed)?;
    Ok(Predictor::Nonparametric(model))
}

fn fitted(
    average: Average,
    people: &Examples,
    question: Question,
    seed: u64,
) -> Result<NonparametricModel, LearnError> {
    Ok(average.fit(&people.rows, question.targets(people), seed)?.model)
}

/// What softmax, averages and a representation make together; numbers are looked at by rank, too, if there is time for that alone, where `train` asks for time
/// beside all others.
pub(super) fn auto(mut people: Vec<Examples>, data: &Data, seed: u64) -> Result<Predictor, LearnError> {
    let (features, classes) = (data.rows.width(), data.classes);
    let question = Question::Classes(classes);
    let options = options(Loss::Softmax, Target::Likelihood, data, seed);
    let fitted_line = fit_choosing_l2(&mut people, features, classes, &options, None, |_| ())?;
    let everybody = people.first().ok_or(LearnError::NoReports)?;
    let line =
        |others: &mut dyn Source| fitted_line.again(others).map(Line::<LinearModel, LinearNumber>::Classes);
    let mut field = Field::new(everybody, question, Some(data.sight()), data.limits.seconds);
    let mut seen = None;
    if field.seconds(Sort::Represented).is_some() {
        match data.seen()? {
            Ok(found) => seen = Some(found),
            Err(why) => field.leave(Sort::Represented, why),
        }
    }
    let contest = contest(everybody, question, &entrants(field, seen, seed), line)?;
    let predictor = |sort| match sort {
        Sort::Line | Sort::Factors => Ok(Predictor::Linear(fitted_line.model.clone())),
        Sort::Average(average) => averaged(average, &people, classes, seed),
        Sort::Represented => represented(&people, data),
    };
    contest.keep(predictor)
}

/// Nothing is kept.
fn entrants(field: Field, seen: Option<&Seen>, seed: u64) -> Entrants<'_> {
    Entrants { field, seen, line: "", seed, shelf: &() }
}

/// What is learnt of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NumberLearner {
    Line,
    Average(Average),
    Factors,
    Auto,
}

impl NumberLearner {
    pub(super) fn learn(
        self,
        people: &Examples,
        bounds: Bounds,
        (variance, hidden): (f64, f64),
        seconds: f64,
        seed: u64,
    ) -> Result<NumberPredictor, LearnError> {
        let (question, width) = (Question::Number { bounds, variance }, people.rows.width());
        let line =
            |people: &mut dyn Source| ridge_choosing_l2(people, width, bounds, hidden).map(|fit| fit.model);
        let average = |average, people: &Examples| {
            fitted(average, people, question, seed).map(NumberPredictor::Nonparametric)
        };
        let factors = |people: &Examples| {
            Factors::fit(&people.rows, people.numbers.values()).map(NumberPredictor::Factors)
        };
        match self {
            Self::Line => line(&mut &*people).map(NumberPredictor::Linear),
            Self::Average(sort) => average(sort, people),
            Self::Factors => factors(people),
            Self::Auto => {
                let tried =
                    |others: &mut dyn Source| line(others).map(Line::<LinearModel, LinearNumber>::Number);
                let field = Field::new(people, question, None, seconds);
                match contest(people, question, &entrants(field, None, seed), tried)?.best() {
                    Sort::Line | Sort::Represented => line(&mut &*people).map(NumberPredictor::Linear),
                    Sort::Average(sort) => average(sort, people),
                    Sort::Factors => factors(people),
                }
            }
        }
    }
}
