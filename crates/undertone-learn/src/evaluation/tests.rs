//! Figures from reports against the figures from the labels that were reported about.

use super::*;
use crate::features::Rows;
use crate::labels::{Channel, LabelVectors};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::label::{LabelKind, LabelMechanism, LabelRandomizer, LabelSet};
use undertone_privacy::{Epsilon, Randomizer};

/// What a model says about four people; two of them with about the same confidence.
const SAID: [f32; 12] = [0.7, 0.2, 0.1, 0.15, 0.72, 0.13, 0.3, 0.2, 0.5, 0.1, 0.75, 0.15];
const TRUTH: [u32; 4] = [0, 2, 2, 1];

fn mechanism(kind: LabelKind, labels: u32, epsilon: f64) -> LabelMechanism {
    kind.mechanism(labels, Epsilon::new(epsilon).unwrap()).unwrap()
}

fn nobody() -> Rows {
    Rows::new(0, 0)
}

fn rows(count: usize) -> Rows {
    let mut rows = nobody();
    (0..count).for_each(|_| rows.push_with(|_, _| ()));
    rows
}

/// People whose reports are these.
fn reported(channel: &Channel, reports: &[&[u32]]) -> Examples {
    let mut examples = Examples { rows: rows(reports.len()), ..Examples::default() };
    for report in reports {
        channel.push_unbiased(report, &[], &mut examples.unbiased).unwrap();
        channel.push_likelihood(report, &[], &mut examples.likelihood).unwrap();
    }
    examples
}

fn figures(examples: &Examples, said: &[f32]) -> Figures {
    let mut evaluation = Evaluation::new(said.len() / examples.len());
    evaluation.observe(examples, said).unwrap();
    evaluation.figures().unwrap()
}

/// All reports about `truth` with their probabilities.
fn reports(mechanism: &LabelMechanism, truth: u32) -> Vec<(Vec<u32>, f64)> {
    let labels = mechanism.labels();
    let sets = (0..1u32 << labels).map(|bits| (0..labels).filter(|k| bits >> k & 1 == 1).collect::<Vec<_>>());
    sets.map(|set| (set.clone(), mechanism.ln_probability(&LabelSet::new(set), truth).exp()))
        .filter(|(_, p)| *p > 0.0)
        .collect()
}

/// Everything that is claimed to be unbiased, as one list of numbers.
fn unbiased(figures: &Figures) -> Vec<f64> {
    let mut list = vec![
        figures.accuracy.value,
        figures.log_loss.value,
        figures.brier.value,
        figures.squared_calibration_error.value,
    ];
    list.extend(figures.calibration.iter().map(|bin| bin.accuracy.value));
    list.extend(figures.classes.iter().map(|class| class.share.value));
    list.extend(figures.classes.iter().filter_map(|class| class.precision).map(|figure| figure.value));
    list.extend(figures.confusion.iter().flatten().flatten().map(|cell| cell.value));
    list
}

#[test]
fn the_mean_of_each_figure_over_all_reports_is_the_figure_on_true_labels() {
    let expected = unbiased(&figures(&Examples::certain(rows(4), TRUTH), &SAID));
    for kind in [LabelKind::Rr, LabelKind::Subset, LabelKind::Bits, LabelKind::BitsPaper] {
        let mechanism = mechanism(kind, 3, 1.0);
        let channel = Channel::of_mechanism(&mechanism);
        let all = TRUTH.map(|truth| reports(&mechanism, truth));
        let mut mean = vec![0.0; expected.len()];
        for (first, second) in all[0].iter().flat_map(|a| all[1].iter().map(move |b| (a, b))) {
            for (third, fourth) in all[2].iter().flat_map(|a| all[3].iter().map(move |b| (a, b))) {
                let people = [first, second, third, fourth];
                let chance: f64 = people.iter().map(|(_, p)| p).product();
                let examples = reported(&channel, &people.map(|(set, _)| set.as_slice()));
                let found = unbiased(&figures(&examples, &SAID));
                mean.iter_mut().zip(found).for_each(|(mean, found)| *mean += chance * found);
            }
        }
        for (place, (found, expected)) in mean.iter().zip(&expected).enumerate() {
            // Label vectors are held in 32 bits, with values up to 6 or so.
            assert!((found - expected).abs() < 1e-5, "{kind}, number {place}: {found} for {expected}");
        }
    }
}

#[test]
fn the_squared_standard_error_is_unbiased_for_what_it_estimates() {
    // Over the coins alone E[n·se²] = mean variance of the terms + (1/(n-1))·Σ(μ - μ̄)²
    let mechanism = mechanism(LabelKind::Subset, 3, 1.0);
    let channel = Channel::of_mechanism(&mechanism);
    let said = &SAID[..6];
    let all = [0, 2].map(|truth| reports(&mechanism, truth));
    let mut square = 0.0;
    for ((one, p), (two, q)) in all[0].iter().flat_map(|a| all[1].iter().map(move |b| (a, b))) {
        square += p * q * figures(&reported(&channel, &[one, two]), said).accuracy.standard_error.powi(2);
    }
    let covariance = mechanism.covariance();
    // Person one is predicted right, person two wrong: the terms have variances A and v, means 1 and 0.
    // (1/2)·(the mean of A and v + 1/2)
    let expected = covariance.own / 4.0 + covariance.other / 4.0 + 0.25;
    assert!((square - expected).abs() < 1e-5, "{square} for {expected}");
}

/// A report about each of `labels`.
fn ask(mechanism: &LabelMechanism, labels: &[u32], rng: &mut ChaCha12Rng) -> Examples {
    let channel = Channel::of_mechanism(mechanism);
    let sets: Vec<LabelSet> = labels
        .iter()
        .map(|&label| mechanism.randomize(&undertone_privacy::label::Label(label), rng).unwrap())
        .collect();
    reported(&channel, &sets.iter().map(LabelSet::members).collect::<Vec<_>>())
}

#[test]
fn ninety_five_percent_of_the_intervals_cover_the_figures_of_the_population() {
    // People are of two sorts, equally common, whose labels follow TRUTH; the model believes SAID.
    const TRUTH: [[f64; 3]; 2] = [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]];
    const SAID: [[f32; 3]; 2] = [[0.6, 0.3, 0.1], [0.2, 0.05, 0.75]];
    let mean = |f: &dyn Fn(usize, usize) -> f64| -> f64 {
        (0..2)
            .flat_map(|sort| (0..3).map(move |k| (sort, k)))
            .map(|(sort, k)| TRUTH[sort][k] * f(sort, k) / 2.0)
            .sum()
    };
    let p = |sort: usize, k: usize| f64::from(SAID[sort][k]);
    let square = |sort: usize| (0..3).map(|k| p(sort, k).powi(2)).sum::<f64>();
    let population = [
        0.5 * (0.5 + 0.75),
        mean(&|sort, k| -p(sort, k).ln()),
        mean(&|sort, k| square(sort) + 1.0 - 2.0 * p(sort, k)),
        0.5 * (0.5 + 0.125),
        0.75 / 2.0,
        0.5 * (0.1f64.powi(2) + 0.0),
    ];
    let mut rng = ChaCha12Rng::seed_from_u64(31);
    let people = 400;
    for kind in [Some(LabelKind::Rr), Some(LabelKind::Bits), None] {
        let mut covered = [0; 5];
        let mut squared_error = Moments::default();
        for _ in 0..1000 {
            let mut said = Vec::new();
            let labels: Vec<u32> = (0..people)
                .map(|_| {
                    // One bit for the sort and three for the label, since all chances are eighths
                    let word = rng.next_u32() >> 28;
                    let (sort, draw) = ((word & 1) as usize, f64::from(word >> 1) / 8.0);
                    said.extend(SAID[sort]);
                    u32::from(draw >= TRUTH[sort][0]) + u32::from(draw >= TRUTH[sort][0] + TRUTH[sort][1])
                })
                .collect();
            let examples = match kind {
                Some(kind) => ask(&mechanism(kind, 3, 1.5), &labels, &mut rng),
                None => Examples::certain(rows(people), labels),
            };
            let found = figures(&examples, &said);
            let cell = found.confusion.as_ref().unwrap()[2][2];
            let all = [found.accuracy, found.log_loss, found.brier, found.classes[0].share, cell];
            for (covered, (figure, truth)) in covered.iter_mut().zip(all.iter().zip(population)) {
                *covered += usize::from(figure.covers(truth));
            }
            squared_error.add(found.squared_calibration_error.value);
        }
        // 950 expected, 5σ = 34
        assert!(covered.iter().all(|covered| (916..=984).contains(covered)), "{kind:?}: {covered:?}");
        let squared_error = squared_error.figure();
        assert!(
            (squared_error.value - population[5]).abs() < 5.0 * squared_error.standard_error,
            "{kind:?}: {squared_error:?}"
        );
    }
}

#[test]
fn the_likelihood_of_reports_is_greatest_at_the_chances_that_labels_have() {
    let truth = [0.5, 0.3, 0.2];
    for kind in [LabelKind::Rr, LabelKind::Subset, LabelKind::BitsPaper] {
        let mechanism = mechanism(kind, 3, 1.0);
        let channel = Channel::of_mechanism(&mechanism);
        let mean = |said: &[f32; 3]| -> f64 {
            let about =
                |y: u32| reports(&mechanism, y).into_iter().map(move |(set, p)| (set, p * truth[y as usize]));
            let score = |set: &[u32]| figures(&reported(&channel, &[set]), said).report_log_likelihood.value;
            (0..3).flat_map(about).map(|(set, chance)| chance * score(&set)).sum()
        };
        let best = mean(&[0.5, 0.3, 0.2]);
        for other in [[0.6, 0.25, 0.15], [0.45, 0.3, 0.25], [0.5, 0.2, 0.3], [1.0, 0.0, 0.0]] {
            assert!(mean(&other) < best - 1e-5, "{kind}: {other:?}");
        }
    }
}

#[test]
fn true_labels_turn_the_likelihood_into_the_log_loss() {
    let found = figures(&Examples::certain(rows(4), TRUTH), &SAID);
    assert!((found.report_log_likelihood.value - (3f64.ln() - found.log_loss.value)).abs() < 1e-6);
    assert!((found.accuracy.value - 0.75).abs() < 1e-12);
    assert_eq!(found.top_5_accuracy, None);
}

#[test]
fn splitting_the_people_between_machines_changes_nothing_but_the_last_digits() {
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    let mechanism = mechanism(LabelKind::Subset, 8, 1.0);
    let labels: Vec<u32> = (0..60).map(|i| i % 8).collect();
    let said: Vec<f32> = (0..60 * 8).map(|i| (1 + i * i % 7) as f32).collect();
    let said: Vec<f32> = said.chunks(8).flat_map(|p| p.iter().map(|x| x / p.iter().sum::<f32>())).collect();
    let examples = ask(&mechanism, &labels, &mut rng);
    let part = |range: std::ops::Range<usize>| {
        let copy = |from: &LabelVectors| {
            let mut vectors = LabelVectors::new();
            from.slice(range.clone()).for_each(|a| vectors.push(a.base, a.entries.iter().copied()));
            vectors
        };
        let (unbiased, likelihood) = (copy(&examples.unbiased), copy(&examples.likelihood));
        let mut evaluation = Evaluation::new(8);
        let part = Examples { rows: rows(range.len()), unbiased, likelihood, ..Examples::default() };
        evaluation.observe(&part, &said[range.start * 8..range.end * 8]).unwrap();
        evaluation
    };
    let mut merged = part(0..23);
    merged.merge(&part(23..60));
    let (merged, whole) = (merged.figures().unwrap(), part(0..60).figures().unwrap());
    assert_eq!(merged.rows, whole.rows);
    for (merged, whole) in unbiased(&merged).iter().zip(unbiased(&whole)) {
        assert!((merged - whole).abs() < 1e-10);
    }
    assert!(merged.top_5_accuracy.is_some());
}

#[test]
fn more_classes_than_a_matrix_is_kept_for_still_have_figures() {
    let classes = MOST_CONFUSED + 1;
    let mut said = vec![0.0; classes];
    said[7] = 1.0;
    let found = figures(&Examples::certain(rows(1), [7]), &said);
    assert_eq!((found.confusion, found.classes.len()), (None, classes));
    assert!((found.accuracy.value - 1.0).abs() < 1e-12 && (found.classes[7].predicted - 1.0).abs() < 1e-12);
}

#[test]
fn what_cannot_be_evaluated_is_refused_with_its_row_and_changes_nothing() {
    let mut evaluation = Evaluation::new(3);
    evaluation.observe(&Examples::certain(rows(4), TRUTH), &SAID).unwrap();
    let before = evaluation.clone();
    let mut refused = |labels: [u32; 2], said: &[f32]| {
        evaluation.observe(&Examples::certain(rows(2), labels), said).unwrap_err().to_string()
    };
    assert!(refused([0, 1], &[0.5, 0.5, 0.0, f32::NAN, 0.5, 0.5]).contains("row 6 have NaN"));
    assert!(refused([0, 1], &[0.5, 0.5, 0.5, 0.0, 0.5, 0.5]).contains("row 5 sum to 1.5"));
    assert!(refused([0, 1], &[0.5, 0.5]).contains("2 numbers"));
    assert!(refused([0, 3], &[0.5, 0.5, 0.0, 0.0, 0.5, 0.5]).contains("report 6: it names label 3"));
    assert_eq!(evaluation, before);
    assert!(matches!(Evaluation::new(3).figures(), Err(LearnError::NoReports)));
}
