//! The labels that a person answers among, as they follow from the prior in the person's own public cells.
//!
//! A device has no choice: `among` is a function of the cells and of ε. Who collects can say so again, and refuses what
//! does not agree, since a device that is free to choose could say with its choice what it does not say with its answer.

use crate::{Cell, PriorWords, Task};
use undertone_privacy::Epsilon;
use undertone_privacy::label::RrWithPrior;

/// Where the priors of a task are.
#[derive(Clone, Debug)]
pub(super) struct PriorCells {
    /// The place of the column of each class
    places: Vec<usize>,
}

impl PriorCells {
    /// None if the task has no priors, or has them from elsewhere than public columns.
    pub(super) fn of(task: &Task) -> Option<Self> {
        let Some(PriorWords::Columns(names)) = &task.mechanism.prior else { return None };
        let place = |name: &String| task.features.iter().position(|column| column.name == *name);
        Some(Self { places: names.iter().map(place).collect::<Option<_>>()? })
    }

    /// The labels to answer among for a person with these numbers in the columns, in rising order; none if they are no
    /// prior, such as where one is missing.
    pub(super) fn choice(&self, numbers: &[Option<f64>], epsilon: Epsilon) -> Vec<u32> {
        let prior: Option<Vec<f64>> = self.places.iter().map(|&place| numbers[place]).collect();
        let mechanism = prior.and_then(|prior| RrWithPrior::new(&prior, epsilon).ok());
        mechanism.map_or(Vec::new(), |mechanism| mechanism.top().to_vec())
    }

    /// The same from the cells of a report.
    pub(super) fn choice_of_cells(&self, cells: &[Cell], epsilon: Epsilon) -> Vec<u32> {
        let number = |cell: &Cell| if let Cell::Number(x) = cell { Some(*x) } else { None };
        self.choice(&cells.iter().map(number).collect::<Vec<_>>(), epsilon)
    }
}
