//! Gradients are those of their losses, and their mean is zero where it should be.

use super::*;
use crate::accounting::normal;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

/// The loss as it is printed, unweighted.
fn loss(model: &RecordModel, theta: &[f64], x: &[f64], y: f64) -> f64 {
    let q = x.len();
    match model.loss() {
        RecordLoss::Huber(huber) => {
            let (c, scale) = (huber.cut(), theta[q]);
            let t = (y - dot(x, theta)) / scale;
            let rho = if t.abs() <= c { t * t / 2.0 } else { c * t.abs() - c * c / 2.0 };
            scale * rho + huber.consistency() * scale / 2.0
        }
        RecordLoss::Logistic(_) => {
            let s = dot(x, theta);
            (-s.abs()).exp().ln_1p() + s.max(0.0) - y * s
        }
        RecordLoss::Multinomial(multinomial) => {
            let score =
                |k: u32| theta.get(k as usize * q..).filter(|b| !b.is_empty()).map_or(0.0, |b| dot(x, b));
            let sum: f64 = (0..multinomial.classes()).map(|k| score(k).exp()).sum();
            sum.ln() - score(y as u32)
        }
    }
}

fn uniform(rng: &mut ChaCha12Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * (f64::from(rng.next_u32()) / f64::from(u32::MAX))
}

/// Some point, record and label; the point and the record about as large as `size`.
fn anything(model: &RecordModel, size: f64, rng: &mut ChaCha12Rng) -> (Vec<f64>, Vec<f64>, f64) {
    let mut theta: Vec<f64> = (0..model.parameters()).map(|_| uniform(rng, -1.0, 1.0)).collect();
    let mut x: Vec<f64> = (0..model.covariates()).map(|_| uniform(rng, -size, size)).collect();
    x[0] = 1.0;
    let y = match model.loss() {
        RecordLoss::Huber(_) => {
            theta[x.len()] = uniform(rng, 0.5, 3.0);
            uniform(rng, -4.0, 4.0)
        }
        RecordLoss::Logistic(_) => f64::from(rng.next_u32() % 2),
        RecordLoss::Multinomial(multinomial) => f64::from(rng.next_u32() % multinomial.classes()),
    };
    (theta, x, y)
}

#[test]
fn gradients_are_the_slopes_of_the_weighted_losses() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    for loss_of in [huber(), LOGISTIC, multinomial(2), multinomial(3), multinomial(5)] {
        for weight in [Weight::Square, Weight::Linear] {
            let model = model(loss_of, weight, 4);
            for round in 0..200 {
                let (theta, x, y) = anything(&model, [0.3, 3.0][round % 2], &mut rng);
                let w = model.weighting().of(&x);
                for (j, slope) in gradient(&model, &theta, &x, y).into_iter().enumerate() {
                    let h = 1e-6;
                    let moved = |by: f64| {
                        let mut theta = theta.clone();
                        theta[j] += by;
                        w * loss(&model, &theta, &x, y)
                    };
                    let difference = (moved(h) - moved(-h)) / (2.0 * h);
                    assert!((difference - slope).abs() < 1e-5, "{model:?} {j}: {difference} {slope}");
                }
            }
        }
    }
}

#[test]
fn a_clipped_gradient_points_where_the_whole_one_does() {
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let zero = |g: &[f64]| g.iter().map(|g| g * g).sum::<f64>().sqrt();
    for loss in [huber(), LOGISTIC, multinomial(4)] {
        let clip = model(loss, Weight::Clip, 3);
        // so wide that nothing is weighted
        let whole = RecordModel::new(loss, Weighting::new(Weight::Linear, 1e6).unwrap(), 3, 1e6).unwrap();
        for _ in 0..100 {
            let (theta, x, y) = anything(&clip, 4.0, &mut rng);
            let (clipped, whole) = (gradient(&clip, &theta, &x, y), gradient(&whole, &theta, &x, y));
            let factor = (SQRT_2 / zero(&whole)).min(1.0);
            assert!(clipped.iter().zip(&whole).all(|(a, b)| (a - factor * b).abs() < 1e-12));
        }
    }
}

/// E[gradient | x] if θ is true, by adding up the labels or the density of the residual.
fn mean_score(model: &RecordModel, theta: &[f64], x: &[f64]) -> Vec<f64> {
    let q = x.len();
    let mut mean = vec![0.0; model.parameters()];
    let mut add = |p: f64, y: f64| {
        for (mean, g) in mean.iter_mut().zip(gradient(model, theta, x, y)) {
            *mean += p * g;
        }
    };
    match model.loss() {
        RecordLoss::Huber(huber) => {
            // Between the kinks of u, so that the trapezoids are right to h⁴
            let (c, most) = (huber.cut(), 12.0);
            for (from, to) in [(-most, -c), (-c, c), (c, most)] {
                let (cells, width) = (20_000, to - from);
                for i in 0..=cells {
                    let z = from + width * f64::from(i) / f64::from(cells);
                    let ends = if i == 0 || i == cells { 0.5 } else { 1.0 };
                    add(ends * width / f64::from(cells) * normal::pdf(z), dot(x, theta) + theta[q] * z);
                }
            }
        }
        RecordLoss::Logistic(_) => {
            let p = logistic::sigmoid(dot(x, theta));
            add(1.0 - p, 0.0);
            add(p, 1.0);
        }
        RecordLoss::Multinomial(multinomial) => {
            for y in 0..multinomial.classes() {
                add((-loss(model, theta, x, f64::from(y))).exp(), f64::from(y));
            }
        }
    }
    mean
}

#[test]
fn the_mean_score_of_every_x_is_zero_at_the_truth_whatever_its_weight() {
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    for loss in [huber(), LOGISTIC, multinomial(2), multinomial(5)] {
        for weight in [Weight::Square, Weight::Linear] {
            let model = model(loss, weight, 3);
            for size in [0.5, 5.0, 50.0] {
                let (theta, x, _) = anything(&model, size, &mut rng);
                for mean in mean_score(&model, &theta, &x) {
                    // κ is what makes that of σ zero.
                    assert!(mean.abs() < 1e-7, "{model:?}: {mean}");
                }
            }
        }
    }
}

#[test]
fn the_mean_of_clipped_scores_is_not() {
    // s = x'β = 3: the rare label has a gradient of length 3σ(3), which is clipped, the other one of 3σ(-3), which is not.
    let mean = mean_score(&model(LOGISTIC, Weight::Clip, 2), &[0.0, 1.0], &[1.0, 3.0]);
    // The step goes up, away from the truth.
    assert!(mean[1] < -0.05, "{mean:?}");
}

#[test]
fn kappa_is_the_mean_of_a_square_that_is_cut() {
    let kappa = |cut| Huber::new(cut, 0.1, 20.0).unwrap().consistency();
    assert!((kappa(Huber::CUT) - 0.710_164_548_269_0).abs() < 1e-13);
    // E min(Z², c²) tends to c² for small c and to E Z² = 1 for large c
    assert!((kappa(10.0) - 1.0).abs() < 1e-12 && (kappa(0.1) / 0.01 - 1.0).abs() < 0.06);
}
