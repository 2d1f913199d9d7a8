//! Threads that take the steps of a computation together.
//!
//! A step of a fit lasts some hundred microseconds, which is what it costs to wake a sleeping thread. Hence those who
//! wait for the others keep awake, and let others have their processor only after a while.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Looks at the others before a thread offers its processor.
const PATIENCE: u32 = 1 << 14;

/// Some threads at the same work.
#[derive(Debug)]
pub(super) struct Team {
    size: usize,
    arrived: AtomicUsize,
    meetings: AtomicUsize,
    deserted: AtomicBool,
}

impl Team {
    /// A team of `threads`, or of as many as there are processors if that is zero, but of no more than `useful`.
    pub(super) fn new(threads: usize, useful: usize) -> Self {
        let processors = || thread::available_parallelism().map_or(1, usize::from);
        let size = if threads == 0 { processors() } else { threads }.min(useful);
        Self {
            size,
            arrived: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            deserted: AtomicBool::new(false),
        }
    }

    /// How many they are.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Has every member do `work`, and waits for all.
    pub(super) fn run(&self, work: impl Fn(&Member) + Sync) {
        let (work, member) = (&work, |index| Member { team: self, index });
        thread::scope(|scope| {
            // Before the others: should the system refuse a thread, those that there are do not wait for it.
            let first = member(0);
            (1..self.size).for_each(|index| drop(scope.spawn(move || work(&member(index)))));
            work(&first);
        });
    }
}

/// One of a team.
#[derive(Debug)]
pub(super) struct Member<'a> {
    team: &'a Team,
    index: usize,
}

impl Member<'_> {
    /// Which one, counted from zero.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Waits until all are here. What they wrote before can be read after.
    pub(super) fn meet(&self) {
        let meeting = self.team.meetings.load(Ordering::Acquire);
        if self.team.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.team.size {
            self.team.arrived.store(0, Ordering::Relaxed);
            self.team.meetings.fetch_add(1, Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.team.meetings.load(Ordering::Acquire) == meeting {
            assert!(!self.team.deserted.load(Ordering::Relaxed), "another thread of this fit has panicked");
            if looks < PATIENCE {
                looks += 1;
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.team.deserted.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn nobody_goes_on_before_all_are_there() {
        let (team, counts) = (Team::new(3, 9), [const { AtomicUsize::new(0) }; 3]);
        team.run(|member| {
            for round in 1..1000 {
                counts[member.index].store(round, Ordering::Relaxed);
                member.meet();
                for count in &counts {
                    assert_eq!(count.load(Ordering::Relaxed), round);
                }
                member.meet();
            }
        });
    }

    #[test]
    fn a_panic_ends_the_work_of_all() {
        let team = Team::new(2, 2);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            team.run(|member| {
                assert!(member.index() == 0, "this one leaves");
                member.meet();
            });
        }));
        assert!(outcome.is_err());
    }
}
