//! Selections of some attributes with a letter for each, numbered without a list of them.
//!
//! Attribute j offers c_j letters. With W(j, m) the number of selections of m among the attributes from j on,
//!
//! > W(j, m) = c_j·W(j+1, m-1) + W(j+1, m)
//!
//! a number becomes a selection and back in one walk over the attributes, however many selections there are.

use crate::PrivacyError;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// More are not numbered: 2^40.
const MOST: u64 = 1 << 40;

/// All selections of so many attributes with a letter each: the smallest first, then by attributes and letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selections {
    letters: Vec<u32>,
    sizes: RangeInclusive<usize>,
    /// W(j, m), row by row
    ways: Vec<u64>,
    count: u64,
}

impl Selections {
    /// Selections of as many attributes as `sizes` say, where attribute j offers `letters[j]`.
    pub fn new(letters: Vec<u32>, sizes: RangeInclusive<usize>) -> Result<Self, PrivacyError> {
        let (p, most) = (letters.len(), *sizes.end());
        if *sizes.start() == 0 || sizes.is_empty() || most > p {
            return Err(PrivacyError::Order { order: most, attributes: p });
        }
        let width = most + 1;
        let mut ways = vec![0u64; (p + 1) * width];
        ways[p * width] = 1;
        for j in (0..p).rev() {
            for m in 0..width {
                let with = if m == 0 { 0 } else { ways[(j + 1) * width + m - 1] };
                // Both are at most 2^64 - 1 by saturation, and are refused below if they are near it.
                let with = with.saturating_mul(letters[j].into());
                ways[j * width + m] = with.saturating_add(ways[(j + 1) * width + m]);
            }
        }
        let count = sizes.clone().fold(0u64, |count, m| count.saturating_add(ways[m]));
        if count > MOST {
            return Err(PrivacyError::TooManyQuestions { most: MOST });
        }
        Ok(Self { letters, sizes, ways, count })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// W(j, m)
    fn ways(&self, j: usize, m: usize) -> u64 {
        self.ways[j * (self.sizes.end() + 1) + m]
    }

    /// The attributes of the selection `number` and the letter of each, or none if there are fewer.
    pub fn get(&self, mut number: u64) -> Option<Vec<(usize, u32)>> {
        let mut left = self.sizes.clone().find(|&m| {
            let here = number < self.ways(0, m);
            number -= if here { 0 } else { self.ways(0, m) };
            here
        })?;
        let mut selection = Vec::with_capacity(left);
        for j in 0..self.letters.len() {
            let rest = if left == 0 { 0 } else { self.ways(j + 1, left - 1) };
            let with = rest * u64::from(self.letters[j]);
            if number < with {
                selection.push((j, (number / rest) as u32));
                (number, left) = (number % rest, left - 1);
            } else {
                number -= with;
            }
        }
        Some(selection)
    }

    /// The number of a selection, or none if it is not among these.
    pub fn number(&self, selection: &[(usize, u32)]) -> Option<u64> {
        let size = selection.len();
        let rising = selection.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let known = |&(j, letter): &(usize, u32)| self.letters.get(j).is_some_and(|&count| letter < count);
        if !self.sizes.contains(&size) || !rising || !selection.iter().all(known) {
            return None;
        }
        let mut number: u64 = (*self.sizes.start()..size).map(|m| self.ways(0, m)).sum();
        let mut wanted = selection.iter().peekable();
        for j in 0..self.letters.len() {
            let left = wanted.len();
            let rest = if left == 0 { 0 } else { self.ways(j + 1, left - 1) };
            number += match wanted.next_if(|&&(attribute, _)| attribute == j) {
                Some(&(_, letter)) => u64::from(letter) * rest,
                None => u64::from(self.letters[j]) * rest,
            };
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_and_their_numbers_are_one_to_one() {
        let selections = Selections::new([2, 1, 3, 2].into(), 1..=3).unwrap();
        // e_1 + e_2 + e_3 of (2, 1, 3, 2) = 8 + 23 + 28
        assert_eq!(selections.count(), 59);
        let all: Vec<_> = (0..59).map(|number| selections.get(number).unwrap()).collect();
        for (number, selection) in (0..).zip(&all) {
            assert_eq!(selections.number(selection), Some(number), "{selection:?}");
        }
        assert!((1..59).all(|i| !all[..i].contains(&all[i])));
        assert_eq!(selections.get(59), None);
    }

    #[test]
    fn what_is_no_selection_has_no_number() {
        let selections = Selections::new([2, 2, 2].into(), 2..=2).unwrap();
        assert_eq!(selections.count(), 12);
        for other in [&[(0, 0)][..], &[(0, 0), (1, 2)], &[(1, 0), (0, 0)], &[(0, 0), (3, 0)]] {
            assert_eq!(selections.number(other), None);
        }
    }

    #[test]
    fn more_selections_than_can_be_numbered_are_refused() {
        let refused = Selections::new(vec![2; 200], 1..=20);
        assert_eq!(refused, Err(PrivacyError::TooManyQuestions { most: MOST }));
        let order = PrivacyError::Order { order: 4, attributes: 3 };
        assert_eq!(Selections::new([2, 2, 2].into(), 1..=4), Err(order));
    }
}
