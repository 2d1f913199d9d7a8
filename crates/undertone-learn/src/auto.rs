//! Which sort of model, from reports alone: a line, averages over people who are alike, or what their features tell by themselves.
//!
//! People fall into eight parts by the public hash of their row number. Each sort is learnt without one part, whose reports then
//! judge it (`judgement`). With few people more parts are kept aside, one after the other, so that more reports judge; with many, one part is enough.
//! What does best is the choice, which is a function of reports and public features, and free. What is hardly apart, as a line and a
//! forest that adds nothing to it, is equal, and the simpler sort is taken.
//!
//! A sort that is taken only where it is clearly better, by a standard error, would lose more where it is better: of two sorts
//! whose true losses are d apart and known up to s, the least loses at most 0.17·s on average by a wrong choice, the cautious rule up to
//! half of s.

mod judgement;

use crate::evaluation::terms::accuracy;
use crate::factors::Factors;
use crate::features::Rows;
use crate::labels::LabelVectors;
use crate::nonparametric::{Average, Targets};
use crate::represented::{Seen, check_reported};
use crate::shelf::{Digest, Shelf, stage};
use crate::split::{Purpose, place};
use crate::{Classifier, Examples, LearnError, Regressor, Source};
pub use judgement::Standing;
use judgement::{Tried, judge};
use undertone_privacy::number::Bounds;

/// Parts, of which some are kept aside in turn.
const PARTS: usize = 8;
/// As many people, times the parts that are kept aside, are learnt from in a comparison; one part is kept aside at least.
const WORK: usize = 1 << 16;

/// A line that is only tried is fitted in so many times fewer passes.
pub const SHORTER: u32 = 4;

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
    /// A line, and what pairs of categories add
    Factors,
}

/// The line of some people.
#[derive(Clone, Debug, PartialEq)]
pub enum Line<C, N> {
    /// Of classes
    Classes(C),
    /// Of a number
    Number(N),
}

/// Why a sort of models was not tried.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Untried {
    /// It takes longer than is allowed
    #[error("expected to take {} on one core, {} are allowed (--budget)", duration(*.seconds), duration(*.allowed))]
    TooLong {
        /// Of one core
        seconds: f64,
        /// Of one core
        allowed: f64,
    },
    /// It does not predict numbers
    #[error("it is for classes only")]
    OnlyClasses,
    /// Nothing for factors
    #[error("no two categories of many values meet")]
    NoPairs,
    /// It cannot be learnt from these people
    #[error("{0}")]
    Impossible(String),
}

/// In minutes, or in seconds where that is no minute.
fn duration(seconds: f64) -> String {
    match seconds {
        0.0..1.0 => format!("{seconds:.3} seconds"),
        1.0..60.0 => format!("{seconds:.1} seconds"),
        _ => format!("{:.1} minutes", seconds / 60.0),
    }
}

/// What takes part besides averages, and how.
pub struct Entrants<'a> {
    /// What everybody looks like
    pub seen: Result<&'a Seen, Untried>,
    /// How lines are fitted, in words that differ where they differ
    pub line: &'a str,
    /// Of random cells
    pub seed: u64,
    /// Of one core: what is expected to take longer is not tried
    pub seconds: f64,
    /// Where finished tries are kept
    pub shelf: &'a dyn Shelf,
}

/// How all sorts did.
#[derive(Clone, Debug, PartialEq)]
pub struct Contest {
    /// What does best
    pub chosen: Sort,
    /// How each sort did, the line first
    pub standings: Vec<Standing>,
    /// What was not tried
    pub untried: Vec<(Sort, Untried)>,
    /// The parts that were kept aside, of eight
    pub parts: usize,
    /// What a representation, if it was tried, believes of the first part
    pub beliefs: Option<Vec<f32>>,
}

impl Sort {
    fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Average(average) => average.name(),
            Self::Represented => "representation",
            Self::Factors => "factors",
        }
    }
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

    /// K, if it is about classes.
    fn classes(self) -> Option<usize> {
        match self {
            Self::Classes(classes) => Some(classes),
            Self::Number { .. } => None,
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

/// How many parts of so many people are kept aside in turn.
pub fn parts(people: usize) -> usize {
    (WORK / people.max(1)).clamp(1, PARTS)
}

/// Who takes part, and who does not.
fn field(
    people: &Examples,
    question: Question,
    entrants: &Entrants<'_>,
) -> (Vec<Sort>, Vec<(Sort, Untried)>) {
    let (mut sorts, mut untried) = (vec![Sort::Line], Vec::new());
    let fits = (parts(people.len()) + 1) as f64;
    let mut enter = |sort, seconds: f64| match fits * seconds {
        seconds if seconds <= entrants.seconds => sorts.push(sort),
        seconds => untried.push((sort, Untried::TooLong { seconds, allowed: entrants.seconds })),
    };
    for average in Average::TRIED {
        enter(Sort::Average(average), average.seconds(&people.rows, question.targets(people)));
    }
    let pairs = people.rows.iter().any(|row| row.sparse.len() > 1);
    match (&entrants.seen, question) {
        (Ok(_), Question::Classes(classes)) => match check_reported(&mut &*people, classes) {
            Ok(()) => sorts.push(Sort::Represented),
            Err(error) => untried.push((Sort::Represented, Untried::Impossible(error.to_string()))),
        },
        (Err(why), Question::Classes(_)) => untried.push((Sort::Represented, why.clone())),
        (_, Question::Number { .. }) if pairs => enter(Sort::Factors, Factors::seconds(&people.rows)),
        (_, Question::Number { .. }) => untried.push((Sort::Factors, Untried::NoPairs)),
    }
    if matches!(question, Question::Number { .. }) {
        untried.push((Sort::Represented, Untried::OnlyClasses));
    }
    (sorts, untried)
}

/// Lets a line, which `fit_line` learns from the people it is shown, averages, and what everybody looks like be judged by reports that they
/// have not been shown.
pub fn contest<C: Classifier, N: Regressor>(
    people: &Examples,
    question: Question,
    entrants: &Entrants<'_>,
    mut fit_line: impl FnMut(&mut dyn Source) -> Result<Line<C, N>, LearnError>,
) -> Result<Contest, LearnError> {
    let parts = parts(people.len());
    let (sorts, mut untried) = field(people, question, entrants);
    let begun = |sort| Tried { sort, losses: Vec::new(), probabilities: Vec::new() };
    let mut tried: Vec<Tried> = sorts.into_iter().map(begun).collect();
    let mut judges: Vec<LabelVectors> = Vec::new();
    let digest = Digest::new("contest").rows(&people.rows).reports(&people.unbiased);
    let digest = digest.reports(&people.likelihood).numbers(&people.numbers);
    let mut beliefs = None;
    for part in 0..parts {
        let [others, aside] = [false, true].map(|aside| people.part(|row| is_in(row, part) == aside));
        if aside.len() < 2 {
            return Err(LearnError::TooFewReports);
        }
        let mut left = Vec::new();
        for mut tried in tried {
            let sort = tried.sort;
            let how = format!("{question:?} {part} {} {}", entrants.seed, entrants.line);
            let name = digest.clone().word(&how).name(sort.name());
            let predictions = match (sort, &entrants.seen, question) {
                (Sort::Represented, Ok(seen), Question::Classes(classes)) => {
                    seen.without_part(people, classes, part, entrants.shelf)
                }
                (Sort::Average(average), ..) => stage(entrants.shelf, &name, || {
                    let model = average.fit(&others.rows, question.targets(&others), entrants.seed)?.model;
                    model.predict(&aside.rows)
                }),
                (Sort::Factors, ..) => stage(entrants.shelf, &name, || {
                    let model = Factors::fit(&others.rows, others.numbers.values())?;
                    Ok(aside.rows.iter().map(|row| model.at(row) as f32).collect())
                }),
                (Sort::Line | Sort::Represented, ..) => {
                    stage(entrants.shelf, &name, || Ok(fit_line(&mut &others)?.predict(&aside.rows)))
                }
            };
            match predictions {
                Ok(predictions) => {
                    tried.losses.extend(question.losses(&aside, &predictions));
                    if (sort, part) == (Sort::Represented, 0) {
                        beliefs = Some(predictions.clone());
                    }
                    if question.classes().is_some() {
                        tried.probabilities.push(predictions);
                    }
                    left.push(tried);
                }
                Err(error) if sort == Sort::Line => return Err(error),
                // What cannot be learnt is no candidate.
                Err(error) => untried.push((sort, Untried::Impossible(error.to_string()))),
            }
        }
        tried = left;
        judges.push(aside.likelihood);
    }
    let (standings, chosen) = judge(&tried, &judges, question.classes());
    Ok(Contest { chosen, standings, untried, parts, beliefs })
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

    fn entrants(shelf: &dyn Shelf) -> Entrants<'_> {
        Entrants { seen: Err(Untried::OnlyClasses), line: "ridge", seed: 1, seconds: 600.0, shelf }
    }

    fn chosen(people: &Examples) -> Contest {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let question = Question::Number { bounds, variance: 0.0 };
        let line = |others: &mut dyn Source| {
            // Hardly any penalty: what a larger one takes away a forest would add again, and be nearer to a slope without noise
            let line = fit_ridge(others, people.rows.width(), bounds, 1e-9)?;
            Ok(Line::<LinearModel, LinearNumber>::Number(line))
        };
        contest(people, question, &entrants(&()), line).unwrap()
    }

    #[test]
    fn a_slope_is_a_line_and_a_tent_is_none() {
        let slope = chosen(&people(2000, |x| x));
        assert_eq!((slope.chosen, slope.parts, slope.standings.len()), (Sort::Line, 8, 4));
        let untried = [(Sort::Factors, Untried::NoPairs), (Sort::Represented, Untried::OnlyClasses)];
        assert_eq!(slope.untried, untried);
        let tent = chosen(&people(2000, |x| 1.0 - (2.0 * x - 1.0).abs()));
        assert!(matches!(tent.chosen, Sort::Average(_)));
        // The best line is flat and off by the variance of the tent, 1/12.
        assert!((tent.standings[0].loss.value - 1.0 / 12.0).abs() < 0.005, "{tent:?}");
    }

    #[test]
    fn what_pairs_decide_is_for_factors() {
        let mut rows = Rows::new(0, 160);
        let mut numbers = Vec::new();
        for meeting in 0..4000u32 {
            let (who, what) = (meeting % 80, meeting * 37 / 80 % 80);
            rows.push_with(|_, sparse| sparse.extend([(who, 1.0), (80 + what, 1.0)]));
            numbers.push(f64::from((who + what) % 2));
        }
        let contest = chosen(&Examples::certain_numbers(rows, numbers));
        assert_eq!(contest.chosen, Sort::Factors);
        // Everybody meets as many of both: a line says one half of all.
        let loss =
            |wanted| contest.standings.iter().find(|standing| standing.sort == wanted).unwrap().loss.value;
        assert!(loss(Sort::Line) > 0.24 && loss(Sort::Factors) < 0.01, "{contest:?}");
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
