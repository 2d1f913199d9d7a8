//! The index for a number of coordinates: a sorted list for one (or none, when all are at zero), a tree for up to twelve, all blocks for more.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched call is compiled for the least of processors"
)]

use super::blocks::{Blocks, LANES, Query};
use super::kd_tree::{KdTree, MOST_DIMENSIONS};
use super::nearest::Nearest;
use super::sorted::Sorted;

/// So many queries share a tile of blocks, which stays in the cache.
const QUERIES: usize = 16;
/// Bytes of a tile
const TILE: usize = 1 << 18;

/// Finds neighbours.
#[derive(Clone, Debug)]
pub(super) enum Index {
    Sorted(Sorted),
    Tree(KdTree),
    All(Blocks),
}

/// The vectors that are averaged.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) values: &'a [f32],
    pub(super) width: usize,
}

impl Index {
    /// Of points with as many coordinates as it is said whether they are marks.
    pub(super) fn new(points: &[f32], marks: Vec<bool>, values: Values<'_>) -> Self {
        let dimension = marks.len();
        match dimension {
            0 | 1 => Self::Sorted(Sorted::new(points, values.values, values.width)),
            2..=MOST_DIMENSIONS => Self::Tree(KdTree::new(points, dimension)),
            _ => {
                let people: Vec<u32> = (0..(points.len() / dimension) as u32).collect();
                let mut blocks = Blocks::new(marks);
                people.chunks(LANES).for_each(|chunk| blocks.push(points, chunk));
                Self::All(blocks)
            }
        }
    }

    /// For each query and each k of a rising list, the sum of the vectors of the k nearest: `visit` is told which query, which
    /// k, and the sum.
    pub(super) fn sums(
        &self,
        queries: &[f32],
        ks: &[usize],
        values: Values<'_>,
        visit: &mut dyn FnMut(usize, usize, &mut [f64]),
    ) {
        let most = ks.last().copied().unwrap_or(1);
        match self {
            Self::Sorted(sorted) => {
                let mut sum = vec![0.0; values.width];
                for (query, &x) in queries.iter().enumerate() {
                    for (which, &k) in ks.iter().enumerate() {
                        sorted.sum(x, k, &mut sum);
                        visit(query, which, &mut sum);
                    }
                }
            }
            Self::Tree(tree) => {
                let mut nearest = Nearest::new(most);
                for (query, point) in queries.chunks_exact(tree.dimension()).enumerate() {
                    nearest.clear();
                    pulp::Arch::new().dispatch(Search { tree, point, nearest: &mut nearest });
                    finish(&mut nearest, ks, values, &mut |which, sum| visit(query, which, sum));
                }
            }
            Self::All(blocks) => scan(blocks, queries, ks, values, visit),
        }
    }
}

/// One search, compiled for each set of instructions.
struct Search<'a> {
    tree: &'a KdTree,
    point: &'a [f32],
    nearest: &'a mut Nearest,
}

impl pulp::NullaryFnOnce for Search<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.tree.search(self.point, self.nearest);
    }
}

/// A tile of blocks for some queries.
struct Scan<'a> {
    blocks: &'a Blocks,
    tile: std::ops::Range<usize>,
    query: &'a Query,
    nearest: &'a mut Nearest,
}

impl pulp::NullaryFnOnce for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for block in self.tile {
            self.nearest.offer(&self.blocks.distances(block, self.query), self.blocks.numbers(block));
        }
    }
}

/// All blocks for all queries, tile by tile.
fn scan(
    blocks: &Blocks,
    queries: &[f32],
    ks: &[usize],
    values: Values<'_>,
    visit: &mut dyn FnMut(usize, usize, &mut [f64]),
) {
    let (most, dimension) = (ks.last().copied().unwrap_or(1), blocks.dimension());
    let mut nearest = vec![Nearest::new(most); QUERIES];
    let tile = (TILE / (4 * LANES * dimension)).max(1);
    for (group, points) in queries.chunks(QUERIES * dimension).enumerate() {
        nearest.iter_mut().for_each(Nearest::clear);
        let asked: Vec<Query> = points.chunks_exact(dimension).map(|point| blocks.query(point)).collect();
        for start in (0..blocks.len()).step_by(tile) {
            let tile = start..(start + tile).min(blocks.len());
            for (query, nearest) in asked.iter().zip(&mut nearest) {
                pulp::Arch::new().dispatch(Scan { blocks, tile: tile.clone(), query, nearest });
            }
        }
        for (query, nearest) in nearest.iter_mut().take(points.len() / dimension).enumerate() {
            finish(nearest, ks, values, &mut |which, sum| visit(group * QUERIES + query, which, sum));
        }
    }
}

/// The sums of what was found.
fn finish(nearest: &mut Nearest, ks: &[usize], values: Values<'_>, visit: &mut dyn FnMut(usize, &mut [f64])) {
    if ks.len() == 1 {
        each_sum(nearest.numbers(), ks, values, visit);
    } else {
        each_sum(nearest.in_order(), ks, values, visit);
    }
}

/// Adds up people, and stops at each k.
fn each_sum(
    people: impl Iterator<Item = u32>,
    ks: &[usize],
    values: Values<'_>,
    visit: &mut dyn FnMut(usize, &mut [f64]),
) {
    let mut sum = vec![0.0; values.width];
    let mut which = 0;
    for (count, person) in (1usize..).zip(people) {
        let vector = &values.values[person as usize * values.width..][..values.width];
        sum.iter_mut().zip(vector).for_each(|(sum, &value)| *sum += f64::from(value));
        if ks.get(which) == Some(&count) {
            visit(which, &mut sum.clone());
            which += 1;
        }
    }
}
