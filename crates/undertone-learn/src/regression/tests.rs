//! From reports to a line.

use super::*;
use crate::features::Rows;
use crate::numbers::{NumberChannel, NumberValues};
use crate::{Examples, LearnError, Regressor};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::Epsilon;
use undertone_privacy::number::{Bounds, NumberKind, NumberMechanism};

const FEATURES: usize = 3;
/// The line that is true, with its constant.
const TRUTH: [f64; FEATURES + 1] = [1.5, -0.75, 0.25, 2.0];

fn bounds() -> Bounds {
    Bounds::new(-4.0, 8.0).unwrap()
}

/// Evenly from -1 to 1.
fn even(rng: &mut ChaCha12Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Features, and numbers that are linear in them but for noise within ±1/2.
fn people(count: usize, rng: &mut ChaCha12Rng) -> (Rows, Vec<f64>) {
    let mut rows = Rows::new(FEATURES, 0);
    let numbers = (0..count).map(|_| {
        let x = [(); FEATURES].map(|()| even(rng));
        rows.push_with(|dense, _| dense.extend(x.map(|x| x as f32)));
        x.iter().zip(TRUTH).map(|(x, w)| f64::from(*x as f32) * w).sum::<f64>()
            + TRUTH[FEATURES]
            + 0.5 * even(rng)
    });
    let numbers = numbers.collect();
    (rows, numbers)
}

fn reports(rows: Rows, numbers: &[f64], mechanism: NumberMechanism, rng: &mut ChaCha12Rng) -> Examples {
    let (channel, mut values) = (NumberChannel::of_mechanism(mechanism), NumberValues::new());
    for &number in numbers {
        let place = bounds().place(number).unwrap();
        channel.push(mechanism.report(&place, rng).unwrap(), &mut values).unwrap();
    }
    Examples { rows, numbers: values, ..Examples::default() }
}

fn distance(model: &LinearNumber) -> [f64; FEATURES + 1] {
    let found: Vec<f64> = model.weights.iter().copied().chain([model.intercept]).collect();
    std::array::from_fn(|i| found[i] - TRUTH[i])
}

#[test]
fn an_exact_line_is_found_exactly_from_numbers_that_are_known() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let (rows, _) = people(50, &mut rng);
    let truth =
        LinearNumber { weights: TRUTH[..FEATURES].to_vec(), intercept: TRUTH[FEATURES], scale_back: None };
    let numbers = truth.predict(&rows);
    let mut source = vec![Examples::certain_numbers(rows, numbers)];
    let line = fit_ridge(&mut source, FEATURES, bounds(), 0.0).unwrap();
    assert!(distance(&line).iter().all(|off| off.abs() < 1e-12), "{line:?}");
    let fit = ridge_choosing_l2(&mut source, FEATURES, bounds(), 0.0).unwrap();
    assert!(fit.judged.rmse.value < 1e-4 && fit.judged.r2.value > 0.999_999, "{fit:?}");
    assert!((fit.l2 - 1e-6).abs() < 1e-18 && fit.tried.len() == 17);
}

#[test]
fn the_line_from_reports_is_right_on_average_and_as_exact_as_the_mechanism_allows() {
    for kind in NumberKind::ALL {
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let mechanism = NumberMechanism::new(kind, bounds(), Epsilon::new(1.0).unwrap()).unwrap();
        let (n, runs) = (2000, 30);
        let mut mean = [0.0; FEATURES + 1];
        for _ in 0..runs {
            let (rows, numbers) = people(n, &mut rng);
            let mut source = vec![reports(rows, &numbers, mechanism, &mut rng)];
            let line = fit_ridge(&mut source, FEATURES, bounds(), 0.0).unwrap();
            distance(&line).iter().zip(&mut mean).for_each(|(off, mean)| *mean += off / f64::from(runs));
        }
        // Var of a weight ≤ worst variance/(n·Var x), Var x = 1/3; the constant has Var 1/n
        let worst = undertone_privacy::number::NumberRandomizer::worst_variance(&mechanism) + 1.0 / 12.0;
        let sigma = (3.0 * worst / (n as f64 * f64::from(runs))).sqrt();
        assert!(mean.iter().all(|off| off.abs() < 5.0 * sigma), "{kind}: {mean:?}, σ ≤ {sigma}");
    }
}

#[test]
fn the_error_of_what_was_kept_aside_is_that_of_the_numbers_nobody_saw() {
    for kind in [NumberKind::Laplace, NumberKind::Piecewise, NumberKind::HybridBest] {
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let mechanism = NumberMechanism::new(kind, bounds(), Epsilon::new(2.0).unwrap()).unwrap();
        let (rows, numbers) = people(20_000, &mut rng);
        let mut source = vec![reports(rows, &numbers, mechanism, &mut rng)];
        let fit = ridge_choosing_l2(&mut source, FEATURES, bounds(), 0.0).unwrap();
        let predictions = fit.model.predict(&source[0].rows);
        let true_mse =
            predictions.iter().zip(&numbers).map(|(f, y)| (f - y) * (f - y)).sum::<f64>() / 20_000.0;
        let judged = fit.judged.mse;
        assert!(
            (judged.value - true_mse).abs() < 5.0 * judged.standard_error,
            "{kind}: {judged:?}, {true_mse}"
        );
        // The noise is that of y, 1/12, of which a line explains nothing
        assert!((true_mse - 1.0 / 12.0).abs() < 0.02, "{kind}: {true_mse}");
        let least = fit.tried.iter().map(|(_, score)| score.value).fold(f64::INFINITY, f64::min);
        let (_, chosen) = fit.tried.iter().find(|(l2, _)| l2.to_bits() == fit.l2.to_bits()).unwrap();
        assert!(chosen.value <= least, "{kind}: {:?}", fit.tried);
    }
}

#[test]
fn sums_of_parts_are_sums_of_all_and_sparse_features_count_as_others() {
    let mut rng = ChaCha12Rng::seed_from_u64(4);
    let (rows, numbers) = people(40, &mut rng);
    let mut sparse = Rows::new(1, 2);
    for row in rows.iter() {
        sparse.push_with(|dense, entries| {
            dense.push(row.dense[0]);
            entries.extend([(0, row.dense[1]), (1, row.dense[2])]);
        });
    }
    let sums = |rows: &Rows, range: std::ops::Range<usize>| {
        let mut sums = NormalEquations::new(FEATURES, 2.0).unwrap();
        range.for_each(|row| sums.observe(rows.get(row), (numbers[row], 0.5)));
        sums
    };
    let (whole, mut parts) = (sums(&rows, 0..40), sums(&rows, 0..17));
    let last = sums(&rows, 17..40);
    parts.add(&last);
    let lines = [&whole, &parts, &sums(&sparse, 0..40)].map(|sums| sums.solve(0.1).unwrap());
    for line in &lines[1..] {
        let close = line.weights.iter().zip(&lines[0].weights).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close && (line.intercept - lines[0].intercept).abs() < 1e-12);
    }
    let without = whole.without(&last).solve(0.1).unwrap();
    let first = sums(&rows, 0..17).solve(0.1).unwrap();
    assert!(without.weights.iter().zip(&first.weights).all(|(a, b)| (a - b).abs() < 1e-10));
    // Σ((f - z)² - v)/n by going through the people
    let model = &lines[0];
    let each = numbers.iter().enumerate().map(|(row, y)| (model.at(rows.get(row)) - y).powi(2) - 0.5);
    assert!((whole.error_of(model) - each.sum::<f64>() / 40.0).abs() < 1e-10);
}

/// People with three numbers and one of many levels, whose own effects are small.
fn many_levels(count: usize, levels: usize, rng: &mut ChaCha12Rng) -> (Rows, Vec<f64>) {
    let (plain, numbers) = people(count, rng);
    let mut rows = Rows::new(FEATURES, levels);
    let mut all = Vec::new();
    for (row, number) in plain.iter().zip(numbers) {
        let level = (rng.next_u64() >> 11) as usize % levels;
        rows.push_with(|dense, sparse| {
            dense.extend(row.dense);
            sparse.push((level as u32, 1.0));
        });
        all.push(number + if level.is_multiple_of(2) { 1.0 } else { -1.0 });
    }
    (rows, all)
}

#[test]
fn conjugate_gradients_find_what_the_normal_equations_do() {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let (rows, numbers) = many_levels(2000, 50, &mut rng);
    let mut sums = NormalEquations::new(FEATURES + 50, 2.0).unwrap();
    rows.iter().zip(&numbers).for_each(|(row, &number)| sums.observe(row, (number, 0.25)));
    let mut values = NumberValues::new();
    for &number in &numbers {
        values.push(number, 0.25);
    }
    let mut source = vec![Examples { rows, numbers: values, ..Examples::default() }];
    let wide = wide::Wide::gather(&mut source, FEATURES + 50, 2.0).unwrap();
    for l2 in [1e-6, 1e-3, 1e-1] {
        let (exact, found) = (sums.solve(l2).unwrap(), wide.solve(l2).unwrap());
        let pairs = exact.predict(&source[0].rows).into_iter().zip(found.predict(&source[0].rows));
        let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-2, "{l2}: {apart}");
    }
    // Each λ does as well without a part as the normal equations say.
    let narrow = ridge_choosing_l2(&mut source, FEATURES + 50, bounds(), 0.0).unwrap().tried;
    for candidate in wide.candidates().unwrap() {
        let (_, expected) = narrow.iter().find(|(l2, _)| (l2 / candidate.l2 - 1.0).abs() < 1e-9).unwrap();
        let found = crate::evaluation::mean(&candidate.errors);
        assert!((found.value / expected.value - 1.0).abs() < 1e-3, "{found:?}, {expected:?}");
    }
}

#[test]
fn more_features_than_pairs_have_room_for_are_learnt_from() {
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let (rows, numbers) = many_levels(20_000, MOST_FEATURES, &mut rng);
    let features = rows.width();
    let mut source = vec![Examples::certain_numbers(rows, numbers)];
    let fit = ridge_choosing_l2(&mut source, features, bounds(), 0.0).unwrap();
    // Without the levels, their variance of one and that of the noise would be left; ten people tell each level well.
    let error = fit.judged.mse.value;
    assert!(fit.model.weights.len() == features && error < 0.25, "{error}");
    let given = fit_ridge(&mut source, features, bounds(), fit.l2).unwrap();
    assert_eq!(given, fit.model);
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let mut nobody: Vec<Examples> = Vec::new();
    assert!(matches!(fit_ridge(&mut nobody, 1, bounds(), 1.0), Err(LearnError::NoReports)));
    assert!(matches!(ridge_choosing_l2(&mut nobody, 1, bounds(), 0.0), Err(LearnError::NoReports)));
    let mut two = vec![Examples::certain_numbers(Rows::dense(1, vec![1.0, 2.0]), [1.0, 2.0])];
    assert!(matches!(ridge_choosing_l2(&mut two, 1, bounds(), 0.0), Err(LearnError::TooFewForPenalty)));
    let mut alike = vec![Examples::certain_numbers(Rows::dense(1, vec![1.0, 1.0]), [1.0, 2.0])];
    let error = fit_ridge(&mut alike, 1, bounds(), 0.0).unwrap_err().to_string();
    assert!(error.contains("follow from others"), "{error}");
    assert!(fit_ridge(&mut alike, 1, bounds(), 1e-6).is_ok());
    let error = NormalEquations::new(MOST_FEATURES + 1, 0.0).unwrap_err().to_string();
    assert!(error.contains("2049"), "{error}");
}
