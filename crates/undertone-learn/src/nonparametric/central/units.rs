//! Who answers together: cells, and what is left of their parents, such that everybody is in one unit at most.
//!
//! From the finest cells upwards, whoever lies in a cell of too few people is handed to the parent, which answers for all
//! it was handed. Sizes are public under label privacy. Since nobody is in two units, each unit may spend the whole ε
//! (parallel composition); summing children into a parent that answers again would spend it twice. A few who are left at the root
//! are not asked: what they would say is mostly noise, and what the units have said is free to be averaged.

use crate::LearnError;
use crate::features::Rows;
use crate::nonparametric::cells::Partition;
use crate::nonparametric::sums::Sums;
use undertone_privacy::Epsilon;

/// A lead of this share of a unit's people should be seen, and a mean be off by no more than this share of T.
const SEEN: f64 = 0.2;

/// As many people as a class needs: the one that is drawn lags behind the first by (2/ε)·(ln K + 1) people at most on average
/// (eq. 119), which is to be a fifth of them.
pub(super) fn enough_for_classes(classes: u32, epsilon: Epsilon) -> f64 {
    2.0 / epsilon.get() * (f64::from(classes).ln() + 1.0) / SEEN
}

/// As many people as a mean of numbers in [-T, T] needs: its noise has the deviation √8·T/(n·ε), and its spread is T/√n at most. Both
/// are to be a fifth of T.
pub fn enough_for_numbers(epsilon: Epsilon) -> f64 {
    (8f64.sqrt() / (SEEN * epsilon.get())).max(1.0 / (SEEN * SEEN))
}

/// For each node, the people who answer there; most nodes have none.
pub(super) struct Units {
    pub(super) people: Vec<Vec<u32>>,
}

impl Units {
    /// Units of at least `least` people; fewer only if there are no more.
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
        let left = people[0].len();
        if (left as f64) < least && left < rows.len() {
            people[0].clear();
        }
        Ok(Self { people })
    }

    /// Predictions for all nodes: `release` is asked for that of each unit, `width` numbers. Another node says what the units within
    /// it say on average, and where there are none what its parent says.
    pub(super) fn answer(
        &self,
        partition: &Partition,
        width: usize,
        mut release: impl FnMut(&[u32], &mut [f32]) -> Result<(), LearnError>,
    ) -> Result<Vec<f32>, LearnError> {
        let mut values = vec![0.0; partition.nodes() * width];
        let mut within = Sums::new(partition.nodes(), width);
        for (node, people) in self.people.iter().enumerate().filter(|(_, people)| !people.is_empty()) {
            let value = &mut values[node * width..(node + 1) * width];
            release(people, value)?;
            let n = people.len() as f64;
            within.people[node] = n;
            within.node_mut(node).iter_mut().zip(value).for_each(|(sum, value)| *sum = n * f64::from(*value));
        }
        within.roll_up(partition);
        for node in (0..partition.nodes()).filter(|&node| self.people[node].is_empty()) {
            let place = node * width;
            if within.people[node] > 0.0 {
                let means = within.node(node).iter().map(|sum| (sum / within.people[node]) as f32);
                values[place..place + width].iter_mut().zip(means).for_each(|(value, mean)| *value = mean);
            } else {
                let parent = partition.parent(node) * width;
                values.copy_within(parent..parent + width, place);
            }
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonparametric::tests::uniform_rows;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn nobody_is_in_two_units_and_none_is_too_small() {
        let rows = uniform_rows(1000, 2, &mut ChaCha12Rng::seed_from_u64(1));
        let partition = Partition::cubes(&rows, 0.125).unwrap();
        for least in [1.0, 25.0, 300.0, 2000.0] {
            let units = Units::new(&partition, &rows, least).unwrap();
            let mut asked: Vec<u32> = units.people.iter().flatten().copied().collect();
            asked.sort_unstable();
            let count = asked.len();
            asked.dedup();
            assert_eq!(asked.len(), count, "{least}");
            // Only the few who are left at the root may be missing, and of too few people all are one unit.
            assert!(count == 1000 || ((1000 - count) as f64) < least, "{least}: {count}");
            let smallest = units.people.iter().map(Vec::len).filter(|&n| n > 0).min();
            assert!(smallest.is_some_and(|n| n as f64 >= least.min(1000.0)), "{least}: {smallest:?}");
        }
    }
}
