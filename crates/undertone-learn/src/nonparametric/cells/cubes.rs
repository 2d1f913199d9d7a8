//! Regular cubes: each axis cut into m parts, the levels of categories matched exactly, occupied cubes only.
//!
//! A cube is a packed key, some bits for each axis, so that no two cubes are mistaken for each other. The parent of a cube
//! has half as many parts an axis: its key is that of its children with each part shifted by one bit. Above the cube that
//! only the levels tell apart are, where a curator asks for it, those without the last column of levels, without the last two and so
//! on; and above all of them the root, everybody. Only cubes with somebody inside are kept, O(occupied) in memory: who
//! occupies what is public under label privacy, and **only** there.

use super::axes::{Axes, AxisScale};
use super::key_table::KeyTable;
use crate::LearnError;
use crate::features::{Row, Rows};
use serde::{Deserialize, Serialize};

/// Keys have so many bits.
const BITS: u32 = 64;

/// A way to cut the features into cubes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CubeGrid {
    axes: Axes,
    /// m
    parts: u32,
    /// Of a key, for each axis of numbers; they stay when m is halved
    bits: u32,
    /// For each axis the values at which a new part begins, m - 1 of them, or one for levels
    edges: Vec<Vec<f32>>,
}

impl CubeGrid {
    /// m parts for each axis of numbers; without numbers there is nothing to cut.
    pub fn new(axes: Axes, parts: u32) -> Result<Self, LearnError> {
        let parts = if axes.numbers() == 0 { parts.min(1) } else { parts };
        let edges = axes.axes().iter().map(|axis| match &axis.scale {
            AxisScale::Level(from) if axis.others == 0 => vec![*from],
            AxisScale::Level(_) => (1..=axis.others + 1).map(|level| level as f32).collect(),
            scale @ AxisScale::Quantiles(_) => {
                (1..parts).map(|part| scale.quantile(f64::from(part) / f64::from(parts))).collect()
            }
        });
        let most = parts.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1);
        let grid = Self { edges: edges.collect(), axes, parts, bits: most };
        let bits: u32 = (0..grid.edges.len()).map(|axis| grid.bits(axis)).sum();
        if parts == 0 {
            let what = "the number of parts of an axis";
            return Err(LearnError::Parameter { what, value: 0.0, expected: "at least 1" });
        }
        if bits > BITS {
            return Err(LearnError::Parameter {
                what: "the number of bits that tell cubes apart",
                value: f64::from(bits),
                expected: "at most 64, and above three features cells of equal mass are the better choice",
            });
        }
        Ok(grid)
    }

    /// m.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// The axes that are cut.
    pub fn axes(&self) -> &Axes {
        &self.axes
    }

    fn is_level(&self, axis: usize) -> bool {
        matches!(self.axes.axes()[axis].scale, AxisScale::Level(_))
    }

    fn bits(&self, axis: usize) -> u32 {
        // a value for each level and one for none
        if self.is_level(axis) { (self.axes.axes()[axis].others + 1).ilog2() + 1 } else { self.bits }
    }

    /// How many axes are levels.
    pub fn levels(&self) -> u32 {
        self.axes.axes().len() as u32 - self.axes.numbers()
    }

    /// The part of each axis that a row lies in, packed.
    #[inline]
    fn key(&self, row: Row<'_>) -> u64 {
        let mut key = 0;
        for (axis, edges) in self.edges.iter().enumerate() {
            let x = self.axes.value(row, axis);
            key = key << self.bits(axis) | part(edges, x) as u64;
        }
        key
    }

    /// The key of the cube with 1/2^`halvings` of the parts.
    fn coarser(&self, key: u64, halvings: u32) -> u64 {
        let (mut coarse, mut shift) = (0, 0);
        // An axis without bits might lie beyond the last one.
        for axis in (0..self.edges.len()).rev().filter(|&axis| self.bits(axis) > 0) {
            let bits = self.bits(axis);
            let part = (key >> shift) & ((1 << bits) - 1);
            coarse |= (if self.is_level(axis) { part } else { part >> halvings }) << shift;
            shift += bits;
        }
        coarse
    }

    /// The key of the cube without the last so many axes of levels.
    fn without_levels(&self, key: u64, mut dropped: u32) -> u64 {
        let (mut kept, mut shift) = (0, 0);
        for axis in (0..self.edges.len()).rev().filter(|&axis| self.bits(axis) > 0) {
            let bits = self.bits(axis);
            if dropped > 0 && self.is_level(axis) {
                dropped -= 1;
            } else {
                kept |= key & (((1 << bits) - 1) << shift);
            }
            shift += bits;
        }
        kept
    }

    /// m^d, the number of cells with or without anybody inside; a category has one more than levels. Infinite if beyond floats.
    pub fn all_cells(&self) -> f64 {
        self.edges.iter().map(|edges| (edges.len() + 1) as f64).product()
    }
}

/// How many edges are at most x: the half-open part that x lies in.
#[inline]
fn part(edges: &[f32], x: f32) -> usize {
    if edges.len() <= 32 {
        // without branches
        edges.iter().map(|&edge| u32::from(edge <= x)).sum::<u32>() as usize
    } else {
        edges.partition_point(|&edge| edge <= x)
    }
}

/// The cubes that somebody lies in, and their ancestors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cubes {
    grid: CubeGrid,
    /// From the coarsest to the finest, each with half the width of the one before; node 0 is the root
    scales: Vec<KeyTable>,
    /// So many scales come before the one that all levels tell apart, each with a column of levels more than the one before
    #[serde(default)]
    drops: u32,
}

impl Cubes {
    /// The cubes that these rows lie in, with coarser ones that do without the last levels, so many at most.
    pub fn occupied(grid: CubeGrid, rows: &Rows, drops: u32) -> Result<Self, LearnError> {
        grid.axes.check(rows)?;
        let mut finest: Vec<u64> = rows.iter().map(|row| grid.key(row)).collect();
        finest.sort_unstable();
        finest.dedup();
        if finest.len() >= 1 << 30 {
            let (what, expected) = ("the number of occupied cells", "below 2^30");
            return Err(LearnError::Parameter { what, value: finest.len() as f64, expected });
        }
        Ok(Self::with_finest(grid, finest, drops))
    }

    /// Every cube of a grid, whoever lies in it: the only ones that may be looked at where features are private.
    pub(super) fn all(grid: CubeGrid) -> Self {
        let mut keys = vec![0u64];
        for (axis, edges) in grid.edges.iter().enumerate() {
            let parts = 0..=edges.len() as u64;
            let below =
                |key: &u64| parts.clone().map(|part| key << grid.bits(axis) | part).collect::<Vec<_>>();
            keys = keys.iter().flat_map(below).collect();
        }
        let drops = grid.levels();
        Self::with_finest(grid, keys, drops)
    }

    fn with_finest(grid: CubeGrid, finest: Vec<u64>, drops: u32) -> Self {
        // Without all of its levels a cube is the root.
        let drops = drops.min(grid.levels().saturating_sub(1));
        let mut scales = vec![KeyTable::from(finest)];
        let coarser = |scales: &[KeyTable], coarse: &dyn Fn(u64) -> u64| {
            let finer = scales.last().map(KeyTable::keys).unwrap_or_default();
            KeyTable::from(finer.iter().map(|&key| coarse(key)).collect::<Vec<_>>())
        };
        for _ in 0..grid.bits {
            scales.push(coarser(&scales, &|key| grid.coarser(key, 1)));
        }
        for dropped in 1..=drops {
            scales.push(coarser(&scales, &|key| grid.without_levels(key, dropped)));
        }
        scales.reverse();
        Self { grid, scales, drops }
    }

    /// The key, one scale coarser, of one of this scale.
    fn above(&self, key: u64, scale: usize) -> u64 {
        match (self.drops as usize).checked_sub(scale) {
            Some(dropped) => self.grid.without_levels(key, dropped as u32 + 1),
            None => self.grid.coarser(key, 1),
        }
    }

    /// How the features are cut.
    pub fn grid(&self) -> &CubeGrid {
        &self.grid
    }

    /// The parent of each node, before its children; the root is its own.
    pub(super) fn parents(&self) -> Vec<u32> {
        let (mut parents, mut above) = (vec![0], 0);
        for (scale, pair) in self.scales.windows(2).enumerate() {
            if scale == 0 {
                parents.extend(pair[0].keys().iter().map(|_| 0));
                above = 1;
            }
            let parent =
                |&key: &u64| pair[0].place(self.above(key, scale + 1)).map_or(0, |place| above + place);
            parents.extend(pair[1].keys().iter().map(parent));
            above += pair[0].keys().len() as u32;
        }
        if let [only] = &self.scales[..] {
            parents.extend(only.keys().iter().map(|_| 0));
        }
        parents
    }

    /// The finest node that a row lies in.
    #[inline]
    pub(super) fn locate(&self, row: Row<'_>) -> u32 {
        let mut key = self.grid.key(row);
        let mut above: u32 = self.nodes();
        for (scale, keys) in self.scales.iter().enumerate().rev() {
            above -= keys.keys().len() as u32;
            if let Some(place) = keys.place(key) {
                return above + place;
            }
            key = self.above(key, scale);
        }
        0
    }

    /// Refuses what was never cut: cubes may come from a file.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let grid = &self.grid;
        let keyed = grid.edges.len() == grid.axes.axes().len()
            && grid.bits < BITS
            && (0..grid.edges.len()).map(|axis| grid.bits(axis)).sum::<u32>() <= BITS
            && (0..grid.edges.len()).all(|axis| grid.edges[axis].len() < 1 << grid.bits(axis));
        (!keyed).then_some("its cubes have too many parts for their keys")
    }

    pub(super) fn nodes(&self) -> u32 {
        1 + self.scales.iter().map(|scale| scale.keys().len() as u32).sum::<u32>()
    }

    /// Without the nodes that are deeper than `depth`.
    pub(super) fn truncate(&mut self, depth: u32) {
        while self.scales.len() as u32 > depth {
            self.scales.pop();
            match (self.drops + 1).checked_sub(self.scales.len() as u32) {
                Some(dropped) if dropped > 0 => self.grid.forget_levels(dropped),
                _ => self.grid.halve(),
            }
        }
    }
}

impl CubeGrid {
    /// Does not tell apart the last so many axes of levels.
    fn forget_levels(&mut self, dropped: u32) {
        let levels = |axis: &&usize| matches!(self.axes.axes()[**axis].scale, AxisScale::Level(_));
        let axes: Vec<usize> = (0..self.edges.len()).rev().collect();
        let forgotten: Vec<usize> = axes.iter().filter(levels).take(dropped as usize).copied().collect();
        for axis in forgotten {
            self.edges[axis].clear();
        }
    }

    /// Half as many parts: the children 2i and 2i + 1 become i.
    fn halve(&mut self) {
        self.parts = self.parts.div_ceil(2);
        for (axis, edges) in self.axes.axes().iter().zip(&mut self.edges) {
            if matches!(axis.scale, AxisScale::Quantiles(_)) {
                *edges = edges.iter().skip(1).step_by(2).copied().collect();
            }
        }
    }
}
