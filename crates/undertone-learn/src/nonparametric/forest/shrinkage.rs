//! Means of nested cells, drawn to those of their parents.
//!
//! A cell with few people has a noisy mean; one that has too many is wide. Instead of a choice between the two, each step down the tree
//! counts in part: with N the people of the parent,
//!
//! > m̃(cell) = m̃(parent) + (m(cell) - m(parent))/(1 + λ/N)
//!
//! as Agarwal, Tan, Ronen, Singh and Yu do, *Hierarchical Shrinkage: Improving the accuracy and interpretability of tree-based methods*.
//! λ is a number of people, and the same trees serve for every λ. What lies below cells with fewer than λ/8 people, of which less
//! than a ninth would count, is cut off.

use super::growing::Cut;

/// Cells with fewer people than λ over this are not looked into.
const DEEPEST: f64 = 8.0;

/// People and sums of targets in each node of a tree.
#[derive(Clone, Debug)]
pub(super) struct NodeSums {
    width: usize,
    people: Vec<f64>,
    sums: Vec<f64>,
}

impl NodeSums {
    /// Nobody yet.
    pub(super) fn new(nodes: usize, width: usize) -> Self {
        Self { width, people: vec![0.0; nodes], sums: vec![0.0; nodes * width] }
    }

    /// One more person in a leaf, whose target is added by `add`.
    pub(super) fn push(&mut self, leaf: u32, add: impl FnOnce(&mut [f64])) {
        let leaf = leaf as usize;
        self.people[leaf] += 1.0;
        add(&mut self.sums[leaf * self.width..(leaf + 1) * self.width]);
    }

    /// Adds every leaf to its ancestors.
    pub(super) fn roll_up(&mut self, cuts: &[Cut]) {
        for (node, cut) in cuts.iter().enumerate().rev().filter(|(_, cut)| cut.byte > 0) {
            for child in [cut.children as usize, cut.children as usize + 1] {
                self.people[node] += self.people[child];
                for k in 0..self.width {
                    self.sums[node * self.width + k] += self.sums[child * self.width + k];
                }
            }
        }
    }

    /// Whether what lies below a node counts.
    pub(super) fn reaches(&self, node: usize, lambda: f64) -> bool {
        DEEPEST * self.people[node] >= lambda
    }

    /// m̃ of each node, nobody's being zero.
    pub(super) fn shrunk(&self, cuts: &[Cut], lambda: f64, means: &mut Vec<f32>) {
        let width = self.width;
        means.clear();
        means.resize(cuts.len() * width, 0.0);
        let root = self.people[0].max(1.0);
        for k in 0..width {
            means[k] = (self.sums[k] / root) as f32;
        }
        for (node, cut) in cuts.iter().enumerate().filter(|(_, cut)| cut.byte > 0) {
            let above = self.people[node];
            let part = if self.reaches(node, lambda) && above > 0.0 { above / (above + lambda) } else { 0.0 };
            for child in [cut.children as usize, cut.children as usize + 1] {
                let part = if self.people[child] > 0.0 { part } else { 0.0 };
                for k in 0..width {
                    let step = if part > 0.0 {
                        self.sums[child * width + k] / self.people[child]
                            - self.sums[node * width + k] / above
                    } else {
                        0.0
                    };
                    means[child * width + k] = means[node * width + k] + (part * step) as f32;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_goes_half_the_way_from_a_parent_of_as_many_people_as_lambda() {
        let leaf = Cut { axis: 0, byte: 0, children: 0 };
        let cuts = [Cut { axis: 0, byte: 1, children: 1 }, leaf, leaf];
        let mut sums = NodeSums::new(3, 1);
        for (leaf, target) in [(1, 0.0), (1, 2.0), (2, 5.0), (2, 5.0)] {
            sums.push(leaf, |sum| sum[0] += target);
        }
        sums.roll_up(&cuts);
        let mut means = Vec::new();
        // Means 3, and 1 and 5 below
        for (lambda, expected) in [(0.0, [3.0, 1.0, 5.0]), (4.0, [3.0, 2.0, 4.0]), (33.0, [3.0, 3.0, 3.0])] {
            sums.shrunk(&cuts, lambda, &mut means);
            assert_eq!(means, expected, "{lambda}");
        }
    }
}
