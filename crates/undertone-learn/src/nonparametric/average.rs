//! Averages of any sort, fitted with the size that serves people best who were kept aside.

use super::cells::SPARSE;
use super::choice::{Tried, fit_cells};
use super::forest::{MOST_CUTTING, fit_forest};
use super::linear_cells::{MOST_SLOPES, fit_planes};
use super::neighbours::{JUDGES, MOST_DIMENSIONS, fit_neighbours};
use super::{NonparametricModel, Targets};
use crate::LearnError;
use crate::features::Rows;

/// The trees of a forest, each of which half of the people judge.
const TREES: u32 = 96;

/// Seconds of a comparison in a sort, a product that is one of many, an addition, and a step down a tree.
const COMPARISON: f64 = 4e-9;
const PRODUCT: f64 = 2e-10;
const ADDITION: f64 = 1e-9;
const STEP: f64 = 2e-8;

/// A sort of averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// Over cells of public features
    Cells,
    /// Over the nearest people
    Neighbours,
    /// Over many cells, told by reports
    Forest,
    /// A plane for each cell
    Planes,
}

/// A model of everybody it was shown, and how its size was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Averaged {
    /// What was learnt
    pub model: NonparametricModel,
    /// Depth of cells, neighbours, or the people for whom a parent of a cell counts
    pub size: u64,
    /// Each size that was tried
    pub tried: Vec<Tried>,
}

impl Average {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cells, Self::Neighbours, Self::Forest, Self::Planes];

    /// Those among which a choice is made: all but planes, which forests beat wherever both were measured.
    pub const TRIED: [Self; 3] = [Self::Cells, Self::Neighbours, Self::Forest];

    /// What people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Neighbours => "neighbours",
            Self::Forest => "forest",
            Self::Planes => "planes",
        }
    }

    /// What its size is.
    pub fn size(self) -> &'static str {
        match self {
            Self::Cells | Self::Planes => "depth",
            Self::Neighbours => "people",
            Self::Forest => "λ",
        }
    }

    /// Who judges the sizes that are tried.
    pub fn judges(self) -> &'static str {
        match self {
            Self::Forest => "everybody, by trees of others",
            Self::Cells | Self::Neighbours | Self::Planes => "one in eight who were kept aside",
        }
    }

    /// About how many seconds of one core it takes to fit it and to predict one person in eight: counted, so that it is the same everywhere.
    pub fn seconds(self, rows: &Rows, targets: Targets<'_>) -> f64 {
        let (people, width) = (rows.len() as f64, targets.output().width() as f64);
        let axes = (rows.dense_width() + rows.sparse_width().min(SPARSE)) as f64;
        let depth = people.max(2.0).log2();
        // Every axis is sorted, and everybody counted once
        let ranks = people * (axes * depth * COMPARISON + width * ADDITION);
        let asking = people / 8.0 + (people / 8.0).min(JUDGES as f64);
        ranks
            + match self {
                Self::Cells => 0.0,
                // Everybody is looked at for each who asks, and in the end summed up
                Self::Neighbours if axes > MOST_DIMENSIONS as f64 => {
                    asking * people * (axes * PRODUCT + width * ADDITION)
                }
                Self::Neighbours => asking * people.sqrt() * (axes + width) * ADDITION,
                // Half of the axes of half of the people are summed up at each depth; everybody goes down, and is told by each λ
                Self::Forest => {
                    let cutting = (people / 2.0).min(MOST_CUTTING as f64) * axes / 2.0 * depth * ADDITION;
                    f64::from(TREES) * (cutting + people * depth * (STEP + width * ADDITION))
                }
                // Products of pairs of slopes at each depth
                Self::Planes => {
                    let terms = axes.min(MOST_SLOPES as f64) + 1.0;
                    people * depth * terms * (terms + width) * ADDITION
                }
            }
    }

    /// Fits it; the seed is that of a forest's cells.
    pub fn fit(self, rows: &Rows, targets: Targets<'_>, seed: u64) -> Result<Averaged, LearnError> {
        Ok(match self {
            Self::Cells => {
                let fitted = fit_cells(rows, targets, None)?;
                let model = NonparametricModel::Cells(fitted.model);
                Averaged { model, size: fitted.depth.into(), tried: fitted.tried }
            }
            Self::Neighbours => {
                let fitted = fit_neighbours(rows, targets, None)?;
                let model = NonparametricModel::Neighbours(fitted.model);
                Averaged { model, size: fitted.chosen as u64, tried: fitted.tried }
            }
            Self::Forest => {
                let fitted = fit_forest(rows, targets, TREES, seed)?;
                let model = NonparametricModel::Forest(fitted.model);
                Averaged { model, size: fitted.chosen, tried: fitted.tried }
            }
            Self::Planes => {
                let fitted = fit_planes(rows, targets)?;
                let model = NonparametricModel::LinearCells(fitted.model);
                Averaged { model, size: fitted.depth.into(), tried: fitted.tried }
            }
        })
    }
}
