//! Cells of public features, nested: each lies in a parent, and the root holds everybody.
//!
//! What is added up over a cell adds up over its parent, so a cell with too few people borrows from the parent, free of
//! charge: every coarser answer is a function of the finer sums.

mod axes;
mod cubes;
mod key_table;
#[cfg(test)]
mod tests;
mod tree;

pub use axes::{Axes, Axis, AxisScale, Side};
pub(crate) use axes::{SPARSE, check_finite, value};
pub use cubes::{CubeGrid, Cubes};
pub use tree::Tree;

use super::rates;
use crate::LearnError;
use crate::features::{Row, Rows};
use serde::{Deserialize, Serialize};

/// Above so many axes of numbers, cells of equal mass are the default.
pub const MOST_CUBIC: u32 = 3;

/// A sort of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// Regular cubes
    Cubes,
    /// Cells of equal mass
    EqualMass,
}

impl CellKind {
    /// Cubes for up to three numbers, else equal mass.
    pub fn default_for(axes: &Axes) -> Self {
        if axes.dimension() <= MOST_CUBIC && axes.axes().len() <= 16 { Self::Cubes } else { Self::EqualMass }
    }
}

/// Nested cells of either sort.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Sort", into = "Sort")]
pub struct Partition {
    sort: Sort,
    parents: Vec<u32>,
    depths: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sort {
    Cubes(Cubes),
    Tree(Tree),
}

impl Partition {
    /// Cubes, as many along each axis of numbers as fit into [0, 1] at this width, which lies in (0, 1). Where too few people share all
    /// levels, there are cubes that do without the last ones.
    pub fn cubes(rows: &Rows, width: f64) -> Result<Self, LearnError> {
        let grid = CubeGrid::new(Axes::fit(rows)?, rates::cells_per_axis(width)?)?;
        let levels = grid.levels();
        Ok(Self::new(Sort::Cubes(Cubes::occupied(grid, rows, levels)?)))
    }

    /// Cells of at least so many people.
    pub fn equal_mass(rows: &Rows, mass: f64) -> Result<Self, LearnError> {
        Ok(Self::new(Sort::Tree(Tree::equal_mass(Axes::fit(rows)?, rows, mass)?)))
    }

    /// Cells of at least about `mass` people each, of this sort.
    pub fn of_mass(kind: CellKind, axes: Axes, rows: &Rows, mass: f64) -> Result<Self, LearnError> {
        match kind {
            CellKind::EqualMass => Ok(Self::new(Sort::Tree(Tree::equal_mass(axes, rows, mass)?))),
            CellKind::Cubes => {
                // m^d ≤ n/mass, m a power of two and no more than its quantiles tell apart
                let cells = (rows.len() as f64 / mass).max(1.0);
                let halvings = (cells.log2() / f64::from(axes.dimension())).floor().clamp(0.0, 12.0);
                let grid = CubeGrid::new(axes, 1 << halvings as u32)?;
                // Depths are tried, and each halves the numbers.
                Ok(Self::new(Sort::Cubes(Cubes::occupied(grid, rows, 0)?)))
            }
        }
    }

    /// All cubes of a grid, in order after their ancestors, whoever lies in them.
    pub(super) fn all_cubes(grid: CubeGrid) -> Self {
        Self::new(Sort::Cubes(Cubes::all(grid)))
    }

    fn new(sort: Sort) -> Self {
        let parents = match &sort {
            Sort::Cubes(cubes) => cubes.parents(),
            Sort::Tree(tree) => tree.parents(),
        };
        let mut depths = vec![0u8; parents.len()];
        for node in 1..parents.len() {
            depths[node] = depths[parents[node] as usize].saturating_add(1);
        }
        Self { sort, parents, depths }
    }

    /// The number of nodes: cells and their ancestors, of which the root is the first.
    pub fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// The parent of a node, which comes before it; the root is its own.
    pub fn parent(&self, node: usize) -> usize {
        self.parents[node] as usize
    }

    /// How many ancestors a node has.
    pub fn depth(&self, node: usize) -> u32 {
        u32::from(self.depths[node])
    }

    /// The depth of the deepest node.
    pub fn deepest(&self) -> u32 {
        u32::from(self.depths.iter().copied().max().unwrap_or(0))
    }

    /// The axes that are cut.
    pub fn axes(&self) -> &Axes {
        match &self.sort {
            Sort::Cubes(cubes) => cubes.grid().axes(),
            Sort::Tree(tree) => tree.axes(),
        }
    }

    /// The finest cell that a row lies in; one that nobody lay in before backs off to its nearest ancestor.
    #[inline]
    pub fn locate(&self, row: Row<'_>) -> usize {
        match &self.sort {
            Sort::Cubes(cubes) => cubes.locate(row) as usize,
            Sort::Tree(tree) => tree.locate(row) as usize,
        }
    }

    /// Whether a node is nobody's parent.
    pub fn leaves(&self) -> Vec<bool> {
        let mut leaves = vec![true; self.nodes()];
        (1..self.nodes()).for_each(|node| leaves[self.parent(node)] = false);
        leaves
    }

    /// Without the nodes that are deeper than `depth`.
    #[must_use]
    pub fn truncated(mut self, depth: u32) -> Self {
        let depths = self.depths;
        match &mut self.sort {
            Sort::Cubes(cubes) => cubes.truncate(depth),
            Sort::Tree(tree) => tree.prune(|node| u32::from(depths[node]) < depth),
        }
        Self::new(self.sort)
    }
}

impl TryFrom<Sort> for Partition {
    type Error = LearnError;

    fn try_from(sort: Sort) -> Result<Self, LearnError> {
        let problem = match &sort {
            Sort::Cubes(cubes) => cubes.problem(),
            Sort::Tree(tree) => tree.problem(),
        };
        match problem {
            Some(problem) => Err(LearnError::Model { problem: problem.into() }),
            None => Ok(Self::new(sort)),
        }
    }
}

impl From<Partition> for Sort {
    fn from(partition: Partition) -> Self {
        partition.sort
    }
}
