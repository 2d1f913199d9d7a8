//! How fine the cells and how many the neighbours, from reports alone.
//!
//! One person in eight is kept aside. Their reports judge what the others have taught, by a loss that is unbiased for the one
//! on true labels ([`Targets`]) up to a constant; negative losses are not clamped. Of all candidates the **coarsest** is chosen
//! whose loss exceeds the least by no more than one standard error of the difference, person by person. The choice is a function
//! of reports and public features, and free.

use super::cell_model::CellModel;
use super::cells::{Axes, CellKind, Partition};
use super::sums::Sums;
use super::targets::Targets;
use crate::LearnError;
use crate::evaluation::{Figure, mean};
use crate::features::Rows;
use crate::split::is_held_out;

/// The share of people who are kept aside.
pub(super) const ASIDE: f64 = 1.0 / 8.0;

/// No fewer people than this are kept aside.
const FEWEST: usize = 20;

/// A candidate and how it did on those who were kept aside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// The depth of cells or the number of neighbours
    pub size: u64,
    /// The mean loss, up to a constant
    pub loss: Figure,
}

/// A model of cells and how they were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedCells {
    /// Fitted to everybody
    pub model: CellModel,
    /// The chosen sort of cells
    pub kind: CellKind,
    /// The chosen depth
    pub depth: u32,
    /// All depths of this sort, the coarsest first
    pub tried: Vec<Tried>,
}

/// The first candidate with the least mean loss.
pub(super) fn least(losses: &[Vec<f64>]) -> usize {
    let means: Vec<f64> = losses.iter().map(|losses| mean(losses).value).collect();
    (0..means.len()).min_by(|&a, &b| means[a].total_cmp(&means[b])).unwrap_or(0)
}

/// Of candidates that go from the coarsest to the finest, with the losses of the same people each: the first whose mean
/// exceeds the least by at most a standard error of the paired difference.
pub(super) fn coarsest_within_one_error(losses: &[Vec<f64>]) -> usize {
    let best = least(losses);
    let good = |candidate: &usize| {
        let pairs = losses[*candidate].iter().zip(&losses[best]);
        let apart = mean(&pairs.map(|(a, b)| a - b).collect::<Vec<_>>());
        apart.value <= apart.standard_error
    };
    (0..best).find(good).unwrap_or(best)
}

/// Those who are kept aside.
pub(super) fn kept_aside(people: usize) -> Result<Vec<usize>, LearnError> {
    let aside: Vec<usize> = (0..people).filter(|&person| is_held_out(person as u64, ASIDE)).collect();
    if aside.len() < FEWEST { Err(LearnError::TooFewReports) } else { Ok(aside) }
}

/// How each candidate did.
pub(super) fn tried(sizes: impl Iterator<Item = u64>, losses: &[Vec<f64>]) -> Vec<Tried> {
    sizes.zip(losses).map(|(size, losses)| Tried { size, loss: mean(losses) }).collect()
}

/// Fits cells of the sort and the depth that serve people best who were kept aside; both sorts are tried if none is given
/// and there are few enough numbers for cubes.
pub fn fit_cells(
    rows: &Rows,
    targets: Targets<'_>,
    kind: Option<CellKind>,
) -> Result<FittedCells, LearnError> {
    targets.check(rows.len())?;
    let axes = Axes::fit(rows)?;
    let kinds = match (kind, CellKind::default_for(&axes)) {
        (Some(kind), _) => vec![kind],
        (None, CellKind::Cubes) => vec![CellKind::Cubes, CellKind::EqualMass],
        (None, CellKind::EqualMass) => vec![CellKind::EqualMass],
    };
    let aside = kept_aside(rows.len())?;
    let others = |person: usize| !is_held_out(person as u64, ASIDE);
    let mut best: Option<(f64, CellKind, Partition, Vec<Vec<f64>>)> = None;
    for kind in kinds {
        let partition = Partition::of_mass(kind, axes.clone(), rows, targets.least().max(4.0))?;
        let sums = Sums::of(&partition, rows, targets, others)?;
        let model = CellModel::of_sums(partition.clone(), &sums, targets);
        let loss = |person, node| targets.loss(person, model.node(node));
        let losses = losses_by_depth(&partition, rows, &aside, loss);
        let least = losses.iter().map(|losses| mean(losses).value).fold(f64::INFINITY, f64::min);
        if best.as_ref().is_none_or(|(loss, ..)| least < *loss) {
            best = Some((least, kind, partition, losses));
        }
    }
    let (_, kind, partition, losses) = best.expect("one sort at least was tried");
    let depth = coarsest_within_one_error(&losses) as u32;
    let model = CellModel::fit(partition.truncated(depth), rows, targets)?;
    Ok(FittedCells { model, kind, depth, tried: tried(0.., &losses) })
}

/// The losses of those kept aside, for each depth at which the cells might end; `loss` is that of a person in a node.
pub(super) fn losses_by_depth(
    partition: &Partition,
    rows: &Rows,
    aside: &[usize],
    mut loss: impl FnMut(usize, usize) -> f64,
) -> Vec<Vec<f64>> {
    let mut losses = vec![Vec::with_capacity(aside.len()); partition.deepest() as usize + 1];
    for &person in aside {
        let mut node = partition.locate(rows.get(person));
        for depth in (0..losses.len()).rev() {
            while partition.depth(node) as usize > depth {
                node = partition.parent(node);
            }
            losses[depth].push(loss(person, node));
        }
    }
    losses
}
