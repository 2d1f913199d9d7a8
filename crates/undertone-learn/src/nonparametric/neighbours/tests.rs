//! Every index against sorting all distances.

use super::*;
use crate::nonparametric::NumberReports;
use crate::nonparametric::tests::{uniform_rows, unit};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_privacy::number::Bounds;

/// The mean over the k nearest by (distance, number), all distances computed and sorted.
fn sorted_by_hand(model: &NeighbourModel, query: &[f32]) -> f64 {
    let Document { points, values, k, .. } = &model.document;
    let distance = |point: &[f32]| point.iter().zip(query).map(|(x, q)| (x - q) * (x - q)).sum::<f32>();
    let mut all: Vec<(f32, usize)> = points.chunks_exact(query.len()).map(distance).zip(0..).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all[..*k].iter().map(|&(_, person)| f64::from(values[person])).sum::<f64>() / *k as f64
}

fn numbers(n: usize, rng: &mut ChaCha12Rng) -> NumberReports {
    let labels: Vec<f64> = (0..n).map(|_| unit(rng)).collect();
    NumberReports::certain(Bounds::new(0.0, 1.0).unwrap(), &labels).unwrap().0
}

#[test]
fn the_nearest_are_the_nearest_in_any_number_of_dimensions() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    for dimension in [1, 2, 3, 5, 12, 13, 20] {
        for (n, k) in [(1, 1), (31, 5), (1000, 1), (1000, 37), (1000, 400), (1000, 1000)] {
            let rows = uniform_rows(n, dimension, &mut rng);
            let reports = numbers(n, &mut rng);
            let model = NeighbourModel::new(&rows, reports.targets(), k).unwrap();
            let queries = uniform_rows(20, dimension, &mut rng);
            let found = model.predict(&queries).unwrap();
            let mut places = points::points(&model.document.axes, &queries);
            let width = model.document.axes.axes().len().max(1);
            places.resize(20 * width, 0.0);
            for (found, query) in found.iter().zip(places.chunks(width)) {
                let expected = sorted_by_hand(&model, query);
                assert!((f64::from(*found) - expected).abs() < 1e-6, "d = {dimension}, n = {n}, k = {k}");
            }
        }
    }
}

#[test]
fn among_equally_near_people_the_first_count() {
    // 40 people in each of 25 places of the plane, all asked at one of the places
    let rows = Rows::dense(2, (0..1000u16).flat_map(|i| [f32::from(i % 5), f32::from(i / 5 % 5)]).collect());
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let reports = numbers(1000, &mut rng);
    for k in [1, 30, 40, 70, 500] {
        let model = NeighbourModel::new(&rows, reports.targets(), k).unwrap();
        let query = Rows::dense(2, vec![2.0, 3.0]);
        let place = points::points(&model.document.axes, &query);
        let found = f64::from(model.predict(&query).unwrap()[0]);
        assert!((found - sorted_by_hand(&model, &place)).abs() < 1e-6, "k = {k}");
    }
}

#[test]
fn two_levels_are_one_apart_and_an_unknown_one_is_half_as_far() {
    let row = |i: u16| [f32::from(i), f32::from(i & 1 == 0), f32::from(i & 1)];
    let rows = Rows::dense(3, (0..100).flat_map(row).collect());
    let axes = Axes::fit(&rows).unwrap();
    let place = |row: [f32; 3]| points::points(&axes, &Rows::dense(3, row.to_vec()));
    let apart =
        |a: [f32; 3], b: [f32; 3]| place(a).iter().zip(place(b)).map(|(x, y)| (x - y) * (x - y)).sum::<f32>();
    assert!((apart([5.0, 0.0, 1.0], [5.0, 1.0, 0.0]) - 1.0).abs() < 1e-6);
    assert!((apart([5.0, 0.0, 1.0], [5.0, 0.0, 0.0]) - 0.5).abs() < 1e-6);
    assert!((apart([0.0, 1.0, 0.0], [99.0, 1.0, 0.0]) - 1.0).abs() < 1e-6);
}

#[test]
fn the_chosen_k_averages_noise_away_and_is_not_everybody() {
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    let (n, bounds) = (20_000, Bounds::new(-1.0, 1.0).unwrap());
    let rows = uniform_rows(n, 2, &mut rng);
    let eta = |x: f32| (f64::from(x) * 3.0).sin();
    let labels: Vec<f64> = rows.iter().map(|row| eta(row.dense[0])).collect();
    let epsilon = undertone_privacy::Epsilon::new(1.0).unwrap();
    let mechanism = undertone_privacy::number::NumberMechanism::best(bounds, epsilon).unwrap();
    let (reports, _) = NumberReports::ask(&mechanism, &labels, &mut rng).unwrap();
    let fitted = fit_neighbours(&rows, reports.targets(), None).unwrap();
    let k = fitted.model.neighbours();
    assert!((64..8000).contains(&k), "{k}: {:?}", fitted.tried);
    let test = uniform_rows(1000, 2, &mut rng);
    let found = fitted.model.predict(&test).unwrap();
    let error = test.iter().zip(&found).map(|(row, found)| (eta(row.dense[0]) - f64::from(*found)).powi(2));
    let error = error.sum::<f64>() / 1000.0;
    // The mean of everybody is off by the variance of sin(3x), 0.1.
    assert!(error < 0.02, "{error}");
    let text = serde_json::to_string(&fitted.model).unwrap();
    let again: NeighbourModel = serde_json::from_str(&text).unwrap();
    assert_eq!((&again, again.predict(&test).unwrap()), (&fitted.model, found));
}

#[test]
fn no_neighbours_and_more_than_people_are_refused() {
    let rows = Rows::dense(1, vec![0.0, 0.5, 1.0]);
    let reports = numbers(3, &mut ChaCha12Rng::seed_from_u64(4));
    for k in [0, 4] {
        let refused = NeighbourModel::new(&rows, reports.targets(), k).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("the number of neighbours is {k}")), "{refused}");
    }
}
