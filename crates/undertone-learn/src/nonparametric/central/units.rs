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
