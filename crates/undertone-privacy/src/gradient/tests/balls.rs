//! The balls hold every gradient, and no smaller ones would.

use super::*;
use core::f64::consts::PI;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

/// The largest distance between two of the points, which all lie in the ball, up to rounding.
fn diameter(points: &[Vec<f64>], around: &CentredBall) -> f64 {
    for point in points {
        let away = distance(point, &around.centre);
        assert!(away <= around.ball.radius() * (1.0 + 1e-12), "{point:?} {away} {around:?}");
    }
    let from = |(i, a): (usize, &Vec<f64>)| points[..i].iter().map(|b| distance(a, b)).fold(0.0, f64::max);
    points.iter().enumerate().map(from).fold(0.0, f64::max)
}

/// The diameter is twice the radius, less `share` of it at most.
#[track_caller]
fn assert_tight(model: &RecordModel, points: &[Vec<f64>], share: f64) {
    let (found, proved) = (diameter(points, &model.ball().unwrap()), 2.0 * model.radius());
    assert!(
        found <= proved * (1.0 + 1e-12) && found >= proved * (1.0 - share),
        "{model:?}: {found} {proved}"
    );
}

/// Gradients at θ for records all around the plane, of many lengths, with every label.
pub(super) fn around_the_plane(
    model: &RecordModel,
    theta: &[f64],
    directions: u32,
    labels: u32,
) -> Vec<Vec<f64>> {
    let mut points = Vec::new();
    for i in 0..directions {
        // none lies on an axis
        let angle = 2.0 * PI * (f64::from(i) + 0.5) / f64::from(directions);
        for share in [1e-3, 0.1, 0.3, 0.6, 1.0, 1.0 + 1e-9, 1.7, 10.0, 1e4] {
            let x = polar(share * SQRT_2, angle);
            points.extend((0..labels).map(|y| gradient(model, theta, &x, f64::from(y))));
        }
    }
    points
}

#[test]
fn the_table_of_radii_is_that_of_the_formulas() {
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 5e-9, "{value} {expected}");
    let (square, linear) = (model(huber(), Weight::Square, 6), model(huber(), Weight::Linear, 6));
    near(2.0 * square.radius(), 3.804_234_48);
    near(square.radius(), 1.902_117_24);
    near(2.0 * linear.radius(), 3.843_705_71);
    near(linear.radius(), 1.921_852_85);
    let (c, kappa) = (Huber::CUT, 0.710_164_548_269_0);
    near(square.ball().unwrap().centre[6], (kappa - c * c) / 2.0);
    near(linear.ball().unwrap().centre[6], (kappa - c * c) / 4.0);
    // what is printed instead, valid and loose, and twice the largest norm
    near((8.0 * c * c + c.powi(4) / 4.0).sqrt(), 3.910_286_80);
    near(2.0 * (2.0 * c * c + (c * c - kappa).powi(2) / 4.0).sqrt(), 3.959_759_37);
    for weight in [Weight::Square, Weight::Linear] {
        near(2.0 * model(LOGISTIC, weight, 6).radius(), 2.828_427_12);
        near(2.0 * model(multinomial(2), weight, 6).radius(), 2.828_427_12);
        near(2.0 * model(multinomial(3), weight, 6).radius(), 4.0);
    }
    assert_eq!(model(huber(), Weight::Square, 6).parameters(), 7);
    assert_eq!(model(LOGISTIC, Weight::Square, 6).parameters(), 6);
    assert_eq!(model(multinomial(5), Weight::Square, 6).parameters(), 24);
}

/// Cuts and R, wide and narrow, up to c = 2R where the proof ends.
pub(super) const CUTS: [(f64, f64); 5] =
    [(Huber::CUT, SQRT_2), (0.3, 2.0), (2.7, SQRT_2), (2.0, 1.0), (0.1, 0.05)];

/// Gradients of the Huber loss of two covariates for records all around the plane, with every residual.
pub(super) fn huber_around(cut: f64, r: f64, weight: Weight) -> (RecordModel, Vec<Vec<f64>>) {
    let loss = RecordLoss::Huber(Huber::new(cut, 0.1, 20.0).unwrap());
    let model = RecordModel::new(loss, Weighting::new(weight, r).unwrap(), 2, 10.0).unwrap();
    let theta = [0.4, -0.8, 1.3];
    let mut points = Vec::new();
    for direction in 0..8 {
        for share in [0.0, 0.2, 0.5, 0.9, 1.0, 1.1, 1.5, 3.0, 10.0, 100.0, 1e5] {
            let x = polar(share * r, PI * f64::from(direction) / 4.0);
            // u = ±c·i/12, and residuals beyond the cut
            points.extend((-13..=13).map(|i| {
                let y = dot(&x, &theta) + theta[2] * cut * f64::from(i) / 12.0;
                gradient(&model, &theta, &x, y)
            }));
        }
    }
    (model, points)
}

#[test]
fn the_ball_of_the_huber_loss_is_exact() {
    for (cut, r) in CUTS {
        for weight in [Weight::Square, Weight::Linear] {
            let (model, points) = huber_around(cut, r, weight);
            assert_tight(&model, &points, 1e-4);
        }
    }
}

#[test]
fn the_ball_of_the_logistic_loss_is_exact_where_it_is_steep() {
    for weight in [Weight::Square, Weight::Linear] {
        let model = model(LOGISTIC, weight, 2);
        assert_tight(&model, &around_the_plane(&model, &[0.0, 1e6], 360, 2), 1e-4);
        for theta in [[0.0, 0.0], [1.0, 1.0], [-3.0, 0.2], [1e6, -1e6]] {
            diameter(&around_the_plane(&model, &theta, 60, 2), &model.ball().unwrap());
        }
    }
}

#[test]
fn the_ball_of_the_softmax_loss_is_exact_where_it_is_steep() {
    for (classes, theta) in [
        (2, vec![0.0, 1e6]),
        (3, vec![0.0, 1e6, 0.0, -1e6]),
        (5, vec![0.0, 1e6, 0.0, -1e6, 0.0, 0.0, 0.0, 0.0]),
    ] {
        for weight in [Weight::Square, Weight::Linear] {
            let model = model(multinomial(classes), weight, 2);
            assert_tight(&model, &around_the_plane(&model, &theta, 120, classes), 1e-3);
            let flat: Vec<f64> = theta.iter().map(|b| b / 1e6).collect();
            diameter(&around_the_plane(&model, &flat, 40, classes), &model.ball().unwrap());
        }
    }
}

#[test]
fn what_is_clipped_has_the_ball_of_the_clip() {
    for (loss, labels) in [(huber(), 9), (LOGISTIC, 2), (multinomial(3), 3)] {
        let model = model(loss, Weight::Clip, 2);
        assert!((model.radius() - SQRT_2).abs() < 1e-15);
        let points = around_the_plane(&model, &model.start(), 120, labels);
        assert_tight(&model, &points, 1e-3);
    }
}

/// |θ|, and the diameter of the gradients there with R² = 2.
const DIAMETERS: [(f64, f64); 6] = [
    (0.0, SQRT_2),
    (0.1, 1.41773),
    (1.0, 1.65379),
    (2.0, 1.97415),
    (2.449_489_742_783_178, 2.08725),
    (20.0, 2.76526),
];

#[test]
fn at_one_point_the_logistic_ball_is_as_wide_as_the_gradients_there() {
    let model = model(LOGISTIC, Weight::Square, 2);
    for (norm, printed) in DIAMETERS {
        for angle in [0.0, 0.3, 2.0, 4.5] {
            let theta = polar(norm, angle);
            let around = model.ball_at(&theta).unwrap();
            let found = diameter(&around_the_plane(&model, &theta, 180, 2), &around);
            let bound = 2.0 * around.ball.radius();
            assert!((found - printed).abs() < 2e-3, "|θ| = {norm}: {found}, not {printed}");
            assert!(
                bound >= found * (1.0 - 1e-12) && bound - printed < 3e-4,
                "|θ| = {norm}: {bound}, not {printed}"
            );
        }
    }
}

#[test]
fn at_any_point_the_logistic_ball_holds_every_gradient_and_is_never_the_larger_one() {
    let most = model(LOGISTIC, Weight::Square, 2).radius();
    let mut last = 0.0;
    for exponent in -40..=24 {
        let norm = 10f64.powf(f64::from(exponent) / 4.0);
        let model = model(LOGISTIC, Weight::Square, 2);
        let theta = polar(norm.min(1e6), 0.7);
        let around = model.ball_at(&theta).unwrap();
        let radius = around.ball.radius();
        // The gain fades as |θ| grows, and there is no jump at zero.
        assert!(radius <= most && radius >= last * (1.0 - 1e-4), "{norm}: {radius}");
        last = radius;
        diameter(&around_the_plane(&model, &theta, 90, 2), &around);
        // Behind the plane the longest gradients have |x| < R: at |x|·|θ| = Z.
        for share in [0.5, 0.9, 1.0, 1.1, 2.0] {
            for turn in [0.0, 0.3, 0.8, 1.3] {
                let x = polar(-share * 1.278_464_5 / norm, 0.7 + turn);
                let away = distance(&gradient(&model, &theta, &x, 0.0), &around.centre);
                assert!(away <= radius, "{norm} {share}");
            }
        }
    }
    assert!((last - most).abs() < 1e-12);
}

#[test]
fn in_five_dimensions_no_record_leaves_the_logistic_ball() {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let mut uniform =
        |low: f64, high: f64| low + (high - low) * f64::from(rng.next_u32()) / f64::from(u32::MAX);
    let model = model(LOGISTIC, Weight::Square, 5);
    for _ in 0..40 {
        let size = 10f64.powf(uniform(-3.0, 2.0));
        let theta = [(); 5].map(|()| uniform(-size, size));
        let around = model.ball_at(&theta).unwrap();
        for round in 0..2000 {
            // Every other one lies near θ or its opposite.
            let drawn = [(); 5].map(|()| uniform(-1.0, 1.0));
            let pull = if round % 2 == 0 { 0.0 } else { uniform(-2.0, 2.0) / size };
            let length = 10f64.powf(uniform(-2.0, 1.0));
            let x: Vec<f64> = drawn.iter().zip(&theta).map(|(x, b)| length * (x + pull * b)).collect();
            let away = distance(&gradient(&model, &theta, &x, f64::from(round & 2) / 2.0), &around.centre);
            assert!(away <= around.ball.radius(), "{theta:?} {x:?}");
        }
    }
}

#[test]
fn at_zero_the_logistic_ball_has_half_the_radius_around_zero() {
    let model = model(LOGISTIC, Weight::Square, 5);
    for theta in [[0.0; 5], [-0.0; 5], [1e-300; 5]] {
        let around = model.ball_at(&theta).unwrap();
        assert_eq!(around.centre, vec![0.0; 5]);
        assert!((around.ball.radius() - SQRT_2 / 2.0).abs() < 1e-15);
    }
}

#[test]
fn in_many_dimensions_the_logistic_ball_depends_on_the_length_alone() {
    let one = model(LOGISTIC, Weight::Square, 2).ball_at(&[0.0, 2.0]).unwrap();
    let many = model(LOGISTIC, Weight::Square, 400).ball_at(&[0.1; 400]).unwrap();
    assert!((one.ball.radius() - many.ball.radius()).abs() < 1e-12);
    let length = |v: &[f64]| dot(v, v).sqrt();
    assert!((length(&one.centre) - length(&many.centre)).abs() < 1e-12);
    assert!(many.centre.iter().all(|&a| a.to_bits() == many.centre[0].to_bits() && a > 0.0));
}

#[test]
fn the_bits_of_the_logistic_ball_are_these_on_every_machine() {
    let around = model(LOGISTIC, Weight::Square, 2).ball_at(&[0.3, -1.7]).unwrap();
    let bits = [around.centre[0], around.centre[1], around.ball.radius()].map(f64::to_bits);
    assert_eq!(bits, [4_590_899_103_806_724_767, 13_825_876_124_559_391_498, 4_606_710_618_960_477_634]);
}

#[test]
fn other_losses_and_weights_have_one_ball_for_every_point() {
    for weight in Weight::ALL {
        for loss in [huber(), LOGISTIC, multinomial(3)] {
            if loss == LOGISTIC && weight == Weight::Square {
                continue;
            }
            let model = model(loss, weight, 2);
            assert_eq!(model.ball_at(&model.start()), model.ball());
        }
    }
}
