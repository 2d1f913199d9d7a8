//! Some people are kept aside, so that what was learnt from the others can be judged by their reports.
//!
//! Who is kept aside depends on the number of the row alone ([`split`](crate::split)): on no label, no feature and no
//! coin, and alike in every pass.

use crate::split::is_held_out;
use crate::{Examples, LearnError, Source};

/// The share of people who are kept aside.
pub const HELD_OUT: f64 = 1.0 / 8.0;

/// Those examples of a source whose row number is wanted.
pub struct Those<'a> {
    source: &'a mut dyn Source,
    wanted: fn(u64) -> bool,
}

impl<'a> Those<'a> {
    /// Those who are kept aside.
    pub fn held_out(source: &'a mut dyn Source) -> Self {
        Self { source, wanted: |row| is_held_out(row, HELD_OUT) }
    }

    /// All others.
    pub fn others(source: &'a mut dyn Source) -> Self {
        Self { source, wanted: |row| !is_held_out(row, HELD_OUT) }
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
}
