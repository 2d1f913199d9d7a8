//! Every method on the same people.

use crate::commands::reproduce::one_round::row::Cell;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_learn::LearnError;
use undertone_learn::marginals::{Cell as TableCell, Design, Marginals, Method, Tally};
use undertone_privacy::statistic::{Answering, Schema};
use undertone_privacy::{Epsilon, Randomizer};

pub(in super::super) const RAW: &str = "Chebyshev, raw";
pub(in super::super) const CHEBYSHEV: &str = "Chebyshev, projected";
pub(in super::super) const HADAMARD: &str = "Hadamard";
pub(in super::super) const DIRECT: &str = "direct, as published";
pub(in super::super) const VIEWS: &str = "views (ours)";
pub(in super::super) const EVEN: &str = "even guess";
const BEST: &str = "direct, best answers";
const PRODUCT: &str = "product of attributes";
/// Attributes of a table.
const ORDER: usize = 3;

/// Designs of all methods for some attributes.
pub(in super::super) struct Methods {
    setting: String,
    levels: Vec<u32>,
    designs: Vec<(&'static str, f64, Design)>,
    /// All sets of three attributes
    sets: Vec<Vec<usize>>,
}

impl Methods {
    pub(in super::super) fn new(
        setting: &str,
        levels: &[u32],
        people: u64,
        budgets: &[f64],
    ) -> anyhow::Result<Self> {
        let methods = [
            (CHEBYSHEV, Method::Chebyshev { error: 0.05 }),
            (HADAMARD, Method::Hadamard),
            (DIRECT, Method::Direct(Answering::Published)),
            (BEST, Method::Direct(Answering::Best)),
            (VIEWS, Method::Views),
        ];
        let mut designs = Vec::new();
        for &epsilon in budgets {
            for (name, method) in methods {
                let schema = Schema::new(levels.to_vec())?;
                designs.push((
                    name,
                    epsilon,
                    Design::new(method, schema, people, Epsilon::new(epsilon)?, ORDER)?,
                ));
            }
        }
        let p = levels.len();
        let triples =
            (0..p).flat_map(|a| (a + 1..p).flat_map(move |b| (b + 1..p).map(move |c| vec![a, b, c])));
        Ok(Self { setting: setting.to_owned(), levels: levels.to_vec(), designs, sets: triples.collect() })
    }

    /// The mean total variation of every method, in a fixed order.
    pub(in super::super) fn cells(&self, records: &[Vec<u32>], seed: u64) -> anyhow::Result<Vec<Cell>> {
        let truth: Vec<Vec<f64>> = self.sets.iter().map(|set| self.table(records, set)).collect();
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut cells = Vec::new();
        let mut tell = |method, epsilon, tables: &[Vec<f64>]| {
            let sum: f64 = tables.iter().zip(&truth).map(|(ours, truth)| total_variation(ours, truth)).sum();
            let (setting, people) = (self.setting.clone(), records.len() as u64);
            let value = sum / truth.len() as f64;
            cells.push(Cell { setting, people, epsilon, method, value, earlier: None });
        };
        let even = |table: &Vec<f64>| vec![1.0 / table.len() as f64; table.len()];
        tell(EVEN, None, &truth.iter().map(even).collect::<Vec<_>>());
        tell(PRODUCT, None, &self.products(records));
        for (name, epsilon, design) in &self.designs {
            let mut tally = Tally::new(design)?;
            for record in records {
                let answer = design.questionnaire().randomize(record, &mut rng)?;
                tally.observe(answer.question, answer.labels.members())?;
            }
            let marginals = Marginals::new(design, &tally)?;
            let (mut shares, mut raw) = (Vec::new(), Vec::new());
            for (set, truth) in self.sets.iter().zip(&truth) {
                let table = match marginals.marginal(set) {
                    Ok(table) => table,
                    // Too few people for so many questions: nothing is known, and that is an even guess.
                    Err(LearnError::UnansweredTable { .. }) => {
                        shares.push(even(truth));
                        raw.push(even(truth));
                        continue;
                    }
                    Err(problem) => return Err(problem.into()),
                };
                shares.push(table.cells.iter().map(|cell| cell.share).collect());
                let unbiased = |cell: &TableCell| cell.unbiased.map_or(cell.share, |figure| figure.value);
                raw.push(table.cells.iter().map(unbiased).collect());
            }
            if *name == CHEBYSHEV {
                tell(RAW, Some(*epsilon), &raw);
            }
            tell(name, Some(*epsilon), &shares);
        }
        Ok(cells)
    }

    /// The table of the people themselves.
    fn table(&self, records: &[Vec<u32>], set: &[usize]) -> Vec<f64> {
        let mut table = vec![0.0; set.iter().map(|&a| self.levels[a] as usize).product()];
        for record in records {
            let cell = set.iter().fold(0, |cell, &a| cell * self.levels[a] as usize + record[a] as usize);
            table[cell] += 1.0 / records.len() as f64;
        }
        table
    }

    /// The tables if attributes had nothing to do with each other.
    fn products(&self, records: &[Vec<u32>]) -> Vec<Vec<f64>> {
        let ones: Vec<Vec<f64>> = (0..self.levels.len()).map(|a| self.table(records, &[a])).collect();
        let product = |set: &Vec<usize>| {
            set.iter().fold(vec![1.0], |table, &a| {
                table.iter().flat_map(|cell| ones[a].iter().map(move |share| cell * share)).collect()
            })
        };
        self.sets.iter().map(product).collect()
    }
}

fn total_variation(a: &[f64], b: &[f64]) -> f64 {
    0.5 * a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_people_and_products_are_counted_right() {
        let methods = Methods::new("three", &[2, 3, 2], 100, &[1.0]).unwrap();
        let records = vec![vec![0, 2, 1], vec![1, 2, 1], vec![1, 0, 1], vec![1, 2, 1]];
        let table = methods.table(&records, &[0, 1, 2]);
        // Cells in the order of (a, b, c): (0, 2, 1) is the sixth of twelve.
        assert!((table[5] - 0.25).abs() < 1e-12 && (table[11] - 0.5).abs() < 1e-12);
        let product = &methods.products(&records)[0];
        assert!(
            (product[11] - 0.75 * 0.75).abs() < 1e-12 && (product.iter().sum::<f64>() - 1.0).abs() < 1e-12
        );
    }
}
