//! Lists of labels on their way into a file.

use arrow_array::{ArrayRef, ListArray, UInt32Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use std::sync::Arc;
use undertone_privacy::label::ReportColumn;

/// Lists of labels, laid end to end as Arrow has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabelLists {
    members: Vec<u32>,
    /// Where each list begins, and where the last one ends
    offsets: Vec<i32>,
}

impl LabelLists {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self { members: Vec::new(), offsets: vec![0] }
    }

    /// The reports of a column, in which each has `set_size` members if that is given.
    pub(crate) fn of(column: ReportColumn, set_size: Option<u32>) -> Self {
        let offsets = if let Some(size) = set_size {
            (0..=column.len() as i32).map(|row| row * size as i32).collect()
        } else {
            let ends = column.iter().scan(0, |end, report| {
                *end += report.len() as i32;
                Some(*end)
            });
            std::iter::once(0).chain(ends).collect()
        };
        Self { members: column.into_members(), offsets }
    }

    /// One more list, of the members that `write` appends.
    pub(crate) fn push_with(&mut self, write: impl FnOnce(&mut Vec<u32>)) {
        write(&mut self.members);
        self.offsets.push(self.members.len() as i32);
    }

    /// A column of lists.
    pub(super) fn into_array(self) -> ArrayRef {
        let offsets = OffsetBuffer::new(self.offsets.into());
        Arc::new(ListArray::new(item(), offsets, Arc::new(UInt32Array::from(self.members)), None))
    }
}

/// What a list holds, named as Parquet prescribes it.
pub(super) fn item() -> Arc<Field> {
    Arc::new(Field::new("element", DataType::UInt32, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::{Label, LabelKind, LabelRandomizer};

    #[test]
    fn a_column_of_fixed_or_changing_size_is_cut_where_its_reports_end() {
        for kind in [LabelKind::Rr, LabelKind::Subset, LabelKind::Bits] {
            let mechanism = kind.mechanism(7, Epsilon::new(0.5).unwrap()).unwrap();
            let mut column = ReportColumn::new();
            let labels: Vec<Label> = (0..50).map(|i| Label(i % 7)).collect();
            mechanism.randomize_column(&labels, &mut column, &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
            let mut one_by_one = LabelLists::new();
            for report in column.iter() {
                one_by_one.push_with(|members| members.extend(report));
            }
            assert_eq!(LabelLists::of(column.clone(), mechanism.set_size()), one_by_one, "{kind}");
            assert_eq!(LabelLists::of(column, None), one_by_one, "{kind}");
        }
    }
}
