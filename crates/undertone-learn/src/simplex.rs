//! The distribution that is nearest to some numbers.

/// The point of {x ≥ 0, Σx = 1} nearest to `values`, in their place; flat if one of them is infinite or no number.
///
/// It is max(0, v_j - θ) for the θ that makes it sum to one. With the values in falling order, θ is (v_1 + … + v_r - 1)/r for
/// the last r whose v_r exceeds it. The largest value stays the largest.
pub(crate) fn project(values: &mut [f64]) {
    if !values.iter().all(|value| value.is_finite()) {
        values.fill(1.0 / values.len() as f64);
        return;
    }
    let mut falling = values.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut theta) = (0.0, 0.0);
    for (r, &value) in (1u32..).zip(&falling) {
        sum += value;
        let candidate = (sum - 1.0) / f64::from(r);
        if value > candidate {
            theta = candidate;
        }
    }
    let sum: f64 = values.iter().map(|value| (value - theta).max(0.0)).sum();
    for value in values {
        *value = (*value - theta).max(0.0) / sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projected(mut values: Vec<f64>) -> Vec<f64> {
        project(&mut values);
        values
    }

    #[test]
    fn what_is_a_distribution_stays_and_what_is_negative_becomes_zero() {
        for (values, expected) in [
            (vec![0.25, 0.75], [0.25, 0.75]),
            (vec![1.5, -0.5], [1.0, 0.0]),
            (vec![0.9, 0.7], [0.6, 0.4]),
            (vec![-3.0, -3.0], [0.5, 0.5]),
            (vec![f64::NAN, 1.0], [0.5, 0.5]),
        ] {
            let found = projected(values);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?}");
        }
    }

    #[test]
    fn a_distribution_stays_and_no_other_distribution_is_nearer() {
        let mut even = [0.25; 4];
        project(&mut even);
        assert!(even.iter().all(|x| (x - 0.25).abs() < 1e-15));
        let noisy = [0.9, -0.3, 0.4, 0.2];
        let mut nearest = noisy;
        project(&mut nearest);
        let distance = |x: &[f64]| x.iter().zip(noisy).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        for i in 0..4 {
            for j in 0..4 {
                let mut other = nearest;
                let moved = 0.01f64.min(other[i]);
                (other[i], other[j]) =
                    if i == j { (other[i], other[j]) } else { (other[i] - moved, other[j] + moved) };
                assert!(distance(&other) >= distance(&nearest) - 1e-12);
            }
        }
        assert!((nearest.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
