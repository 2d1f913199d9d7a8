//! Gradients against their losses, and balls against all the records one can think of.

mod bad_input;
mod balls;
mod clipping;
mod corners;
mod scores;

use super::*;
use core::f64::consts::SQRT_2;

fn huber() -> RecordLoss {
    RecordLoss::Huber(Huber::new(Huber::CUT, 0.1, 20.0).unwrap())
}

fn multinomial(classes: u32) -> RecordLoss {
    RecordLoss::Multinomial(Multinomial::new(classes).unwrap())
}

const LOGISTIC: RecordLoss = RecordLoss::Logistic(Logistic);

/// With R² = 2.
fn model(loss: RecordLoss, weight: Weight, covariates: usize) -> RecordModel {
    RecordModel::new(loss, Weighting::new(weight, SQRT_2).unwrap(), covariates, 1e6).unwrap()
}

fn gradient(model: &RecordModel, theta: &[f64], x: &[f64], y: f64) -> Vec<f64> {
    let mut gradient = vec![0.0; model.parameters()];
    model.gradient(theta, x, y, &mut gradient);
    gradient
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// A vector of the plane.
fn polar(length: f64, angle: f64) -> [f64; 2] {
    [length * angle.cos(), length * angle.sin()]
}
