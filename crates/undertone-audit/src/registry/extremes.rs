//! The two records of any model that are hardest to keep apart, found by looking.
//!
//! Which records are extreme depends on the loss, its weights and how steep a θ the box allows. So gradients of many are compared:
//! with all covariates alike or nearly in the plane between two classes, as long as R or without bound, with residuals beyond
//! any cut and every label, at the steepest θ. The pair that is farthest apart is the one to judge; what is found is a bound from
//! below on what could be told apart, never from above.

use super::{GradientTrial, Record};
use undertone_privacy::gradient::{RecordLoss, RecordModel, Weight};
use undertone_privacy::vector::{BallVector, VectorKind, VectorMechanism};
use undertone_privacy::{Guarantee, PrivacyError};

/// Halvings of the angle between a record and the plane between classes, four to an octave: down to 2^-20.
const ANGLES: i32 = 80;
/// Records that are so much longer than R have no weight left.
const LONG: f64 = 1e9;
/// A residual beyond any cut.
const FAR: f64 = 1e12;

impl GradientTrial {
    /// The mechanism of this kind and promise on the two records of `model` whose gradients are farthest apart, in l1 for Laplace
    /// noise and in l2 for any other.
    pub fn extreme(model: RecordModel, kind: VectorKind, promise: Guarantee) -> Result<Self, PrivacyError> {
        let theta = steepest(&model);
        let around = model.ball_at(&theta)?;
        let vector = |record: Record| -> Result<(Record, BallVector), PrivacyError> {
            let vector = model.vector_at(&theta, &record.x, record.y, &around)?;
            Ok((record, vector))
        };
        let all = records(&model).into_iter().map(vector).collect::<Result<Vec<_>, _>>()?;
        let power = if kind == VectorKind::Laplace { 1 } else { 2 };
        let pairs = all.iter().enumerate().flat_map(|(i, a)| all[..i].iter().map(move |b| (a, b)));
        let farthest = pairs.max_by_key(|((_, a), (_, b))| apart(a, b, power));
        // There is more than one label, or residual.
        let ((a, _), (b, _)) = farthest.ok_or(PrivacyError::TooFewLabels { labels: 1 })?;
        let records = [a.clone(), b.clone()];
        Self::new(model, theta, records, VectorMechanism::new(kind, around.ball, promise)?)
    }
}

/// Σ|a_j - b_j|^power.
fn apart(a: &BallVector, b: &BallVector, power: u32) -> u64 {
    a.steps().iter().zip(b.steps()).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(power)).sum()
}

/// Of labels: the first two classes divided by the last covariate, as sharply as the box allows.
fn steepest(model: &RecordModel) -> Vec<f64> {
    let (mut theta, q, bound) = (model.start(), model.covariates(), model.bound());
    if !matches!(model.loss(), RecordLoss::Huber(_)) {
        theta[q - 1] = bound;
        if let Some(second) = theta.get_mut(2 * q - 1) {
            *second = -bound;
        }
    }
    theta
}

fn records(model: &RecordModel) -> Vec<Record> {
    let (q, r) = (model.covariates(), model.weighting().radius);
    let labels: Vec<f64> = match model.loss() {
        RecordLoss::Huber(_) => vec![-FAR, FAR],
        RecordLoss::Logistic(_) => vec![0.0, 1.0],
        // All others are as far from these as any.
        RecordLoss::Multinomial(multinomial) => (0..multinomial.classes().min(3)).map(f64::from).collect(),
    };
    let lengths: &[f64] = if model.weighting().weight == Weight::Square { &[1.0] } else { &[1.0, LONG] };
    let corner = (q as f64).sqrt().recip();
    let sines = (0..=ANGLES).map(|k| 2f64.powf(-f64::from(k) / 4.0)).chain([corner]);
    let mut records = Vec::new();
    for sine in sines.flat_map(|sine| [sine, -sine]) {
        // The rest of the length is shared by all covariates but the last.
        let rest = ((1.0 - sine * sine) / (q as f64 - 1.0).max(1.0)).sqrt();
        for length in lengths {
            let mut x = vec![length * r * rest; q];
            x[q - 1] = length * r * sine;
            records.extend(labels.iter().map(|&y| Record { x: x.clone(), y }));
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Mechanism;
    use crate::{Auditor, Settings};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::gradient::{Huber, Logistic, Multinomial, Weighting};
    use undertone_privacy::{Epsilon, Mu};

    #[test]
    fn the_pair_that_is_found_shows_nearly_all_that_is_promised() {
        let settings = Settings { trials: 100, confidence: 0.99 };
        let mut auditor = Auditor::new(settings, ChaCha12Rng::seed_from_u64(1));
        let losses = [
            RecordLoss::Huber(Huber::new(Huber::CUT, 0.1, 20.0).unwrap()),
            RecordLoss::Logistic(Logistic),
            RecordLoss::Multinomial(Multinomial::new(2).unwrap()),
            RecordLoss::Multinomial(Multinomial::new(4).unwrap()),
        ];
        let pure = Guarantee::Pure(Epsilon::new(1.0).unwrap());
        for loss in losses {
            for weight in Weight::ALL {
                let weighting = Weighting::new(weight, 2f64.sqrt()).unwrap();
                let model = RecordModel::new(loss, weighting, 4, 20.0).unwrap();
                // In a box of ± 20 no plane between classes is quite sharp, least of all where records are in the corners.
                for (kind, promise, least) in [
                    (VectorKind::Gdp, Guarantee::Gaussian(Mu::new(1.0).unwrap()), 0.97),
                    (VectorKind::Codebook, pure, 0.97),
                    (VectorKind::Laplace, pure, 0.75),
                ] {
                    let trial = GradientTrial::extreme(model, kind, promise).unwrap();
                    let verdict = auditor.judge("a gradient", &Mechanism::Gradient(trial)).unwrap();
                    let found = verdict.exact.unwrap();
                    assert!(verdict.kept() && found > least, "{loss:?} {weight:?}: {verdict}");
                }
            }
        }
    }
}
