//! What is looked for in the private column: classes, or how large a number is.

use crate::tables::{ClassIndex, label_numbers};
use arrow_array::Array;
use undertone_learn::nonparametric::Magnitudes;
use undertone_privacy::label::Label;
use undertone_report::Task;

/// How a cell becomes a label.
pub(super) enum Sought {
    /// It is one of the classes
    Classes(ClassIndex),
    /// It is a number in one of the bins
    Magnitudes(Magnitudes),
}

impl Sought {
    pub(super) fn of(magnitudes: Option<Magnitudes>, task: &Task) -> Self {
        match magnitudes {
            Some(magnitudes) => Self::Magnitudes(magnitudes),
            None => Self::Classes(ClassIndex::new(task.classes.iter().cloned())),
        }
    }

    /// Appends the label of each cell; `first_row` is that of the first, counted from one. What has no label is an error that names
    /// its row and what is there.
    pub(super) fn look_up(
        &self,
        cells: &dyn Array,
        first_row: u64,
        labels: &mut Vec<Label>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Classes(index) => index.look_up(cells, first_row, labels),
            Self::Magnitudes(magnitudes) => {
                let mut numbers = Vec::new();
                label_numbers(cells, first_row, &mut numbers)?;
                for number in numbers {
                    labels.push(Label(magnitudes.bin(number)?));
                }
                Ok(())
            }
        }
    }
}
