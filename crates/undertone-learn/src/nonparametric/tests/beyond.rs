//! Prediction sets, forests, planes in cells, and models of any sort.

use super::*;
use crate::Classifier;
use crate::nonparametric::neighbours::NeighbourModel;

fn cells(partition: Partition, rows: &Rows, targets: Targets<'_>) -> NonparametricModel {
    NonparametricModel::Cells(CellModel::fit(partition, rows, targets).unwrap())
}

/// Three classes whose chances depend on the feature.
fn three(x: f32, rng: &mut impl Rng) -> u32 {
    let (chance, u) = (chance(x), unit(rng));
    if u < 0.8 * chance {
        0
    } else if u < 0.8 {
        1
    } else {
        2
    }
}

#[test]
fn sets_hold_the_true_class_as_often_as_promised_and_are_not_everything() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let (alpha, delta, runs) = (0.2, 0.1, 20);
    let (mut failures, mut sizes) = (0, 0.0);
    for _ in 0..runs {
        let rows = uniform_rows(6000, 1, &mut rng);
        let truth: Vec<u32> = rows.iter().map(|row| three(row.dense[0], &mut rng)).collect();
        let vectors = reports(LabelKind::Subset, 3, 2.0, &truth, &mut rng);
        let targets = Targets::Classes { vectors: &vectors, classes: 3 };
        let model = cells(Partition::cubes(&rows, 0.125).unwrap(), &rows, targets);
        let others = uniform_rows(4000, 1, &mut rng);
        let truth: Vec<u32> = others.iter().map(|row| three(row.dense[0], &mut rng)).collect();
        let vectors = reports(LabelKind::Subset, 3, 2.0, &truth, &mut rng);
        let sets = PredictionSets::calibrate(&model, &others, &vectors, alpha, delta).unwrap();
        // The coverage among strangers, by the chances themselves
        let strangers = uniform_rows(2000, 1, &mut rng);
        let p = model.probabilities(&strangers);
        let mut covered = 0.0;
        for (row, p) in strangers.iter().zip(p.chunks_exact(3)) {
            let (set, one) = (sets.set(p), 0.8 * chance(row.dense[0]));
            let chances = [one, 0.8 - one, 0.2];
            covered += set.iter().map(|&class| chances[class as usize]).sum::<f64>() / 2000.0;
            sizes += set.len() as f64 / 2000.0 / f64::from(runs);
        }
        failures += i32::from(covered < 1.0 - alpha);
    }
    // A binomial of 20 and 0.1 is above 8 with a chance below 10^-4.
    assert!(failures <= 8, "{failures} of {runs}");
    assert!(sizes < 2.8, "{sizes} classes on average");
}

#[test]
fn intervals_of_bins_hold_the_true_number_as_often_as_promised() {
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let bins = LabelBins::new(Bounds::new(0.0, 2.0).unwrap(), 8).unwrap();
    assert_eq!([0.0, 0.3, 2.0, 9.0].map(|y| bins.bin(y).unwrap()), [0, 1, 7, 7]);
    let draw = |x: f32, rng: &mut ChaCha12Rng| f64::from(x) + unit(rng) * 0.5;
    let ask = |rows: &Rows, rng: &mut ChaCha12Rng| {
        let truth: Vec<u32> = rows.iter().map(|row| bins.bin(draw(row.dense[0], rng)).unwrap()).collect();
        reports(LabelKind::Subset, 8, 3.0, &truth, rng)
    };
    let rows = uniform_rows(10_000, 1, &mut rng);
    let vectors = ask(&rows, &mut rng);
    let targets = Targets::Classes { vectors: &vectors, classes: 8 };
    let model = cells(Partition::cubes(&rows, 0.125).unwrap(), &rows, targets);
    let others = uniform_rows(10_000, 1, &mut rng);
    let vectors = ask(&others, &mut rng);
    let sets = PredictionSets::calibrate(&model, &others, &vectors, 0.1, 1e-6).unwrap();
    let strangers = uniform_rows(5000, 1, &mut rng);
    let (mut covered, mut width) = (0.0, 0.0);
    for (row, p) in strangers.iter().zip(model.probabilities(&strangers).chunks_exact(8)) {
        let (low, high) = bins.interval(&sets.set(p)).unwrap();
        let y = draw(row.dense[0], &mut rng);
        covered += f64::from(u8::from(low <= y && y <= high)) / 5000.0;
        width += (high - low) / 5000.0;
    }
    // 5σ of a share of 0.9 among 5000
    assert!(covered > 0.9 - 5.0 * 0.0042, "{covered}");
    assert!(width < 1.5, "{width} of 2");
    assert!(bins.bin(f64::NAN).is_err() && LabelBins::new(Bounds::new(0.0, 1.0).unwrap(), 1).is_err());
}

#[test]
fn without_enough_people_or_with_nonsense_sets_are_everything_or_refused() {
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    let rows = uniform_rows(200, 1, &mut rng);
    let truth = labels(&rows, &mut rng);
    let vectors = reports(LabelKind::Rr, 2, 0.5, &truth, &mut rng);
    let targets = Targets::Classes { vectors: &vectors, classes: 2 };
    let model = cells(Partition::equal_mass(&rows, 50.0).unwrap(), &rows, targets);
    let sets = PredictionSets::calibrate(&model, &rows, &vectors, 0.1, 0.05).unwrap();
    assert_eq!((sets.threshold().to_bits(), sets.set(&[0.999, 0.001])), (1f32.to_bits(), vec![0, 1]));
    for (alpha, delta) in [(0.0, 0.1), (1.0, 0.1), (0.1, 0.0), (f64::NAN, 0.1)] {
        assert!(PredictionSets::calibrate(&model, &rows, &vectors, alpha, delta).is_err());
    }
    assert!(PredictionSets::calibrate(&model, &rows, &LabelVectors::new(), 0.1, 0.1).is_err());
}

/// A plane.
fn slope(row: crate::features::Row<'_>) -> f64 {
    f64::from(row.dense[0] - row.dense[1])
}

/// Numbers on [-1, 1] from two features, randomized at ε = 2, and the mean squared error of a model on strangers.
fn regression(
    eta: fn(crate::features::Row<'_>) -> f64,
    seed: u64,
    fit: impl Fn(&Rows, Targets<'_>) -> NonparametricModel,
) -> f64 {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let rows = uniform_rows(20_000, 2, &mut rng);
    let labels: Vec<f64> = rows.iter().map(eta).collect();
    let mechanism = NumberMechanism::best(Bounds::new(-1.0, 1.0).unwrap(), epsilon(2.0)).unwrap();
    let (reports, _) = NumberReports::ask(&mechanism, &labels, &mut rng).unwrap();
    let model = fit(&rows, reports.targets());
    let test = uniform_rows(2000, 2, &mut rng);
    let found = model.predict_value(&test).unwrap();
    let text = serde_json::to_string(&model).unwrap();
    let again: NonparametricModel = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (again.predict(&test).unwrap(), serde_json::to_string(&again).unwrap()),
        (found.clone(), text)
    );
    assert!(model.predict_probabilities(&test).is_err() && model.predict(&Rows::new(3, 0)).is_err());
    assert_eq!(model.trust(), TrustModel::LabelLocal);
    test.iter().zip(found).map(|(row, found)| (eta(row) - f64::from(found)).powi(2)).sum::<f64>() / 2000.0
}

#[test]
fn planes_beat_steps_on_a_plane_and_a_line_with_trees_beats_both() {
    let mass = 1250.0;
    let steps =
        |rows: &Rows, targets: Targets<'_>| cells(Partition::equal_mass(rows, mass).unwrap(), rows, targets);
    let planes = |rows: &Rows, targets: Targets<'_>| {
        let partition = Partition::equal_mass(rows, mass).unwrap();
        NonparametricModel::LinearCells(LinearCells::fit(partition, rows, targets).unwrap())
    };
    let neighbours = |rows: &Rows, targets: Targets<'_>| {
        NonparametricModel::Neighbours(NeighbourModel::new(rows, targets, 600).unwrap())
    };
    // 16 cells of a quarter squared: their steps are off by 2·(1/4)²/12 = 0.0104, and noise adds about 1/1250.
    let [step, plane, near, forest] = [
        regression(slope, 1, steps),
        regression(slope, 1, planes),
        regression(slope, 1, neighbours),
        regression(slope, 1, forest(20)),
    ];
    assert!((step - 0.0104).abs() < 0.003, "{step}");
    assert!(plane < 0.5 * step && near < step && forest < plane, "{plane} {near} {forest}");
}

fn forest(trees: u32) -> impl Fn(&Rows, Targets<'_>) -> NonparametricModel {
    move |rows, targets| NonparametricModel::Forest(fit_forest(rows, targets, trees, 5).unwrap().model)
}

#[test]
fn trees_add_to_a_line_what_is_bent_and_many_are_better_than_one() {
    let ridge =
        |row: crate::features::Row<'_>| 1.0 - 2.0 * f64::from(row.dense[0] - 0.5).abs() - slope(row) / 2.0;
    let [one, many] = [1, 30].map(|trees| regression(ridge, 1, forest(trees)));
    // The best line leaves the variance of a tent from 0 to 1, 1/12.
    assert!(many < 0.1 / 12.0 && many < 0.7 * one, "{many} {one}");
}

#[test]
fn a_forest_chooses_its_shrinkage_and_classifies() {
    let mut rng = ChaCha12Rng::seed_from_u64(4);
    let rows = uniform_rows(12_000, 5, &mut rng);
    let truth = labels(&rows, &mut rng);
    let vectors = reports(LabelKind::Subset, 2, 2.0, &truth, &mut rng);
    let targets = Targets::Classes { vectors: &vectors, classes: 2 };
    let fitted = fit_forest(&rows, targets, 10, 3).unwrap();
    let sizes: Vec<u64> = fitted.tried.iter().map(|tried| tried.size).collect();
    assert!(sizes.len() > 3 && sizes.is_sorted_by(|a, b| a > b) && sizes.contains(&fitted.chosen));
    let test = uniform_rows(2000, 5, &mut rng);
    let p = fitted.model.predict(&test).unwrap();
    let right =
        test.iter().zip(p.chunks_exact(2)).filter(|(row, p)| (p[1] > p[0]) == (chance(row.dense[0]) > 0.5));
    // Only one of five features matters; guessing is right half of the time.
    assert!(right.count() > 1500);
    assert_eq!(fit_forest(&rows, targets, 10, 3).unwrap(), fitted);
    assert_ne!(fit_forest(&rows, targets, 10, 4).unwrap(), fitted);
    assert!(fit_forest(&rows, targets, 0, 1).is_err());
}

#[test]
fn a_forest_of_noise_is_not_looked_into() {
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let rows = uniform_rows(3000, 5, &mut rng);
    let truth: Vec<u32> = (0..3000).map(|_| u32::from(unit(&mut rng) < 0.7)).collect();
    let vectors = reports(LabelKind::Subset, 2, 1.0, &truth, &mut rng);
    let fitted = fit_forest(&rows, Targets::Classes { vectors: &vectors, classes: 2 }, 40, 1).unwrap();
    let test = uniform_rows(500, 5, &mut rng);
    let likelier = fitted.model.predict(&test).unwrap().chunks_exact(2).filter(|p| p[1] > p[0]).count();
    assert!(likelier > 480, "{likelier}: {}", fitted.chosen);
}

#[test]
fn a_forest_that_nothing_has_grown_is_refused() {
    let mut rng = ChaCha12Rng::seed_from_u64(7);
    let rows = uniform_rows(300, 2, &mut rng);
    let values: Vec<f64> = rows.iter().map(slope).collect();
    let bounds = Bounds::new(-1.0, 1.0).unwrap();
    let targets = Targets::Numbers { values: &values, bounds, variance: 0.0 };
    let text = serde_json::to_string(&fit_forest(&rows, targets, 2, 1).unwrap().model).unwrap();
    assert!(serde_json::from_str::<Forest>(&text).is_ok());
    let broken = [
        text.replacen("\"features\":[2,2]", "\"features\":[2,1]", 1),
        text.replacen("\"c\":[0,", "\"c\":[9,", 1),
        text.replacen("\"weights\":[", "\"weights\":[0.5,", 1),
        text.replacen("\"l\":0", "\"l\":1000000", 1),
        text.replacen("\"means\":[", "\"means\":[1e40,", 1),
    ];
    for broken in broken {
        assert_ne!(broken, text);
        assert!(serde_json::from_str::<Forest>(&broken).is_err(), "{}", &broken[..200]);
    }
}
