//! Keys and their places: open addressing over a sorted list of keys, which is all that is written down.

use serde::{Deserialize, Serialize};

/// Distinct keys in rising order, found in constant time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub(super) struct KeyTable {
    keys: Vec<u64>,
    /// One more than a place in `keys`, or zero: at least twice as many as keys, a power of two
    slots: Vec<u32>,
}

/// Where a key is looked for first: the upper bits of the product with 2^64 divided by the golden ratio.
#[inline]
fn slot(key: u64, slots: usize) -> usize {
    let mixed = (key ^ (key >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (64 - slots.trailing_zeros())) as usize
}

impl From<Vec<u64>> for KeyTable {
    fn from(mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        let mut slots = vec![0; (2 * keys.len()).next_power_of_two().max(2)];
        for (place, &key) in (1u32..).zip(&keys) {
            let mut at = slot(key, slots.len());
            while slots[at] != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = place;
        }
        Self { keys, slots }
    }
}

impl From<KeyTable> for Vec<u64> {
    fn from(table: KeyTable) -> Self {
        table.keys
    }
}

impl KeyTable {
    /// The keys in order.
    pub(super) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The place of a key in that order.
    #[inline]
    pub(super) fn place(&self, key: u64) -> Option<u32> {
        let mut at = slot(key, self.slots.len());
        loop {
            match self.slots[at] {
                0 => return None,
                place if self.keys[place as usize - 1] == key => return Some(place - 1),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_where_they_stand_and_others_are_not() {
        let keys: Vec<u64> = (0..1000).map(|i: u64| i * i * 7).collect();
        let table = KeyTable::from(keys.iter().rev().chain(&keys).copied().collect::<Vec<_>>());
        assert_eq!(table.keys(), keys);
        for (place, &key) in (0u32..).zip(&keys) {
            assert_eq!((table.place(key), table.place(key + 1)), (Some(place), None));
        }
        assert_eq!(KeyTable::from(Vec::new()).place(3), None);
    }
}
