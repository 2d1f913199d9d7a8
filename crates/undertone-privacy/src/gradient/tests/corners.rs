//! How far apart gradients are in l1: no farther than the model says, and as far where it says that it is exact.

use super::balls::{CUTS, around_the_plane, huber_around};
use super::*;

fn l1(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

/// The largest l1 distance between two of the points, none of which is farther from the centre than half of what is proved.
fn found(model: &RecordModel, points: &[Vec<f64>]) -> f64 {
    let (centre, half) = (model.ball().unwrap().centre, model.l1_diameter() / 2.0);
    for point in points {
        let away = l1(point, &centre);
        assert!(away <= half * (1.0 + 1e-12), "{model:?}: {point:?} is {away} away, not {half}");
    }
    let from = |(i, a): (usize, &Vec<f64>)| points[..i].iter().map(|b| l1(a, b)).fold(0.0, f64::max);
    points.iter().enumerate().map(from).fold(0.0, f64::max)
}

#[test]
fn the_huber_loss_reaches_its_l1_diameter_and_no_more() {
    for (cut, r) in CUTS {
        for weight in [Weight::Square, Weight::Linear] {
            let (model, points) = huber_around(cut, r, weight);
            let (found, proved) = (found(&model, &points), model.l1_diameter());
            assert!(found <= proved * (1.0 + 1e-12), "{model:?}: {found} {proved}");
            // Where c is above R√q, only what the ball gives is proved.
            if cut <= r * SQRT_2 {
                assert!(found >= proved * (1.0 - 1e-4), "{model:?}: {found} {proved}");
                assert!(proved < 2.0 * model.radius() * 3f64.sqrt() * 0.96, "{model:?}");
            }
        }
    }
}

#[test]
fn steep_losses_of_labels_reach_their_l1_diameter_and_no_more() {
    // The planes are steep along a diagonal, and half a degree beside the other one the records are all in a corner.
    let steep = [1e6, -1e6];
    let flat = [0.0, 0.0];
    for (loss, labels, theta) in [
        (LOGISTIC, 2, steep.to_vec()),
        (multinomial(2), 2, steep.to_vec()),
        (multinomial(3), 3, [steep, steep.map(|b| -b)].concat()),
        (multinomial(5), 5, [steep, steep.map(|b| -b), flat, flat].concat()),
    ] {
        for weight in [Weight::Square, Weight::Linear] {
            let model = model(loss, weight, 2);
            let points = around_the_plane(&model, &theta, 360, labels);
            let (found, proved) = (found(&model, &points), model.l1_diameter());
            assert!(found <= proved * (1.0 + 1e-12) && found >= proved * (1.0 - 1e-3), "{found} {proved}");
        }
    }
}

#[test]
fn what_is_clipped_has_the_corners_of_its_ball() {
    let model = model(LOGISTIC, Weight::Clip, 2);
    assert!((model.l1_diameter() - 4.0).abs() < 1e-12);
    assert!(found(&model, &around_the_plane(&model, &[1e6, -1e6], 360, 2)) > 3.99);
}

#[test]
fn the_table_of_l1_diameters_is_that_of_the_formulas() {
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-8, "{value} {expected}");
    let (c, kappa) = (Huber::CUT, 0.710_164_548_269_0);
    let (huber_square, huber_linear) = (model(huber(), Weight::Square, 6), model(huber(), Weight::Linear, 6));
    near(huber_square.l1_diameter(), 2.0 * c * 12f64.sqrt());
    near(huber_linear.l1_diameter(), 2.0 * c * 12f64.sqrt() + (c * c - kappa) / 2.0);
    near(model(LOGISTIC, Weight::Square, 6).l1_diameter(), 2.0 * 12f64.sqrt());
    for classes in [3, 5, 9] {
        near(model(multinomial(classes), Weight::Linear, 6).l1_diameter(), 4.0 * 12f64.sqrt());
    }
    // What the ball alone would give is a thirteenth more for the regression, and for nine classes twice as much.
    let ratio =
        |model: &RecordModel| 2.0 * model.radius() * (model.parameters() as f64).sqrt() / model.l1_diameter();
    near(ratio(&huber_square), (7f64 / 6.0).sqrt());
    near(ratio(&model(multinomial(9), Weight::Square, 6)), 2.0);
    // which is what devices add noise for
    let steps = f64::from(crate::vector::STEPS);
    let in_steps = huber_square.ball().unwrap().ball.l1_diameter() as f64 * huber_square.radius() / steps;
    assert!((in_steps / huber_square.l1_diameter() - 1.0).abs() < 1e-6);
}
