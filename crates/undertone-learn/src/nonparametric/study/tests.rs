//! The problems are what they are said to be, and the closed form agrees with people and with cells.

use super::circle::Circle;
use super::places::{people, strata, unit};
use super::setting::{Method, Setting, generator};
use super::waves::{self, Waves};
use super::{pareto, printed};
use crate::evaluation::mean;
use crate::features::Rows;
use crate::nonparametric::TrustModel;
use crate::nonparametric::rates::Task;
use undertone_privacy::Epsilon;

fn setting(task: Task, trust: TrustModel, dimension: u32, epsilon: f64) -> Setting {
    Setting { task, trust, dimension, epsilon: Epsilon::new(epsilon).unwrap(), constant: 1.0 }
}

#[test]
fn waves_stay_within_one_and_their_squares_are_those_of_the_formula() {
    for dimension in [1, 2] {
        let mut rng = generator(1, 0, 0);
        let waves = Waves::draw(dimension, &mut rng);
        let places = strata([1 << 16, 1 << 8][dimension as usize - 1], dimension, &mut rng);
        let values: Vec<f64> = places.iter().map(|row| waves.at(row)).collect();
        assert!(values.iter().all(|value| value.abs() <= 1.0));
        let square = mean(&values.iter().map(|value| value * value).collect::<Vec<_>>());
        assert!((square.value - waves::square(dimension)).abs() < 5.0 * square.standard_error);
        // One cell shows nothing of waves that go around in it.
        assert!((waves::unresolved(1, dimension) - waves::square(dimension)).abs() < 1e-12);
    }
}

#[test]
fn means_of_cells_are_averages_over_cells() {
    let mut rng = generator(2, 0, 0);
    let waves = Waves::draw(1, &mut rng);
    let (parts, fine) = (7u32, 40_000u32);
    for (cell, &expected) in (0u32..).zip(&waves.cell_means(parts)[0]) {
        let place =
            |i: u32| ((f64::from(cell) + (f64::from(i) + 0.5) / f64::from(fine)) / f64::from(parts)) as f32;
        let rows = Rows::dense(1, (0..fine).map(place).collect());
        let average = rows.iter().map(|row| waves.at(row)).sum::<f64>() / f64::from(fine);
        assert!((average - expected).abs() < 1e-3, "cell {cell}: {average} is not {expected}");
    }
}

#[test]
fn sizes_have_the_moments_of_their_law() {
    // E min(R, T)^j = ∫ j·r^(j-1)·P(R > r) dr, by the rule of the midpoint
    let tail = |r: f64| (5.0 / 7.0 / r).powf(3.5).min(1.0);
    for clip in [0.5, 1.0, 2.0, 5.0] {
        for j in [1, 2] {
            let at = |i: u32| (f64::from(i) + 0.5) / 1e5 * clip;
            let sum: f64 = (0..100_000).map(|i| f64::from(j) * at(i).powi(j - 1) * tail(at(i))).sum();
            assert!((pareto::clipped(clip, j) - sum * clip / 1e5).abs() < 1e-4, "T = {clip}, j = {j}");
        }
    }
    assert!(
        (pareto::clipped(1e9, 1) - 1.0).abs() < 1e-9
            && (pareto::clipped(1e9, 2) - pareto::SQUARE).abs() < 1e-9
    );
    let mut rng = generator(3, 0, 0);
    let sizes = mean(&(0..200_000).map(|_| pareto::size(&mut rng)).collect::<Vec<_>>());
    assert!((sizes.value - 1.0).abs() < 5.0 * sizes.standard_error);
}

#[test]
fn chances_sum_to_one_and_labels_follow_them() {
    let mut rng = generator(4, 0, 0);
    let circle = Circle::draw(&mut rng);
    let here = people(1, 2, &mut rng);
    let chances = circle.chances(here.get(0));
    assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12 && chances.iter().all(|p| *p > 0.03));
    let mut counts = [0.0; 3];
    for _ in 0..30_000 {
        counts[circle.label(here.get(0), &mut rng) as usize] += 1.0;
    }
    for (count, p) in counts.iter().zip(chances) {
        assert!(
            (count / 30_000.0 - p).abs() < 5.0 * (p * (1.0 - p) / 30_000.0).sqrt(),
            "{counts:?}, {chances:?}"
        );
    }
    let best = chances.map(|p| p as f32);
    assert!(circle.excess(here.get(0), &best) < 1e-12 && unit(&mut rng) < 1.0);
}

#[test]
fn the_closed_form_agrees_with_people_and_with_cells() {
    for (task, dimension, epsilon) in [
        (Task::Regression, 1, 1.0),
        (Task::Heavy, 1, 0.05),
        (Task::Heavy, 2, 0.05),
        (Task::Regression, 2, 0.05),
    ] {
        let setting =
            Setting { constant: 1.5, ..setting(task, TrustModel::LabelCentral, dimension, epsilon) };
        let n = 1 << 15;
        let expected = setting.terms(n).unwrap().total();
        let people = setting.excesses(n, &[Method::Ours], 24, 5, &|| ()).unwrap()[0];
        let cells = setting.excess_by_cells(n, 64, 5).unwrap();
        // Quantiles of people, and their spread over cells, change the excess by a few hundredths of it.
        for (figure, how) in [(people, "people"), (cells, "cells")] {
            assert!(
                (figure.value - expected).abs() < 5.0 * figure.standard_error + 0.04 * expected,
                "{task:?}, d = {dimension}, {how}: {figure:?} is not {expected}"
            );
        }
    }
}

#[test]
fn what_is_found_does_not_depend_on_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let local = setting(Task::Heavy, TrustModel::LabelLocal, 2, 1.0);
        pool.install(|| local.excesses(512, &Method::ALL, 5, 6, &|| ()).unwrap())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn printed_choices_are_those_worked_by_hand() {
    // N = 2^16, ε = 1, β = 1/2, p = 3, d = 1: k = N^(1/2), h = N^(-1/2) + N^(-1/3.5)
    let heavy = |trust| setting(Task::Heavy, trust, 1, 1.0);
    assert!((heavy(TrustModel::LabelLocal).printed_neighbours(1 << 16) - 256.0).abs() < 1e-9);
    let width = heavy(TrustModel::LabelCentral).printed_width(1 << 16);
    assert!((width - (1.0 / 256.0 + 2f64.powf(-16.0 / 3.5))).abs() < 1e-12);
    // and a cell that nobody lies in says zero
    let rows = Rows::dense(1, vec![0.1, 0.2]);
    let bounds = undertone_privacy::number::Bounds::new(-1.0, 1.0).unwrap();
    let regression = setting(Task::Regression, TrustModel::LabelCentral, 1, 1.0);
    let mut rng = generator(7, 0, 0);
    let means = printed::CellMeans::release(0.25, &rows, &[1.0, 1.0], bounds, &regression, &mut rng).unwrap();
    assert!(means.at(Rows::dense(1, vec![0.9]).get(0)).abs() < 1e-12);
    assert!(means.at(rows.get(0)).abs() > 1e-12);
}

#[test]
fn heavy_tails_in_two_dimensions_reach_their_rate_where_cells_are_many() {
    let slope = |constant: f64, first: u32, last: u32| {
        let base = setting(Task::Heavy, TrustModel::LabelCentral, 2, 0.005);
        let setting = Setting { constant, ..base };
        let total = |power: u32| setting.terms(1 << power).unwrap().total();
        (total(first) / total(last)).ln() / (f64::from(last - first) * 2f64.ln())
    };
    // (εN)^(-2β(p-1)/(pβ+d(p-1))) = (εN)^(-4/11); with 3 to 8 cells along an axis it depends on the constant
    for constant in [1.6, 2.4, 3.6] {
        assert!((slope(constant, 28, 36) - 4.0 / 11.0).abs() < 0.015, "{}", slope(constant, 28, 36));
    }
    assert!(slope(3.6, 16, 20) < 0.31);
}
