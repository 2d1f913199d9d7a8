//! How sorts of models are compared by reports that they have not been shown, and how much each counts in what is kept.
//!
//! A prediction of a number loses (η - z)² less the variance of z, one of a class 1 - a_ŷ: both are right on average for the true labels,
//! and as all sorts are judged by the same reports, much of the noise is the same for all. Of numbers what loses least is kept; what is
//! hardly apart, as a line and a forest that adds nothing to it, is equal, and the simpler sort is taken. A sort that is taken only
//! where it is clearly better, by a standard error, would lose more where it is better: of two sorts whose true losses are d apart and known up
//! to s, the least loses at most 0.17·s on average by a wrong choice, the cautious rule up to half of s.
//!
//! Of classes reports tell more than that. 1 - a_ŷ looks at one class of each person, and has all the noise of an unbiased label;
//! ln Σ_k π_k·P(S | k) looks at all of π, and hardly varies where the report hardly tells. Probabilities are made comparable first: p^β,
//! beside even chances, with the β and the share of those that make the judging reports likeliest, because averages are cautious and lines that are
//! fitted to few reports are not. These are two numbers for thousands of judges, and every sort has them. What is kept is the
//! [mixture](crate::Mixture) that makes the same reports likeliest.

use super::Sort;
use crate::evaluation::terms::log_likelihood;
use crate::evaluation::{Figure, mean};
use crate::labels::LabelVectors;
use crate::mixture::{mixed, share, sharpened, weights};

/// Losses are equal that are apart by less than this part of a standard error.
const HARDLY: f64 = 0.01;
/// Of surprises that are apart by less than this, in nats, only rounding says which is less.
const ROUNDING: f64 = 1e-6;
/// β = 2^(i/2 - 3).
const SHARPNESS: std::ops::RangeInclusive<i8> = 0..=12;

/// A sort that was tried.
pub(super) struct Tried {
    pub(super) sort: Sort,
    /// Of those who were kept aside, part by part
    pub(super) losses: Vec<f64>,
    /// Of the same, where there are classes
    pub(super) probabilities: Vec<Vec<f32>>,
}

/// How a sort did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Which
    pub sort: Sort,
    /// The mean loss
    pub loss: Figure,
    /// How much less likely than the likeliest sort it makes the report of a person, in nats
    pub behind: Option<Figure>,
    /// How much it counts in what is kept, of classes beside even chances; of numbers all or nothing
    pub weight: f64,
    /// β, of classes
    pub sharpness: f64,
}

impl Tried {
    /// How it did, before anything is kept.
    fn standing(&self) -> Standing {
        let Self { sort, losses, .. } = self;
        Standing { sort: *sort, loss: mean(losses), behind: None, weight: 0.0, sharpness: 1.0 }
    }
}

/// How everything did. `judges` are the reports of those who were kept aside, part by part.
pub(super) fn judge(tried: &[Tried], judges: &[LabelVectors], classes: Option<usize>) -> Vec<Standing> {
    let mut standings: Vec<Standing> = tried.iter().map(Tried::standing).collect();
    if let Some(classes) = classes {
        weigh(&mut standings, tried, judges, classes);
    } else {
        let losses: Vec<Vec<f64>> = tried.iter().map(|tried| tried.losses.clone()).collect();
        standings[simplest_of_the_best(&losses)].weight = 1.0;
    }
    standings
}

/// How much sorts count that speak together.
fn weigh(standings: &mut [Standing], tried: &[Tried], judges: &[LabelVectors], classes: usize) {
    let sharpest = |tried: &Tried| Sharpened::of(&tried.probabilities, judges, classes);
    let sharpest: Vec<Sharpened> = tried.iter().map(sharpest).collect();
    let weights = weights(&sharpest.iter().map(|sort| sort.likelihoods.as_slice()).collect::<Vec<_>>());
    let surprises: Vec<Vec<f64>> = sharpest.iter().map(Sharpened::surprises).collect();
    let likeliest = least(&surprises);
    for (place, standing) in standings.iter_mut().enumerate() {
        standing.behind = Some(difference(&surprises[place], &surprises[likeliest]));
        standing.weight = weights[place];
        standing.sharpness = sharpest[place].beta;
    }
}

/// What is kept says of those who judged, part by part. One sort alone says what it says, however sure of it.
pub(super) fn said(tried: &[Tried], standings: &[Standing], classes: usize) -> Vec<Vec<f32>> {
    let kept = || tried.iter().zip(standings).filter(|(_, standing)| standing.weight > 0.0);
    let Some((first, _)) = kept().next() else { return Vec::new() };
    if kept().count() == 1 {
        return first.probabilities.clone();
    }
    let of_part = |part: usize| {
        let said = kept().map(|(tried, standing)| {
            (standing.weight, standing.sharpness, tried.probabilities[part].as_slice())
        });
        mixed(said, classes)
    };
    (0..first.probabilities.len()).map(of_part).collect()
}

/// What a sort says, as sure as suits it.
struct Sharpened {
    beta: f64,
    /// How much likelier π ∝ p^β makes each report than even chances do
    likelihoods: Vec<f64>,
    /// How much π counts beside even chances
    share: f64,
}

impl Sharpened {
    /// With the β that makes reports likeliest; beside even chances several may, of which the least sure is taken.
    fn of(parts: &[Vec<f32>], judges: &[LabelVectors], classes: usize) -> Self {
        let at = |step: i8| Self::at((f64::from(step) / 2.0 - 3.0).exp2(), parts, judges, classes);
        let surprise = |sort: &Self| mean(&sort.surprises()).value;
        let likelier =
            |best: Self, next: Self| if surprise(&next) + ROUNDING < surprise(&best) { next } else { best };
        SHARPNESS.skip(1).map(at).fold(at(*SHARPNESS.start()), likelier)
    }

    fn at(beta: f64, parts: &[Vec<f32>], judges: &[LabelVectors], classes: usize) -> Self {
        let reports = judges.iter().flat_map(LabelVectors::iter);
        let rows = parts.iter().flat_map(|part| part.chunks_exact(classes)).zip(reports);
        let likelihood = |(p, report)| {
            let sharper: Vec<f32> = sharpened(p, beta).into_iter().map(|p| p as f32).collect();
            log_likelihood(&sharper, report).exp()
        };
        let likelihoods: Vec<f64> = rows.map(likelihood).collect();
        Self { beta, share: share(&likelihoods), likelihoods }
    }

    /// -ln of the likelihood of each report beside that under even chances.
    fn surprises(&self) -> Vec<f64> {
        self.likelihoods.iter().map(|likely| -(1.0 - self.share + self.share * likely).ln()).collect()
    }
}

/// The place of the least mean.
fn least(losses: &[Vec<f64>]) -> usize {
    let value = |place: usize| mean(&losses[place]).value;
    (0..losses.len()).min_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap_or(0)
}

/// The first whose loss hardly exceeds the least.
fn simplest_of_the_best(losses: &[Vec<f64>]) -> usize {
    let figures: Vec<Figure> = losses.iter().map(|losses| mean(losses)).collect();
    let least = figures[least(losses)];
    let most = least.value + HARDLY * least.standard_error;
    figures.iter().position(|figure| figure.value <= most).unwrap_or(0)
}

/// The mean of a - b, person by person.
fn difference(a: &[f64], b: &[f64]) -> Figure {
    mean(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonparametric::Average;

    const SORTS: [Sort; 3] = [Sort::Line, Sort::Average(Average::Cells), Sort::Average(Average::Forest)];

    #[test]
    fn the_simplest_of_what_is_hardly_apart_is_taken() {
        // Two people, 0.1 to either side of the mean: its standard error is 0.1
        let chosen = |means: [f64; 3]| simplest_of_the_best(&means.map(|mean| vec![mean - 0.1, mean + 0.1]));
        assert_eq!(chosen([0.5009, 0.6, 0.5]), 0);
        assert_eq!(chosen([0.5011, 0.6, 0.5]), 2);
        assert_eq!(chosen([0.5, 0.4, 0.45]), 1);
    }

    #[test]
    fn of_numbers_the_best_alone_counts() {
        let tried = [0.5, 0.4, 0.45].map(|loss| Tried {
            sort: SORTS[0],
            losses: vec![loss - 0.01, loss + 0.01],
            probabilities: Vec::new(),
        });
        let standings = judge(&tried, &[], None);
        assert_eq!(standings.iter().map(|standing| standing.weight as u8).collect::<Vec<_>>(), [0, 1, 0]);
        assert!(standings.iter().all(|standing| standing.behind.is_none()));
    }

    /// What sorts say of the true labels of people, half of whom have label 0.
    fn contest(people: usize, right: &[&dyn Fn(usize) -> f32]) -> (Vec<Tried>, Vec<Standing>) {
        let labels: Vec<u32> = (0..people).map(|i| (i % 2) as u32).collect();
        let tried = |(&sort, right): (&Sort, &&dyn Fn(usize) -> f32)| {
            let of = |(i, &label): (usize, &u32)| {
                let right = right(i);
                if label == 0 { [right, 1.0 - right] } else { [1.0 - right, right] }
            };
            let probabilities: Vec<f32> = labels.iter().enumerate().flat_map(of).collect();
            let losses = (0..people).map(|i| f64::from(u8::from(right(i) < 0.5))).collect();
            Tried { sort, losses, probabilities: vec![probabilities] }
        };
        let tried: Vec<Tried> = SORTS.iter().zip(right).map(tried).collect();
        let standings = judge(&tried, &[LabelVectors::certain(labels.iter().copied())], Some(2));
        (tried, standings)
    }

    #[test]
    fn a_timid_sort_is_made_as_sure_as_it_may_be() {
        // The first is right about everybody, and says so timidly; the second is sure, and wrong about one in ten
        let (_, standings) = contest(1000, &[&|_| 0.51, &|i| if i % 10 == 0 { 0.3 } else { 0.9 }]);
        let behind = |place: usize| standings[place].behind.unwrap();
        // β makes the first as sure as it can: 0.51^8 beside 0.49^8
        let sure = 0.51f64.powi(8) / (0.51f64.powi(8) + 0.49f64.powi(8));
        let expected = -sure.ln();
        let likeliest = |beta: f64| {
            let p = |right: f64| right.powf(beta) / (right.powf(beta) + (1.0 - right).powf(beta));
            // Beside even chances: 0.9·ln(1 + w·a) + 0.1·ln(1 - w·b) is greatest at w = 0.9/b - 0.1/a
            let (a, b) = (2.0 * p(0.9) - 1.0, 1.0 - 2.0 * p(0.3));
            let w = (0.9 / b - 0.1 / a).clamp(0.0, 1.0);
            -(0.9 * (0.5 * (1.0 + w * a)).ln() + 0.1 * (0.5 * (1.0 - w * b)).ln())
        };
        let second = SHARPNESS.map(|i| likeliest((f64::from(i) / 2.0 - 3.0).exp2())).fold(f64::MAX, f64::min);
        assert!((behind(0).value - (expected - second)).abs() < 1e-6, "{standings:?} {expected} {second}");
        assert!(behind(1).value.abs() < 1e-12 && (standings[0].sharpness - 8.0).abs() < 1e-12);
        assert!(standings[0].loss.value.abs() < 1e-12 && (standings[1].loss.value - 0.1).abs() < 1e-12);
    }

    #[test]
    fn how_sure_a_sort_is_does_not_count() {
        // The odds of the second are those of the first to the fourth power
        let timid = |i: usize| if i.is_multiple_of(10) { 0.45f32 } else { 0.6 };
        let sure = |i: usize| timid(i).powi(4) / (timid(i).powi(4) + (1.0 - timid(i)).powi(4));
        let (_, standings) = contest(1000, &[&timid, &sure]);
        let behind = standings.iter().map(|standing| standing.behind.unwrap().value);
        assert!(behind.into_iter().all(|behind| behind.abs() < 1e-6), "{standings:?}");
        assert!(standings.iter().all(|standing| (standing.weight - 0.5).abs() < 1e-3), "{standings:?}");
    }

    #[test]
    fn sorts_that_err_about_different_people_count_both_and_a_useless_one_does_not() {
        let knows = |wrong: usize| move |i: usize| if i % 10 == wrong { 0.05 } else { 0.95 };
        let (tried, standings) = contest(1000, &[&knows(1), &knows(2), &|i| [0.9, 0.1][i / 2 % 2]]);
        let weights: Vec<f64> = standings.iter().map(|standing| standing.weight).collect();
        assert!((weights[0] - 0.5).abs() < 1e-3 && (weights[1] - 0.5).abs() < 1e-3, "{standings:?}");
        assert_eq!(weights[2].to_bits(), 0f64.to_bits());
        // Whom one of them errs about the other knows; right about nine in ten, each is as sure as it says, beside even chances, which both together
        // do not need
        let said = said(&tried, &standings, 2).concat();
        assert!((said[2] - 0.5).abs() < 1e-3 && (said[1] - 0.05).abs() < 1e-6, "{:?}", &said[..4]);
    }
}
