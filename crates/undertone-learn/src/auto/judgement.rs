//! How sorts of models are compared by reports that they have not been shown.
//!
//! A prediction of a number loses (η - z)² less the variance of z, one of a class 1 - a_ŷ: both are right on average for the true labels,
//! and as all sorts are judged by the same reports, much of the noise is the same for all.
//!
//! Of classes reports tell more than that. 1 - a_ŷ looks at one class of each person, and has all the noise of an unbiased label;
//! ln Σ_k π_k·P(S | k) looks at all of π, and hardly varies where the report hardly tells. Probabilities are made comparable first: π ∝ p^β,
//! with the β that makes the judging reports likeliest, because averages are cautious and lines that are fitted in few passes are not. It is one number
//! for thousands of judges, and every sort has one. The likeliest sort is taken, unless another errs less often by more than the
//! judges' noise explains: an answer is wanted that is right.

use super::Sort;
use crate::evaluation::terms::{PROBABILITY_FLOOR, log_likelihood};
use crate::evaluation::{Figure, mean};
use crate::labels::LabelVectors;

/// Losses are equal that are apart by less than this part of a standard error.
const HARDLY: f64 = 0.01;
/// Errors differ that are apart by more standard errors than this.
const CLEARLY: f64 = 2.0;
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
}

/// How everything did, and what is best. `judges` are the reports of those who were kept aside, part by part.
pub(super) fn judge(
    tried: &[Tried],
    judges: &[LabelVectors],
    classes: Option<usize>,
) -> (Vec<Standing>, Sort) {
    let losses: Vec<Vec<f64>> = tried.iter().map(|tried| tried.losses.clone()).collect();
    let (behind, best) = match classes {
        None => (vec![None; tried.len()], simplest_of_the_best(&losses)),
        Some(classes) => {
            let surprise = |tried: &Tried| sharpest(&tried.probabilities, judges, classes);
            let surprises: Vec<Vec<f64>> = tried.iter().map(surprise).collect();
            let likeliest = least(&surprises);
            let behind = |surprise: &Vec<f64>| Some(difference(surprise, &surprises[likeliest]));
            let best = unless_another_errs_less(simplest_of_the_best(&surprises), &losses);
            (surprises.iter().map(behind).collect(), best)
        }
    };
    let standing = |(tried, behind): (&Tried, Option<Figure>)| Standing {
        sort: tried.sort,
        loss: mean(&tried.losses),
        behind,
    };
    (tried.iter().zip(behind).map(standing).collect(), tried[best].sort)
}

/// -ln of the likelihood of each report under π ∝ p^β, at the β that makes them likeliest.
fn sharpest(parts: &[Vec<f32>], judges: &[LabelVectors], classes: usize) -> Vec<f64> {
    let floored = |p: &f32| f64::from(*p).max(PROBABILITY_FLOOR).ln();
    let logs: Vec<f64> = parts.iter().flatten().map(floored).collect();
    let surprises = |step: i8| -> Vec<f64> {
        let beta = (f64::from(step) / 2.0 - 3.0).exp2();
        let reports = judges.iter().flat_map(LabelVectors::iter);
        let rows = logs.chunks_exact(classes).zip(reports);
        rows.map(|(logs, report)| -log_likelihood(&power(logs, beta), report)).collect()
    };
    let tried: Vec<Vec<f64>> = SHARPNESS.map(surprises).collect();
    let best = least(&tried);
    tried.into_iter().nth(best).unwrap_or_default()
}

/// p^β, made to sum to one.
fn power(logs: &[f64], beta: f64) -> Vec<f32> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (beta * (log - most)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| (weight / sum) as f32).collect()
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

/// The likeliest, or what errs least, if that is clearly less often.
fn unless_another_errs_less(likeliest: usize, losses: &[Vec<f64>]) -> usize {
    let other = simplest_of_the_best(losses);
    let more = difference(&losses[likeliest], &losses[other]);
    if more.value > CLEARLY * more.standard_error { other } else { likeliest }
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

    /// What two sorts say of people, half of whom have label 0, and what true labels make of it.
    fn contest(
        people: usize,
        first: impl Fn(usize) -> f32,
        second: impl Fn(usize) -> f32,
    ) -> (Vec<Standing>, Sort) {
        let labels: Vec<u32> = (0..people).map(|i| (i % 2) as u32).collect();
        let tried = |sort, right: &dyn Fn(usize) -> f32| {
            let of = |(i, &label): (usize, &u32)| {
                let right = right(i);
                if label == 0 { [right, 1.0 - right] } else { [1.0 - right, right] }
            };
            let probabilities: Vec<f32> = labels.iter().enumerate().flat_map(of).collect();
            let losses = (0..people).map(|i| f64::from(u8::from(right(i) < 0.5))).collect();
            Tried { sort, losses, probabilities: vec![probabilities] }
        };
        let both = [tried(SORTS[0], &first), tried(SORTS[1], &second)];
        judge(&both, &[LabelVectors::certain(labels.iter().copied())], Some(2))
    }

    #[test]
    fn a_timid_sort_that_errs_clearly_less_often_is_taken_although_it_is_less_likely() {
        // The first is right about everybody, and says so timidly; the second is sure, and wrong about one in ten
        let (standings, chosen) = contest(1000, |_| 0.51, |i| if i % 10 == 0 { 0.3 } else { 0.9 });
        let behind = |place: usize| standings[place].behind.unwrap();
        // β makes the first as sure as it can: 0.51^8 beside 0.49^8
        let sure = 0.51f64.powi(8) / (0.51f64.powi(8) + 0.49f64.powi(8));
        let expected = -sure.ln();
        let likeliest = |beta: f64| {
            let p = |right: f64| right.powf(beta) / (right.powf(beta) + (1.0 - right).powf(beta));
            -(0.9 * p(0.9).ln() + 0.1 * p(0.3).ln())
        };
        let second = SHARPNESS.map(|i| likeliest((f64::from(i) / 2.0 - 3.0).exp2())).fold(f64::MAX, f64::min);
        assert!((behind(0).value - (expected - second)).abs() < 1e-6, "{standings:?} {expected} {second}");
        assert!(behind(1).value.abs() < 1e-12);
        // The second is likelier all the same; but the first errs less often, and that is clear
        assert_eq!(chosen, SORTS[0]);
        assert!(standings[0].loss.value.abs() < 1e-12 && (standings[1].loss.value - 0.1).abs() < 1e-12);
    }

    #[test]
    fn how_sure_a_sort_is_does_not_count() {
        // The odds of the second are those of the first to the fourth power
        let timid = |i: usize| if i.is_multiple_of(10) { 0.45f32 } else { 0.6 };
        let sure = |i: usize| timid(i).powi(4) / (timid(i).powi(4) + (1.0 - timid(i)).powi(4));
        let (standings, chosen) = contest(1000, timid, sure);
        let behind = standings.iter().map(|standing| standing.behind.unwrap().value);
        assert!(behind.into_iter().all(|behind| behind.abs() < 1e-6), "{standings:?}");
        assert_eq!(chosen, SORTS[0]);
    }

    #[test]
    fn what_errs_a_little_less_by_luck_is_not_taken_for_better() {
        // One of a hundred is told wrongly by the second only, which is far surer of all others
        let (standings, chosen) = contest(100, |_| 0.55, |i| if i == 7 { 0.45 } else { 0.95 });
        assert!(standings[0].loss.value < standings[1].loss.value);
        assert_eq!(chosen, SORTS[1]);
    }
}
