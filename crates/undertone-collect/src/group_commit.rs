//! Commits together what many submit at the same time.
//!
//! A sync takes the disk as long for one report as for a thousand. So one thread owns the log: it takes what is waiting,
//! appends it as one batch, and tells each submitter what became of theirs. While it syncs, the next batch gathers.
//!
//! What waits is bounded, in reports and in bytes. Beyond that a submission is refused at once ([`Busy`]), so that a slow
//! disk makes senders wait and not the memory grow.

use crate::log::{self, LogReader};
use crate::{Log, LogError, Outcome, Submission};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much is committed together, and how much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOptions {
    /// The first report of a commit waits so long for others to share the sync with. With zero, which is the default, what
    /// gathers during one sync is committed by the next: under load that is enough, and otherwise nobody waits in vain.
    pub window: Duration,
    /// A commit does not wait for more than so many reports. (A single submission may have more.)
    pub reports: usize,
    /// At most so many reports wait.
    pub queued_reports: usize,
    /// At most so many bytes of reports wait.
    pub queued_bytes: usize,
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self { window: Duration::ZERO, reports: 4096, queued_reports: 65_536, queued_bytes: 1 << 26 }
    }
}

/// Why a submission was not taken. The batch comes back untouched, and its callback is never called.
#[derive(Debug, thiserror::Error)]
pub enum Busy {
    /// Too much is waiting. Later there may be room.
    #[error("the queue is full")]
    Full(Vec<Submission>),
    /// The log is being closed.
    #[error("the log is being closed")]
    Closed(Vec<Submission>),
}

/// Told once what became of a batch, in the thread that appends: it should be short.
type Callback = Box<dyn FnOnce(Result<Vec<Outcome>, LogError>) + Send>;

/// Told once where the segment ends, in the same thread.
type Closed = Box<dyn FnOnce(Result<u64, LogError>) + Send>;

struct Waiting {
    batch: Vec<Submission>,
    horizon: u64,
    callback: Callback,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Who wants the present segment closed
    closings: Vec<Closed>,
    reports: usize,
    bytes: usize,
    closing: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Something waits, or the queue is closing
    news: Condvar,
    commits: AtomicU64,
    options: CommitOptions,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nobody panics while holding it; and if they did, a queue is as good as before.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Owns a log and the thread that appends to it.
///
/// Dropping it commits what was queued and closes the log.
pub struct GroupCommit {
    shared: Arc<Shared>,
    reader: Arc<dyn LogReader>,
    thread: Option<JoinHandle<()>>,
}

impl GroupCommit {
    /// Starts the thread.
    pub fn start(log: impl Log + 'static, options: CommitOptions) -> std::io::Result<Self> {
        let reader = log.reader();
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            news: Condvar::new(),
            commits: AtomicU64::new(0),
            options,
        });
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().name("log".into()).spawn(move || write(log, &theirs))?;
        Ok(Self { shared, reader, thread: Some(thread) })
    }

    /// Queues a batch; `callback` is told the outcome of each submission once they are durable, or why they may not be.
    ///
    /// Batches that are committed together share the latest of their horizons.
    pub fn submit(
        &self,
        batch: Vec<Submission>,
        horizon: u64,
        callback: impl FnOnce(Result<Vec<Outcome>, LogError>) + Send + 'static,
    ) -> Result<(), Busy> {
        // Here, and not in the thread: what nobody can store must not fail those it would be committed with.
        if let Err(error) = log::check(&batch, horizon) {
            callback(Err(error));
            return Ok(());
        }
        let bytes = bytes_of(&batch);
        let mut queue = self.shared.queue();
        if queue.closing {
            return Err(Busy::Closed(batch));
        }
        let options = &self.shared.options;
        let full = queue.reports + batch.len() > options.queued_reports
            || queue.bytes + bytes > options.queued_bytes;
        // A batch that is larger than the whole queue is taken when nothing else waits.
        if full && !queue.waiting.is_empty() {
            return Err(Busy::Full(batch));
        }
        queue.reports += batch.len();
        queue.bytes += bytes;
        queue.waiting.push_back(Waiting { batch, horizon, callback: Box::new(callback) });
        drop(queue);
        self.shared.news.notify_one();
        Ok(())
    }

    /// Closes the present segment, with everything that has been acknowledged; `callback` is told when it is closed
    /// and where it ends.
    pub fn close_segment(
        &self,
        callback: impl FnOnce(Result<u64, LogError>) + Send + 'static,
    ) -> Result<(), Busy> {
        let mut queue = self.shared.queue();
        if queue.closing {
            return Err(Busy::Closed(Vec::new()));
        }
        queue.closings.push(Box::new(callback));
        drop(queue);
        self.shared.news.notify_one();
        Ok(())
    }

    /// Reads the log, from any thread.
    pub fn reader(&self) -> Arc<dyn LogReader> {
        Arc::clone(&self.reader)
    }

    /// The number of reports that wait.
    pub fn queued(&self) -> usize {
        self.shared.queue().reports
    }

    /// How often the log was appended to, for however many at a time.
    pub fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::Relaxed)
    }

    /// Commits what was queued and closes the log. Everybody who waits is told before this returns.
    pub fn shut_down(self) {
        drop(self);
    }
}

impl Drop for GroupCommit {
    fn drop(&mut self) {
        self.shared.queue().closing = true;
        self.shared.news.notify_one();
        if let Some(thread) = self.thread.take() {
            // It does not panic: callbacks that do are caught. And there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

/// The thread: commits until the queue is closing and empty.
fn write(mut log: impl Log, shared: &Shared) {
    while let Some((group, closings)) = next_group(shared) {
        if !group.is_empty() {
            shared.commits.fetch_add(1, Ordering::Relaxed);
            append(&mut log, group);
        }
        if !closings.is_empty() {
            let closed = log.close_segment();
            for callback in closings {
                let _ = catch_unwind(AssertUnwindSafe(|| callback(closed.clone())));
            }
        }
    }
}

/// One commit for all of a group.
fn append(log: &mut impl Log, group: Vec<Waiting>) {
    let horizon = group.iter().map(|waiting| waiting.horizon).max().unwrap_or_default();
    let mut together = Vec::with_capacity(group.iter().map(|waiting| waiting.batch.len()).sum());
    let mut callbacks = Vec::with_capacity(group.len());
    for waiting in group {
        callbacks.push((waiting.batch.len(), waiting.callback));
        together.extend(waiting.batch);
    }
    let result = log.append(&together, horizon);
    let mut outcomes = result.as_ref().map(|outcomes| outcomes.iter().copied());
    for (count, callback) in callbacks {
        let theirs = match &mut outcomes {
            Ok(outcomes) => Ok(outcomes.take(count).collect()),
            Err(error) => Err((*error).clone()),
        };
        // One callback that fails is no reason for the others not to hear.
        let _ = catch_unwind(AssertUnwindSafe(|| callback(theirs)));
    }
}

/// What is to be committed next and who wants the segment closed after it, or nothing if that was all.
fn next_group(shared: &Shared) -> Option<(Vec<Waiting>, Vec<Closed>)> {
    let options = &shared.options;
    let mut queue = shared.queue();
    while queue.waiting.is_empty() && queue.closings.is_empty() {
        if queue.closing {
            return None;
        }
        queue = shared.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
    // A window that no clock reaches ends when there are enough reports.
    let until = Instant::now().checked_add(options.window);
    while queue.reports < options.reports && queue.closings.is_empty() && !queue.closing {
        let left = until.map_or(options.window, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            break;
        }
        queue = shared.news.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
    }
    let mut group = Vec::new();
    let mut reports = 0;
    while let Some(next) = queue.waiting.pop_front() {
        if !group.is_empty() && reports + next.batch.len() > options.reports {
            queue.waiting.push_front(next);
            break;
        }
        reports += next.batch.len();
        queue.reports -= next.batch.len();
        queue.bytes -= bytes_of(&next.batch);
        group.push(next);
    }
    Some((group, std::mem::take(&mut queue.closings)))
}

/// What a batch takes in memory: the bodies, and what stands around them.
fn bytes_of(batch: &[Submission]) -> usize {
    batch.iter().map(|submission| submission.body.len() + size_of::<Submission>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reports, Stored};
    use std::collections::BTreeMap;
    use std::ops::Range;
    use std::sync::mpsc;

    /// A log in memory that waits for leave before each append.
    struct Slow {
        stored: Arc<Mutex<Vec<Stored>>>,
        appends: Arc<Mutex<Vec<(usize, u64)>>>,
        leave: mpsc::Receiver<Result<(), LogError>>,
    }

    impl LogReader for Mutex<Vec<Stored>> {
        fn len(&self) -> u64 {
            self.lock().unwrap().len() as u64
        }

        fn read(&self, from: u64) -> Result<Reports, LogError> {
            let stored = self.lock().unwrap().split_off(from as usize);
            Ok(Box::new(stored.into_iter().map(Ok)))
        }

        fn closed(&self) -> Result<Vec<Range<u64>>, LogError> {
            Ok(Vec::new())
        }
    }

    impl Log for Slow {
        fn append(&mut self, batch: &[Submission], horizon: u64) -> Result<Vec<Outcome>, LogError> {
            self.appends.lock().unwrap().push((batch.len(), horizon));
            self.leave.recv().unwrap_or(Ok(()))?;
            let mut stored = self.stored.lock().unwrap();
            let outcomes = batch.iter().map(|Submission { id, time, body, .. }| {
                let position = stored.len() as u64;
                stored.push(Stored { position, id: *id, time: *time, body: body.clone() });
                Outcome::Accepted(position)
            });
            Ok(outcomes.collect())
        }

        fn close_segment(&mut self) -> Result<u64, LogError> {
            self.appends.lock().unwrap().push((0, self.stored.len()));
            self.leave.recv().unwrap_or(Ok(()))?;
            Ok(self.stored.len())
        }

        fn reader(&self) -> Arc<dyn LogReader> {
            Arc::clone(&self.stored) as Arc<dyn LogReader>
        }
    }

    struct Setting {
        commit: GroupCommit,
        leave: mpsc::Sender<Result<(), LogError>>,
        appends: Arc<Mutex<Vec<(usize, u64)>>>,
        told: mpsc::Receiver<(u8, Result<Vec<Outcome>, LogError>)>,
        tell: mpsc::Sender<(u8, Result<Vec<Outcome>, LogError>)>,
    }

    impl Setting {
        fn new(options: CommitOptions) -> Self {
            let (leave, receiver) = mpsc::channel();
            let (tell, told) = mpsc::channel();
            let appends = Arc::default();
            let log = Slow { stored: Arc::default(), appends: Arc::clone(&appends), leave: receiver };
            Self { commit: GroupCommit::start(log, options).unwrap(), leave, appends, told, tell }
        }

        fn submit(&self, name: u8, reports: usize, horizon: u64) -> Result<(), Busy> {
            let report =
                Submission { id: [name; 16], time: 9, admission: None, body: vec![name], latest: None };
            let tell = self.tell.clone();
            self.commit
                .submit(vec![report; reports], horizon, move |result| tell.send((name, result)).unwrap())
        }

        /// Waits until the thread is inside its n-th append.
        fn until_appending(&self, n: usize) {
            while self.appends.lock().unwrap().len() < n {
                thread::yield_now();
            }
        }
    }

    const AT_ONCE: CommitOptions =
        CommitOptions { window: Duration::ZERO, reports: 10, queued_reports: 20, queued_bytes: 1 << 20 };

    #[test]
    fn a_window_that_no_clock_reaches_ends_when_there_are_enough_reports() {
        let options = CommitOptions { window: Duration::MAX, reports: 2, ..CommitOptions::default() };
        let setting = Setting::new(options);
        setting.submit(1, 1, 0).unwrap();
        setting.submit(2, 1, 0).unwrap();
        setting.leave.send(Ok(())).unwrap();
        for name in [1, 2] {
            let (told, outcomes) = setting.told.recv().unwrap();
            assert!(told == name && outcomes.unwrap().len() == 1);
        }
        assert_eq!(*setting.appends.lock().unwrap(), [(2, 0)]);
    }

    #[test]
    fn what_waits_during_a_sync_is_committed_together_and_everybody_hears_their_own_part() {
        let setting = Setting::new(AT_ONCE);
        setting.submit(1, 1, 5).unwrap();
        setting.until_appending(1);
        setting.submit(2, 2, 7).unwrap();
        setting.submit(3, 3, 6).unwrap();
        setting.submit(4, 6, 6).unwrap();
        (0..3).for_each(|_| setting.leave.send(Ok(())).unwrap());
        let told: BTreeMap<u8, Vec<Outcome>> =
            setting.told.iter().take(4).map(|(name, result)| (name, result.unwrap())).collect();
        let accepted = |range: std::ops::Range<u64>| range.map(Outcome::Accepted).collect::<Vec<_>>();
        assert_eq!(
            told,
            BTreeMap::from([
                (1, accepted(0..1)),
                (2, accepted(1..3)),
                (3, accepted(3..6)),
                (4, accepted(6..12))
            ])
        );
        // The latest horizon of those together; and the third batch would have made eleven.
        assert_eq!(*setting.appends.lock().unwrap(), [(1, 5), (5, 7), (6, 6)]);
        assert_eq!(setting.commit.reader().len(), 12);
    }

    #[test]
    fn a_full_queue_refuses_at_once_and_gives_the_batch_back() {
        let setting = Setting::new(AT_ONCE);
        setting.submit(1, 1, 0).unwrap();
        setting.until_appending(1);
        setting.submit(2, 15, 0).unwrap();
        assert!(matches!(setting.submit(3, 6, 0), Err(Busy::Full(batch)) if batch.len() == 6));
        setting.submit(4, 5, 0).unwrap();
        assert_eq!(setting.commit.queued(), 20);
        drop(setting.leave);
        assert_eq!(setting.told.iter().take(3).map(|(name, _)| name).collect::<Vec<_>>(), [1, 2, 4]);
    }

    #[test]
    fn a_shut_down_commits_what_was_queued() {
        let setting = Setting::new(AT_ONCE);
        (1..=5).for_each(|name| setting.submit(name, 3, 0).unwrap());
        drop(setting.leave);
        let reader = setting.commit.reader();
        setting.commit.shut_down();
        assert_eq!(reader.len(), 15);
        drop(setting.tell);
        assert_eq!(setting.told.iter().filter(|(_, result)| result.is_ok()).count(), 5);
    }

    #[test]
    fn an_error_is_told_to_everybody_who_waited_for_the_same_commit() {
        let setting = Setting::new(AT_ONCE);
        setting.submit(1, 1, 0).unwrap();
        setting.until_appending(1);
        setting.submit(2, 1, 0).unwrap();
        setting.submit(3, 1, 0).unwrap();
        setting.leave.send(Ok(())).unwrap();
        setting.leave.send(Err(LogError::Time { time: 77 })).unwrap();
        let told: Vec<(u8, bool)> =
            setting.told.iter().take(3).map(|(name, result)| (name, result.is_ok())).collect();
        assert_eq!(told, [(1, true), (2, false), (3, false)]);
    }

    #[test]
    fn a_window_waits_for_more_but_not_when_there_is_enough() {
        // An hour: were it waited for, the test would not end.
        let setting = Setting::new(CommitOptions { window: Duration::from_hours(1), ..AT_ONCE });
        setting.submit(1, 4, 0).unwrap();
        setting.submit(2, 6, 0).unwrap();
        drop(setting.leave);
        assert_eq!(setting.told.iter().take(2).count(), 2);
        assert_eq!(*setting.appends.lock().unwrap(), [(10, 0)]);
    }

    #[test]
    fn a_segment_is_closed_after_what_waits_and_everybody_who_asked_is_told() {
        let setting = Setting::new(CommitOptions { window: Duration::from_hours(1), ..AT_ONCE });
        setting.submit(1, 4, 3).unwrap();
        let (tell, told) = mpsc::channel();
        for _ in 0..2 {
            let tell = tell.clone();
            setting.commit.close_segment(move |closed| tell.send(closed.unwrap()).unwrap()).unwrap();
        }
        drop(setting.leave);
        assert_eq!(told.iter().take(2).collect::<Vec<_>>(), [4, 4]);
        // Four reports, and then the closing of a log that has them: at once, whatever the window is
        assert_eq!(setting.appends.lock().unwrap()[..2], [(4, 3), (0, 4)]);
    }

    #[test]
    fn what_no_log_can_hold_is_refused_without_troubling_the_others() {
        let setting = Setting::new(AT_ONCE);
        drop(setting.leave.clone());
        let tell = setting.tell.clone();
        let body = vec![0; crate::MAX_BODY + 1];
        let large = Submission { id: [0; 16], time: 0, admission: None, body, latest: None };
        setting.commit.submit(vec![large], 0, move |result| tell.send((0, result)).unwrap()).unwrap();
        let (_, result) = setting.told.recv().unwrap();
        assert!(matches!(result, Err(LogError::Body { bytes }) if bytes == crate::MAX_BODY + 1));
        assert!(setting.appends.lock().unwrap().is_empty());
    }

    #[test]
    fn a_callback_that_panics_leaves_the_others_their_answers() {
        let setting = Setting::new(AT_ONCE);
        let report = Submission { id: [0; 16], time: 0, admission: None, body: Vec::new(), latest: None };
        setting.commit.submit(vec![report], 0, |_| panic!("a callback of this test")).unwrap();
        setting.submit(2, 1, 0).unwrap();
        drop(setting.leave);
        assert!(setting.told.recv().unwrap().1.is_ok());
    }
}
