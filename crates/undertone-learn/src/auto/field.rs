//! Who takes part: what can be learnt from these people and, all together, in the time that is allowed.
//!
//! A line always does. The others enter one after the other, what takes least first, as long as all that have entered fit: so most sorts
//! are tried in a given time. What each takes is counted and not measured, so that the field is the same on every machine. Averages of classes
//! that would be lost in noise stay out.

use super::{Question, Sort};
use crate::factors::Factors;
use crate::held_out::parts;
use crate::nonparametric::Average;
use crate::represented::{Need, RepresentError, Sight, check_reported};
use crate::{Examples, LearnError};

/// What sorts take.
type Costs = Vec<(Sort, f64)>;

/// Sorts that are tried, and sorts that are not.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// What could be learnt beside a line, the simplest first, with what each takes on one core to be judged and learnt from everybody
    able: Costs,
    impossible: Vec<(Sort, Untried)>,
    /// That all together may take
    seconds: f64,
}

/// Why a sort of models was not tried.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Untried {
    /// It takes longer than what is left
    #[error("expected to take {} on one core, {} are left (--budget)", duration(*.seconds), duration(*.left))]
    TooLong {
        /// Of one core
        seconds: f64,
        /// Of one core, of what all together may take
        left: f64,
    },
    /// It does not predict numbers
    #[error("it is for classes only")]
    OnlyClasses,
    /// Nothing for factors
    #[error("no two categories of many values meet")]
    NoPairs,
    /// A class of which nothing can be learnt
    #[error("class number {class} is in no report")]
    NeverReported {
        /// Counted from 0
        class: usize,
    },
    /// Averages in whose noise even a class that all have in common is lost
    #[error(
        "too few reports of so many classes: in an average noise lifts one of {classes} by {noise:.2}, and the right one stands out by 1 at most"
    )]
    TooNoisy {
        /// K
        classes: usize,
        /// The largest noise of a class, beside one for the right class
        noise: f64,
    },
    /// It cannot be learnt from these people
    #[error("{0}")]
    Impossible(String),
}

impl From<LearnError> for Untried {
    fn from(error: LearnError) -> Self {
        match error {
            LearnError::Represent(RepresentError::NeverReported { class }) => Self::NeverReported { class },
            error => Self::Impossible(error.to_string()),
        }
    }
}

/// In minutes, or in seconds where that is no minute.
fn duration(seconds: f64) -> String {
    match seconds {
        0.0..1.0 => format!("{seconds:.3} seconds"),
        1.0..60.0 => format!("{seconds:.1} seconds"),
        _ => format!("{:.1} minutes", seconds / 60.0),
    }
}

impl Field {
    /// For so many seconds of one core beside what a line takes. People are looked at as `sight` says, if they can be.
    pub fn new(people: &Examples, question: Question, sight: Option<Sight>, seconds: f64) -> Self {
        let (able, impossible) = able(people, question, sight);
        Self { able, impossible, seconds }
    }

    /// What does not fit, the cheapest first, and the seconds that are left of all.
    fn left_over(&self) -> (Costs, f64) {
        let mut cheapest_first = self.able.clone();
        cheapest_first.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut left = self.seconds;
        cheapest_first.retain(|&(_, seconds)| {
            let fits = seconds <= left;
            if fits {
                left -= seconds;
            }
            !fits
        });
        (cheapest_first, left)
    }

    /// The sorts that take part, the simplest first.
    pub fn sorts(&self) -> impl Iterator<Item = Sort> {
        let (too_long, _) = self.left_over();
        let fits = move |sort: &Sort| too_long.iter().all(|(other, _)| other != sort);
        std::iter::once(Sort::Line).chain(self.able.iter().map(|(sort, _)| *sort).filter(fits))
    }

    /// What a sort that takes part may take: its own time, and what nobody else does.
    pub fn seconds(&self, sort: Sort) -> Option<f64> {
        let (_, own) = self.able.iter().find(|(able, _)| *able == sort)?;
        let (too_long, left) = self.left_over();
        too_long.iter().all(|(other, _)| *other != sort).then_some(own + left)
    }

    /// A sort that was found to be impossible takes no part, and its time goes to others.
    pub fn leave(&mut self, sort: Sort, why: Untried) {
        self.able.retain(|(able, _)| *able != sort);
        self.impossible.push((sort, why));
    }

    /// Those that take no part, and why.
    pub fn untried(&self) -> Vec<(Sort, Untried)> {
        let (too_long, left) = self.left_over();
        let too_long = too_long.into_iter().map(|(sort, seconds)| (sort, Untried::TooLong { seconds, left }));
        self.impossible.iter().cloned().chain(too_long).collect()
    }
}

/// What each sort that could be learnt takes, the simplest first, and why others could not be.
fn able(people: &Examples, question: Question, sight: Option<Sight>) -> (Costs, Vec<(Sort, Untried)>) {
    let times = parts(people.len()) + 1;
    let seconds = |average: Average| times as f64 * average.seconds(&people.rows, question.targets(people));
    let averages = Average::TRIED.into_iter().map(Sort::Average);
    let (mut able, mut untried) = (Costs::new(), Vec::new());
    match too_noisy(people, question) {
        Some(why) => untried.extend(averages.map(|sort| (sort, why.clone()))),
        None => able.extend(Average::TRIED.map(|average| (Sort::Average(average), seconds(average)))),
    }
    match (question, sight) {
        (Question::Classes(classes), Some(sight)) => match check_reported(&mut &*people, classes) {
            Ok(()) => {
                let seconds = Need::new(&people.rows, sight, classes).seconds(times);
                able.push((Sort::Represented, seconds));
            }
            Err(error) => untried.push((Sort::Represented, error.into())),
        },
        (Question::Classes(_), None) => {}
        (Question::Number { .. }, _) => {
            if people.rows.iter().any(|row| row.sparse.len() > 1) {
                able.push((Sort::Factors, times as f64 * Factors::seconds(&people.rows)));
            } else {
                untried.push((Sort::Factors, Untried::NoPairs));
            }
            untried.push((Sort::Represented, Untried::OnlyClasses));
        }
    }
    (able, untried)
}

/// Whether averages of classes are lost in noise, so that no judge has to say so; few could.
///
/// Of K classes that are equally frequent n/K people have the same one. An average over all of them, and nobody else, tells one of that class;
/// what it tells of each class has noise of variance σ², and the largest of K such noises is about
///
/// > σ·√(2·ln K),   σ² = (E|a|² - 1)/n,   as E|a - e_y|² = E|a|² - 1 is spread over K classes and divided by n/K.
///
/// Where that is more than one, some other class seems likelier than the right one even so, and real averages have others among their people.
/// Where people were asked about some classes only, E|a|² tells less than all noise, which excludes fewer. A line and a representation use what a report makes
/// likely beside what it says on average, and may still learn something.
fn too_noisy(people: &Examples, question: Question) -> Option<Untried> {
    let classes = question.classes()?;
    let squares: f64 = people.unbiased.iter().map(|vector| vector.square(classes)).sum();
    let n = people.len().max(1) as f64;
    let variance = (squares / n - 1.0) / n;
    let noise = (2.0 * (classes as f64).ln() * variance.max(0.0)).sqrt();
    (noise > 1.0).then_some(Untried::TooNoisy { classes, noise })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Rows;

    /// People of whom nobody has the last of three classes, or somebody does.
    fn people(classes: u32) -> Examples {
        let rows = Rows::dense(2, (0..2000u16).map(|i| f32::from(i % 17)).collect());
        Examples::certain(rows, (0..1000).map(|person| person % classes))
    }

    fn field(people: &Examples, seconds: f64) -> Field {
        Field::new(people, Question::Classes(3), Some(Sight::Columns), seconds)
    }

    #[test]
    fn all_that_take_part_fit_together_and_what_takes_least_comes_first() {
        let people = people(3);
        let all = field(&people, f64::INFINITY);
        assert_eq!(all.sorts().count(), 1 + Average::TRIED.len() + 1);
        let mut costs = all.able.clone();
        let total: f64 = costs.iter().map(|(_, seconds)| seconds).sum();
        let enough = field(&people, 1.01 * total);
        assert!(enough.sorts().eq(all.sorts()) && enough.untried().is_empty());
        let (first, seconds) = costs[0];
        assert!((enough.seconds(first).unwrap() - (seconds + 0.01 * total)).abs() < 1e-9 * total);
        // Each of them would fit alone
        costs.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (dearest, seconds) = costs[costs.len() - 1];
        let short = field(&people, 0.99 * total);
        assert!(seconds < 0.99 * total && short.seconds(dearest).is_none());
        assert!(short.sorts().eq(all.sorts().filter(|sort| *sort != dearest)), "the order stays");
        let untried = short.untried();
        let [(sort, Untried::TooLong { seconds: expected, left })] = untried[..] else {
            panic!("{untried:?}")
        };
        assert_eq!((sort, expected.to_bits()), (dearest, seconds.to_bits()));
        assert!((left - (seconds - 0.01 * total)).abs() < 1e-9 * total, "{left}");
        let none = field(&people, 0.0);
        assert_eq!((none.sorts().collect::<Vec<_>>(), none.untried().len()), (vec![Sort::Line], costs.len()));
    }

    #[test]
    fn a_class_that_nobody_reports_keeps_representations_out_and_is_named() {
        let field = field(&people(2), f64::INFINITY);
        assert_eq!(field.untried(), [(Sort::Represented, Untried::NeverReported { class: 2 })]);
        assert!(field.sorts().all(|sort| sort != Sort::Represented));
    }

    #[test]
    fn who_leaves_is_not_tried_and_leaves_its_time_to_others() {
        let people = people(3);
        let all = field(&people, f64::INFINITY);
        let total: f64 = all.able.iter().map(|(_, seconds)| seconds).sum();
        let dearest = all.able.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
        let other = all.able.iter().map(|(sort, _)| *sort).find(|sort| *sort != dearest).unwrap();
        let mut field = field(&people, total * (1.0 - 1e-6));
        assert!(field.seconds(dearest).is_none() && field.seconds(other).is_some());
        field.leave(other, Untried::Impossible("alike".into()));
        assert!(field.seconds(other).is_none() && field.seconds(dearest).is_some(), "{field:?}");
        assert_eq!(field.untried(), [(other, Untried::Impossible("alike".into()))]);
    }

    #[test]
    fn averages_that_are_lost_in_noise_are_not_tried() {
        // Everybody's vector has one entry of x beside an even rest: E|a|² = x² + (1 - x)²/9 with ten classes
        let told = |people: u32, x: f32| {
            let rows = Rows::dense(1, (0..people).map(|i| i as f32).collect());
            let mut told = Examples::certain(rows, (0..people).map(|person| person % 10));
            told.unbiased.clear();
            (0..people).for_each(|person| told.unbiased.push((1.0 - x) / 9.0, [(person % 10, x)]));
            Field::new(&told, Question::Classes(10), None, f64::INFINITY)
        };
        // 100 + 9 - 1, by 2·ln(10) = 4.605…, is 497.3…: 497 people are too few, 498 enough
        let few = told(497, 10.0);
        let untried = few.untried();
        assert!(untried.iter().map(|(sort, _)| *sort).eq(Average::TRIED.map(Sort::Average)), "{untried:?}");
        for (_, why) in untried {
            let Untried::TooNoisy { classes: 10, noise } = why else { panic!("{why:?}") };
            assert!((noise - (108.0 * 2.0 * 10f64.ln() / 497.0).sqrt()).abs() < 1e-12, "{noise}");
        }
        assert_eq!(few.sorts().collect::<Vec<_>>(), [Sort::Line]);
        assert!(told(498, 10.0).untried().is_empty() && told(20, 1.0).untried().is_empty());
    }

    #[test]
    fn minutes_are_said_where_there_are_any() {
        let why = Untried::TooLong { seconds: 90.0, left: 0.25 };
        assert_eq!(
            why.to_string(),
            "expected to take 1.5 minutes on one core, 0.250 seconds are left (--budget)"
        );
    }
}
