//! A tree whose cuts are told by reports.
//!
//! A cell is cut where that tells its people's targets apart the most. With sums s of n people on the left, on the right and of all,
//!
//! > gain = s_L²/n_L + s_R²/n_R - s²/n
//!
//! Noise of variance V adds V to either of the first two terms on average, wherever the cut lies, so that reports as noisy as one likes
//! praise no cut more than another. Each cell looks at half of the axes, drawn at random, and at every cut between two bytes of
//! [`Places`]; at the other half only where the first has no cut. Of classes each cell looks at one sum of label vectors with random signs
//! w: over the signs, the gain of Σ_k w_k·a_k is on average the sum of the gains of all classes.

use super::super::targets::Targets;
use super::places::Places;
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

/// Where a cell is cut in two, on bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    pub(super) axis: u32,
    /// What is below goes to the first child, the rest to the second; zero for a cell that is not cut
    pub(super) byte: u8,
    /// The first child, the second follows
    pub(super) children: u32,
}

const LEAF: Cut = Cut { axis: 0, byte: 0, children: 0 };

/// Grows a tree.
pub(super) struct Growing<'a> {
    places: &'a Places,
    targets: Targets<'a>,
    /// No cell has fewer people
    least: usize,
    rng: ChaCha8Rng,
    /// For each axis, sum and number of the people with each byte above zero
    bins: Vec<[(f64, u32); 256]>,
    /// The bytes that somebody has
    occupied: Vec<[u64; 4]>,
    /// The axes in a random order
    axes: Vec<usize>,
}

impl<'a> Growing<'a> {
    pub(super) fn new(places: &'a Places, targets: Targets<'a>, least: usize, rng: ChaCha8Rng) -> Self {
        let axes = places.axes();
        let (bins, occupied) = (vec![[(0.0, 0); 256]; axes], vec![[0; 4]; axes]);
        Self { places, targets, least: least.max(1), rng, bins, occupied, axes: (0..axes).collect() }
    }

    /// Cells of at least so many of these people, parents before children.
    pub(super) fn tree(mut self, mut people: Vec<u32>) -> Vec<Cut> {
        let (mut cuts, mut open) = (vec![LEAF], vec![(0, 0..people.len())]);
        let mut scalars = Vec::new();
        while let Some((node, range)) = open.pop() {
            let cell = &mut people[range.clone()];
            let Some((axis, byte)) = self.cut(cell, &mut scalars) else { continue };
            let mut left = 0;
            for place in 0..cell.len() {
                if self.places.of(cell[place])[axis] < byte {
                    cell.swap(left, place);
                    left += 1;
                }
            }
            let children = cuts.len() as u32;
            cuts[node] = Cut { axis: axis as u32, byte, children };
            cuts.extend([LEAF, LEAF]);
            let middle = range.start + left;
            open.push((children as usize, range.start..middle));
            open.push((children as usize + 1, middle..range.end));
        }
        cuts
    }

    /// The axis and the byte of the best cut; none if no cut leaves enough on both sides.
    fn cut(&mut self, cell: &[u32], scalars: &mut Vec<f64>) -> Option<(usize, u8)> {
        if cell.len() < 2 * self.least {
            return None;
        }
        for place in (1..self.axes.len()).rev() {
            let other = below(self.rng.next_u32(), place + 1);
            self.axes.swap(place, other);
        }
        self.targets.scalars(cell, &mut || self.rng.next_u64(), scalars);
        let half = self.axes.len().div_ceil(2);
        self.best(cell, scalars, 0..half).or_else(|| self.best(cell, scalars, half..self.axes.len()))
    }

    /// The best cut of some of the axes.
    fn best(&mut self, cell: &[u32], scalars: &[f64], axes: std::ops::Range<usize>) -> Option<(usize, u8)> {
        let Self { places, bins, occupied, least, .. } = self;
        let axes = &self.axes[axes];
        for (&person, scalar) in cell.iter().zip(scalars) {
            let bytes = places.of(person);
            // Whoever has a zero is on the left of every cut; most people have one on most axes of levels.
            for (&axis, &byte) in axes.iter().map(|axis| (axis, &bytes[*axis])).filter(|(_, byte)| **byte > 0)
            {
                let (sum, count) = &mut bins[axis][usize::from(byte)];
                *sum += scalar;
                *count += 1;
                occupied[axis][usize::from(byte >> 6)] |= 1 << (byte & 63);
            }
        }
        let (n, total) = (cell.len(), scalars.iter().sum::<f64>());
        let (mut best, mut found) = (f64::NEG_INFINITY, None);
        for &axis in axes {
            // From the largest byte downwards
            let (mut right, mut sum) = (0, 0.0);
            for (word, bits) in occupied[axis].iter_mut().enumerate().rev() {
                while *bits != 0 {
                    let highest = bits.ilog2();
                    *bits ^= 1 << highest;
                    let byte = 64 * word + highest as usize;
                    let (of_byte, count) = std::mem::take(&mut bins[axis][byte]);
                    (right, sum) = (right + count as usize, sum + of_byte);
                    let left = n - right;
                    if left >= *least && right >= *least {
                        let gain = sum * sum / right as f64 + (total - sum) * (total - sum) / left as f64;
                        if gain > best {
                            (best, found) = (gain, Some((axis, byte as u8)));
                        }
                    }
                }
            }
        }
        found
    }
}

/// Evenly in 0..n, up to n in 2^32.
fn below(word: u32, n: usize) -> usize {
    ((u64::from(word) * n as u64) >> 32) as usize
}

/// The cell that a person lies in.
#[inline]
pub(super) fn locate(cuts: &[Cut], bytes: &[u8]) -> u32 {
    let mut node = 0;
    loop {
        let cut = cuts[node as usize];
        if cut.byte == 0 {
            return node;
        }
        node = cut.children + u32::from(bytes[cut.axis as usize] >= cut.byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Rows;
    use crate::nonparametric::cells::Axes;
    use rand_core::SeedableRng;
    use undertone_privacy::number::Bounds;

    #[test]
    fn the_first_cut_is_where_the_targets_change_and_cells_keep_their_least() {
        // Of two axes only the first matters, and it does at 0.7.
        let place = |i: u16, step: f32| (f32::from(i) * step).fract();
        let rows = Rows::dense(2, (0..1000).flat_map(|i| [place(i, 0.618), place(i, 0.414)]).collect());
        let values: Vec<f64> = rows.iter().map(|row| f64::from(u8::from(row.dense[0] >= 0.7))).collect();
        let places = Places::new(&Axes::fit(&rows).unwrap(), &rows);
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let targets = Targets::Numbers { values: &values, bounds, variance: 0.0 };
        for seed in 0..20 {
            let growing = Growing::new(&places, targets, 30, ChaCha8Rng::seed_from_u64(seed));
            let cuts = growing.tree((0..1000).collect());
            // The root looks at one of the two axes, its children may look at the other.
            let first = cuts.iter().find(|cut| cut.byte > 0 && cut.axis == 0).unwrap();
            let (_, at) = places.cut(0, first.byte);
            assert!((at - 0.7).abs() < 0.01, "{at}");
            let mut masses = vec![0; cuts.len()];
            (0..1000).for_each(|person| masses[locate(&cuts, places.of(person)) as usize] += 1);
            assert!(cuts.iter().zip(masses).all(|(cut, mass)| cut.byte > 0 || mass >= 30));
        }
    }
}
