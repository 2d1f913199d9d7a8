//! A class for every cell of a public grid, whether anybody lies in it or not.
//!
//! Each cell draws its class by the [`ExponentialMechanism`] from the labels inside, an empty one evenly.
//!
//! **Privacy.** If the label of a record changes, two counts of one cell move, which costs 2α = ε. If the record moves to another
//! cell, one count of each of two cells moves by one, α each: also ε. Hence eq. 17 of *On Theoretical Limits of Learning with Label
//! Differential Privacy*, α = ε/2, is private for whole records too, and eq. 31, α = ε/4, spends half of the budget
//! ([`CellVotes::as_published`]). A list of the occupied cells alone would tell who is there: every cell answers.

use super::ExponentialMechanism;
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer};
use alloc::vec;
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// Classes for all cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellVotes {
    epsilon: Epsilon,
    cells: u32,
    labels: u32,
    choice: ExponentialMechanism,
}

/// A person's cell and label.
pub type Vote = (u32, u32);

impl CellVotes {
    /// Under a promise of `epsilon` for the change of one record, α = ε/2.
    pub fn new(cells: u32, labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Self::with(cells, labels, epsilon, epsilon)
    }

    /// As published, with α = ε/4.
    pub fn as_published(cells: u32, labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Self::with(cells, labels, epsilon, Epsilon::new(epsilon.get() / 2.0)?)
    }

    fn with(cells: u32, labels: u32, epsilon: Epsilon, spent: Epsilon) -> Result<Self, PrivacyError> {
        if labels < 2 {
            return Err(PrivacyError::TooFewLabels { labels });
        }
        if cells == 0 {
            return Err(PrivacyError::NoCounts);
        }
        Ok(Self { epsilon, cells, labels, choice: ExponentialMechanism::new(spent) })
    }

    /// K.
    pub fn labels(&self) -> u32 {
        self.labels
    }

    /// What chooses the class of each cell.
    pub fn choice(&self) -> ExponentialMechanism {
        self.choice
    }

    /// How many of each label lie in each cell.
    fn counts(&self, votes: &[Vote]) -> Result<Vec<Vec<u64>>, PrivacyError> {
        let mut counts = vec![vec![0; self.labels as usize]; self.cells as usize];
        for &(cell, label) in votes {
            if label >= self.labels {
                return Err(PrivacyError::UnknownLabel { label, labels: self.labels });
            }
            let counts = counts.get_mut(cell as usize);
            let counts =
                counts.ok_or(PrivacyError::Parameter { what: "the cell", value: f64::from(cell) })?;
            counts[label as usize] += 1;
        }
        Ok(counts)
    }
}

impl Randomizer for CellVotes {
    type Input = Vec<Vote>;
    type Report = Vec<u32>;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, votes: &Vec<Vote>, rng: &mut impl CryptoRng) -> Result<Vec<u32>, PrivacyError> {
        self.counts(votes)?.iter().map(|counts| self.choice.randomize(counts, rng)).collect()
    }

    fn ln_likelihood(&self, report: &Vec<u32>, votes: &Vec<Vote>) -> f64 {
        match self.counts(votes) {
            Ok(counts) if report.len() == counts.len() => report
                .iter()
                .zip(&counts)
                .map(|(class, counts)| self.choice.ln_likelihood(class, counts))
                .sum(),
            _ => f64::NEG_INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    /// The largest loss over all data sets of `people` in two cells with three labels, all changes of one record and all
    /// reports.
    fn loss(mechanism: &CellVotes, people: usize) -> f64 {
        let records: Vec<Vote> = (0..2).flat_map(|cell| (0..3).map(move |label| (cell, label))).collect();
        let reports: Vec<Vec<u32>> = (0..9).map(|report| Vec::from([report / 3, report % 3])).collect();
        let mut most = 0f64;
        for code in 0..6usize.pow(people as u32) {
            let data: Vec<Vote> = (0..people).map(|i| records[code / 6usize.pow(i as u32) % 6]).collect();
            for &other in &records {
                let mut neighbour = data.clone();
                neighbour[0] = other;
                for report in &reports {
                    let ratio =
                        mechanism.ln_likelihood(report, &data) - mechanism.ln_likelihood(report, &neighbour);
                    most = most.max(ratio.abs());
                }
            }
        }
        most
    }

    #[test]
    fn half_of_epsilon_is_private_for_records_and_a_quarter_wastes_half_of_it() {
        let epsilon = Epsilon::new(3.0).unwrap();
        let tight = loss(&CellVotes::new(2, 3, epsilon).unwrap(), 4);
        let printed = loss(&CellVotes::as_published(2, 3, epsilon).unwrap(), 4);
        assert!(tight <= 3.0 && tight > 2.5, "{tight}");
        assert!(printed <= 1.5 && printed > 1.0, "of a promise of 3 only {printed} is spent");
    }

    #[test]
    fn a_cell_that_nobody_lies_in_answers_evenly() {
        let mechanism = CellVotes::new(2, 2, Epsilon::new(1.0).unwrap()).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let votes = Vec::from([(0, 1); 50]);
        let ones = (0..4000).filter(|_| mechanism.randomize(&votes, &mut rng).unwrap()[1] == 1).count();
        assert!((ones as f64 - 2000.0).abs() < 5.0 * 1000f64.sqrt(), "{ones}");
    }

    #[test]
    fn cells_and_labels_that_do_not_exist_are_refused() {
        let epsilon = Epsilon::new(1.0).unwrap();
        let mechanism = CellVotes::new(2, 2, epsilon).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        assert!(mechanism.randomize(&Vec::from([(2, 0)]), &mut rng).is_err());
        assert!(mechanism.randomize(&Vec::from([(0, 2)]), &mut rng).is_err());
        assert!(CellVotes::new(2, 1, epsilon).is_err() && CellVotes::new(0, 2, epsilon).is_err());
    }
}
