//! Sums over cells: of people, and of what they reported. They add up, so a parent's are those of its children.

use super::cells::Partition;
use super::targets::Targets;
use crate::LearnError;
use crate::features::Rows;

/// For each node of a partition, people and sums of vectors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sums {
    width: usize,
    pub(super) people: Vec<f64>,
    totals: Vec<f64>,
}

impl Sums {
    /// Nobody yet.
    pub(super) fn new(nodes: usize, width: usize) -> Self {
        Self { width, people: vec![0.0; nodes], totals: vec![0.0; nodes * width] }
    }

    /// Of the people for whom `counts` holds, summed up to the root.
    pub(super) fn of(
        partition: &Partition,
        rows: &Rows,
        targets: Targets<'_>,
        counts: impl Fn(usize) -> bool,
    ) -> Result<Self, LearnError> {
        partition.axes().check(rows)?;
        targets.check(rows.len())?;
        let width = targets.output().width();
        let mut all = Self::new(partition.nodes(), width);
        let mut bases = vec![0.0; partition.nodes()];
        for person in (0..rows.len()).filter(|&person| counts(person)) {
            let node = partition.locate(rows.get(person));
            all.people[node] += 1.0;
            targets.add(person, &mut bases[node], all.node_mut(node));
        }
        for (sums, base) in all.totals.chunks_exact_mut(width).zip(bases) {
            for sum in sums {
                *sum += base;
            }
        }
        all.roll_up(partition);
        Ok(all)
    }

    /// Adds every node to its parent, the children first.
    pub(super) fn roll_up(&mut self, partition: &Partition) {
        for node in (1..partition.nodes()).rev() {
            let parent = partition.parent(node);
            self.people[parent] += self.people[node];
            let (before, after) = self.totals.split_at_mut(node * self.width);
            let above = &mut before[parent * self.width..(parent + 1) * self.width];
            above.iter_mut().zip(&after[..self.width]).for_each(|(above, sum)| *above += sum);
        }
    }

    pub(super) fn node(&self, node: usize) -> &[f64] {
        &self.totals[node * self.width..(node + 1) * self.width]
    }

    pub(super) fn node_mut(&mut self, node: usize) -> &mut [f64] {
        &mut self.totals[node * self.width..(node + 1) * self.width]
    }

    /// The prediction of each node: what its mean settles to if it has `enough` people, else its parent's.
    pub(super) fn settle(
        &self,
        partition: &Partition,
        enough: impl Fn(usize) -> bool,
        settle: impl Fn(&mut [f64], &mut [f32]),
    ) -> Vec<f32> {
        let mut values = vec![0.0f32; self.totals.len()];
        let mut means = vec![0.0; self.width];
        for node in 0..partition.nodes() {
            if node > 0 && !enough(node) {
                let parent = partition.parent(node) * self.width;
                values.copy_within(parent..parent + self.width, node * self.width);
                continue;
            }
            let people = self.people[node].max(1.0);
            means.iter_mut().zip(self.node(node)).for_each(|(mean, sum)| *mean = sum / people);
            settle(&mut means, &mut values[node * self.width..(node + 1) * self.width]);
        }
        values
    }
}
