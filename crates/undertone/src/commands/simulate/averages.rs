//! Averages over people who are alike, and the choice between them and a line, as `train` makes it.

use super::data::Data;
use super::methods::options;
use undertone_learn::auto::{Line, Question, Sort, contest};
use undertone_learn::factors::Factors;
use undertone_learn::linear::{ErmOptions, Fitted, LinearModel, Target, fit, fit_choosing_l2};
use undertone_learn::loss::Loss;
use undertone_learn::nonparametric::{Average, NonparametricModel};
use undertone_learn::regression::{LinearNumber, ridge_choosing_l2};
use undertone_learn::{Examples, LearnError, NumberPredictor, Predictor};
use undertone_privacy::number::Bounds;

/// A line that is only tried is fitted in so many times fewer passes.
const SHORTER: u32 = 4;

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

/// What public features tell.
pub(super) fn represented(people: &[Examples], data: &Data) -> Result<Predictor, LearnError> {
    let people = people.first().ok_or(LearnError::NoReports)?;
    let seen = data.seen()?.ok_or_else(|| {
        let problem = "a representation takes longer than ten minutes or more than 4096 features here, or there is nothing to see";
        LearnError::Source(problem.into())
    })?;
    Ok(Predictor::Represented(Box::new(seen.model(people, data.classes)?)))
}

/// Softmax, averages or a representation.
pub(super) fn auto(mut people: Vec<Examples>, data: &Data, seed: u64) -> Result<Predictor, LearnError> {
    let (features, classes) = (data.rows.width(), data.classes);
    let question = Question::Classes(classes);
    let options = options(Loss::Softmax, Target::Likelihood, data, seed);
    let Fitted { model, target, l2, learning_rate, .. } =
        fit_choosing_l2(&mut people, features, classes, &options, None, |_| ())?;
    let epochs = options.epochs.div_ceil(SHORTER);
    let tried = ErmOptions { target, l2, learning_rate, epochs, ..options };
    let everybody = people.first().ok_or(LearnError::NoReports)?;
    let line = |others| {
        let line = fit(&mut vec![others], features, classes, &tried, None, |_| ())?;
        Ok(Line::<LinearModel, LinearNumber>::Classes(line))
    };
    Ok(match contest(everybody, question, data.seen()?, seed, line)?.chosen {
        Sort::Line => Predictor::Linear(model),
        Sort::Average(average) => Predictor::Nonparametric(fitted(average, everybody, question, seed)?),
        Sort::Represented => return represented(&people, data),
    })
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
        people: Examples,
        bounds: Bounds,
        (variance, hidden): (f64, f64),
        seed: u64,
    ) -> Result<NumberPredictor, LearnError> {
        let (question, width) = (Question::Number { bounds, variance }, people.rows.width());
        let line = |people| ridge_choosing_l2(&mut vec![people], width, bounds, hidden).map(|fit| fit.model);
        let average = |average, people: &Examples| {
            fitted(average, people, question, seed).map(NumberPredictor::Nonparametric)
        };
        match self {
            Self::Line => line(people).map(NumberPredictor::Linear),
            Self::Average(sort) => average(sort, &people),
            Self::Factors => {
                Factors::fit(&people.rows, people.numbers.values()).map(NumberPredictor::Factors)
            }
            Self::Auto => {
                let tried = |others| line(others).map(Line::<LinearModel, LinearNumber>::Number);
                match contest(&people, question, None, seed, tried)?.chosen {
                    Sort::Line | Sort::Represented => line(people).map(NumberPredictor::Linear),
                    Sort::Average(sort) => average(sort, &people),
                }
            }
        }
    }
}
