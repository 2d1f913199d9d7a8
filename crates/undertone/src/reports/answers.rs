//! What people said, on its way into a file.

use super::LabelLists;
use arrow_array::{ArrayRef, UInt32Array, UInt64Array};
use std::sync::Arc;

/// Reports in the [`Form`](super::Form) of their task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    Numbers(Vec<u32>),
    Masks(Vec<u64>),
    Lists(LabelLists),
}

impl Answers {
    pub(super) fn into_array(self) -> ArrayRef {
        match self {
            Self::Numbers(labels) => Arc::new(UInt32Array::from(labels)),
            Self::Masks(masks) => Arc::new(UInt64Array::from(masks)),
            Self::Lists(lists) => lists.into_array(),
        }
    }
}
