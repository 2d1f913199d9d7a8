//! Where a descent over clipped gradients goes: not to the truth, however many people report.
//!
//! The factor min(1, C/|g|) of the logistic loss depends on y, so that E\[clipped score\] = 0 holds elsewhere than at θ*. With
//! x = (1, z), z ~ N(0, I_3) and θ* = (1, 1, 1, 1) it holds at some (a, b, b, b), which two equations fix: the means of the
//! score's first coordinate and of its part along (1, 1, 1)/√3 are zero.

use super::*;

/// Points of the quadrature along (1, 1, 1), and across it.
const ALONG: usize = 160;
const ACROSS: usize = 40;

/// The two means at (a, b, b, b). The part t of z along (1, 1, 1)/√3 is normal, and the square of what is across it has the density
/// e^(-s/2)/2: midpoints of equal steps of the one, and of equal shares of the other.
fn means(model: &RecordModel, [a, b]: [f64; 2]) -> [f64; 2] {
    let (third, half) = (3f64.sqrt().recip(), SQRT_2.recip());
    let (mut means, mut total) = ([0.0; 2], 0.0);
    for i in 0..ALONG {
        let t = 8.0 * (2.0 * (i as f64 + 0.5) / ALONG as f64 - 1.0);
        let weight = (-t * t / 2.0).exp();
        let yes = 1.0 / (1.0 + (-1.0 - 3f64.sqrt() * t).exp());
        total += weight;
        for j in 0..ACROSS {
            let s = (-2.0 * ((j as f64 + 0.5) / ACROSS as f64).ln()).sqrt();
            let x = [1.0, t * third + s * half, t * third - s * half, t * third];
            for (y, share) in [(0.0, 1.0 - yes), (1.0, yes)] {
                let score = gradient(model, &[a, b, b, b], &x, y);
                let weight = weight * share / ACROSS as f64;
                means[0] += weight * score[0];
                means[1] += weight * third * (score[1] + score[2] + score[3]);
            }
        }
    }
    means.map(|mean| mean / total)
}

/// Where both means are zero, by Newton's method from the truth.
fn limit(model: &RecordModel) -> [f64; 2] {
    let mut theta = [1.0, 1.0];
    for _ in 0..12 {
        let h = 1e-5;
        let [f, g] = means(model, theta);
        let [fa, ga] = means(model, [theta[0] + h, theta[1]]).map(|mean| mean / h);
        let [fb, gb] = means(model, [theta[0], theta[1] + h]).map(|mean| mean / h);
        let [fa, ga, fb, gb] = [fa - f / h, ga - g / h, fb - f / h, gb - g / h];
        let determinant = fa * gb - fb * ga;
        theta[0] -= (f * gb - g * fb) / determinant;
        theta[1] -= (fa * g - ga * f) / determinant;
    }
    theta
}

#[test]
fn clipped_gradients_lead_to_known_places_beside_the_truth() {
    // found by an independent program, to two digits
    for (clip, expected, error) in
        [(0.5, [1.74, 1.84], 0.02), (1.0, [1.20, 1.28], 0.01), (SQRT_2, [1.07, 1.10], 0.01)]
    {
        let weighting = Weighting::new(Weight::Clip, clip).unwrap();
        let model = RecordModel::new(LOGISTIC, weighting, 4, 100.0).unwrap();
        let found = limit(&model);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < error, "C = {clip}: {found}, not {expected}");
        }
        assert!(means(&model, found).iter().all(|mean| mean.abs() < 1e-9));
        // and at the truth the mean is not zero
        assert!(means(&model, [1.0; 2]).iter().any(|mean| mean.abs() > 1e-3));
    }
}

#[test]
fn weights_of_the_record_alone_lead_to_the_truth() {
    for weight in [Weight::Square, Weight::Linear] {
        assert!(means(&model(LOGISTIC, weight, 4), [1.0; 2]).iter().all(|mean| mean.abs() < 1e-12));
    }
}
