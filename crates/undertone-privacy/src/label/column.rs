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
