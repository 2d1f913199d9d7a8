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
