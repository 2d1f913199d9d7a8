//! Averages of any sort, fitted with the size that serves people best who were kept aside.

use super::choice::{Tried, fit_cells};
use super::forest::fit_forest;
use super::linear_cells::fit_planes;
use super::neighbours::fit_neighbours;
use super::{NonparametricModel, Targets};
use crate::LearnError;
use crate::features::Rows;

/// The trees of a forest, each of which half of the people judge.
const TREES: u32 = 96;

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

    /// What people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Neighbours => "neighbours",
            Self::Forest => "forest",
            Self::Planes => "planes",
        }
    }

    /// Who judges the sizes that are tried.
    pub fn judges(self) -> &'static str {
        match self {
            Self::Forest => "everybody, by trees of others",
            Self::Cells | Self::Neighbours | Self::Planes => "one in eight who were kept aside",
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
