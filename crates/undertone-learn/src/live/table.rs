//! From reports to columns of cells.

use crate::features::{Batch, Column, Words};
use undertone_report::{Cell, ColumnKind, FeatureColumn, Report};

/// The public cells of `reports`, which were checked against these columns.
pub(super) fn of(reports: &[Report], columns: &[FeatureColumn]) -> Batch {
    let column = |(place, column): (usize, &FeatureColumn)| {
        let cells = reports.iter().map(move |report| &report.features[place]);
        match column.kind {
            ColumnKind::Number => Column::Numbers(cells.map(number).collect()),
            ColumnKind::Words => Column::Words(cells.map(words).collect::<Words>()),
            ColumnKind::Vector(width) => {
                let width = width as usize;
                Column::Vectors { width, values: cells.flat_map(|cell| vector(cell, width)).collect() }
            }
        }
    };
    Batch { columns: columns.iter().enumerate().map(column).collect(), rows: reports.len() }
}

fn number(cell: &Cell) -> f64 {
    if let Cell::Number(x) = cell { *x } else { f64::NAN }
}

fn words(cell: &Cell) -> Option<&str> {
    if let Cell::Words(words) = cell { Some(words) } else { None }
}

fn vector(cell: &Cell, width: usize) -> Vec<f32> {
    if let Cell::Vector(values) = cell { values.clone() } else { vec![0.0; width] }
}
