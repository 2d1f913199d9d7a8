//! Reports of many people, laid end to end.

use alloc::vec::Vec;

/// A column of label sets: the members of all reports in one run of memory, and where each report ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportColumn {
    members: Vec<u32>,
    ends: Vec<usize>,
}

impl ReportColumn {
    /// An empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of reports.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets the reports and keeps the memory.
    pub fn clear(&mut self) {
        self.members.clear();
        self.ends.clear();
    }

    /// The members of all reports, one report after the other.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// The same without where each report ends, which the reader knows if it is fixed.
    pub fn into_members(self) -> Vec<u32> {
        self.members
    }

    /// The members of each report.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start..end])
    }

    /// One more report, of the members that `write` appends.
    #[inline]
    pub(super) fn push_with(&mut self, write: impl FnOnce(&mut Vec<u32>)) {
        write(&mut self.members);
        self.ends.push(self.members.len());
    }

    /// One more report for each of `members`.
    #[inline]
    pub(super) fn push_singles(&mut self, members: impl Iterator<Item = u32>) {
        let start = self.members.len();
        self.members.extend(members);
        self.ends.extend(start + 1..=self.members.len());
    }
}

#[cfg(test)]
mod tests {
    use crate::exact::{SetMemory, WordBuffer};
    use crate::label::{Label, LabelKind, LabelRandomizer, ReportColumn};
    use crate::{Epsilon, PrivacyError};
    use alloc::vec::Vec;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn a_column_holds_the_reports_that_its_devices_would_have_sent_one_by_one() {
        for kind in LabelKind::ALL {
            for (labels, value) in [(2, 1.0), (10, 0.5), (100, 3.0), (3000, 4.0)] {
                let mechanism = kind.mechanism(labels, Epsilon::new(value).unwrap()).unwrap();
                let truth: Vec<Label> = (0..300).map(|i| Label(i * 7 % labels)).collect();
                let mut column = ReportColumn::new();
                mechanism.randomize_column(&truth, &mut column, &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
                let mut rng = ChaCha12Rng::seed_from_u64(1);
                let (mut words, mut memory) = (WordBuffer::new(&mut rng), SetMemory::new());
                assert_eq!(column.len(), truth.len());
                for (report, &Label(truth)) in column.iter().zip(&truth) {
                    let mut members = Vec::new();
                    mechanism.draw(truth, &mut memory, &mut members, &mut words);
                    assert_eq!(report, members, "{kind}, K = {labels}");
                }
            }
        }
    }

    #[test]
    fn masks_are_the_same_reports() {
        for kind in LabelKind::ALL {
            for (labels, value) in
                [(2, 1.0), (10, 0.5), (10, 3.0), (26, 1.0), (63, 1.0), (64, 1.0), (64, 4.0)]
            {
                let mechanism = kind.mechanism(labels, Epsilon::new(value).unwrap()).unwrap();
                let truth: Vec<Label> = (0..3 * labels).map(|i| Label(i % labels)).collect();
                let (mut column, mut masks) = (ReportColumn::new(), Vec::new());
                mechanism.randomize_column(&truth, &mut column, &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
                mechanism.randomize_masks(&truth, &mut masks, &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
                let as_mask = |members: &[u32]| members.iter().fold(0u64, |mask, member| mask | 1 << member);
                assert_eq!(masks, column.iter().map(as_mask).collect::<Vec<_>>(), "{kind}, K = {labels}");
            }
        }
    }

    #[test]
    fn more_labels_than_bits_have_no_masks() {
        for kind in LabelKind::ALL {
            let mechanism = kind.mechanism(65, Epsilon::new(4.0).unwrap()).unwrap();
            let (mut masks, mut rng) = (Vec::new(), ChaCha12Rng::seed_from_u64(1));
            let refused = mechanism.randomize_masks(&[Label(0)], &mut masks, &mut rng);
            assert_eq!(refused, Err(PrivacyError::TooManyLabels { labels: 65, most: 64 }), "{kind}");
            assert!(masks.is_empty() && rng.get_word_pos() == 0);
        }
    }

    #[test]
    fn a_column_with_an_unknown_label_is_refused_before_anything_is_drawn() {
        let mechanism = LabelKind::Subset.mechanism(5, Epsilon::new(1.0).unwrap()).unwrap();
        let mut column = ReportColumn::new();
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        assert!(mechanism.randomize_column(&[Label(0), Label(5)], &mut column, &mut rng).is_err());
        assert!(mechanism.randomize_masks(&[Label(0), Label(5)], &mut Vec::new(), &mut rng).is_err());
        assert!(column.is_empty() && rng.get_word_pos() == 0);
    }
}
