//! How many reports there were when, for a picture: as many points however long it lasts.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The most points. When there are more, every other one goes.
const MOST: usize = 240;
/// Seconds that the present rate is an average over.
const RECENT: u64 = 5;

/// Points (second, reports) since the collector was started.
#[derive(Debug)]
pub(super) struct History {
    points: Mutex<Points>,
}

#[derive(Clone, Debug)]
struct Points {
    kept: Vec<(u64, u64)>,
    last: (u64, u64),
    /// Those of the last few seconds, whatever is kept
    recent: VecDeque<(u64, u64)>,
    /// Seconds between two that are kept
    apart: u64,
}

impl History {
    pub(super) fn new(now: u64, reports: u64) -> Self {
        let first = (now, reports);
        let points = Points { kept: vec![first], last: first, recent: VecDeque::from([first]), apart: 1 };
        Self { points: Mutex::new(points) }
    }

    /// Notes how many there are now.
    pub(super) fn note(&self, now: u64, reports: u64) {
        let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let Points { kept, last, recent, apart } = &mut *points;
        // A clock that goes back does not make a line that does.
        *last = (now.max(last.0), reports);
        recent.push_back(*last);
        // The first is the last that is old enough, so that there is one however seldom we are asked.
        while recent.get(1).is_some_and(|(time, _)| time + RECENT <= last.0) {
            recent.pop_front();
        }
        if kept.last().is_none_or(|&(time, _)| last.0 >= time + *apart) {
            kept.push(*last);
        }
        if kept.len() > MOST {
            let mut place = 0;
            kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            *apart *= 2;
        }
    }

    /// The points, in order.
    pub(super) fn points(&self) -> Vec<(u64, u64)> {
        let points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = points.kept.clone();
        all.extend((all.last() != Some(&points.last)).then_some(points.last));
        all
    }

    /// Reports a second over the last few seconds.
    pub(super) fn per_second(&self) -> f64 {
        let points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let (end, reports) = points.last;
        match points.recent.front() {
            Some(&(time, before)) if time < end => (reports - before) as f64 / (end - time) as f64,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_long_it_lasts_there_are_a_few_hundred_points_and_the_last_one_is_now() {
        let history = History::new(1000, 0);
        for second in 0..100_000u64 {
            history.note(1000 + second, 3 * second);
            assert!(history.points().len() <= MOST + 1);
        }
        assert_eq!(history.points().last(), Some(&(100_999, 299_997)));
        assert!((history.per_second() - 3.0).abs() < 1e-9);
        let points = history.points();
        assert!(points.len() > MOST / 3 && points.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn the_rate_is_that_of_the_last_few_seconds_however_long_it_has_lasted() {
        let history = History::new(0, 0);
        (1..=10_000).for_each(|second| history.note(second, 7 * second));
        assert!((history.per_second() - 7.0).abs() < 1e-9);
        (1..=RECENT).for_each(|second| history.note(10_000 + second, 70_000));
        assert!(history.per_second().abs() < 1e-9);
    }

    #[test]
    fn a_clock_that_goes_back_stands_still() {
        let history = History::new(1000, 5);
        history.note(900, 6);
        assert_eq!(history.points(), [(1000, 5), (1000, 6)]);
    }
}
