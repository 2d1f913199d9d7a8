//! The smallest ball around a few points.
//!
//! Its centre is Σλ_i·p_i for the λ of the simplex that maximise Σλ_i|p_i|² - |Σλ_i·p_i|², found by moving weight towards
//! the farthest point or away from the nearest that has any (Frank and Wolfe's method with away steps). Any centre would
//! do as long as the radius is the distance to the farthest point, which it is here: how well the maximum was found decides
//! the accuracy of what is made from it, not its privacy.

use super::dot;

/// Steps at most; the gap shrinks by a constant factor in each.
const STEPS: usize = 2000;
/// Relative gap in the squared radius at which to stop.
const GAP: f64 = 1e-10;

/// The weights λ of the centre of the smallest ball around `points`.
pub(super) fn centre_weights(points: &[&[f64]]) -> Vec<f64> {
    let n = points.len();
    let gram: Vec<f64> = points.iter().flat_map(|p| points.iter().map(|q| dot(p, q))).collect();
    let mut weights = vec![1.0 / n as f64; n];
    // ⟨p_i, centre⟩ for each i, and |centre|²
    let mut along: Vec<f64> = (0..n).map(|i| dot(&gram[i * n..(i + 1) * n], &weights)).collect();
    let mut square = dot(&along, &weights);
    for _ in 0..STEPS {
        let distance = |i: usize| gram[i * n + i] - 2.0 * along[i] + square;
        let Some(far) = (0..n).max_by(|&i, &j| distance(i).total_cmp(&distance(j))) else { break };
        let held = (0..n).filter(|&i| weights[i] > 0.0);
        let Some(near) = held.min_by(|&i, &j| distance(i).total_cmp(&distance(j))) else { break };
        // The mean of the distances under λ is what is maximised.
        let mean = (0..n).map(|i| weights[i] * distance(i)).sum::<f64>();
        let (gain, loss) = (distance(far) - mean, mean - distance(near));
        if gain.max(loss) <= GAP * distance(far) {
            break;
        }
        // λ ← λ + s·(e_i - λ), with s < 0 to move away from the nearest
        let (to, slope, most) = if gain >= loss {
            (far, gain, 1.0)
        } else {
            (near, -loss, weights[near] / (1.0 - weights[near]).max(f64::MIN_POSITIVE))
        };
        // The objective changes by s·slope - s²·|p_i - centre|².
        let best = slope / (2.0 * distance(to)).max(f64::MIN_POSITIVE);
        let s = best.clamp(-most, most);
        for weight in &mut weights {
            *weight *= 1.0 - s;
        }
        weights[to] = (weights[to] + s).max(0.0);
        for (i, along) in along.iter_mut().enumerate() {
            *along = (1.0 - s) * *along + s * gram[i * n + to];
        }
        square = dot(&along, &weights);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::super::tests::normals;
    use super::*;

    fn ball(points: &[&[f64]]) -> (Vec<f64>, f64) {
        let weights = centre_weights(points);
        let centre: Vec<f64> =
            (0..points[0].len()).map(|j| points.iter().zip(&weights).map(|(p, l)| l * p[j]).sum()).collect();
        let to = |p: &&[f64]| p.iter().zip(&centre).map(|(x, c)| (x - c).powi(2)).sum::<f64>().sqrt();
        let radius = points.iter().map(to).fold(0.0, f64::max);
        (centre, radius)
    }

    #[test]
    fn an_obtuse_triangle_lies_in_the_ball_over_its_longest_side() {
        let (centre, radius) = ball(&[&[0.0, 0.0], &[4.0, 0.0], &[1.0, 0.5]]);
        assert!((radius - 2.0).abs() < 1e-6, "{radius}");
        assert!((centre[0] - 2.0).abs() < 1e-4 && centre[1].abs() < 1e-4, "{centre:?}");
    }

    #[test]
    fn no_other_centre_has_a_smaller_radius() {
        let draws = normals(31, 40 * 21);
        for points in draws.chunks_exact(21) {
            let points: Vec<&[f64]> = points.chunks_exact(3).collect();
            let (centre, radius) = ball(&points);
            for step in [0.1, 0.01, 0.001] {
                for axis in 0..6 {
                    let mut moved = centre.clone();
                    moved[axis / 2] += if axis % 2 == 0 { step } else { -step };
                    let to =
                        |p: &&[f64]| p.iter().zip(&moved).map(|(x, c)| (x - c).powi(2)).sum::<f64>().sqrt();
                    let other = points.iter().map(to).fold(0.0, f64::max);
                    assert!(other >= radius * (1.0 - 1e-5), "{other} < {radius}");
                }
            }
        }
    }
}
