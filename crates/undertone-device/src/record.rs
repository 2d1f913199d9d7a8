//! A person's whole record, as the covariates and the response that a task makes of it.
//!
//! The record never leaves: what is made of it here goes into a gradient, and the gradient is randomized. So there are no
//! errors about its values either. A cell that is none of what its column holds becomes what is no number, and the gradient
//! of that is the centre of the ball, whatever the rest of the record says. A value that its category does not have, and no
//! feature stands for, is taken for the one that the others are compared with.

use crate::DeviceError;
use undertone_report::{CategoryWords, Cell, EncodingWords, ReportError, Task};

/// What is known about a person, and nobody else's to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The cells of the task's columns, in order
    pub features: Vec<Cell>,
    /// The number that is explained, or the place of a class
    pub response: f64,
}

/// How cells become covariates.
#[derive(Clone, Debug)]
pub(crate) struct Covariates {
    encoding: Vec<EncodingWords>,
    /// (y - mean)·scale
    response: (f64, f64),
}

impl Covariates {
    pub(crate) fn of(task: &Task) -> Self {
        let response = task.record.as_ref().and_then(|record| record.response);
        Self {
            encoding: task
                .collection
                .as_ref()
                .map_or_else(Vec::new, |collection| collection.encoding.clone()),
            response: response.map_or((0.0, 1.0), |words| (words.mean, words.scale)),
        }
    }

    /// x and y of a record. Only a wrong number of cells, which is public, is an error.
    pub(crate) fn encode(&self, record: &Record) -> Result<(Vec<f64>, f64), DeviceError> {
        let (found, expected) = (record.features.len(), self.encoding.len());
        if found != expected {
            return Err(ReportError::WrongColumns { found, expected }.into());
        }
        let mut x = vec![1.0];
        for (words, cell) in self.encoding.iter().zip(&record.features) {
            push(words, cell, &mut x);
        }
        let (mean, scale) = self.response;
        Ok((x, (record.response - mean) * scale))
    }
}

#[expect(clippy::needless_bitwise_bool, reason = "what a record holds decides no branch")]
fn push(words: &EncodingWords, cell: &Cell, x: &mut Vec<f64>) {
    match words {
        EncodingWords::Number(stretch) => {
            let (mean, scale) = stretch.mean_and_scale();
            let (value, empty) = match cell {
                Cell::Number(value) => ((value - mean) * scale, 0.0),
                Cell::Missing => (0.0, 1.0),
                Cell::Words(_) | Cell::Vector(_) => (f64::NAN, 0.0),
            };
            x.push(value);
            x.extend(stretch.missing().then_some(empty));
        }
        EncodingWords::Category(CategoryWords::Values { values, other, missing }) => {
            let text = match cell {
                Cell::Words(text) => Some(text.clone()),
                Cell::Number(value) => Some(value.to_string()),
                Cell::Missing | Cell::Vector(_) => None,
            };
            // What is no category is no number either.
            let nothing = if matches!(cell, Cell::Vector(_)) { f64::NAN } else { 0.0 };
            let mark = |is: bool| f64::from(u8::from(is)) + nothing;
            let own: Vec<bool> = values.iter().map(|value| text.as_ref() == Some(value)).collect();
            let known = own.iter().fold(false, |any, own| any | own);
            x.extend(own.iter().map(|&own| mark(own)));
            x.extend(other.then(|| mark(text.is_some() & !known)));
            x.extend(missing.then(|| mark(text.is_none())));
        }
        // A task that asks for records has no others.
        EncodingWords::Category(_) | EncodingWords::Text(_) | EncodingWords::Vector(_) => {}
    }
}
