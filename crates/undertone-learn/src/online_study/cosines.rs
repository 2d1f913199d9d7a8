//! How a direction mechanism turns away from the direction it is given: the law of ⟨V, u⟩, by its quantiles.
//!
//! With probability P the report lies in the cap of angle θ and mass q around u, else outside. On either side the quantiles
//! of its cosine are tabulated and joined by straight lines. The mean of the table, instead of that of the law, is what a
//! report is divided by: a simulated report is unbiased as it stands, and its law is the mechanism's to about a tenth of a
//! per cent.

use undertone_privacy::Epsilon;
use undertone_privacy::vector::sphere::Sphere;

/// Pieces of the quantile function on each side.
const CELLS: usize = 1024;

/// The law of the cosine.
#[derive(Clone, Debug)]
pub(super) struct Cosines {
    /// P
    keep: f64,
    /// Quantiles 0, 1/CELLS, …, 1 inside the cap, then outside
    inside: Vec<f64>,
    outside: Vec<f64>,
    /// m = E⟨V, u⟩
    pub(super) mean: f64,
}

impl Cosines {
    /// Of the cap that begins at this cosine, on the sphere of `dimension` coordinates, of which there are at least two.
    pub(super) fn new(dimension: usize, epsilon: Epsilon, cosine: f64) -> Self {
        let sphere = Sphere::new(dimension);
        let angle = cosine.clamp(0.0, 1.0).acos();
        let q = sphere.cap_mass(angle);
        let keep = q / (q + (1.0 - q) * (-epsilon.get()).exp());
        // A cap of more than half of the sphere is what a cap around the other pole leaves.
        let quantile = |mass: f64| {
            if mass <= 0.5 { sphere.angle_of_cap(mass).cos() } else { -sphere.angle_of_cap(1.0 - mass).cos() }
        };
        let table = |low: f64, high: f64| -> Vec<f64> {
            let mass = |i: usize| low + (high - low) * i as f64 / CELLS as f64;
            (0..=CELLS).map(|i| quantile(mass(i))).collect()
        };
        let (inside, outside) = (table(0.0, q), table(q, 1.0));
        let mean = keep * mean_of(&inside) + (1.0 - keep) * mean_of(&outside);
        Self { keep, inside, outside, mean }
    }

    /// The cosine for a uniform `side` and a uniform `place`.
    #[inline(always)]
    pub(super) fn at(&self, side: f64, place: f64) -> f64 {
        let table = if side < self.keep { &self.inside } else { &self.outside };
        let scaled = place * CELLS as f64;
        let cell = (scaled as usize).min(CELLS - 1);
        let (low, high) = (table[cell], table[cell + 1]);
        low + (high - low) * (scaled - cell as f64)
    }
}

/// The integral of the straight lines.
fn mean_of(table: &[f64]) -> f64 {
    table.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).sum::<f64>() / CELLS as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::vector::simulated::{SimulatedDuchi, SimulatedPrivUnit};
    use undertone_privacy::vector::{Ball, VectorRandomizer};

    #[test]
    fn the_mean_of_the_table_is_that_of_the_mechanism() {
        for p in [4, 7, 12, 22] {
            let ball = Ball::new(p, 1.0).unwrap();
            for e in [0.5, 1.0, 3.0] {
                let epsilon = Epsilon::new(e).unwrap();
                let best = SimulatedPrivUnit::new(ball, epsilon);
                for (cap, length) in [
                    (best.cap().unwrap(), best.variance_at_norm(0.0).sqrt()),
                    (0.0, SimulatedDuchi::new(ball, epsilon).variance_at_norm(0.0).sqrt()),
                ] {
                    let m = Cosines::new(p, epsilon, cap).mean;
                    assert!((m * length - 1.0).abs() < 2e-3, "p = {p}, ε = {e}: {m} for {}", 1.0 / length);
                }
            }
        }
    }
}
