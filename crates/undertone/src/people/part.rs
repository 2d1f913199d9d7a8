//! A part of the rows, chosen in public.
//!
//! People are split by a fixed hash of their row number, which nobody's label or features enter, so that each can be
//! asked in one stage of several and in no other.

use anyhow::{Context, ensure};
use std::str::FromStr;
use undertone_learn::split::{self, Purpose};

/// Parts I to J of N, counted from one; most often a single one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    first: u64,
    last: u64,
    count: u64,
}

impl Part {
    /// Whether the row of this number, counted from one, belongs to it.
    pub(crate) fn holds(self, row: u64) -> bool {
        let index = split::part(row - 1, Purpose::Stage, self.count) + 1;
        (self.first..=self.last).contains(&index)
    }

    /// Whether somebody can be in both: [(I-1)/N, J/N) and that of the other overlap.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
        wide(self.first - 1, other.count) < wide(other.last, self.count)
            && wide(other.first - 1, self.count) < wide(self.last, other.count)
    }

    /// Everybody else: the parts before and after, as far as there are any.
    pub(crate) fn others(self) -> impl Iterator<Item = Self> {
        let Self { first, last, count } = self;
        let before = (first > 1).then(|| Self { first: 1, last: first - 1, count });
        let after = (last < count).then(|| Self { first: last + 1, last: count, count });
        before.into_iter().chain(after)
    }
}

impl FromStr for Part {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        const SHAPE: &str = "a part is I/N, such as 1/3, or several of them I-J/N, such as 2-3/3";
        let (index, count) = text.split_once('/').context(SHAPE)?;
        let (first, last) = index.split_once('-').unwrap_or((index, index));
        let [first, last, count] = [first, last, count].map(|number| number.parse().context(SHAPE));
        let part = Self { first: first?, last: last?, count: count? };
        let Self { first, last, count } = part;
        for index in [first, last] {
            ensure!((1..=count).contains(&index), "part {index} of {count} does not exist");
        }
        ensure!(first <= last, "parts {first} to {last} are none: the smaller number comes first");
        Ok(part)
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { first, last, count } = self;
        if first == last { write!(f, "{first}/{count}") } else { write!(f, "{first}-{last}/{count}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All parts of up to so many, ranges too.
    fn all(most: u64) -> Vec<Part> {
        let of = |count| {
            (1..=count).flat_map(move |first| (first..=count).map(move |last| Part { first, last, count }))
        };
        (1..=most).flat_map(of).collect()
    }

    #[test]
    fn every_row_is_in_one_part_and_the_parts_are_of_nearly_the_same_size() {
        let parts: Vec<Part> = (1..=3).map(|index| Part { first: index, last: index, count: 3 }).collect();
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
    fn a_range_holds_whoever_is_in_one_of_its_parts() {
        let part = |text: &str| text.parse::<Part>().unwrap();
        for row in 1..=1000 {
            let single = ["2/4", "3/4"].iter().any(|text| part(text).holds(row));
            assert_eq!(part("2-3/4").holds(row), single, "row {row}");
            assert!(part("1-4/4").holds(row));
        }
    }

    #[test]
    fn parts_overlap_if_and_only_if_a_row_is_in_both() {
        let all = all(4);
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
            let common = (1..=1000).any(|row| a.holds(row) && b.holds(row));
            assert_eq!(a.overlaps(b), common, "{a} and {b}");
        }
    }

    #[test]
    fn a_part_and_its_others_hold_each_row_once() {
        for part in all(6) {
            let those: Vec<Part> = part.others().chain([part]).collect();
            for row in 1..=300 {
                let holding = those.iter().filter(|part| part.holds(row)).count();
                assert_eq!(holding, 1, "row {row}: {part} and {those:?}");
            }
            let apart = |other: Part| !part.overlaps(other) && !other.overlaps(part);
            assert!(part.others().all(apart), "{part}");
        }
        let shown = |text: &str| -> Vec<String> {
            text.parse::<Part>().unwrap().others().map(|part| part.to_string()).collect()
        };
        assert_eq!(
            [shown("3/20"), shown("1/20"), shown("1/1")],
            [vec!["1-2/20".to_owned(), "4-20/20".to_owned()], vec!["2-20/20".to_owned()], vec![],]
        );
    }

    #[test]
    fn the_parts_are_the_same_tomorrow() {
        let first: Vec<u64> = (1..=20).filter(|&row| "1/2".parse::<Part>().unwrap().holds(row)).collect();
        assert_eq!(first, [1, 2, 3, 6, 7, 11, 14, 16, 18, 19, 20]);
    }

    #[test]
    fn a_part_is_written_as_it_is_read() {
        for part in all(5) {
            assert_eq!(part.to_string().parse::<Part>().unwrap(), part);
        }
        let shown = ["2/3", "2-2/3", "2-20/20"].map(|text| text.parse::<Part>().unwrap().to_string());
        assert_eq!(shown, ["2/3", "2/3", "2-20/20"]);
    }

    #[test]
    fn what_is_no_part_is_refused_by_its_number() {
        for text in ["", "1", "0/2", "3/2", "1/0", "a/2", "-1/2", "1-/2", "0-1/2", "1-3/2", "1-2-3/4"] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
        let error = |text: &str| text.parse::<Part>().unwrap_err().to_string();
        assert_eq!(error("2-21/20"), "part 21 of 20 does not exist");
        assert_eq!(error("3-2/20"), "parts 3 to 2 are none: the smaller number comes first");
        assert!((1..=9).all(|row| "1/1".parse::<Part>().unwrap().holds(row)));
    }
}
