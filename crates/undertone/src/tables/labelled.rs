//! Rows with a label, and rows without.

use super::TableFile;
use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::DataType;
use arrow_select::filter::filter_record_batch;
use std::ops::Range;

/// What becomes of rows whose label is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unlabelled {
    /// An error that names the first: a device must not tell by its silence that it has no label
    Refused,
    /// They are left out, where nothing is private anyway
    LeftOut,
}

impl Unlabelled {
    /// The stretches of rows that are read.
    pub(crate) fn stretches(self, labels: &dyn Array) -> Vec<Range<usize>> {
        let all = 0..labels.len();
        let mut stretches: Vec<Range<usize>> = Vec::new();
        if self == Self::Refused {
            stretches.push(all);
            return stretches;
        }
        for row in all.filter(|&row| is_there(labels, row)) {
            match stretches.last_mut() {
                Some(stretch) if stretch.end == row => stretch.end += 1,
                _ => stretches.push(row..row + 1),
            }
        }
        stretches
    }

    /// How many rows of a table are left out.
    pub(crate) fn left_out(self, table: &TableFile, label: usize) -> anyhow::Result<u64> {
        let mut left_out = 0;
        if self == Self::LeftOut {
            for batch in table.batches_of(label)? {
                let batch = batch?;
                let labels = batch.column(0).as_ref();
                left_out += (0..labels.len()).filter(|&row| !is_there(labels, row)).count() as u64;
            }
        }
        Ok(left_out)
    }
}

/// The rows of these stretches.
pub(crate) fn only(batch: RecordBatch, stretches: &[Range<usize>]) -> anyhow::Result<RecordBatch> {
    let rows = batch.num_rows();
    if stretches.iter().map(ExactSizeIterator::len).sum::<usize>() == rows {
        return Ok(batch);
    }
    let mut kept = vec![false; rows];
    for stretch in stretches {
        kept[stretch.clone()].fill(true);
    }
    Ok(filter_record_batch(&batch, &BooleanArray::from(kept))?)
}

/// Whether a cell says anything: no cell, and no word, are missing.
fn is_there(labels: &dyn Array, row: usize) -> bool {
    if labels.is_null(row) {
        return false;
    }
    match labels.data_type() {
        DataType::Null => false,
        DataType::Utf8 => !labels.as_string::<i32>().value(row).is_empty(),
        DataType::LargeUtf8 => !labels.as_string::<i64>().value(row).is_empty(),
        DataType::Utf8View => !labels.as_string_view().value(row).is_empty(),
        DataType::Dictionary(..) => {
            let entry = labels.as_any_dictionary().slice(row, 1);
            let entry = entry.as_any_dictionary();
            is_there(entry.values().as_ref(), entry.normalized_keys()[0])
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, Float64Array, StringArray};

    #[test]
    fn what_is_missing_divides_stretches() {
        let stretches = |labels: &dyn Array| Unlabelled::LeftOut.stretches(labels);
        let numbers = Float64Array::from(vec![None, Some(1.0), Some(2.0), None, Some(3.0)]);
        assert_eq!(stretches(&numbers), [1..3, 4..5]);
        let words = StringArray::from(vec![Some("a"), Some(""), None, Some("b")]);
        assert_eq!(stretches(&words), [0..1, 3..4]);
        let dictionary: DictionaryArray<Int32Type> =
            vec![Some("a"), Some(""), None, Some("b")].into_iter().collect();
        assert_eq!(stretches(&dictionary), [0..1, 3..4]);
        let whole = 0..5;
        assert_eq!(Unlabelled::Refused.stretches(&numbers), [whole]);
    }
}
