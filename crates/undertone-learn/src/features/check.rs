//! Whether the columns of a batch are those that were asked for.

use super::{Batch, Column};
use crate::LearnError;
use undertone_report::{ColumnKind, FeatureColumn};

/// Refuses a batch whose columns are of other number, kind or length than asked for, or hold what is no number.
/// `before` rows were seen earlier.
pub(super) fn batch<'a>(
    batch: &Batch,
    asked: impl ExactSizeIterator<Item = &'a FeatureColumn>,
    before: u64,
) -> Result<(), LearnError> {
    if batch.columns.len() != asked.len() {
        return Err(LearnError::Columns { found: batch.columns.len(), expected: asked.len() });
    }
    for (column, asked) in batch.columns.iter().zip(asked) {
        let kind = kind_of(column);
        if kind != asked.kind {
            return Err(kind_differs(asked, kind));
        }
        let cells = match column {
            Column::Numbers(cells) => cells.len(),
            Column::Words(words) => words.len(),
            Column::Vectors { width, values } => values.len().checked_div(*width).unwrap_or(batch.rows),
        };
        if cells != batch.rows {
            let problem = format!("it has {cells} cells and the table {} rows", batch.rows);
            return Err(LearnError::Column { column: asked.name.clone(), problem });
        }
        finite(column).map_err(|(row, value)| LearnError::Cell {
            row: before + row as u64 + 1,
            column: asked.name.clone(),
            problem: format!("{value} is not a finite number"),
        })?;
    }
    Ok(())
}

/// The error for a column that holds something else than asked for.
pub(super) fn kind_differs(asked: &FeatureColumn, found: ColumnKind) -> LearnError {
    let problem = format!("it holds {found}, but {} are needed", asked.kind);
    LearnError::Column { column: asked.name.clone(), problem }
}

fn kind_of(column: &Column) -> ColumnKind {
    match column {
        Column::Numbers(_) => ColumnKind::Number,
        Column::Words(_) => ColumnKind::Words,
        Column::Vectors { width, .. } => ColumnKind::Vector(*width as u32),
    }
}

/// The first row that holds an infinity, or in a vector also a NaN, which marks an empty cell in a column of numbers.
fn finite(column: &Column) -> Result<(), (usize, f64)> {
    let found = match column {
        Column::Numbers(cells) => {
            cells.iter().position(|x| x.is_infinite()).map(|place| (place, cells[place]))
        }
        Column::Words(_) => None,
        Column::Vectors { width, values } => {
            let place = values.iter().position(|x| !x.is_finite());
            place.map(|place| (place / width, f64::from(values[place])))
        }
    };
    found.map_or(Ok(()), Err)
}
