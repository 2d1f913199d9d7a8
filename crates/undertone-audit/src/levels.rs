//! How often each level of the likelihood ratio was drawn under either input, and the test that tells most.
//!
//! A finite mechanism has few levels, and equal scores have to meet in one of them although they were rounded
//! differently; a continuous one has as many as there are samples, more than we want to keep. So scores are
//! rounded to 1024 levels for each unit of claimed loss. Levels only name events: whatever they are, what is
//! counted about an event is true.

use crate::event_loss::Tally;
use std::collections::BTreeMap;
use undertone_privacy::Guarantee;

/// Scores beyond 1024 units share the outermost level, which bounds the memory.
const OUTERMOST: i64 = 1 << 20;

/// Which of the two inputs a sample was drawn under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    First,
    Second,
}

/// The level of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ruler {
    width: f64,
}

impl Ruler {
    /// A unit is the claimed ε, the claimed μ, or the √(2ρ) that is the deviation of the loss under zCDP.
    pub(crate) fn new(claimed: &Guarantee) -> Self {
        let unit = match claimed {
            Guarantee::Pure(epsilon) | Guarantee::Approximate(epsilon, _) => epsilon.get(),
            Guarantee::Gaussian(mu) => mu.get(),
            Guarantee::Concentrated(rho) => (2.0 * rho.get()).sqrt(),
        };
        Self { width: unit / 1024.0 }
    }

    /// The level of `score`; a score that is infinite has the outermost level.
    pub(crate) fn level(self, score: f64) -> i64 {
        // `as` saturates
        ((score / self.width).round() as i64).clamp(-OUTERMOST, OUTERMOST)
    }
}

/// A test of which input a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// A level of at least this points to the first input.
    First(i64),
    /// A level of at most this points to the second input.
    Second(i64),
    /// A level of at least this points to the first input, its negative or less to the second.
    Both(i64),
}

impl Test {
    /// Counts one more report.
    pub(crate) fn count(self, level: i64, side: Side, tally: &mut Tally) {
        match self {
            Self::First(from) => tally.add(side == Side::First, level >= from),
            Self::Second(to) => tally.add(side == Side::Second, level <= to),
            Self::Both(from) => {
                Self::First(from).count(level, side, tally);
                Self::Second(-from).count(level, side, tally);
            }
        }
    }
}

/// Counts of levels, `[under the first input, under the second]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    counts: BTreeMap<i64, [u64; 2]>,
    totals: [u64; 2],
}

impl Levels {
    pub(crate) fn add(&mut self, level: i64, side: Side) {
        self.counts.entry(level).or_default()[side as usize] += 1;
        self.totals[side as usize] += 1;
    }

    /// The test that seems to prove the largest loss.
    pub(crate) fn most_telling(&self, claimed: &Guarantee) -> Test {
        let mirrored = self.mirrored();
        let both =
            (best_cut(claimed, descending(&mirrored.counts), mirrored.totals), Test::Both as fn(_) -> _);
        let first = (best_cut(claimed, descending(&self.counts), self.totals), Test::First as fn(_) -> _);
        let ascending = self.counts.iter().map(|(&level, &[first, second])| (level, [second, first]));
        let [first_trials, second_trials] = self.totals;
        let second =
            (best_cut(claimed, ascending, [second_trials, first_trials]), Test::Second as fn(_) -> _);
        let more = |a: Candidate, b: Candidate| if b.0.loss > a.0.loss { b } else { a };
        let (cut, test) = [first, second].into_iter().fold(both, more);
        test(cut.level)
    }

    /// Each report also as its mirror image: of the opposite level, under the other input.
    fn mirrored(&self) -> Self {
        let [first, second] = self.totals;
        let mut mirrored = Self { counts: BTreeMap::new(), totals: [first + second; 2] };
        for (&level, &[first, second]) in &self.counts {
            for (level, counts) in [(level, [first, second]), (-level, [second, first])] {
                let sum = mirrored.counts.entry(level).or_default();
                *sum = [sum[0] + counts[0], sum[1] + counts[1]];
            }
        }
        mirrored
    }
}

/// A cut, and the test that it makes.
type Candidate = (Cut, fn(i64) -> Test);

/// Where a list of levels is cut, and what its beginning seems to prove.
#[derive(Clone, Copy)]
struct Cut {
    level: i64,
    loss: f64,
}

fn descending(counts: &BTreeMap<i64, [u64; 2]>) -> impl Iterator<Item = (i64, [u64; 2])> {
    counts.iter().rev().map(|(&level, &counts)| (level, counts))
}

/// Where to cut a list of `(level, [p count, q count])` so that its beginning tells most.
fn best_cut(
    claimed: &Guarantee,
    list: impl Iterator<Item = (i64, [u64; 2])>,
    [p_trials, q_trials]: [u64; 2],
) -> Cut {
    let mut sum = Tally { p_trials, q_trials, ..Tally::default() };
    let mut best = Cut { level: 0, loss: f64::NEG_INFINITY };
    for (level, [p, q]) in list {
        sum.p += p;
        sum.q += q;
        let loss = sum.cautious_loss(claimed);
        if loss > best.loss {
            best = Cut { level, loss };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubles::pure;

    #[test]
    fn scores_that_differ_by_rounding_share_a_level() {
        let ruler = Ruler::new(&pure(0.1));
        assert_eq!(ruler.level(0.1), ruler.level(0.1 + 1e-15));
        assert_eq!(ruler.level(0.1 - 1e-15), 1024);
        assert_eq!(ruler.level(f64::INFINITY), OUTERMOST);
        assert_eq!(ruler.level(f64::NEG_INFINITY), -OUTERMOST);
    }

    fn levels(counts: &[(i64, u64, u64)]) -> Levels {
        let mut levels = Levels::default();
        for &(level, first, second) in counts {
            (0..first).for_each(|_| levels.add(level, Side::First));
            (0..second).for_each(|_| levels.add(level, Side::Second));
        }
        levels
    }

    #[test]
    fn the_likelier_way_to_be_given_away_is_tested() {
        let high = levels(&[(1024, 300, 100), (0, 500, 500), (-1024, 200, 400)]);
        assert_eq!(high.most_telling(&pure(1.0)), Test::First(1024));
        let low = levels(&[(1024, 900, 700), (-1024, 100, 300)]);
        assert_eq!(low.most_telling(&pure(1.0)), Test::Second(-1024));
    }

    #[test]
    fn ways_alike_are_tested_together() {
        let alike = levels(&[(1024, 300, 100), (0, 600, 600), (-1024, 100, 300)]);
        let test = alike.most_telling(&pure(1.0));
        assert_eq!(test, Test::Both(1024));
        let mut tally = Tally::default();
        for (level, side) in
            [(1024, Side::First), (-1024, Side::First), (0, Side::First), (-1024, Side::Second)]
        {
            test.count(level, side, &mut tally);
        }
        assert_eq!(tally, Tally { p: 2, p_trials: 4, q: 1, q_trials: 4 });
    }

    #[test]
    fn one_way_alone_counts_its_own_trials() {
        let mut tally = Tally::default();
        for (level, side) in [(1024, Side::First), (0, Side::First), (1024, Side::Second)] {
            Test::First(1024).count(level, side, &mut tally);
        }
        assert_eq!(tally, Tally { p: 1, p_trials: 2, q: 1, q_trials: 1 });
    }
}
