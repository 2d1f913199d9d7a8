//! Sets of small integers that give their members back in order, without a branch on what they hold.
//!
//! Three forms, fastest where they fit: a register for integers below 64, a list for few members, a bit map for many.

use alloc::vec::Vec;

/// A set under construction.
pub trait Members {
    /// Whether `member` is one.
    fn contains(&self, member: u32) -> bool;
    /// Adds `member`, which is none yet.
    fn insert(&mut self, member: u32);
    /// Puts `new` in the place of the member `old` if `really`.
    fn replace(&mut self, old: u32, new: u32, really: bool);
    /// Moves all members, `count` of them, to the end of `sorted`, in rising order.
    fn drain_into(&mut self, count: u32, sorted: &mut Vec<u32>);
}

/// Memory to be kept between sets, empty in between.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetMemory {
    /// A list of few members
    pub list: Vec<u32>,
    map: BitMap,
}

impl SetMemory {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A bit map with room for integers below `n`.
    #[inline]
    pub fn map(&mut self, n: u32) -> &mut BitMap {
        let words = n.div_ceil(64) as usize;
        if self.map.words.len() < words {
            self.map.words.resize(words, 0);
            self.map.summary.resize(words.div_ceil(64), 0);
        }
        &mut self.map
    }
}

impl Members for u64 {
    #[inline]
    fn contains(&self, member: u32) -> bool {
        *self >> member & 1 == 1
    }

    #[inline]
    fn insert(&mut self, member: u32) {
        *self |= 1 << member;
    }

    #[inline]
    fn replace(&mut self, old: u32, new: u32, really: bool) {
        *self &= !(Self::from(really) << old);
        *self |= Self::from(really) << new;
    }

    #[inline]
    fn drain_into(&mut self, count: u32, sorted: &mut Vec<u32>) {
        sorted.reserve(count as usize);
        while *self != 0 {
            sorted.push(self.trailing_zeros());
            *self &= *self - 1;
        }
    }
}

impl Members for Vec<u32> {
    #[inline]
    fn contains(&self, member: u32) -> bool {
        // All are looked at, several at a time.
        self.iter().fold(0u32, |found, &other| found | u32::from(other == member)) == 1
    }

    #[inline]
    fn insert(&mut self, member: u32) {
        self.push(member);
    }

    #[inline]
    #[expect(clippy::needless_bitwise_bool, reason = "no branch may depend on the members")]
    fn replace(&mut self, old: u32, new: u32, really: bool) {
        for member in self {
            *member = if really & (*member == old) { new } else { *member };
        }
    }

    #[inline]
    fn drain_into(&mut self, count: u32, sorted: &mut Vec<u32>) {
        let start = sorted.len();
        sorted.resize(start + count as usize, 0);
        // The place of a member is the number of smaller ones.
        for &member in &*self {
            let rank = self.iter().fold(0u32, |rank, &other| rank + u32::from(other < member));
            sorted[start + rank as usize] = member;
        }
        self.clear();
    }
}

/// A bit for each integer, and a bit for each word of bits that may have a member: a sparse map is read back without
/// asking every word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BitMap {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl BitMap {
    /// Adds `member` if `really`.
    #[inline]
    fn insert_if(&mut self, member: u32, really: bool) {
        let word = member / 64;
        self.words[word as usize] |= u64::from(really) << (member % 64);
        self.summary[(word / 64) as usize] |= 1 << (word % 64);
    }
}

impl Members for BitMap {
    #[inline]
    fn contains(&self, member: u32) -> bool {
        self.words[(member / 64) as usize] >> (member % 64) & 1 == 1
    }

    #[inline]
    fn insert(&mut self, member: u32) {
        self.insert_if(member, true);
    }

    #[inline]
    fn replace(&mut self, old: u32, new: u32, really: bool) {
        self.words[(old / 64) as usize] &= !(u64::from(really) << (old % 64));
        self.insert_if(new, really);
    }

    #[inline]
    fn drain_into(&mut self, count: u32, sorted: &mut Vec<u32>) {
        /// Members of a word that are written without asking whether they exist; what is no member is overwritten.
        const BLIND: usize = 4;
        let mut end = sorted.len();
        let last = end + count as usize;
        sorted.resize(last + BLIND, 0);
        for (group, summary) in (0u32..).step_by(64).zip(&mut self.summary) {
            while *summary != 0 {
                let word = group + summary.trailing_zeros();
                *summary &= *summary - 1;
                let mut bits = core::mem::take(&mut self.words[word as usize]);
                let mut written = end;
                end += bits.count_ones() as usize;
                // Of a sparse map, once: nothing for a processor to guess
                while written < end {
                    for place in &mut sorted[written..written + BLIND] {
                        *place = 64 * word + bits.trailing_zeros();
                        bits &= bits.wrapping_sub(1);
                    }
                    written += BLIND;
                }
            }
        }
        sorted.truncate(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced_and_drained(set: &mut impl Members) {
        for member in [60, 0, 63, 31, 7, 8, 9, 10, 11, 40] {
            assert!(!set.contains(member));
            set.insert(member);
            assert!(set.contains(member));
        }
        set.replace(31, 5, true);
        set.replace(63, 6, false);
        let mut sorted = Vec::from([99]);
        set.drain_into(10, &mut sorted);
        assert_eq!(sorted, [99, 0, 5, 7, 8, 9, 10, 11, 40, 60, 63]);
        set.drain_into(0, &mut sorted);
        assert_eq!(sorted.len(), 11, "drained sets are empty");
    }

    #[test]
    fn every_form_gives_its_members_back_in_order_and_keeps_none() {
        replaced_and_drained(&mut 0u64);
        replaced_and_drained(&mut Vec::new());
        replaced_and_drained(SetMemory::new().map(64));
        replaced_and_drained(SetMemory::new().map(100_000));
    }

    #[test]
    fn a_map_gives_back_full_and_far_words() {
        let mut memory = SetMemory::new();
        let map = memory.map(1000);
        let members: Vec<u32> = (64..128).chain([999]).collect();
        for &member in &members {
            map.insert(member);
        }
        let mut sorted = Vec::new();
        map.drain_into(65, &mut sorted);
        assert_eq!(sorted, members);
    }
}
