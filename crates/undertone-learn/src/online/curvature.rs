//! M: no eigenvalue of the Hessian of the weighted loss is larger.
//!
//! > logistic: |x|²w/4,   multinomial: |x|²w/2,   Huber with its scale: (|x|²w + c²)/σ_min
//!
//! With weights R²/|x|², |x|²w is at most R² for every record. With weights R/|x| it is up to R·|x|, which no record bounds;
//! the Hessian of the mean loss then has R·E|x| in its place.

use undertone_privacy::gradient::{RecordLoss, RecordModel, Weight};

/// M for `model`, where `length` is E|x| or more and is looked at with weights R/|x| only. None if it is needed and not
/// known, and for gradients that are clipped, which are those of no loss.
pub fn largest_curvature(model: &RecordModel, length: Option<f64>) -> Option<f64> {
    let radius = model.weighting().radius;
    // |x|²w ≤ min(|x|², R·|x|), and E min(|x|², R|x|) ≤ R·E|x|
    let spread = match model.weighting().weight {
        Weight::Square => Some(radius * radius),
        Weight::Linear => length.map(|length| radius * length),
        Weight::Clip => None,
    }?;
    Some(match model.loss() {
        RecordLoss::Logistic(_) => spread / 4.0,
        RecordLoss::Multinomial(_) => spread / 2.0,
        RecordLoss::Huber(huber) => (spread + huber.cut() * huber.cut()) / huber.scales().0,
    })
}

/// λ, the largest eigenvalue that is to be expected where columns are standardised and independent, so that E|x|² = q.
///
/// > E[w·xx'] has the trace E[w|x|²] ≤ min(q, R²), or min(q, R·√q) with weights R/|x|, and q directions share it;
/// > a factor of 1/4, 1/2 or 1/σ follows, σ being the scale that a run begins with.
///
/// No bound: [`largest_curvature`] is one, for the worst records and the least scale, q times as large and more, and no step of
/// any use keeps to it with points hundreds of reports old.
pub fn expected_curvature(model: &RecordModel) -> f64 {
    let (q, radius) = (model.covariates() as f64, model.weighting().radius);
    let trace = match model.weighting().weight {
        Weight::Square => q.min(radius * radius),
        Weight::Linear => q.min(radius * q.sqrt()),
        Weight::Clip => q,
    };
    let factor = match model.loss() {
        RecordLoss::Logistic(_) => 0.25,
        RecordLoss::Multinomial(_) => 0.5,
        RecordLoss::Huber(_) => 1.0 / model.start().last().copied().unwrap_or(1.0),
    };
    trace / q * factor
}

#[cfg(test)]
mod tests {
    use super::super::tests::Normals;
    use super::*;
    use undertone_privacy::gradient::{Huber, Logistic, Multinomial, Weighting};

    fn losses() -> [RecordLoss; 3] {
        let huber = Huber::new(Huber::CUT, 0.5, 20.0).unwrap();
        let multinomial = Multinomial::new(3).unwrap();
        [RecordLoss::Huber(huber), RecordLoss::Logistic(Logistic), RecordLoss::Multinomial(multinomial)]
    }

    fn model(loss: RecordLoss, weight: Weight) -> RecordModel {
        RecordModel::new(loss, Weighting::new(weight, 2f64.sqrt()).unwrap(), 3, 10.0).unwrap()
    }

    #[test]
    fn the_published_weights_have_the_published_bounds() {
        let bounds = losses().map(|loss| largest_curvature(&model(loss, Weight::Square), None).unwrap());
        let expected = [(2.0 + 1.345 * 1.345) / 0.5, 0.5, 1.0];
        assert!(
            bounds.iter().zip(expected).all(|(bound, value)| (bound - value).abs() < 1e-12),
            "{bounds:?}"
        );
        assert!(largest_curvature(&model(losses()[1], Weight::Linear), None).is_none());
        assert!(largest_curvature(&model(losses()[1], Weight::Clip), Some(1.0)).is_none());
    }

    #[test]
    fn what_is_expected_of_standardised_columns_is_that_of_normal_ones_to_within_a_fifth() {
        let mut normals = Normals::new(6);
        for weight in [Weight::Square, Weight::Linear] {
            let model = model(losses()[1], weight);
            // E[w·xx']/4 by its diagonal: columns are independent, so that nothing stands beside it.
            let trials = 40_000;
            let mut diagonal = [0.0; 3];
            for _ in 0..trials {
                let x = [1.0, normals.next(), normals.next()];
                let w = model.weighting().of(&x);
                for (sum, x) in diagonal.iter_mut().zip(x) {
                    *sum += w * x * x / f64::from(trials) / 4.0;
                }
            }
            let (largest, expected) =
                (diagonal.iter().copied().fold(0.0, f64::max), expected_curvature(&model));
            assert!((largest / expected - 1.0).abs() < 0.2, "{diagonal:?} and {expected}");
            assert!(expected <= largest_curvature(&model, Some(3f64.sqrt())).unwrap());
        }
        let huber = expected_curvature(&model(losses()[0], Weight::Square));
        assert!((huber - 2.0 / 3.0).abs() < 1e-12, "at the scale of one: {huber}");
    }

    #[test]
    fn no_gradient_changes_faster_than_that() {
        let mut normals = Normals::new(5);
        for loss in losses() {
            for weight in [Weight::Square, Weight::Linear] {
                let model = model(loss, weight);
                for _ in 0..2000 {
                    let x = [1.0, 2.0 * normals.next(), 2.0 * normals.next()];
                    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
                    let bound = largest_curvature(&model, Some(length)).unwrap();
                    let y = if matches!(loss, RecordLoss::Huber(_)) { normals.next() } else { 1.0 };
                    let mut a: Vec<f64> =
                        model.start().iter().map(|start| start + 0.5 * normals.next()).collect();
                    model.project(&mut a);
                    let mut b: Vec<f64> = a.iter().map(|a| a + 1e-4 * normals.next()).collect();
                    model.project(&mut b);
                    let gradient = |theta: &[f64]| {
                        let mut gradient = vec![0.0; theta.len()];
                        model.gradient(theta, &x, y, &mut gradient);
                        gradient
                    };
                    let distance = |a: &[f64], b: &[f64]| {
                        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
                    };
                    let change = distance(&gradient(&a), &gradient(&b));
                    assert!(change <= bound * distance(&a, &b) * (1.0 + 1e-9), "{loss:?}, {weight:?}");
                }
            }
        }
    }
}
