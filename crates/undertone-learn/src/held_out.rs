//! Some people are kept aside, so that what was learnt from the others can be judged by their reports.
//!
//! Who is kept aside depends on the number of the row alone, through a public hash: on no label, no feature and no
//! coin, and alike in every pass.

use crate::{Examples, LearnError, Source};

/// One in so many is kept aside.
const ONE_IN: u64 = 8;

/// Whether the person of `row` is kept aside.
pub fn is_held_out(row: u64) -> bool {
    part_of(row, ONE_IN) == 0
}

/// The part, of `parts`, into which the person of `row` falls: ⌊hash·parts/2^64⌋.
pub fn part_of(row: u64, parts: u64) -> u64 {
    ((u128::from(scattered(row)) * u128::from(parts)) >> 64) as u64
}

/// A bijection of 64-bit words that scatters neighbours: the finaliser of SplitMix64, by Steele, Lea and Flood, *Fast
/// splittable pseudorandom number generators* (2014).
fn scattered(row: u64) -> u64 {
    let mut z = row.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Those examples of a source whose row number is wanted.
pub struct Those<'a> {
    source: &'a mut dyn Source,
    wanted: fn(u64) -> bool,
}

impl<'a> Those<'a> {
    /// Those who are kept aside.
    pub fn held_out(source: &'a mut dyn Source) -> Self {
        Self { source, wanted: is_held_out }
    }

    /// All others.
    pub fn others(source: &'a mut dyn Source) -> Self {
        Self { source, wanted: |row| !is_held_out(row) }
    }
}

impl Source for Those<'_> {
    fn pass(&mut self, visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>) -> Result<(), LearnError> {
        let (mut first, mut part, wanted) = (0, Examples::default(), self.wanted);
        self.source.pass(&mut |block| {
            part.clear_like(block);
            let rows = (0..block.len()).filter(|row| wanted(first + *row as u64));
            rows.for_each(|row| part.push_from(block, row));
            first += block.len() as u64;
            visit(&part)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Rows;

    fn examples(rows: std::ops::Range<u32>) -> Examples {
        let features = rows.clone().map(|row| row as f32).collect();
        Examples::certain(Rows::dense(1, features), rows.map(|row| row % 3))
    }

    fn features(mut source: impl Source) -> Vec<f32> {
        let mut seen = Vec::new();
        let visit = &mut |block: &Examples| {
            assert_eq!(block.len(), block.unbiased.len());
            seen.extend(block.rows.iter().map(|row| row.dense[0]));
            Ok(())
        };
        source.pass(visit).unwrap();
        seen
    }

    #[test]
    fn everybody_is_either_kept_aside_or_not_however_the_rows_are_cut_into_blocks() {
        let mut whole = vec![examples(0..1000)];
        let mut cut = vec![examples(0..17), examples(17..600), examples(600..1000)];
        let held_out = features(Those::held_out(&mut whole));
        let others = features(Those::others(&mut whole));
        assert_eq!(held_out, features(Those::held_out(&mut cut)));
        assert_eq!(others, features(Those::others(&mut cut)));
        let mut all = [held_out, others].concat();
        all.sort_by(f32::total_cmp);
        assert_eq!(all, (0..1000u16).map(f32::from).collect::<Vec<_>>());
    }

    #[test]
    fn parts_are_of_about_the_same_size() {
        let mut counts = [0u32; 8];
        (0..80_000).for_each(|row| counts[part_of(row, 8) as usize] += 1);
        // A fair die would be within 5·√(80000·7/64) = 468 of 10000
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 468), "{counts:?}");
    }
}
