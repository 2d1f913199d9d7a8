//! The distribution that is nearest to a table with noise.

/// Projects onto the simplex {x ≥ 0, Σ x = 1}: x_c = max(0, y_c - τ), with τ such that the sum is one.
///
/// With the cells in falling order, τ = (y_1 + … + y_r - 1)/r for the largest r with y_r above it.
pub(super) fn project_on_simplex(cells: &mut [f64]) {
    let mut falling = cells.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut tau) = (0.0, 0.0);
    for (r, &y) in falling.iter().enumerate() {
        sum += y;
        let candidate = (sum - 1.0) / (r + 1) as f64;
        if y > candidate {
            tau = candidate;
        }
    }
    for cell in cells {
        *cell = (*cell - tau).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_zero_is_taken_from_all_others_alike() {
        let mut cells = [0.6, 0.5, -0.1];
        project_on_simplex(&mut cells);
        assert!(cells.iter().zip([0.55, 0.45, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{cells:?}");
    }

    #[test]
    fn a_distribution_stays_and_no_other_distribution_is_nearer() {
        let mut even = [0.25; 4];
        project_on_simplex(&mut even);
        assert!(even.iter().all(|x| (x - 0.25).abs() < 1e-15));
        let noisy = [0.9, -0.3, 0.4, 0.2];
        let mut nearest = noisy;
        project_on_simplex(&mut nearest);
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
