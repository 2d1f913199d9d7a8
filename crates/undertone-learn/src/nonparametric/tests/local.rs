//! Local classification and regression on cells.

use super::*;

#[test]
fn the_average_of_a_cell_is_that_of_the_bits_debiased_by_hand() {
    // Eq. 11 and 13: η_j = (S_j/n - q)/(p - q), and without a projection to make it a distribution the same argmax
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let rows = uniform_rows(4000, 1, &mut rng);
    let truth = labels(&rows, &mut rng);
    let vectors = reports(LabelKind::Unary, 2, 2.0, &truth, &mut rng);
    let partition = Partition::cubes(&rows, 0.25).unwrap();
    let targets = Targets::Classes { vectors: &vectors, classes: 2 };
    let model = CellModel::fit(partition, &rows, targets).unwrap();
    let cell = model.partition().locate(rows.get(0));
    let inside: Vec<usize> = (0..4000).filter(|&i| model.partition().locate(rows.get(i)) == cell).collect();
    let mean =
        |k: u32| inside.iter().map(|&i| f64::from(vectors.get(i).at(k))).sum::<f64>() / inside.len() as f64;
    let (zero, one) = (mean(0), mean(1));
    // the nearest point of the line x + y = 1
    let expected = [(0.5 * (1.0 + zero - one)).clamp(0.0, 1.0), (0.5 * (1.0 - zero + one)).clamp(0.0, 1.0)];
    for (found, expected) in model.node(cell).iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-6);
    }
    assert_eq!(model.trust(), TrustModel::LabelLocal);
}

#[test]
fn probabilities_of_cells_are_unbiased_for_every_label_mechanism() {
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let rows = uniform_rows(20_000, 1, &mut rng);
    let truth = labels(&rows, &mut rng);
    for kind in [LabelKind::Rr, LabelKind::Subset, LabelKind::Unary, LabelKind::BitsPaper, LabelKind::Bits] {
        let vectors = reports(kind, 2, 2.0, &truth, &mut rng);
        let targets = Targets::Classes { vectors: &vectors, classes: 2 };
        let model = CellModel::fit(Partition::cubes(&rows, 0.25).unwrap(), &rows, targets).unwrap();
        let grid = Rows::dense(1, vec![0.125, 0.375, 0.625, 0.875]);
        let found = model.predict(&grid).unwrap();
        // Over a quarter the mean of the sine is ±2/π. The contest of eq. 11 at ε = 2 has a variance of 2.841, that of
        // the published bits 3.448; the projection halves the difference of two coordinates.
        let sigma = 0.5 * (3.448f64 / 5000.0).sqrt();
        for (found, sign) in found.chunks(2).zip([1.0, 1.0, -1.0, -1.0]) {
            let expected = 0.5 + sign * 0.4 * std::f64::consts::FRAC_2_PI;
            assert!((f64::from(found[1]) - expected).abs() < 5.0 * sigma, "{kind}: {found:?}");
        }
    }
}

#[test]
fn a_thin_cell_says_what_its_parent_says() {
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    let rows = uniform_rows(3000, 1, &mut rng);
    let truth = labels(&rows, &mut rng);
    let vectors = reports(LabelKind::Unary, 2, 1.0, &truth, &mut rng);
    let targets = Targets::Classes { vectors: &vectors, classes: 2 };
    // 2·ln 4/tanh²(1/4) = 46.2 people, and a 256th of 3000 has 12
    assert!((targets.least() - 46.21).abs() < 0.02, "{}", targets.least());
    let model = CellModel::fit(Partition::cubes(&rows, 1.0 / 256.0).unwrap(), &rows, targets).unwrap();
    let partition = model.partition();
    for row in rows.iter() {
        let node = partition.locate(row);
        assert_eq!(model.node(node), model.node(partition.parent(node)));
    }
}

#[test]
fn the_chosen_cells_are_neither_one_nor_the_finest_and_close_to_the_truth() {
    let mut rng = ChaCha12Rng::seed_from_u64(4);
    let rows = uniform_rows(40_000, 2, &mut rng);
    let truth = labels(&rows, &mut rng);
    let vectors = reports(LabelKind::Subset, 2, 1.0, &truth, &mut rng);
    let fitted = fit_cells(&rows, Targets::Classes { vectors: &vectors, classes: 2 }, None).unwrap();
    let deepest = fitted.tried.len() as u32 - 1;
    assert!(fitted.depth > 0 && fitted.depth <= deepest, "{:?}", fitted.tried);
    let test = uniform_rows(4000, 2, &mut rng);
    let found = fitted.model.predict(&test).unwrap();
    let excess = |(row, p): (crate::features::Row<'_>, &[f32])| {
        let one = chance(row.dense[0]);
        let right = if p[1] > p[0] { one } else { 1.0 - one };
        one.max(1.0 - one) - right
    };
    let excess: f64 = test.iter().zip(found.chunks(2)).map(excess).sum::<f64>() / 4000.0;
    // Guessing one class costs half of E|2η - 1| = 0.8·2/π, 0.25.
    assert!(excess < 0.03, "{excess}");
    let text = serde_json::to_string(&fitted.model).unwrap();
    let again: CellModel = serde_json::from_str(&text).unwrap();
    assert_eq!((&again, serde_json::to_string(&again).unwrap()), (&fitted.model, text));
    assert_eq!(again.predict(&test).unwrap(), found);
}

#[test]
fn means_of_cells_are_unbiased_for_every_number_mechanism_and_stay_within_bounds() {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let (n, bounds) = (20_000, Bounds::new(-1.0, 3.0).unwrap());
    let rows = uniform_rows(n, 1, &mut rng);
    let labels: Vec<f64> = rows.iter().map(|row| 4.0 * f64::from(row.dense[0]) - 1.0).collect();
    for kind in NumberKind::ALL {
        let mechanism = NumberMechanism::new(kind, bounds, epsilon(1.0)).unwrap();
        let (reports, clipped) = NumberReports::ask(&mechanism, &labels, &mut rng).unwrap();
        assert_eq!(clipped, 0);
        let model = CellModel::fit(Partition::cubes(&rows, 0.25).unwrap(), &rows, reports.targets()).unwrap();
        let found = model.predict(&Rows::dense(1, vec![0.1, 0.4, 0.6, 0.9])).unwrap();
        let sigma = ((reports.variance + 1.0 / 12.0) / (n as f64 / 4.0)).sqrt();
        for (found, expected) in found.iter().zip([-0.5, 0.5, 1.5, 2.5]) {
            assert!((f64::from(*found) - expected).abs() < 5.0 * sigma + 0.02, "{kind}: {found}");
            assert!((-1.0..=3.0).contains(found));
        }
    }
}

#[test]
fn labels_outside_the_bounds_are_clipped_and_counted_and_what_is_no_number_is_refused() {
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let mechanism = NumberMechanism::best(Bounds::new(0.0, 1.0).unwrap(), epsilon(1.0)).unwrap();
    let (reports, clipped) =
        NumberReports::ask(&mechanism, &[0.5, -1.0, f64::INFINITY, 1.0], &mut rng).unwrap();
    assert_eq!((reports.values.len(), clipped), (4, 2));
    let refused = NumberReports::ask(&mechanism, &[0.5, f64::NAN], &mut rng).unwrap_err();
    assert_eq!(refused.to_string(), "report 2: the value is not a number");
    assert!(NumberReports::decode(&mechanism, &[i64::MAX]).unwrap_err().to_string().starts_with("report 1"));
    let vectors = LabelVectors::certain([0, 0]);
    let one = Targets::Classes { vectors: &vectors, classes: 1 };
    let rows = Rows::dense(1, vec![0.0, 1.0]);
    assert!(fit_cells(&rows, one, None).unwrap_err().to_string().contains("at least two"));
    let two = Targets::Classes { vectors: &vectors, classes: 2 };
    assert!(matches!(fit_cells(&rows, two, None), Err(crate::LearnError::TooFewReports)));
    assert!(fit_cells(&Rows::new(1, 0), two, None).is_err());
}

#[test]
fn heavy_tails_are_learnt_with_the_corrected_rules_and_not_with_the_printed_ones() {
    use crate::nonparametric::neighbours::NeighbourModel;
    let mut rng = ChaCha12Rng::seed_from_u64(7);
    let (n, p, privacy) = (30_000u32, 3.0, 0.2);
    let rows = uniform_rows(n as usize, 1, &mut rng);
    // η between -1 and 1, and a symmetric tail that has a third moment and no fourth: E|y|³ ≤ 14
    let eta = |x: f32| (6.0 * f64::from(x)).sin();
    let labels: Vec<f64> = rows
        .iter()
        .map(|row| {
            let sign = if unit(&mut rng) < 0.5 { -1.0 } else { 1.0 };
            eta(row.dense[0]) + sign * ((1.0 - unit(&mut rng)).powf(-1.0 / 3.9) - 1.0)
        })
        .collect();
    let test = uniform_rows(400, 1, &mut rng);
    let mut risk = |k: f64| {
        let k = k.round().clamp(1.0, f64::from(n));
        let clip = rates::local_clip(p, 14.0, k, privacy);
        let bounds = Bounds::new(-clip, clip).unwrap();
        let mechanism = NumberMechanism::new(NumberKind::Laplace, bounds, epsilon(privacy)).unwrap();
        let (reports, clipped) = NumberReports::ask(&mechanism, &labels, &mut rng).unwrap();
        assert!(clipped > 0);
        let model = NeighbourModel::new(&rows, reports.targets(), k as usize).unwrap();
        let found = model.predict(&test).unwrap();
        let error =
            |(row, found): (crate::features::Row<'_>, f32)| (eta(row.dense[0]) - f64::from(found)).powi(2);
        test.iter().zip(found).map(error).sum::<f64>() / 400.0
    };
    let budget = f64::from(n) * privacy * privacy;
    let corrected = rates::heavy_neighbours(u64::from(n), 1, 1.0, p, privacy);
    // β = 1, d = 1: the appendix has (Nε²)^(2p/(2p + p - 1)), the text (Nε²)^(2/(2p + p - 1))
    let (appendix, text) = (budget.powf(0.75), budget.powf(0.25));
    assert!(corrected > 20.0 * appendix && appendix > text);
    let [ours, printed, in_text] = [risk(corrected), risk(appendix), risk(text)];
    assert!(ours < 0.5 * printed && ours < 0.5 * in_text, "{ours}, {printed}, {in_text}");
}
