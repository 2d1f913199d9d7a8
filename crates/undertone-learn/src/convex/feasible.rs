//! Where the weights may lie: convex sets with their projections.

use super::positive;
use crate::LearnError;

/// A closed convex set W.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feasible {
    /// |w| ≤ radius
    Ball {
        /// Positive
        radius: f64,
    },
    /// low ≤ w_j ≤ high for every j
    Box {
        /// Below `high`
        low: f64,
        /// Above `low`
        high: f64,
    },
    /// w_j ≥ 0 and Σw = total
    Simplex {
        /// Positive
        total: f64,
    },
}

impl Feasible {
    /// The ball around zero.
    pub fn ball(radius: f64) -> Result<Self, LearnError> {
        Ok(Self::Ball { radius: positive("the radius", radius)? })
    }

    /// The cube from `low` to `high` in every coordinate.
    pub fn cube(low: f64, high: f64) -> Result<Self, LearnError> {
        positive("the width of the box", high - low)?;
        Ok(Self::Box { low, high })
    }

    /// The simplex of this total.
    pub fn simplex(total: f64) -> Result<Self, LearnError> {
        Ok(Self::Simplex { total: positive("the total", total)? })
    }

    /// Replaces w by the closest point of W.
    pub fn project(&self, w: &mut [f64]) {
        match *self {
            Self::Ball { radius } => {
                let norm = w.iter().map(|x| x * x).sum::<f64>().sqrt();
                if norm > radius {
                    let scale = radius / norm;
                    for x in w.iter_mut() {
                        *x *= scale;
                    }
                }
            }
            Self::Box { low, high } => w.iter_mut().for_each(|x| *x = x.clamp(low, high)),
            Self::Simplex { total } => {
                let excess = simplex_excess(w, total);
                for x in w.iter_mut() {
                    *x = (*x - excess).max(0.0);
                }
            }
        }
    }

    /// The middle of W, from which nothing in it is far.
    pub fn centre(&self, dimension: usize) -> Vec<f64> {
        let value = match *self {
            Self::Ball { .. } => 0.0,
            Self::Box { low, high } => low.midpoint(high),
            Self::Simplex { total } => total / dimension as f64,
        };
        vec![value; dimension]
    }

    /// The greatest distance between two points of W.
    pub fn diameter(&self, dimension: usize) -> f64 {
        match *self {
            Self::Ball { radius } => 2.0 * radius,
            Self::Box { low, high } => (high - low) * (dimension as f64).sqrt(),
            Self::Simplex { total } => {
                if dimension == 1 {
                    0.0
                } else {
                    total * std::f64::consts::SQRT_2
                }
            }
        }
    }

    /// R₀, the greatest distance between `start` and a point of W.
    pub fn reach(&self, start: &[f64]) -> f64 {
        match *self {
            Self::Ball { radius } => radius + start.iter().map(|x| x * x).sum::<f64>().sqrt(),
            Self::Box { low, high } => {
                start.iter().map(|x| (x - low).max(high - x).powi(2)).sum::<f64>().sqrt()
            }
            // The farthest point is the corner where the start is smallest: |start|² - 2·total·min + total²
            Self::Simplex { total } => {
                let least = start.iter().copied().fold(f64::INFINITY, f64::min);
                let square = start.iter().map(|x| x * x).sum::<f64>() - 2.0 * total * least + total * total;
                square.max(0.0).sqrt()
            }
        }
    }
}

/// The τ with Σ max(w_j - τ, 0) = total. With w sorted downwards, τ = (w_1 + … + w_m - total)/m for the last m at which
/// w_m still exceeds it.
fn simplex_excess(w: &[f64], total: f64) -> f64 {
    let mut sorted = w.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut excess) = (0.0, f64::NEG_INFINITY);
    for (m, x) in (1u32..).zip(sorted) {
        sum += x;
        let candidate = (sum - total) / f64::from(m);
        if x <= candidate {
            break;
        }
        excess = candidate;
    }
    excess
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::super::dot;
    use super::super::tests::normals;
    use super::*;

    fn sets() -> [Feasible; 3] {
        [Feasible::ball(1.5).unwrap(), Feasible::cube(-0.5, 1.0).unwrap(), Feasible::simplex(2.0).unwrap()]
    }

    fn contains(set: Feasible, w: &[f64]) -> bool {
        match set {
            Feasible::Ball { radius } => dot(w, w).sqrt() <= radius + 1e-12,
            Feasible::Box { low, high } => w.iter().all(|x| (low..=high).contains(x)),
            Feasible::Simplex { total } => {
                w.iter().all(|x| *x >= 0.0) && (w.iter().sum::<f64>() - total).abs() < 1e-12
            }
        }
    }

    #[test]
    fn three_numbers_are_projected_as_worked_out_by_hand() {
        let mut w = [3.0, 0.0, 4.0];
        Feasible::ball(2.5).unwrap().project(&mut w);
        assert_eq!(w, [1.5, 0.0, 2.0]);
        // (1, 0.5, -1) onto the simplex of total one: τ = (1 + 0.5 - 1)/2 = 0.25
        let mut w = [1.0, 0.5, -1.0];
        Feasible::simplex(1.0).unwrap().project(&mut w);
        assert_eq!(w, [0.75, 0.25, 0.0]);
    }

    #[test]
    fn a_projection_is_the_point_of_the_set_from_which_all_others_lie_behind() {
        let draws = normals(41, 400 * 5);
        for set in sets() {
            for pair in draws.chunks_exact(10) {
                let (outside, mut other) = (&pair[..5], pair[5..].to_vec());
                let mut projected = outside.to_vec();
                set.project(&mut projected);
                set.project(&mut other);
                assert!(contains(set, &projected), "{set:?}: {projected:?}");
                // ⟨w - Pw, v - Pw⟩ ≤ 0 for every v of the set characterises the projection
                let away: Vec<f64> = outside.iter().zip(&projected).map(|(w, p)| w - p).collect();
                let along: Vec<f64> = other.iter().zip(&projected).map(|(v, p)| v - p).collect();
                assert!(dot(&away, &along) <= 1e-12, "{set:?}: {outside:?}");
            }
        }
    }

    #[test]
    fn no_point_is_farther_than_the_reach_nor_two_than_the_diameter() {
        let draws = normals(42, 400 * 5);
        for set in sets() {
            let start = set.centre(5);
            assert!(contains(set, &start));
            let mut farthest = 0f64;
            for pair in draws.chunks_exact(10) {
                // far out, so that corners are met
                let mut points =
                    [&pair[..5], &pair[5..]].map(|w| w.iter().map(|x| 9.0 * x).collect::<Vec<_>>());
                for w in &mut points {
                    set.project(w);
                }
                let distance =
                    |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
                assert!(distance(&points[0], &points[1]) <= set.diameter(5) + 1e-12);
                farthest = farthest.max(distance(&start, &points[0]));
            }
            let reach = set.reach(&start);
            assert!(farthest <= reach + 1e-12 && farthest > 0.99 * reach, "{set:?}: {farthest} of {reach}");
        }
    }

    #[test]
    fn a_set_without_an_inside_is_refused() {
        assert!(Feasible::ball(0.0).is_err() && Feasible::ball(f64::NAN).is_err());
        assert!(Feasible::cube(1.0, 1.0).is_err() && Feasible::simplex(-1.0).is_err());
    }
}
