//! Learning by a curator, under label privacy and under full privacy.

use super::*;
use crate::nonparametric::central::*;

const HALF_BOX: [(f32, f32); 1] = [(0.0, 1.0)];

#[test]
fn released_classes_are_those_of_the_majority_and_trust_is_stated() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let rows = uniform_rows(8000, 1, &mut rng);
    let truth = labels(&rows, &mut rng);
    let test = Rows::dense(1, vec![0.1, 0.25, 0.4, 0.6, 0.75, 0.9]);
    for release in [ClassRelease::Class, ClassRelease::Counts] {
        let partition = Partition::cubes(&rows, 0.125).unwrap();
        let model = release_classes(partition, &rows, &truth, 2, release, epsilon(1.0), &mut rng).unwrap();
        let found = model.predict(&test).unwrap();
        let ones: Vec<bool> = found.chunks(2).map(|p| p[1] > p[0]).collect();
        assert_eq!(ones, [true, true, true, false, false, false]);
        assert_eq!(model.trust(), TrustModel::LabelCentral);
        assert!(model.trust().check(crate::stages::Trust::Local, "the model").is_err());
    }
}

#[test]
fn everybody_answers_once_however_thin_the_cells_are() {
    // 64 cells of about 15 people each, where 25 are needed: units are what is left of their parents.
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let rows = uniform_rows(1000, 1, &mut rng);
    let labels: Vec<f64> = rows.iter().map(|row| f64::from(row.dense[0])).collect();
    let partition = Partition::cubes(&rows, 1.0 / 64.0).unwrap();
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    let (model, clipped) =
        release_numbers(partition, &rows, &labels, Clipping::Bounds(bounds), 25.0, epsilon(0.13), &mut rng)
            .unwrap();
    assert_eq!(clipped, 0);
    let found = model.predict(&Rows::dense(1, vec![0.1, 0.9])).unwrap();
    assert!(found.iter().all(|value| (0.0..=1.0).contains(value)));
    let distinct: std::collections::BTreeSet<u32> =
        (0..model.partition().nodes()).map(|node| model.node(node)[0].to_bits()).collect();
    // and an average of them for each of 63 parents at most
    assert!(distinct.len() <= 1000 / 25 + 63, "{} answers of at least 25 people", distinct.len());
}

#[test]
fn released_means_have_the_noise_of_their_cells_and_no_more() {
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    let rows = uniform_rows(4000, 1, &mut rng);
    let labels: Vec<f64> = rows.iter().map(|_| 5.0 * (2.0 * unit(&mut rng) - 1.0)).collect();
    let bounds = Bounds::new(-5.0, 5.0).unwrap();
    let partition = Partition::cubes(&rows, 0.5).unwrap();
    let left: Vec<usize> =
        (0..4000).filter(|&i| partition.locate(rows.get(i)) == partition.locate(rows.get(0))).collect();
    let n = left.len() as f64;
    let mean = left.iter().map(|&i| labels[i]).sum::<f64>() / n;
    let draws: Vec<f64> = (0..400)
        .map(|_| {
            let clipping = Clipping::Bounds(bounds);
            let released =
                release_numbers(partition.clone(), &rows, &labels, clipping, 25.0, epsilon(0.5), &mut rng)
                    .unwrap();
            f64::from(released.0.node(partition.locate(rows.get(0)))[0])
        })
        .collect();
    // scale 2T/(n·ε), variance twice its square; printed without T it would be a 25th
    let variance = 2.0 * (10.0 / (n * 0.5)).powi(2);
    let spread = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 400.0;
    assert!((spread / variance - 1.0).abs() < 5.0 * (5.0f64 / 400.0).sqrt(), "{spread} is not {variance}");
}

#[test]
fn heavy_tails_are_clipped_the_later_the_more_people_there_are() {
    let mut rng = ChaCha12Rng::seed_from_u64(4);
    let rows = uniform_rows(4000, 1, &mut rng);
    // 1 + a symmetric Pareto tail of index 4
    let labels: Vec<f64> = (0..4000)
        .map(|_| {
            let sign = if unit(&mut rng) < 0.5 { -1.0 } else { 1.0 };
            1.0 + sign * ((1.0 - unit(&mut rng)).powf(-0.25) - 1.0)
        })
        .collect();
    let heavy = Clipping::Moment { order: 2.0, bound: 2.0 };
    let partition = Partition::cubes(&rows, 0.5).unwrap();
    let (model, clipped) =
        release_numbers(partition.clone(), &rows, &labels, heavy, 25.0, epsilon(1.0), &mut rng).unwrap();
    let clip = rates::central_clip(2.0, 2.0, 2000.0, 1.0);
    let outside = labels.iter().filter(|label| label.abs() > clip).count() as f64;
    assert!((clipped as f64 - outside).abs() <= 3.0 + 0.2 * outside, "{clipped} and {outside}");
    let found = model.predict(&Rows::dense(1, vec![0.25, 0.75])).unwrap();
    assert!(found.iter().all(|value| (f64::from(*value) - 1.0).abs() < 0.15), "{found:?}");
    for (order, bound) in [(1.0, 1.0), (2.0, 0.0), (f64::NAN, 1.0), (2.0, f64::INFINITY)] {
        let refused = Clipping::Moment { order, bound };
        assert!(
            release_numbers(partition.clone(), &rows, &labels, refused, 25.0, epsilon(1.0), &mut rng)
                .is_err()
        );
    }
}

#[test]
fn under_full_privacy_the_two_sums_beat_the_tight_floor_which_beats_what_is_printed() {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let (n, parts) = (8000, 20);
    let grid = PublicGrid::new(&HALF_BOX, parts).unwrap();
    let bounds = Bounds::new(-1.0, 1.0).unwrap();
    let test = uniform_rows(500, 1, &mut rng);
    let eta = |x: f32| (f64::from(x) * 6.0).sin();
    let mut risk = [0.0; 3];
    for _ in 0..40 {
        let rows = uniform_rows(n, 1, &mut rng);
        let labels: Vec<f64> = rows.iter().map(|row| eta(row.dense[0])).collect();
        let floor = (0.5 * n as f64 / f64::from(parts)) as u32;
        let releases =
            [FullNumbers::TwoSided, FullNumbers::Floored(floor), FullNumbers::FlooredAsPublished(floor)];
        for (risk, release) in risk.iter_mut().zip(releases) {
            let (model, _) =
                grid.release_numbers(&rows, &labels, bounds, release, epsilon(0.2), &mut rng).unwrap();
            assert_eq!(model.trust(), TrustModel::FullCentral);
            let found = model.predict(&test).unwrap();
            let errors =
                test.iter().zip(found).map(|(row, found)| (eta(row.dense[0]) - f64::from(found)).powi(2));
            *risk += errors.sum::<f64>() / 500.0 / 40.0;
        }
    }
    assert!(risk[0] < 0.8 * risk[1] && risk[1] < 0.8 * risk[2], "{risk:?}");
}

#[test]
fn every_cell_answers_whoever_is_there_and_too_many_cells_are_refused() {
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let grid = PublicGrid::new(&[(0.0, 1.0), (-1.0, 1.0)], 8).unwrap();
    assert_eq!(grid.cells(), 64);
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    let here = Rows::dense(2, vec![0.1, 0.1]);
    let there = Rows::dense(2, vec![0.9, -0.9]);
    let nodes = |rows: &Rows, rng: &mut ChaCha12Rng| {
        let classes = grid.release_classes(rows, &[1], 3, false, epsilon(1.0), rng).unwrap();
        let numbers =
            grid.release_numbers(rows, &[0.5], bounds, FullNumbers::TwoSided, epsilon(1.0), rng).unwrap();
        (classes.partition().clone(), numbers.0.partition().clone())
    };
    // Not which cells exist, nor their number, tells where the person is.
    assert_eq!(nodes(&here, &mut rng), nodes(&there, &mut rng));
    // Occupied cells of the same fixed grid do: which answers there are tells the two apart for certain, an infinite loss.
    let fixed = CubeGrid::new(Axes::of_box(&[(0.0, 1.0), (-1.0, 1.0)]).unwrap(), 8).unwrap();
    let occupied = |rows: &Rows| Cubes::occupied(fixed.clone(), rows, 0).unwrap();
    assert_ne!(occupied(&here), occupied(&there));
    assert_eq!(occupied(&here), occupied(&Rows::dense(2, vec![0.11, 0.12])));
    // Without anybody, too, every cell has an answer.
    let nobody = Rows::new(2, 0);
    let (model, _) =
        grid.release_numbers(&nobody, &[], bounds, FullNumbers::Floored(3), epsilon(1.0), &mut rng).unwrap();
    assert_eq!(model.predict(&here).unwrap().len(), 1);
    let refused = PublicGrid::new(&[(0.0, 1.0); 8], 10).unwrap_err().to_string();
    assert!(refused.contains("100000000") && refused.contains("10 million"), "{refused}");
    assert!(grid.release_classes(&here, &[1], 1, true, epsilon(1.0), &mut rng).is_err());
    assert!(grid.release_classes(&here, &[], 2, true, epsilon(1.0), &mut rng).is_err());
    assert!(
        grid.release_classes(&Rows::dense(2, vec![0.1, f32::NAN]), &[1], 2, true, epsilon(1.0), &mut rng)
            .is_err()
    );
}
