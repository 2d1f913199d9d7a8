//! The gradients of a block's records: what [`RecordModel::gradient`] does for one, for all lanes at once.

use super::functions::{exp, sigmoid};
use super::lanes::{LANES, Lanes, between, dot, each, larger};
use undertone_privacy::gradient::{RecordLoss, RecordModel, Weight, Weighting};

/// Writes the gradient of the record (x, y) of each lane at θ.
#[inline(always)]
pub(super) fn gradient(model: &RecordModel, theta: &[Lanes], x: &[Lanes], y: &Lanes, gradient: &mut [Lanes]) {
    let weighting = model.weighting();
    let weight = weights(weighting, x);
    match model.loss() {
        RecordLoss::Huber(huber) => {
            let (slope, scale) = gradient.split_at_mut(x.len());
            let fitted = dot(x, theta);
            let sigma = &theta[x.len()];
            let u: Lanes = each(|l| between((y[l] - fitted[l]) / sigma[l], -huber.cut(), huber.cut()));
            times(x, &each(|l| -weight[l] * u[l]), slope);
            scale[0] = each(|l| weight[l] * (huber.consistency() - u[l] * u[l]) * 0.5);
        }
        RecordLoss::Logistic(_) => {
            let score = dot(x, theta);
            times(x, &each(|l| weight[l] * (sigmoid(score[l]) - y[l])), gradient);
        }
        RecordLoss::Multinomial(_) => multinomial(theta, x, y, &weight, gradient),
    }
    if weighting.weight == Weight::Clip {
        let square = dot(gradient, gradient);
        let factor: Lanes = each(|l| weighting.radius / larger(square[l].sqrt(), weighting.radius));
        for g in gradient {
            *g = each(|l| g[l] * factor[l]);
        }
    }
}

/// w(x).
#[inline(always)]
fn weights(weighting: Weighting, x: &[Lanes]) -> Lanes {
    let r = weighting.radius;
    match weighting.weight {
        Weight::Square => {
            let square = dot(x, x);
            each(|l| r * r / larger(square[l], r * r))
        }
        Weight::Linear => {
            let square = dot(x, x);
            each(|l| r / larger(square[l].sqrt(), r))
        }
        Weight::Clip => [1.0; LANES],
    }
}

/// factor·x.
#[inline(always)]
fn times(x: &[Lanes], factor: &Lanes, product: &mut [Lanes]) {
    for (product, x) in product.iter_mut().zip(x) {
        *product = each(|l| factor[l] * x[l]);
    }
}

/// The scores wait in the first places of each class's gradient; the last class has a score of zero.
#[inline(always)]
fn multinomial(theta: &[Lanes], x: &[Lanes], y: &Lanes, weight: &Lanes, gradient: &mut [Lanes]) {
    let q = x.len();
    let mut largest = [0.0; LANES];
    for (theta, gradient) in theta.chunks_exact(q).zip(gradient.chunks_exact_mut(q)) {
        gradient[0] = dot(x, theta);
        largest = each(|l| larger(largest[l], gradient[0][l]));
    }
    let mut sum: Lanes = each(|l| exp(-largest[l]));
    for gradient in gradient.chunks_exact_mut(q) {
        gradient[0] = each(|l| exp(gradient[0][l] - largest[l]));
        sum = each(|l| sum[l] + gradient[0][l]);
    }
    for (k, gradient) in gradient.chunks_exact_mut(q).enumerate() {
        let own = |y: f64| if (y - k as f64).abs() < 0.5 { 1.0 } else { 0.0 };
        let factor = each(|l| weight[l] * (gradient[0][l] / sum[l] - own(y[l])));
        times(x, &factor, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::online_study::stream::Streams;
    use undertone_privacy::gradient::{Huber, Logistic, Multinomial};

    #[test]
    fn every_lane_has_the_gradient_of_its_record() {
        let losses = [
            (RecordLoss::Huber(Huber::new(Huber::CUT, 0.1, 20.0).unwrap()), 1.0),
            (RecordLoss::Logistic(Logistic), 2.0),
            (RecordLoss::Multinomial(Multinomial::new(3).unwrap()), 3.0),
        ];
        let mut streams = Streams::new(5, 0);
        for (loss, labels) in losses {
            for weight in Weight::ALL {
                let weighting = Weighting::new(weight, 2f64.sqrt()).unwrap();
                let model = RecordModel::new(loss, weighting, 4, 50.0).unwrap();
                let (mut x, mut theta) = (vec![[0.0; LANES]; 4], vec![[0.0; LANES]; model.parameters()]);
                streams.normals(&mut x);
                streams.normals(&mut theta);
                if matches!(loss, RecordLoss::Huber(_)) {
                    theta[4] = [0.7; LANES];
                }
                let y: Lanes =
                    streams.uniform().map(|u| if labels > 1.0 { (labels * u).floor() } else { 4.0 * u });
                let mut ours = theta.clone();
                gradient(&model, &theta, &x, &y, &mut ours);
                for l in 0..LANES {
                    let lane = |lanes: &[Lanes]| lanes.iter().map(|value| value[l]).collect::<Vec<f64>>();
                    let mut plain = vec![0.0; model.parameters()];
                    model.gradient(&lane(&theta), &lane(&x), y[l], &mut plain);
                    for (ours, plain) in lane(&ours).iter().zip(&plain) {
                        assert!((ours - plain).abs() < 1e-14, "{loss:?}, {weight:?}: {ours} for {plain}");
                    }
                }
            }
        }
    }
}
