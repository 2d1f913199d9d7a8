//! A part of the rows, chosen in public.
//!
//! People are split by a fixed hash of their row number, which nobody's label or features enter, so that each can be
//! asked in one stage of several and in no other.

use anyhow::{Context, ensure};
use std::str::FromStr;
use undertone_learn::split::{Purpose, place};

/// Part I of N, I counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    index: u64,
    count: u64,
}

impl Part {
    /// Whether the row of this number, counted from one, belongs to it.
    pub(super) fn holds(self, row: u64) -> bool {
        // ⌊N·u⌋ for u on [0, 1)
        (place(row - 1, Purpose::Stage) * self.count as f64) as u64 == self.index - 1
    }
}

impl Part {
    /// Whether somebody can be in both: [(I-1)/N, I/N) and that of the other overlap.
    pub(super) fn overlaps(self, other: Self) -> bool {
        let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
        wide(self.index - 1, other.count) < wide(other.index, self.count)
            && wide(other.index - 1, self.count) < wide(self.index, other.count)
    }
}

impl FromStr for Part {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        const SHAPE: &str = "a part is I/N, such as 1/3";
        let (index, count) = text.split_once('/').context(SHAPE)?;
        let (index, count) = (index.parse().context(SHAPE)?, count.parse().context(SHAPE)?);
        ensure!(count > 0 && (1..=count).contains(&index), "part {index} of {count} does not exist");
        Ok(Self { index, count })
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_part_and_the_parts_are_of_nearly_the_same_size() {
        let parts: Vec<Part> = (1..=3).map(|index| Part { index, count: 3 }).collect();
        let mut sizes = [0f64; 3];
        for row in 1..=30_000 {
            let inside: Vec<usize> = (0..3).filter(|&part| parts[part].holds(row)).collect();
            assert_eq!(inside.len(), 1, "row {row}");
            sizes[inside[0]] += 1.0;
        }
        // Five times √(n·p·(1-p)) = 81.6 around n/3
        assert!(sizes.iter().all(|size| (size - 10_000.0).abs() < 5.0 * 81.7), "{sizes:?}");
    }

    #[test]
    fn parts_overlap_if_and_only_if_a_row_is_in_both() {
        let all = (1..=4).flat_map(|count| (1..=count).map(move |index| Part { index, count }));
        let all: Vec<Part> = all.collect();
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
            let common = (1..=1000).any(|row| a.holds(row) && b.holds(row));
            assert_eq!(a.overlaps(b), common, "{a} and {b}");
        }
    }

    #[test]
    fn the_parts_are_the_same_tomorrow() {
        let first: Vec<u64> = (1..=20).filter(|&row| "1/2".parse::<Part>().unwrap().holds(row)).collect();
        assert_eq!(first, [1, 2, 3, 6, 7, 11, 14, 16, 18, 19, 20]);
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in ["", "1", "0/2", "3/2", "1/0", "a/2", "-1/2"] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
        assert!((1..=9).all(|row| "1/1".parse::<Part>().unwrap().holds(row)));
    }
}
