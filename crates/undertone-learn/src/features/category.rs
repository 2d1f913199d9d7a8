//! A category becomes one feature for each level: one where the cell has that level, zero elsewhere.
//!
//! Levels that the fit saw rarely share one feature, `other`, and so do levels that it never saw. An empty cell is a level
//! like any other. Where there are more levels than buckets, or more than memory is set aside for, a level's feature is
//! its hash, and levels that collide share it.

use super::hash;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use undertone_report::CategoryWords;

/// The most features of one column that are kept dense.
const DENSE: usize = 64;
/// The most different levels that a fit counts, and the most bytes that they take.
const COUNTED_LEVELS: usize = 1 << 17;
const COUNTED_BYTES: usize = 1 << 24;

/// A fitted category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Category {
    /// A feature for each level
    Levels {
        /// In the order of their names
        levels: Vec<String>,
        /// Whether there is a feature for the rest
        other: bool,
        /// Whether there is a feature for empty cells
        missing: bool,
    },
    /// A feature for each bucket that a level may fall into, and one for empty cells
    Hashed { buckets: u32 },
}

/// How often each level was seen, as long as there are not too many.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LevelCounts {
    counts: HashMap<String, u64>,
    bytes: usize,
    too_many: bool,
    missing: u64,
}

impl LevelCounts {
    pub(super) fn observe(&mut self, cell: Option<&str>) {
        match cell {
            None => self.missing += 1,
            Some(_) if self.too_many => {}
            Some(level) => self.count(level),
        }
    }

    fn count(&mut self, level: &str) {
        if let Some(count) = self.counts.get_mut(level) {
            *count += 1;
            return;
        }
        self.bytes += level.len();
        if self.counts.len() == COUNTED_LEVELS || self.bytes > COUNTED_BYTES {
            self.too_many = true;
            self.counts = HashMap::new();
        } else {
            self.counts.insert(level.to_owned(), 1);
        }
    }

    /// The number of different levels; `None` if they are too many to count.
    pub(super) fn distinct(&self) -> Option<usize> {
        (!self.too_many).then_some(self.counts.len())
    }

    /// Keeps the levels that were seen at least `least` times, and hashes them if they outnumber the buckets.
    pub(super) fn finish(self, least: u64, buckets: u32) -> Category {
        let distinct = self.counts.len();
        let kept = self.counts.into_iter().filter(|&(_, count)| count >= least);
        let mut levels: Vec<String> = kept.map(|(level, _)| level).collect();
        if self.too_many || levels.len() > buckets as usize {
            return Category::Hashed { buckets };
        }
        levels.sort_unstable();
        let missing = self.missing > 0 && self.missing >= least;
        let other = levels.len() < distinct || (self.missing > 0 && !missing);
        Category::Levels { levels, other, missing }
    }
}

impl Category {
    /// As a document says it, where values may have any order.
    pub(super) fn from_words(words: &CategoryWords) -> Self {
        match words {
            CategoryWords::Values { values, other, missing } => {
                let mut levels = values.clone();
                levels.sort_unstable();
                Self::Levels { levels, other: *other, missing: *missing }
            }
            CategoryWords::Hashed { buckets } => Self::Hashed { buckets: *buckets },
        }
    }

    /// The words for it.
    pub(super) fn words(&self) -> CategoryWords {
        match self {
            Self::Levels { levels, other, missing } => {
                CategoryWords::Values { values: levels.clone(), other: *other, missing: *missing }
            }
            Self::Hashed { buckets } => CategoryWords::Hashed { buckets: *buckets },
        }
    }

    pub(super) fn width(&self) -> usize {
        match self {
            Self::Levels { levels, other, missing } => {
                levels.len() + usize::from(*other) + usize::from(*missing)
            }
            Self::Hashed { buckets } => *buckets as usize + 1,
        }
    }

    pub(super) fn is_dense(&self) -> bool {
        self.width() <= DENSE
    }

    /// The feature that is one, if any is.
    pub(super) fn feature(&self, cell: Option<&str>) -> Option<usize> {
        let (levels, other, missing) = match (self, cell) {
            (Self::Levels { levels, other, missing }, _) => (levels, *other, *missing),
            (Self::Hashed { buckets }, None) => return Some(*buckets as usize),
            (Self::Hashed { buckets }, Some(level)) => return Some(hash::bucket(hash::of(level), *buckets)),
        };
        let known = match cell {
            Some(level) => levels.binary_search_by(|known| known.as_str().cmp(level)).ok(),
            None => missing.then_some(levels.len() + usize::from(other)),
        };
        known.or(other.then_some(levels.len()))
    }

    pub(super) fn names(&self, column: &str) -> Vec<String> {
        let missing = |there: bool| there.then(|| format!("{column} is missing"));
        match self {
            Self::Levels { levels, other, missing: there } => {
                let rest = other.then(|| format!("{column} is another"));
                let known = levels.iter().map(|level| format!("{column} = {level}"));
                known.chain(rest).chain(missing(*there)).collect()
            }
            Self::Hashed { buckets } => {
                (0..*buckets).map(|bucket| format!("{column} #{bucket}")).chain(missing(true)).collect()
            }
        }
    }

    pub(super) fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Levels { levels, .. } if !levels.is_sorted_by(|a, b| a < b) => {
                Some("levels have to be in order, each of them once")
            }
            Self::Hashed { buckets: 0 } => Some("at least one bucket is needed"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(cells: &[Option<&str>], least: u64, buckets: u32) -> Category {
        let mut counts = LevelCounts::default();
        for &cell in cells {
            counts.observe(cell);
        }
        counts.finish(least, buckets)
    }

    #[test]
    fn levels_seen_twice_have_a_feature_and_the_rest_share_one() {
        let cells = [Some("red"), Some("blue"), None, Some("red"), Some("blue"), Some("grey"), None];
        let colour = fit(&cells, 2, 16);
        assert_eq!(
            colour.names("colour"),
            ["colour = blue", "colour = red", "colour is another", "colour is missing"]
        );
        let features = [Some("blue"), Some("red"), Some("grey"), Some("unheard of"), None];
        assert_eq!(features.map(|cell| colour.feature(cell)), [Some(0), Some(1), Some(2), Some(2), Some(3)]);
    }

    #[test]
    fn what_was_never_seen_has_no_feature_of_its_own() {
        let colour = fit(&[Some("red"), Some("red")], 2, 16);
        assert_eq!(colour.names("colour"), ["colour = red"]);
        assert_eq!([Some("blue"), None].map(|cell| colour.feature(cell)), [None, None]);
    }

    #[test]
    fn an_empty_cell_seen_too_rarely_is_pooled_like_any_level() {
        let colour = fit(&[Some("red"), Some("red"), None], 2, 16);
        assert_eq!(colour.names("colour"), ["colour = red", "colour is another"]);
        assert_eq!(colour.feature(None), Some(1));
    }

    #[test]
    fn more_levels_than_buckets_are_hashed() {
        let names: Vec<String> = (0..20).map(|level| level.to_string()).collect();
        let cells: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
        let colour = fit(&cells, 1, 16);
        assert_eq!(colour, Category::Hashed { buckets: 16 });
        assert_eq!(colour.width(), 17);
        assert!(cells.iter().all(|&cell| colour.feature(cell).unwrap() < 16));
        assert_eq!(colour.feature(None), Some(16));
        assert_eq!(fit(&cells, 1, 20).width(), 20);
        // Levels too rare to be kept do not count.
        assert_eq!(fit(&cells, 2, 16).names("colour"), ["colour is another"]);
    }

    #[test]
    fn a_fit_stops_counting_before_memory_is_full() {
        let mut counts = LevelCounts::default();
        for level in 0..=COUNTED_LEVELS {
            counts.observe(Some(&level.to_string()));
        }
        assert_eq!(counts.distinct(), None);
        assert!(counts.counts.is_empty());
        assert_eq!(counts.finish(5, 1 << 14), Category::Hashed { buckets: 1 << 14 });

        let mut counts = LevelCounts::default();
        let long = "x".repeat(COUNTED_BYTES + 1);
        counts.observe(Some(&long));
        assert_eq!(counts.distinct(), None);
    }

    #[test]
    fn few_levels_are_dense_and_many_are_sparse() {
        let names: Vec<String> = (0..65).map(|level| level.to_string()).collect();
        let cells: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
        assert!(fit(&cells[..64], 1, 100).is_dense());
        assert!(!fit(&cells, 1, 100).is_dense());
    }
}
