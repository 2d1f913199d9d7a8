//! Each closed form against its definition.

use super::Loss;
use crate::labels::{LabelVector, LabelVectors};

const SCORES: [[f32; 4]; 4] =
    [[0.3, -1.2, 0.9, 0.1], [2.5, 0.1, -0.4, 0.2], [-3.0, 4.0, 3.5, 0.0], [0.0, 0.25, 0.5, 0.75]];

/// e_k for each class, and two vectors as reports make them.
fn vectors() -> LabelVectors {
    let mut vectors = LabelVectors::certain(0..4);
    vectors.push(-0.7, [(1, 1.9), (2, 1.9)]);
    vectors.push(0.0, [(0, -0.5), (3, 1.5)]);
    vectors
}

/// ℓ(z, k) as it is defined.
fn defined(loss: Loss, z: &[f32], k: usize) -> f32 {
    match loss {
        Loss::Softmax => z.iter().map(|z| z.exp()).sum::<f32>().ln() - z[k],
        Loss::Logistic => {
            let sign = |j: usize| if j == k { -1.0 } else { 1.0 };
            z.iter().enumerate().map(|(j, z)| (sign(j) * z).exp().ln_1p()).sum()
        }
        Loss::Hinge => {
            let rivals = z.iter().enumerate().map(|(j, z)| z + f32::from(u8::from(j != k)));
            rivals.fold(f32::NEG_INFINITY, f32::max) - z[k]
        }
        Loss::Squared => {
            z.iter().enumerate().map(|(j, z)| (z - f32::from(u8::from(j == k))).powi(2)).sum::<f32>() / 2.0
        }
    }
}

#[test]
fn the_value_is_the_sum_over_the_classes_of_the_loss_as_defined() {
    for loss in Loss::ALL {
        for (z, a) in SCORES.iter().flat_map(|z| (0..6).map(move |row| (z, row))) {
            let vectors = vectors();
            let a: LabelVector<'_> = vectors.get(a);
            let expected: f32 = (0..4).map(|k| a.at(k) * defined(loss, z, k as usize)).sum();
            let found = loss.value(z, a);
            assert!((found - expected).abs() < 2e-5, "{loss:?} at {z:?}: {found} for {expected}");
        }
    }
}

#[test]
fn the_gradient_is_the_sum_over_the_classes_of_their_gradients() {
    let h = 1.0 / 256.0;
    for loss in Loss::ALL {
        for (z, row) in SCORES.iter().flat_map(|z| (0..6).map(move |row| (z, row))) {
            let vectors = vectors();
            let a = vectors.get(row);
            let mut gradient = *z;
            loss.gradient(&mut gradient, a);
            for j in 0..4 {
                let at = |shift: f32| {
                    let mut moved = *z;
                    moved[j] += shift;
                    f64::from(loss.value(&moved, a))
                };
                // Central differences: off by h²/6 times a third derivative below 10, and by rounding
                let slope = (at(h) - at(-h)) / f64::from(2.0 * h);
                let found = f64::from(gradient[j]);
                assert!((found - slope).abs() < 1e-3, "{loss:?} at {z:?}, {j}: {found} for {slope}");
            }
        }
    }
}

#[test]
fn probabilities_are_probabilities_and_keep_the_order_of_the_scores() {
    for loss in Loss::ALL {
        for z in SCORES {
            let mut p = z;
            loss.probabilities(&mut p);
            assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-5 && p.iter().all(|p| *p >= 0.0));
            let top = |v: &[f32; 4]| (0..4).max_by(|&a, &b| v[a].total_cmp(&v[b]));
            assert_eq!(top(&z), top(&p), "{loss:?}");
        }
    }
}

#[test]
fn no_gradient_of_one_label_is_longer_than_the_bound() {
    for loss in Loss::ALL {
        for z in SCORES {
            let size = f64::from(z.iter().map(|z| z * z).sum::<f32>()).sqrt();
            for k in 0..4 {
                let (mut gradient, one) = (z, LabelVectors::certain([k]));
                loss.gradient(&mut gradient, one.get(0));
                let length = f64::from(gradient.iter().map(|g| g * g).sum::<f32>()).sqrt();
                assert!(length <= loss.lipschitz(4, size) + 1e-6, "{loss:?} at {z:?}: {length}");
            }
        }
    }
}
