//! What people said, on its way into a file.

use super::word_lists::WordLists;
use super::{Form, LabelLists};
use arrow_array::{ArrayRef, Int64Array, UInt32Array, UInt64Array};
use std::sync::Arc;
use undertone_privacy::survey::SurveyReport;

/// Reports in the [`Form`] of their task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    Numbers(Vec<u32>),
    Masks(Vec<u64>),
    Lists(LabelLists),
    Integers(Vec<i64>),
    Words(WordLists),
}

impl Answers {
    /// None yet, in this form.
    pub(crate) fn new(form: Form) -> Self {
        match form {
            Form::Number => Self::Numbers(Vec::new()),
            Form::Mask => Self::Masks(Vec::new()),
            Form::List => Self::Lists(LabelLists::new()),
            Form::Integer => Self::Integers(Vec::new()),
            Form::Words => Self::Words(WordLists::default()),
        }
    }

    /// One more report, of these labels: one if they are numbers, and below 64 if they are masks.
    pub(crate) fn push(&mut self, members: &[u32]) {
        match self {
            Self::Numbers(labels) => labels.extend(members),
            Self::Masks(masks) => masks.push(members.iter().fold(0, |mask, member| mask | 1 << member)),
            Self::Lists(lists) => lists.push_with(|list| list.extend(members)),
            Self::Integers(_) | Self::Words(_) => {}
        }
    }

    /// One more report, about a number.
    pub(crate) fn push_integer(&mut self, said: i64) {
        if let Self::Integers(integers) = self {
            integers.push(said);
        }
    }

    /// One more report, to a survey.
    pub(crate) fn push_survey(&mut self, report: &SurveyReport) {
        if let Self::Words(lists) = self {
            lists.push(report);
        }
    }

    pub(super) fn into_array(self) -> ArrayRef {
        match self {
            Self::Numbers(labels) => Arc::new(UInt32Array::from(labels)),
            Self::Masks(masks) => Arc::new(UInt64Array::from(masks)),
            Self::Lists(lists) => lists.into_array(),
            Self::Integers(integers) => Arc::new(Int64Array::from(integers)),
            Self::Words(lists) => lists.into_array(),
        }
    }
}
