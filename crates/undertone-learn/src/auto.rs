//! Which sort of model, from reports alone: a line, averages over people who are alike, or what their features tell by themselves.
//!
//! People fall into eight parts by the public hash of their row number. Each sort is learnt without one part, whose reports then
//! judge it (`judgement`). With few people more parts are kept aside, one after the other, so that more reports judge; with many, one part is enough.
//! Of numbers what does best is kept, of classes the [mixture](crate::Mixture) that makes the judges' reports likeliest. Both
//! are functions of reports and public features, and free.

mod field;
mod judgement;

use crate::evaluation::terms::accuracy;
use crate::factors::Factors;
use crate::features::Rows;
use crate::held_out::{PARTS, is_in, parts};
use crate::labels::LabelVectors;
use crate::nonparametric::{Average, Targets};
use crate::represented::Seen;
use crate::shelf::{Digest, Shelf, stage};
use crate::{Classifier, Examples, LearnError, Member, Mixture, Predictor, Regressor, Source};
pub use field::{Field, Untried};
pub use judgement::Standing;
use judgement::{Tried, judge, said};
use undertone_privacy::number::Bounds;

/// The part that judges first. Those of part 0 and of the last ones choose step size, λ and passes of lines, and judge last: of more than
/// 13,000 people nobody does both. Of fewer some or all do, which flatters lines a little, by a choice among about ten that are much alike.
pub const FIRST_JUDGES: usize = 1;

/// The parts of so many people that judge, in order.
pub fn judging(people: usize) -> impl Iterator<Item = usize> {
    (0..parts(people)).map(|turn| (FIRST_JUDGES + turn) % PARTS)
}

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

/// What takes part, and how.
pub struct Entrants<'a> {
    /// Who
    pub field: Field,
    /// What everybody looks like, if a representation takes part
    pub seen: Option<&'a Seen>,
    /// How lines are fitted, in words that differ where they differ
    pub line: &'a str,
    /// Of random cells
    pub seed: u64,
    /// Where finished tries are kept
    pub shelf: &'a dyn Shelf,
}

/// How all sorts did.
#[derive(Clone, Debug, PartialEq)]
pub struct Contest {
    /// How each sort did, and how much it counts in what is kept; the line first
    pub standings: Vec<Standing>,
    /// What was not tried
    pub untried: Vec<(Sort, Untried)>,
    /// Of classes: what those that are kept say together of each part that [judged](judging)
    pub beliefs: Vec<Vec<f32>>,
}

impl Contest {
    /// Learns what is kept, which of classes may be several sorts together.
    pub fn keep<E>(&self, mut learn: impl FnMut(Sort) -> Result<Predictor, E>) -> Result<Predictor, E> {
        let member = |&Standing { sort, weight, sharpness, .. }: &Standing| {
            learn(sort).map(|predictor| Member { weight, sharpness, predictor })
        };
        self.kept().map(member).collect::<Result<_, E>>().map(Mixture::of)
    }

    fn kept(&self) -> impl Iterator<Item = &Standing> {
        self.standings.iter().filter(|standing| standing.weight > 0.0)
    }

    /// Whether a sort counts in what is kept.
    pub fn keeps(&self, sort: Sort) -> bool {
        self.kept().any(|standing| standing.sort == sort)
    }

    /// What is kept, if it is one sort alone.
    pub fn only(&self) -> Option<Sort> {
        (self.kept().count() == 1).then(|| self.best())
    }

    /// What counts most: of numbers the only one that counts.
    pub fn best(&self) -> Sort {
        let most = self.standings.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
        most.map_or(Sort::Line, |standing| standing.sort)
    }
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

/// Some people, and those who judge what is learnt from them.
struct Sides<'a> {
    people: &'a Examples,
    part: usize,
    others: Examples,
    aside: Examples,
    /// Of everything that a prediction depends on but for the sort
    digest: Digest,
}

impl<'a> Sides<'a> {
    fn new(people: &'a Examples, part: usize, digest: Digest) -> Result<Self, LearnError> {
        let [others, aside] = [false, true].map(|aside| people.part(|row| is_in(row, part) == aside));
        if aside.len() < 2 {
            return Err(LearnError::TooFewReports);
        }
        Ok(Self { people, part, others, aside, digest })
    }

    /// What a sort, learnt from the others, predicts of those who are kept aside.
    fn predictions<C: Classifier, N: Regressor>(
        &self,
        sort: Sort,
        question: Question,
        entrants: &Entrants<'_>,
        fit_line: &mut impl FnMut(&mut dyn Source) -> Result<Line<C, N>, LearnError>,
    ) -> Result<Vec<f32>, LearnError> {
        let (mut others, aside, shelf) = (&self.others, &self.aside.rows, entrants.shelf);
        let name = self.digest.clone().name(sort.name());
        match (sort, entrants.seen, question) {
            (Sort::Represented, Some(seen), Question::Classes(classes)) => {
                seen.without_part(self.people, classes, self.part, shelf)
            }
            (Sort::Average(average), ..) => stage(shelf, &name, || {
                average.fit(&others.rows, question.targets(others), entrants.seed)?.model.predict(aside)
            }),
            (Sort::Factors, ..) => stage(shelf, &name, || {
                let model = Factors::fit(&others.rows, others.numbers.values())?;
                Ok(aside.iter().map(|row| model.at(row) as f32).collect())
            }),
            (Sort::Represented, ..) => Err(LearnError::Source("nobody has been looked at".into())),
            (Sort::Line, ..) => stage(shelf, &name, || Ok(fit_line(&mut others)?.predict(aside))),
        }
    }
}

/// Lets all sorts that take part, of which `fit_line` learns the line from the people it is shown, be judged by reports that they have
/// not been shown.
pub fn contest<C: Classifier, N: Regressor>(
    people: &Examples,
    question: Question,
    entrants: &Entrants<'_>,
    mut fit_line: impl FnMut(&mut dyn Source) -> Result<Line<C, N>, LearnError>,
) -> Result<Contest, LearnError> {
    let begun = |sort| Tried { sort, losses: Vec::new(), probabilities: Vec::new() };
    let mut tried: Vec<Tried> = entrants.field.sorts().map(begun).collect();
    let mut judges: Vec<LabelVectors> = Vec::new();
    let digest = Digest::new("contest").rows(&people.rows).reports(&people.unbiased);
    let digest = digest.reports(&people.likelihood).numbers(&people.numbers);
    let mut untried = entrants.field.untried();
    for part in judging(people.len()) {
        let how = format!("{question:?} {part} {} {}", entrants.seed, entrants.line);
        let sides = Sides::new(people, part, digest.clone().word(&how))?;
        let mut left = Vec::new();
        for mut tried in tried {
            let sort = tried.sort;
            match sides.predictions(sort, question, entrants, &mut fit_line) {
                Ok(predictions) => {
                    tried.losses.extend(question.losses(&sides.aside, &predictions));
                    if question.classes().is_some() {
                        tried.probabilities.push(predictions);
                    }
                    left.push(tried);
                }
                Err(error) if sort == Sort::Line => return Err(error),
                // What cannot be learnt is no candidate.
                Err(error) => untried.push((sort, error.into())),
            }
        }
        tried = left;
        judges.push(sides.aside.likelihood);
    }
    let standings = judge(&tried, &judges, question.classes());
    let beliefs = question.classes().map(|classes| said(&tried, &standings, classes));
    Ok(Contest { standings, untried, beliefs: beliefs.unwrap_or_default() })
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
        let line = |others: &mut dyn Source| {
            // Hardly any penalty: what a larger one takes away a forest would add again, and be nearer to a slope without noise
            let line = fit_ridge(others, people.rows.width(), bounds, 1e-9)?;
            Ok(Line::<LinearModel, LinearNumber>::Number(line))
        };
        let field = Field::new(people, question, None, 600.0);
        let entrants = Entrants { field, seen: None, line: "ridge", seed: 1, shelf: &() };
        contest(people, question, &entrants, line).unwrap()
    }

    #[test]
    fn a_slope_is_a_line_and_a_tent_is_none() {
        let slope = chosen(&people(2000, |x| x));
        assert_eq!((slope.best(), slope.standings.len()), (Sort::Line, 4));
        let untried = [(Sort::Factors, Untried::NoPairs), (Sort::Represented, Untried::OnlyClasses)];
        assert_eq!(slope.untried, untried);
        let tent = chosen(&people(2000, |x| 1.0 - (2.0 * x - 1.0).abs()));
        assert!(matches!(tent.best(), Sort::Average(_)));
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
        assert_eq!(contest.best(), Sort::Factors);
        // Everybody meets as many of both: a line says one half of all.
        let loss =
            |wanted| contest.standings.iter().find(|standing| standing.sort == wanted).unwrap().loss.value;
        assert!(loss(Sort::Line) > 0.24 && loss(Sort::Factors) < 0.01, "{contest:?}");
    }

    #[test]
    fn the_part_that_always_chooses_the_penalty_of_a_line_judges_last() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let question = Question::Number { bounds, variance: 0.0 };
        for (n, expected) in [(40_000, vec![1]), (10_000, vec![1, 2, 3, 4, 5, 6]), (500, (1..9).collect())] {
            let people = people(n, |x| x);
            let mut kept_aside = Vec::new();
            let line = |others: &mut dyn Source| {
                let mut shown = Vec::new();
                others.pass(&mut |block| {
                    shown.extend_from_slice(block.numbers.values());
                    Ok(())
                })?;
                let without = |part: usize| people.part(|row| !is_in(row, part)).numbers;
                kept_aside.push((0..PARTS).find(|&part| without(part).values() == shown));
                fit_ridge(others, 1, bounds, 1e-9).map(Line::<LinearModel, LinearNumber>::Number)
            };
            let field = Field::new(&people, question, None, 0.0);
            let entrants = Entrants { field, seen: None, line: "", seed: 1, shelf: &() };
            let judged = contest(&people, question, &entrants, line).unwrap();
            assert_eq!(judged.best(), Sort::Line);
            let expected: Vec<Option<usize>> = expected.into_iter().map(|part| Some(part % PARTS)).collect();
            assert_eq!(kept_aside, expected);
        }
    }
}
