//! Methods that are interactive: devices are asked about the current point, one after the other.

use super::data::Data;
use super::methods::{Noise, RADIUS};
use rand_chacha::ChaCha12Rng;
use undertone_learn::LearnError;
use undertone_learn::convex::{
    ConvexLoss, Feasible, LinearLoss, NormalSgd, ProjectedSgd, Span, Step as ConvexStep, VectorSgd,
};
use undertone_learn::features::Row;
use undertone_learn::linear::{LinearModel, Weights};
use undertone_learn::loss::Loss;
use undertone_privacy::label::Label;
use undertone_privacy::{Delta, Epsilon};

/// δ of the one method that needs it.
const DELTA: f64 = 1e-6;

/// Each device computes its gradient at the current point and randomizes that, once.
pub(super) fn interactive(
    data: &Data,
    epsilon: Epsilon,
    noise: Noise,
    rng: &mut ChaCha12Rng,
) -> Result<LinearModel, LearnError> {
    let (features, classes) = (data.rows.width(), data.classes);
    let n = data.labels.len() as u64;
    let loss = LinearLoss::new(Loss::Softmax, classes as u32, features + 1, data.rows.longest(), RADIUS)?;
    let normal = NormalSgd::new(epsilon, Delta::new(DELTA)?)?;
    let vector = VectorSgd::codebook(classes - 1, epsilon)?;
    let second_moment = match noise {
        Noise::Normal => normal.second_moment(classes - 1, 1.0),
        Noise::Vector => vector.worst_case_second_moment(),
    };
    let step = ConvexStep::exact(RADIUS, loss.lipschitz() * second_moment.sqrt(), n);
    let mut sgd = ProjectedSgd::new(&loss, Feasible::ball(RADIUS)?, vec![0.0; loss.dimension()], step)?;
    for (row, &label) in data.rows.iter().zip(&data.labels) {
        let span: Span = loss.span(sgd.point(), &with_one(row, features));
        let mut estimate = vec![0.0; loss.dimension()];
        match noise {
            Noise::Normal => {
                let report = normal.release(&span, Label(label), rng)?;
                normal.add_estimate(&span, &report, &mut estimate)?;
            }
            Noise::Vector => {
                let report = vector.release(&span, Label(label), rng)?;
                vector.add_estimate(&span, &report, &mut estimate);
            }
        }
        sgd.observe_gradient(|gradient| gradient.copy_from_slice(&estimate))?;
    }
    let mut weights = Weights::zero(features, classes);
    for (weight, mean) in weights.values_mut().iter_mut().zip(sgd.mean()?) {
        *weight = mean as f32;
    }
    Ok(LinearModel { loss: Loss::Softmax, weights, scale_back: None })
}

/// A row in full, with the constant feature of the intercept at its end.
fn with_one(row: Row<'_>, features: usize) -> Vec<f64> {
    let mut full: Vec<f64> = row.dense.iter().copied().map(f64::from).collect();
    full.resize(features, 0.0);
    for &(feature, x) in row.sparse {
        full[row.dense.len() + feature as usize] = f64::from(x);
    }
    full.push(1.0);
    full
}
