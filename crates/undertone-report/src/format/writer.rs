//! A report that has been checked becomes bytes.

use super::reader::{LONG, MISSING};
use super::survey::SurveyForm;
use super::{Form, HEADER, REPORT_VERSION, ReportFormat};
use crate::{Cell, Report};

/// The bytes of a report that the format has no objection to.
pub(super) fn write(format: &ReportFormat, report: &Report) -> Vec<u8> {
    let cells: usize = report.features.iter().map(cell_bytes).sum();
    let mut bytes = Vec::with_capacity(HEADER + cells + format.answers.most_bytes());
    bytes.push(REPORT_VERSION);
    bytes.extend_from_slice(format.task.as_bytes());
    bytes.extend_from_slice(&report.id.0);
    bytes.extend_from_slice(&report.time.to_be_bytes());
    bytes.push(report.tier);
    for (cell, column) in report.features.iter().zip(&format.columns) {
        match cell {
            Cell::Missing if column.kind == crate::ColumnKind::Number => bytes.push(0),
            Cell::Missing => bytes.push(MISSING),
            Cell::Number(x) => {
                bytes.push(1);
                // Adding zero takes the sign from a negative zero.
                bytes.extend_from_slice(&(x + 0.0).to_be_bytes());
            }
            Cell::Words(words) => {
                match words.len() as u16 {
                    length if length < u16::from(LONG) => bytes.push(length as u8),
                    length => {
                        bytes.push(LONG);
                        bytes.extend_from_slice(&length.to_be_bytes());
                    }
                }
                bytes.extend_from_slice(words.as_bytes());
            }
            Cell::Vector(values) => {
                bytes.extend(values.iter().flat_map(|x| (x + 0.0).to_be_bytes()));
            }
        }
    }
    match (format.form(report.tier), &report.gradient) {
        (Ok(Form::Labels(form)), _) => form.write(&report.members, &report.among, &mut bytes),
        (Ok(Form::Number(_)), _) => {
            bytes.extend_from_slice(&report.number.unwrap_or_default().to_be_bytes());
        }
        (Ok(Form::Survey(_)), _) => {
            report.survey.iter().for_each(|survey| SurveyForm::write(survey, &mut bytes));
        }
        (Ok(Form::Gradient(form)), Some(gradient)) => form.write(gradient, &mut bytes),
        // The format has objected to all others.
        _ => {}
    }
    bytes
}

/// The bytes that a cell takes.
pub(super) fn cell_bytes(cell: &Cell) -> usize {
    match cell {
        Cell::Missing => 1,
        Cell::Number(_) => 1 + 8,
        Cell::Words(words) if words.len() < usize::from(LONG) => 1 + words.len(),
        Cell::Words(words) => 3 + words.len(),
        Cell::Vector(values) => 4 * values.len(),
    }
}
