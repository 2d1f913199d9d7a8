//! Some people are kept aside, so that what was learnt from the others can be judged by their reports.
//!
//! Who is kept aside depends on the number of the row alone ([`split`](crate::split)): on no label, no feature and no
//! coin, and alike in every pass. People fall into eight parts, of which the first is kept aside; where there are few people,
//! others are in turn.

use crate::split::{Purpose, part};
use crate::{Examples, LearnError, Source};

/// Parts, of which some are kept aside in turn.
pub const PARTS: usize = 8;
/// The share of people who are kept aside.
pub const HELD_OUT: f64 = 1.0 / PARTS as f64;
/// As many people, times the parts that are kept aside, are learnt from in a comparison; one part is kept aside at least.
const WORK: usize = 1 << 16;

/// How many parts of so many people are kept aside in turn: of few people all, so that everybody judges.
pub fn parts(people: usize) -> usize {
    (WORK / people.max(1)).clamp(1, PARTS)
}

/// Whether somebody belongs to a part.
pub fn is_in(row: usize, wanted: usize) -> bool {
    part(row as u64, Purpose::HeldOut, PARTS as u64) == wanted as u64
}

/// Those examples of a source who belong to a part, or those who do not.
pub struct Those<'a> {
    source: &'a mut dyn Source,
    part: usize,
    inside: bool,
}

impl<'a> Those<'a> {
    /// Those who are kept aside.
    pub fn held_out(source: &'a mut dyn Source) -> Self {
        Self::of_part(source, 0)
    }

    /// All others.
    pub fn others(source: &'a mut dyn Source) -> Self {
        Self::without_part(source, 0)
    }

    /// Those of a part.
    pub fn of_part(source: &'a mut dyn Source, part: usize) -> Self {
        Self { source, part, inside: true }
    }

    /// All but those of a part.
    pub fn without_part(source: &'a mut dyn Source, part: usize) -> Self {
        Self { source, part, inside: false }
    }
}

impl Source for Those<'_> {
    fn pass(&mut self, visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>) -> Result<(), LearnError> {
        let (mut first, mut those, wanted, inside) = (0, Examples::default(), self.part, self.inside);
        self.source.pass(&mut |block| {
            those.clear_like(block);
            let rows = (0..block.len()).filter(|row| is_in(first + row, wanted) == inside);
            rows.for_each(|row| those.push_from(block, row));
            first += block.len();
            visit(&those)
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
    fn everybody_is_in_one_part_and_few_people_judge_in_all() {
        let mut all = vec![examples(0..1000)];
        let parts: Vec<Vec<f32>> = (0..PARTS).map(|part| features(Those::of_part(&mut all, part))).collect();
        let mut together = parts.concat();
        together.sort_by(f32::total_cmp);
        assert_eq!(together, features(all.clone()));
        let without = features(Those::without_part(&mut all, 3));
        assert!(without.len() + parts[3].len() == 1000 && parts[3].iter().all(|who| !without.contains(who)));
        let counts = [0, 500, 8192, 8193, 16_384, 32_769, usize::MAX].map(super::parts);
        assert_eq!(counts, [8, 8, 8, 7, 4, 1, 1]);
    }
}
