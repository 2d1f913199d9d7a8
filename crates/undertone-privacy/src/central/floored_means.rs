//! The mean of every cell of a public grid, divided by no fewer than n₀ people.
//!
//! > η_l = Σ u / max(n_l, n₀) + W, u = y less the middle of the bounds, |u| ≤ T
//!
//! This is eq. 33–36 of *On Theoretical Limits of Learning with Label Differential Privacy*, which prints noise of scale
//! 6T/(n₀·ε). n₀ has to be public and fixed beforehand.
//!
//! **Privacy.** A record that changes its label moves one mean by 2T/n₀ at most. One that leaves a cell of n people for one of
//! m moves both; the worst is a full cell at one end that loses its only dissenter, and over all cases the two move by at most
//! 4T/(n₀ + 1) together, for whole n₀ ≥ 1 (a test looks at every small case). So a scale of 4T/((n₀ + 1)·ε) is enough.
//!
//! **As it runs.** Means are rounded down to a grid of 2^30 steps for T, which may move each of the two by one step more: the
//! scale has two steps to spare.

use super::two_sided_sums::Placed;
use crate::exact::{DiscreteLaplace, Scale};
use crate::number::Bounds;
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer};
use alloc::vec;
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// Steps of a released mean for T
const STEPS: i128 = 1 << 30;

/// Noisy means of all cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlooredMeans {
    epsilon: Epsilon,
    cells: u32,
    bounds: Bounds,
    floor: u32,
    noise: DiscreteLaplace,
}

impl FlooredMeans {
    /// With the least noise that keeps the promise for the change of one record; `floor` is n₀.
    pub fn new(cells: u32, bounds: Bounds, floor: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Self::with(cells, bounds, floor, epsilon, 4.0 / (f64::from(floor) + 1.0))
    }

    /// As published: with noise of scale 6T/(n₀·ε).
    pub fn as_published(
        cells: u32,
        bounds: Bounds,
        floor: u32,
        epsilon: Epsilon,
    ) -> Result<Self, PrivacyError> {
        Self::with(cells, bounds, floor, epsilon, 6.0 / f64::from(floor))
    }

    /// With noise for means that move by `sensitivity` times T.
    fn with(
        cells: u32,
        bounds: Bounds,
        floor: u32,
        epsilon: Epsilon,
        sensitivity: f64,
    ) -> Result<Self, PrivacyError> {
        if floor == 0 {
            return Err(PrivacyError::Parameter { what: "n₀", value: 0.0 });
        }
        if cells == 0 {
            return Err(PrivacyError::NoCounts);
        }
        let scale = Scale::at_least((sensitivity * STEPS as f64 + 2.0) / epsilon.get())?;
        Ok(Self { epsilon, cells, bounds, floor, noise: DiscreteLaplace::new(scale) })
    }

    /// Where the numbers lie.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// n₀.
    pub fn floor(&self) -> u32 {
        self.floor
    }

    /// The noise, in steps of which 2^30 are T.
    pub fn noise(&self) -> DiscreteLaplace {
        self.noise
    }

    /// The mean that a report stands for.
    pub fn decode(&self, report: i64) -> f64 {
        let (low, high) = (self.bounds.low(), self.bounds.high());
        0.5 * (low + high) + 0.5 * (high - low) * (report as f64 / STEPS as f64)
    }

    /// ⌊2^30·Σ u/(T·max(n, n₀))⌋ for each cell.
    fn means(&self, people: &[Placed]) -> Result<Vec<i64>, PrivacyError> {
        let mut sums = vec![(0i128, 0u32); self.cells as usize];
        let half = i128::from(self.bounds.steps() / 2);
        for &(cell, number) in people {
            let sums = sums.get_mut(cell as usize);
            let (sum, count) =
                sums.ok_or(PrivacyError::Parameter { what: "the cell", value: f64::from(cell) })?;
            *sum += i128::from(number.index()) - half;
            *count += 1;
        }
        let mean = |(sum, count): (i128, u32)| {
            (sum * STEPS).div_euclid(half * i128::from(count.max(self.floor))) as i64
        };
        Ok(sums.into_iter().map(mean).collect())
    }
}

impl Randomizer for FlooredMeans {
    type Input = Vec<Placed>;
    type Report = Vec<i64>;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, people: &Vec<Placed>, rng: &mut impl CryptoRng) -> Result<Vec<i64>, PrivacyError> {
        let mut means = self.means(people)?;
        self.noise.add_to(&mut means, rng);
        Ok(means)
    }

    fn ln_likelihood(&self, report: &Vec<i64>, people: &Vec<Placed>) -> f64 {
        match self.means(people) {
            Ok(means) if means.len() == report.len() => {
                let cells = report.iter().zip(&means);
                cells.map(|(noisy, mean)| self.noise.ln_pmf(noisy.saturating_sub(*mean))).sum()
            }
            _ => f64::NEG_INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By how much, in units of T, the means of two cells move together when one record is replaced: the most over all cells
    /// of up to seven people whose numbers are at the ends or in the middle.
    fn sensitivity(floor: i64) -> f64 {
        let mean = |sum: i64, n: i64| sum as f64 / n.max(floor) as f64;
        let mut most = 0f64;
        for n in 0..7 {
            for sum in -n..=n {
                // one more, at u, in the first cell
                let moved = |u: i64| (mean(sum + u, n + 1) - mean(sum, n)).abs();
                for (u, v) in [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1)] {
                    most = most.max((mean(sum + u, n + 1) - mean(sum + v, n + 1)).abs());
                    for (m, other) in (0..7).flat_map(|m| (-m..=m).map(move |other| (m, other))) {
                        most = most.max(moved(u) + (mean(other + v, m + 1) - mean(other, m)).abs());
                    }
                }
            }
        }
        most
    }

    #[test]
    fn two_means_move_by_four_over_one_more_than_the_floor_and_what_is_printed_is_a_waste() {
        for floor in [1, 2, 3, 6] {
            let found = sensitivity(floor);
            assert!((found - 4.0 / (floor as f64 + 1.0)).abs() < 1e-12, "n₀ = {floor}: {found}");
            // noise of 6/n₀ has more than twice the variance that is needed
            assert!((6.0 / floor as f64 / found).powi(2) >= 2.25);
        }
    }

    #[test]
    fn no_small_change_costs_more_than_the_promise() {
        let bounds = Bounds::new(-2.0, 2.0).unwrap();
        let epsilon = Epsilon::new(1.0).unwrap();
        let ends = [bounds.lowest(), bounds.highest()];
        let records: Vec<Placed> = (0..2).flat_map(|cell| ends.map(|number| (cell, number))).collect();
        // Five people: at the worst n₀ stay in one cell, n₀ are in the other, and one goes.
        let loss = |mechanism: &FlooredMeans| {
            let mut most = 0f64;
            for code in 0..4usize.pow(5) {
                let data: Vec<Placed> = (0..5u32).map(|i| records[code / 4usize.pow(i) % 4]).collect();
                for &other in &records {
                    let mut neighbour = data.clone();
                    neighbour[0] = other;
                    for report in [[-1i64 << 45, -1 << 45], [-1 << 45, 1 << 45], [1 << 45, 1 << 45]] {
                        let report = report.to_vec();
                        let ln = |people| mechanism.ln_likelihood(&report, people);
                        most = most.max((ln(&data) - ln(&neighbour)).abs());
                    }
                }
            }
            most
        };
        let tight = loss(&FlooredMeans::new(2, bounds, 2, epsilon).unwrap());
        let printed = loss(&FlooredMeans::as_published(2, bounds, 2, epsilon).unwrap());
        assert!(tight <= 1.0 && tight > 0.99, "{tight}");
        assert!(printed < 0.45, "{printed}");
        assert!(FlooredMeans::new(2, bounds, 0, epsilon).is_err());
    }

    #[test]
    fn an_empty_cell_has_the_noise_of_all_others() {
        let bounds = Bounds::new(0.0, 4.0).unwrap();
        let mechanism = FlooredMeans::new(2, bounds, 5, Epsilon::new(1.0).unwrap()).unwrap();
        let people = Vec::from([(0, bounds.place(3.0).unwrap()); 10]);
        assert_eq!(mechanism.means(&people).unwrap(), [1 << 29, 0]);
        assert!((mechanism.decode(1 << 29) - 3.0).abs() < 1e-12);
        assert!(mechanism.ln_likelihood(&Vec::from([1 << 29, 12_345]), &people).is_finite());
    }
}
