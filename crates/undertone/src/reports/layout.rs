//! Which columns a file of reports has, and of which types.

use super::label_lists::item;
use super::word_lists;
use anyhow::bail;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use std::sync::Arc;
use undertone_report::{Task, TaskError};

/// The column of what people said.
pub(super) const REPORT: &str = "report";
/// The column of what they chose among.
pub(super) const AMONG: &str = "among";

/// How the reports of a task are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) form: Form,
    /// Whether each report comes with the labels it was chosen among
    pub(super) priors: bool,
}

/// What a report is in its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The one label that it names
    Number,
    /// A bit for each of at most 64 labels
    Mask,
    /// The labels that it names
    List,
    /// What is said about a number
    Integer,
    /// The number of the question of a survey, and the words of the answer
    Words,
}

impl Layout {
    pub(crate) fn of(task: &Task) -> Result<Self, TaskError> {
        if task.asks_once() {
            return Ok(Self { form: Form::Words, priors: false });
        }
        if task.asks_for_numbers() {
            return Ok(Self { form: Form::Integer, priors: false });
        }
        let priors = task.has_priors();
        let single = priors || task.mechanism()?.set_size() == Some(1);
        let form = match task.labels() {
            _ if single => Form::Number,
            0..=u64::BITS => Form::Mask,
            _ => Form::List,
        };
        Ok(Self { form, priors })
    }

    pub(super) fn report_type(self) -> DataType {
        match self.form {
            Form::Number => DataType::UInt32,
            Form::Mask => DataType::UInt64,
            Form::List => DataType::List(item()),
            Form::Integer => DataType::Int64,
            Form::Words => DataType::List(word_lists::item()),
        }
    }

    /// The columns that follow the public ones.
    pub(super) fn own_fields(self) -> Vec<FieldRef> {
        let mut fields = vec![Arc::new(Field::new(REPORT, self.report_type(), false))];
        if self.priors {
            fields.push(Arc::new(Field::new(AMONG, DataType::List(item()), false)));
        }
        fields
    }

    /// The public columns and then our own. A public column may not have the name of one of ours.
    pub(super) fn schema(self, features: &[FieldRef]) -> anyhow::Result<SchemaRef> {
        let own = self.own_fields();
        if let Some(taken) = features.iter().find(|field| own.iter().any(|own| own.name() == field.name())) {
            bail!(
                "a public column is named `{}`, as is a column of reports; rename or drop it",
                taken.name()
            );
        }
        Ok(Arc::new(Schema::new(features.iter().cloned().chain(own).collect::<Vec<_>>())))
    }
}

/// Whether `found` may stand where `expected` is asked for: names of items and whether they can be missing may differ.
pub(super) fn same_type(found: &DataType, expected: &DataType) -> bool {
    match (found, expected) {
        (DataType::List(found), DataType::List(expected)) => found.data_type() == expected.data_type(),
        _ => found == expected,
    }
}
