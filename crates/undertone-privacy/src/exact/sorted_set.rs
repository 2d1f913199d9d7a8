//! A set of small integers that gives its members back in order, at a cost that follows the members.

use alloc::vec::Vec;

/// A bit for each integer, and above it a bit for each word of bits that may have a member.
///
/// Memory to be kept between uses: draining leaves it empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SortedSet {
    words: Vec<u64>,
    /// Bit w says that `words[w]` may not be zero.
    summary: Vec<u64>,
}

impl SortedSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for integers below `n`.
    #[inline]
    pub fn fit(&mut self, n: u32) {
        let words = n.div_ceil(64) as usize;
        if self.words.len() < words {
            self.words.resize(words, 0);
            self.summary.resize(words.div_ceil(64), 0);
        }
    }

    /// Whether `member` is one.
    #[inline]
    pub fn contains(&self, member: u32) -> bool {
        self.words[(member / 64) as usize] >> (member % 64) & 1 == 1
    }

    /// Adds `member` if `really`, without a branch.
    #[inline]
    pub fn insert(&mut self, member: u32, really: bool) {
        let word = member / 64;
        self.words[word as usize] |= u64::from(really) << (member % 64);
        self.summary[(word / 64) as usize] |= 1 << (word % 64);
    }

    /// Takes `member` out if `really`, without a branch.
    #[inline]
    pub fn remove(&mut self, member: u32, really: bool) {
        self.words[(member / 64) as usize] &= !(u64::from(really) << (member % 64));
    }

    /// Moves all members to the end of `members`, in rising order.
    #[inline]
    pub fn drain_into(&mut self, members: &mut Vec<u32>) {
        for (group, summary) in (0u32..).zip(&mut self.summary) {
            while *summary != 0 {
                let word = 64 * group + summary.trailing_zeros();
                *summary &= *summary - 1;
                let mut bits = core::mem::take(&mut self.words[word as usize]);
                while bits != 0 {
                    members.push(64 * word + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back_in_order_and_leave_nothing_behind() {
        let mut set = SortedSet::new();
        set.fit(100_000);
        for member in [99_999, 0, 63, 64, 4095, 4096, 70_000] {
            set.insert(member, true);
        }
        set.insert(5, false);
        set.remove(64, true);
        set.remove(63, false);
        assert!(set.contains(63) && !set.contains(64) && !set.contains(5));
        let mut members = Vec::from([7]);
        set.drain_into(&mut members);
        assert_eq!(members, [7, 0, 63, 4095, 4096, 70_000, 99_999]);
        set.drain_into(&mut members);
        assert_eq!(members.len(), 7);
    }
}
