//! Cells of equal mass: the people are halved again and again, along the axis on which they are spread the widest.
//!
//! No cell is empty, however uneven the density and however many the features; a level of a category is an axis like any
//! other, with one place to cut. Spread is measured in ranks. The cut lies at the median, or beside it where many people have the
//! median value, and a cell with fewer than twice the wanted mass stays whole. Only public features are looked at, so label
//! privacy is untouched.

use super::axes::{Axes, AxisScale, value};
use crate::LearnError;
use crate::features::{Row, Rows};
use serde::{Deserialize, Serialize};

/// Cuts are found with at most so many people, evenly spread: with more, cells hold about the mass, as chance will have it.
const SAMPLE: usize = 1 << 19;

/// With more people than this in a cell, so many of them, evenly spread, tell where it is wide.
const WIDTHS: usize = 1 << 10;

/// Where a cell is cut in two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Cut {
    feature: u32,
    /// What is below goes to the first child, the rest to the second
    at: f32,
    /// The first child, the second follows; zero for a cell that is not cut
    children: u32,
}

/// Nested cells, parents before their children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    axes: Axes,
    cuts: Vec<Cut>,
}

impl Tree {
    /// Cells of at least `mass` of these rows each, and of fewer than twice as many where no values coincide.
    pub fn equal_mass(axes: Axes, rows: &Rows, mass: f64) -> Result<Self, LearnError> {
        axes.check(rows)?;
        if mass.is_nan() || mass < 1.0 {
            let what = "the mass of a cell";
            return Err(LearnError::Parameter { what, value: mass, expected: "at least one person" });
        }
        let step = rows.len().div_ceil(SAMPLE).max(1);
        let mut people: Vec<u32> = (0..rows.len() as u32).step_by(step).collect();
        let least = (mass / step as f64).ceil().max(1.0) as usize;
        let mut growing = Growing { axes: &axes, rows, least, values: Vec::new() };
        let leaf = Cut { feature: 0, at: 0.0, children: 0 };
        let (mut cuts, mut open) = (vec![leaf], vec![(0, 0..people.len())]);
        while let Some((node, range)) = open.pop() {
            let Some((axis, at, left)) = growing.cut(&mut people[range.clone()]) else {
                continue;
            };
            let children = cuts.len() as u32;
            cuts[node] = Cut { feature: axes.axes()[axis].feature, at, children };
            cuts.extend([leaf, leaf]);
            let middle = range.start + left;
            open.push((children as usize, range.start..middle));
            open.push((children as usize + 1, middle..range.end));
        }
        Ok(Self { axes, cuts })
    }

    /// The axes that are cut.
    pub fn axes(&self) -> &Axes {
        &self.axes
    }

    /// The parent of each node, before its children; the root is its own.
    pub(super) fn parents(&self) -> Vec<u32> {
        let mut parents = vec![0; self.cuts.len()];
        for (node, cut) in (0u32..).zip(&self.cuts).filter(|(_, cut)| cut.children > 0) {
            parents[cut.children as usize] = node;
            parents[cut.children as usize + 1] = node;
        }
        parents
    }

    /// The cell that a row lies in.
    #[inline]
    pub(super) fn locate(&self, row: Row<'_>) -> u32 {
        let mut node = 0;
        loop {
            let cut = self.cuts[node as usize];
            if cut.children == 0 {
                return node;
            }
            let x = value(row, self.axes.dense(), cut.feature);
            node = cut.children + u32::from(x >= cut.at);
        }
    }

    /// Without the cuts of nodes for which `stays` does not hold, and without what was below them.
    pub(super) fn prune(&mut self, stays: impl Fn(usize) -> bool) {
        // New places beside old ones
        let (mut kept, mut open) = (vec![self.cuts[0]], vec![(0usize, 0usize)]);
        while let Some((node, old)) = open.pop() {
            let children = kept[node].children as usize;
            if children == 0 || !stays(old) {
                kept[node].children = 0;
                continue;
            }
            let place = kept.len();
            kept[node].children = place as u32;
            kept.extend([self.cuts[children], self.cuts[children + 1]]);
            open.extend([(place, children), (place + 1, children + 1)]);
        }
        self.cuts = kept;
    }

    /// Refuses what nothing has grown: a tree may come from a file.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let known = |feature| self.axes.axes().iter().any(|axis| axis.feature == feature);
        let sound = |(node, cut): (usize, &Cut)| {
            let children = cut.children as usize;
            children == 0 || (children > node && children + 1 < self.cuts.len() && known(cut.feature))
        };
        let fine = !self.cuts.is_empty() && self.cuts.iter().enumerate().all(sound);
        (!fine).then_some("its cells are not nested")
    }
}

/// What is needed to cut a cell.
struct Growing<'a> {
    axes: &'a Axes,
    rows: &'a Rows,
    least: usize,
    /// Of the people of a cell on an axis, with their numbers
    values: Vec<(f32, u32)>,
}

impl Growing<'_> {
    /// Axis, value, and how many of the `people`, who are put first, lie below it; none if no cut leaves enough on both sides.
    fn cut(&mut self, people: &mut [u32]) -> Option<(usize, f32, usize)> {
        if people.len() < 2 * self.least {
            return None;
        }
        let step = people.len().div_ceil(WIDTHS);
        let mut axes = self.spreads(people, step);
        if axes.is_empty() && step > 1 {
            axes = self.spreads(people, 1);
        }
        axes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        axes.into_iter().find_map(|(_, axis)| {
            let (at, left) = self.cut_axis(people, axis)?;
            Some((axis, at, left))
        })
    }

    /// The width of a cell on each axis that is not constant, in ranks, by one in `step` of its people. A level is as wide as an
    /// axis of numbers is, times the share of the rarer half, so that it is cut where that tells many people apart.
    fn spreads(&self, people: &[u32], step: usize) -> Vec<(f32, usize)> {
        let axes = self.axes.axes();
        let mut ends = vec![(f32::INFINITY, f32::NEG_INFINITY, 0.0f32); axes.len()];
        let (seen, mut count) = (people.iter().step_by(step), 0.0f32);
        for &person in seen {
            count += 1.0;
            let row = self.rows.get(person as usize);
            for ((low, high, sum), axis) in ends.iter_mut().zip(axes) {
                let x = value(row, self.axes.dense(), axis.feature);
                (*low, *high, *sum) = (low.min(x), high.max(x), *sum + x);
            }
        }
        let spread = |(place, (low, high, sum)): (usize, (f32, f32, f32))| match &axes[place].scale {
            _ if low >= high => (0.0, place),
            scale @ AxisScale::Quantiles(_) => {
                ((scale.rank(high) - scale.rank(low)).max(f32::MIN_POSITIVE), place)
            }
            AxisScale::Level(_) => {
                // of two values, the share of the higher one
                let share = (sum / count - low) / (high - low);
                (2.0 * share.min(1.0 - share), place)
            }
        };
        ends.into_iter().enumerate().map(spread).filter(|&(spread, _)| spread > 0.0).collect()
    }

    /// Cuts near the median, between different values.
    fn cut_axis(&mut self, people: &mut [u32], axis: usize) -> Option<(f32, usize)> {
        let value = |&person: &u32| (self.axes.value(self.rows.get(person as usize), axis), person);
        self.values.clear();
        self.values.extend(people.iter().map(value));
        let n = people.len();
        let wanted = n / 2;
        let order = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        self.values.select_nth_unstable_by(wanted, order);
        let median = self.values[wanted].0;
        let below = self.values.iter().filter(|(x, _)| *x < median).count();
        let upto = self.values.iter().filter(|(x, _)| *x <= median).count();
        let fits = |left: usize| left >= self.least && n - left >= self.least;
        // Whoever has the median value goes up, or down if that is nearer to what is wanted or the only way.
        let down = fits(upto) && (!fits(below) || upto - wanted < wanted - below);
        let at = if down {
            self.values.iter().map(|(x, _)| *x).filter(|&x| x > median).fold(f32::INFINITY, f32::min)
        } else if fits(below) {
            median
        } else {
            return None;
        };
        let mut left = 0;
        for place in 0..n {
            if self.values[place].0 < at {
                self.values.swap(left, place);
                left += 1;
            }
        }
        for (person, (_, placed)) in people.iter_mut().zip(&self.values) {
            *person = *placed;
        }
        Some((at, left))
    }
}
