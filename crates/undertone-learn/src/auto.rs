//! Which sort of model, from reports alone: a line, averages over people who are alike, or what their features tell by themselves.
//!
//! People fall into eight parts by the public hash of their row number. Each sort is learnt without one part, whose reports then tell its
//! loss: 1 - a_ŷ for classes, (η - z)² less the variance of z for numbers. Both are right on average for the true labels, and as all
//! sorts are judged by the same reports, much of the noise is the same for all and does not disturb the comparison. With few people
//! more parts are kept aside, one after the other, so that more reports judge; with many, one part is enough. What has the least mean loss
//! is the choice, which is a function of reports and public features, and free. Losses that are hardly apart, as those of a line and of a
//! forest that adds nothing to it, are equal, and the simpler sort is taken.
//!
//! A sort that is taken only where it is clearly better, by a standard error, would lose more where it is better: of two sorts
//! whose true losses are d apart and known up to s, the least loses at most 0.17·s on average by a wrong choice, the cautious rule up to
//! half of s.

use crate::evaluation::terms::accuracy;
use crate::evaluation::{Figure, mean};
use crate::features::Rows;
use crate::nonparametric::{Average, Targets};
use crate::represented::Seen;
use crate::split::{Purpose, place};
use crate::{Classifier, Examples, LearnError, Regressor};
use undertone_privacy::number::Bounds;
use undertone_represent::RepresentError;

/// Parts, of which some are kept aside in turn.
const PARTS: usize = 8;
/// As many people, times the parts that are kept aside, are learnt from in a comparison; one part is kept aside at least.
const WORK: usize = 1 << 16;
/// With more people than this, growing forests takes too long for a try.
const MOST_FOR_FORESTS: usize = 1 << 20;
/// A search for neighbours that compares more numbers than this takes too long for a try.
const MOST_COMPARED: f64 = (1u64 << 36) as f64;
/// Losses are equal that are apart by less than this part of a standard error.
const HARDLY: f64 = 0.01;

/// What reports are about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// K
    Classes(usize),
    /// A number
    Number {
        /// Where it lies
        bounds: Bounds,
        /// The largest variance of a report
        variance: f64,
    },
}

/// A sort of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Linear in the features
    Line,
    /// Averages over people who are alike
    Average(Average),
    /// What public features tell
    Represented,
}

/// The line of some people.
#[derive(Clone, Debug, PartialEq)]
pub enum Line<C, N> {
    /// Of classes
    Classes(C),
    /// Of a number
    Number(N),
}

/// How all sorts did.
#[derive(Clone, Debug, PartialEq)]
pub struct Contest {
    /// What does best
    pub chosen: Sort,
    /// The mean loss of each sort, the line first
    pub losses: Vec<(Sort, Figure)>,
    /// The parts that were kept aside, of eight
    pub parts: usize,
}

impl Question {
    /// What averages are learnt from.
    pub fn targets(self, people: &Examples) -> Targets<'_> {
        match self {
            Self::Classes(classes) => Targets::Classes { vectors: &people.unbiased, classes },
            Self::Number { bounds, variance } => {
                Targets::Numbers { values: people.numbers.values(), bounds, variance }
            }
        }
    }

    /// The debiased loss of each person's prediction.
    fn losses(self, people: &Examples, predictions: &[f32]) -> Vec<f64> {
        match self {
            Self::Classes(classes) => {
                let each = predictions.chunks_exact(classes).zip(people.unbiased.iter());
                each.map(|(p, vector)| 1.0 - accuracy(p, vector)).collect()
            }
            Self::Number { bounds, .. } => {
                let guesses = predictions.iter().map(|&guess| f64::from(guess));
                let each = guesses.zip(people.numbers.iter());
                let loss = |(guess, (z, variance)): (f64, (f64, f64))| {
                    (guess.clamp(bounds.low(), bounds.high()) - z).powi(2) - variance
                };
                each.map(loss).collect()
            }
        }
    }
}

impl<C: Classifier, N: Regressor> Line<C, N> {
    fn predict(&self, rows: &Rows) -> Vec<f32> {
        match self {
            Self::Classes(line) => line.probabilities(rows),
            Self::Number(line) => line.predict(rows).into_iter().map(|number| number as f32).collect(),
        }
    }
}

/// The averages that are tried.
fn averages(people: &Examples) -> Vec<Average> {
    let (n, width) = (people.len() as f64, people.rows.width() as f64);
    let quick = |average: &Average| match average {
        Average::Cells => true,
        // One in eight looks at everybody.
        Average::Neighbours => n * n / PARTS as f64 * width <= MOST_COMPARED,
        Average::Forest => people.len() <= MOST_FOR_FORESTS,
        // A line with a forest does what planes do, and more.
        Average::Planes => false,
    };
    Average::ALL.into_iter().filter(quick).collect()
}

/// Lets a line, which `fit_line` learns from the people it is shown, averages, and what everybody looks like, if they were `seen`, be
/// judged by reports that they have not been shown.
pub fn contest<C: Classifier, N: Regressor>(
    people: &Examples,
    question: Question,
    mut seen: Option<&Seen>,
    seed: u64,
    mut fit_line: impl FnMut(Examples) -> Result<Line<C, N>, LearnError>,
) -> Result<Contest, LearnError> {
    let parts = (WORK / people.len().max(1)).clamp(1, PARTS);
    let averages = averages(people);
    let mut losses = vec![Vec::new(); averages.len() + 2];
    for part in 0..parts {
        let [others, aside] = [false, true].map(|aside| people.part(|row| is_in(row, part) == aside));
        if let (Some(people_seen), Question::Classes(classes)) = (seen, question) {
            let represented = &mut losses[averages.len() + 1];
            match people_seen.without(people, classes, |row| is_in(row, part)) {
                Ok(found) => represented.extend(question.losses(&aside, &found)),
                // Nobody but those who are kept aside reports a class: what cannot be learnt so is no candidate.
                Err(LearnError::Represent(RepresentError::NeverReported { .. })) => {
                    represented.clear();
                    seen = None;
                }
                Err(error) => return Err(error),
            }
        }
        if aside.len() < 2 {
            return Err(LearnError::TooFewReports);
        }
        for (&average, losses) in averages.iter().zip(&mut losses[1..]) {
            let model = average.fit(&others.rows, question.targets(&others), seed)?.model;
            losses.extend(question.losses(&aside, &model.predict(&aside.rows)?));
        }
        losses[0].extend(question.losses(&aside, &fit_line(others)?.predict(&aside.rows)));
    }
    let sorts = [Sort::Line]
        .into_iter()
        .chain(averages.iter().copied().map(Sort::Average))
        .chain([Sort::Represented]);
    let losses: Vec<(Sort, Figure)> = sorts
        .zip(&losses)
        .filter(|(_, losses)| !losses.is_empty())
        .map(|(sort, losses)| (sort, mean(losses)))
        .collect();
    Ok(Contest { chosen: simplest_of_the_best(&losses), losses, parts })
}

/// The first whose loss hardly exceeds the least.
fn simplest_of_the_best(losses: &[(Sort, Figure)]) -> Sort {
    let least = losses.iter().map(|(_, loss)| loss).min_by(|a, b| a.value.total_cmp(&b.value));
    let most = least.map_or(0.0, |loss| loss.value + HARDLY * loss.standard_error);
    losses.iter().find(|(_, loss)| loss.value <= most).map_or(Sort::Line, |(sort, _)| *sort)
}

/// Whether somebody belongs to a part: ⌊8·u⌋ for u on [0, 1). The first one is who is [held out](crate::held_out) elsewhere.
pub fn is_in(row: usize, part: usize) -> bool {
    (place(row as u64, Purpose::HeldOut) * PARTS as f64) as usize == part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearModel;
    use crate::regression::{LinearNumber, fit_ridge};

    /// People on a line whose numbers are a tent or a slope.
    fn people(n: u16, height: impl Fn(f64) -> f64) -> Examples {
        let places: Vec<f64> = (0..n).map(|i| (f64::from(i) * 0.618_033_988_7).fract()).collect();
        let rows = Rows::dense(1, places.iter().map(|&x| x as f32).collect());
        Examples::certain_numbers(rows, places.into_iter().map(height))
    }

    fn chosen(people: &Examples) -> Contest {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let question = Question::Number { bounds, variance: 0.0 };
        let line = |others: Examples| {
            let line = fit_ridge(&mut vec![others], 1, bounds, 1e-6)?;
            Ok(Line::<LinearModel, LinearNumber>::Number(line))
        };
        contest(people, question, None, 1, line).unwrap()
    }

    #[test]
    fn a_slope_is_a_line_and_a_tent_is_none() {
        let slope = chosen(&people(2000, |x| x));
        assert_eq!((slope.chosen, slope.parts, slope.losses.len()), (Sort::Line, 8, 4));
        let tent = chosen(&people(2000, |x| 1.0 - (2.0 * x - 1.0).abs()));
        assert!(matches!(tent.chosen, Sort::Average(_)));
        // The best line is flat and off by the variance of the tent, 1/12.
        assert!((tent.losses[0].1.value - 1.0 / 12.0).abs() < 0.005, "{tent:?}");
    }

    #[test]
    fn the_simplest_of_what_is_hardly_apart_is_taken() {
        let figure = |value| Figure { value, standard_error: 0.1 };
        let sorts = [Sort::Line, Sort::Average(Average::Cells), Sort::Average(Average::Forest)];
        let chosen = |losses: [f64; 3]| {
            simplest_of_the_best(&sorts.into_iter().zip(losses.map(figure)).collect::<Vec<_>>())
        };
        assert_eq!(chosen([0.5009, 0.6, 0.5]), Sort::Line);
        assert_eq!(chosen([0.5011, 0.6, 0.5]), sorts[2]);
        assert_eq!(chosen([0.5, 0.4, 0.45]), sorts[1]);
    }

    #[test]
    fn a_search_that_takes_too_long_is_not_tried() {
        let of = |n| Examples::new(Rows::dense(100, vec![0.0; 100 * n]));
        assert_eq!(averages(&of(10_000)), [Average::Cells, Average::Neighbours, Average::Forest]);
        assert_eq!(averages(&of(80_000)), [Average::Cells, Average::Forest]);
    }

    #[test]
    fn everybody_is_kept_aside_once() {
        let people = people(500, |x| x);
        let parts: Vec<usize> = (0..PARTS).map(|part| people.part(|row| is_in(row, part)).len()).collect();
        assert_eq!(parts.iter().sum::<usize>(), 500);
        let aside = people.part(|row| is_in(row, 3));
        assert_eq!((aside.len(), aside.numbers.len()), (parts[3], parts[3]));
    }
}
