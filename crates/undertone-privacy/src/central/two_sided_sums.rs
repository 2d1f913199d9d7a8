//! The mean of every cell of a public grid, from two sums that each lack nothing but the other.
//!
//! With index in 0..=2^20 on the grid of a record's number, each cell releases
//!
//! > A = Σ index + Z, B = Σ (2^20 - index) + Z', P(z) ∝ exp(-|z|·ε/(2·2^20))
//!
//! and the mean is low + (high - low)·A/(A + B).
//!
//! **Privacy.** A record adds 2^20 to A and B together, in one cell. Replacing it takes as much away and adds as much somewhere, so
//! the released integers move by 2·2^20 in all: ε for whole records. Every cell answers, empty or not, and how many people it
//! holds is not said otherwise. Unlike eq. 36 of *On Theoretical Limits of Learning with Label Differential Privacy* it needs no
//! public bound on the density ([`super::FlooredMeans`]).

use crate::exact::{DiscreteLaplace, Scale};
use crate::number::{Bounds, GridNumber};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer};
use alloc::vec;
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// A person's cell and number.
pub type Placed = (u32, GridNumber);

/// Two noisy sums for all cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoSidedSums {
    epsilon: Epsilon,
    cells: u32,
    bounds: Bounds,
    noise: DiscreteLaplace,
}

impl TwoSidedSums {
    /// Under a promise of `epsilon` for the change of one record.
    pub fn new(cells: u32, bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        if cells == 0 {
            return Err(PrivacyError::NoCounts);
        }
        let scale = Scale::at_least(2.0 * f64::from(bounds.steps()) / epsilon.get())?;
        Ok(Self { epsilon, cells, bounds, noise: DiscreteLaplace::new(scale) })
    }

    /// Where the numbers lie.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The noise of each sum, in steps of the grid.
    pub fn noise(&self) -> DiscreteLaplace {
        self.noise
    }

    /// A and B of each cell.
    fn sums(&self, people: &[Placed]) -> Result<Vec<[i64; 2]>, PrivacyError> {
        let mut sums = vec![[0; 2]; self.cells as usize];
        for &(cell, number) in people {
            let sums = sums.get_mut(cell as usize);
            let sums = sums.ok_or(PrivacyError::Parameter { what: "the cell", value: f64::from(cell) })?;
            sums[0] += i64::from(number.index());
            sums[1] += i64::from(self.bounds.steps() - number.index());
        }
        Ok(sums)
    }
}

impl Randomizer for TwoSidedSums {
    type Input = Vec<Placed>;
    type Report = Vec<[i64; 2]>;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(
        &self,
        people: &Vec<Placed>,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<[i64; 2]>, PrivacyError> {
        let mut sums = self.sums(people)?;
        for sums in &mut sums {
            self.noise.add_to(sums, rng);
        }
        Ok(sums)
    }

    fn ln_likelihood(&self, report: &Vec<[i64; 2]>, people: &Vec<Placed>) -> f64 {
        match self.sums(people) {
            Ok(sums) if sums.len() == report.len() => {
                let cells = report.iter().flatten().zip(sums.iter().flatten());
                cells.map(|(noisy, sum)| self.noise.ln_pmf(noisy.saturating_sub(*sum))).sum()
            }
            _ => f64::NEG_INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_change_of_a_record_costs_more_than_the_promise_and_one_costs_all_of_it() {
        let bounds = Bounds::new(-3.0, 3.0).unwrap();
        let mechanism = TwoSidedSums::new(2, bounds, Epsilon::new(1.5).unwrap()).unwrap();
        let ends = [bounds.lowest(), bounds.middle(), bounds.highest()];
        let records: Vec<Placed> = (0..2).flat_map(|cell| ends.map(|number| (cell, number))).collect();
        // The loss of sums with Laplace noise is largest where every report lies far on one side.
        let far = [-1i64 << 40, 1 << 40];
        let reports = (0..16usize).map(|code| {
            let side = |bit: usize| far[code >> bit & 1];
            Vec::from([[side(0), side(1)], [side(2), side(3)]])
        });
        let reports: Vec<_> = reports.collect();
        let mut most = 0f64;
        for (before, after) in records.iter().flat_map(|a| records.iter().map(move |b| (*a, *b))) {
            for report in &reports {
                let ln = |record| mechanism.ln_likelihood(report, &Vec::from([record, (0, bounds.middle())]));
                most = most.max((ln(before) - ln(after)).abs());
            }
        }
        assert!(most <= 1.5 * (1.0 + 1e-9) && most > 1.5 * (1.0 - 1e-6), "{most}");
    }

    #[test]
    fn a_cell_beyond_the_last_is_refused() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let mechanism = TwoSidedSums::new(2, bounds, Epsilon::new(1.0).unwrap()).unwrap();
        assert!(mechanism.sums(&[(2, bounds.lowest())]).is_err());
        assert!(TwoSidedSums::new(0, bounds, Epsilon::new(1.0).unwrap()).is_err());
    }
}
