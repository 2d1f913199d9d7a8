//! Who answers together: cells, and what is left of their parents, such that everybody is in one unit.
//!
//! From the finest cells upwards, whoever lies in a cell of too few people is handed to the parent, which answers for all
//! it was handed. Sizes are public under label privacy. Since nobody is in two units, each unit may spend the whole ε
//! (parallel composition); summing children into a parent that answers again would spend it twice.

use crate::LearnError;
use crate::features::Rows;
use crate::nonparametric::cells::Partition;

/// For each node, the people who answer there; most nodes have none.
pub(super) struct Units {
    pub(super) people: Vec<Vec<u32>>,
}

impl Units {
    /// Units of at least `least` people, except for what is left at the root.
    pub(super) fn new(partition: &Partition, rows: &Rows, least: f64) -> Result<Self, LearnError> {
        partition.axes().check(rows)?;
        if rows.is_empty() {
            return Err(LearnError::NoReports);
        }
        let mut people = vec![Vec::new(); partition.nodes()];
        for person in 0..rows.len() {
            people[partition.locate(rows.get(person))].push(person as u32);
        }
        for node in (1..partition.nodes()).rev() {
            if (people[node].len() as f64) < least {
                let handed = std::mem::take(&mut people[node]);
                people[partition.parent(node)].extend(handed);
            }
        }
        Ok(Self { people })
    }

    /// Predictions for all nodes: `release` is asked for that of each unit, `width` numbers, and other nodes take their
    /// parent's. If nobody was left at the root, it says what the units say on average.
    pub(super) fn answer(
        &self,
        partition: &Partition,
        width: usize,
        mut release: impl FnMut(&[u32], &mut [f32]) -> Result<(), LearnError>,
    ) -> Result<Vec<f32>, LearnError> {
        let mut values = vec![0.0; partition.nodes() * width];
        let units = (0..partition.nodes()).filter(|&node| !self.people[node].is_empty());
        let (mut average, mut weight) = (vec![0.0; width], 0.0);
        for node in units {
            let value = &mut values[node * width..(node + 1) * width];
            release(&self.people[node], value)?;
            let n = self.people[node].len() as f64;
            weight += n;
            average.iter_mut().zip(value).for_each(|(sum, value)| *sum += n * f64::from(*value));
        }
        if self.people[0].is_empty() {
            let average = average.iter().map(|sum| (sum / weight) as f32);
            values.iter_mut().zip(average).for_each(|(value, average)| *value = average);
        }
        for node in (1..partition.nodes()).filter(|&node| self.people[node].is_empty()) {
            let parent = partition.parent(node) * width;
            values.copy_within(parent..parent + width, node * width);
        }
        Ok(values)
    }
}
