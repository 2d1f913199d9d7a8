//! Answers to a survey on their way into a file, and out of it: the number of the question, and then its words.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, ListArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use std::sync::Arc;
use undertone_privacy::survey::SurveyReport;

/// Answers, laid end to end as Arrow has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordLists {
    words: Vec<i64>,
    /// Where each answer ends
    ends: Vec<i32>,
}

impl WordLists {
    pub(super) fn push(&mut self, report: &SurveyReport) {
        self.words.push(report.question.cast_signed());
        self.words.extend(&report.words);
        self.ends.push(self.words.len() as i32);
    }

    pub(super) fn into_array(self) -> ArrayRef {
        let offsets: Vec<i32> = std::iter::once(0).chain(self.ends).collect();
        let words = Arc::new(Int64Array::from(self.words));
        Arc::new(ListArray::new(item(), OffsetBuffer::new(offsets.into()), words, None))
    }
}

/// Answers as they were read.
#[derive(Clone, Debug)]
pub(super) struct Words {
    offsets: OffsetBuffer<i32>,
    words: ScalarBuffer<i64>,
}

impl Words {
    /// Of a column of the type that a survey has.
    pub(super) fn new(column: &ArrayRef) -> Self {
        let lists = column.as_list::<i32>();
        Self {
            offsets: lists.offsets().clone(),
            words: lists.values().as_primitive::<Int64Type>().values().clone(),
        }
    }

    /// The answer of a row; none if not even a question is there.
    pub(super) fn get(&self, row: usize) -> Option<SurveyReport> {
        let said = &self.words[self.offsets[row] as usize..self.offsets[row + 1] as usize];
        let (question, words) = said.split_first()?;
        Some(SurveyReport { question: question.cast_unsigned(), words: words.to_vec() })
    }
}

/// What a list holds, named as Parquet prescribes it.
pub(super) fn item() -> Arc<Field> {
    Arc::new(Field::new("element", DataType::Int64, false))
}
