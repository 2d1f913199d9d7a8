//! The thread that learns from the log, in its order, while others append to it.

use super::snapshot_file::SnapshotFile;
use anyhow::{Context, anyhow};
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use undertone_collect::{LogError, LogReader};
use undertone_learn::Model;
use undertone_learn::live::{CurvePoint, Live, LiveShare};
use undertone_report::{Report, ReportFormat, Task};

/// Reports learnt from at a time.
const BLOCK: usize = 1024;
/// How often what was learnt is shown.
const SHOW: Duration = Duration::from_millis(250);
/// How often it is put on the disk.
const KEEP: Duration = Duration::from_secs(30);
/// How long to wait for a log that cannot be read.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long to sleep when nobody wakes us. Other collectors, which may append to the same log, do not.
const REST: Duration = Duration::from_millis(100);

/// What was learnt from a prefix of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    pub(super) reports: u64,
    pub(super) shares: Option<Vec<LiveShare>>,
    pub(super) curve: Vec<CurvePoint>,
    /// How far one report can move a sum of labels
    pub(super) reach: f64,
    pub(super) model: Option<Arc<Model>>,
}

impl View {
    /// The points of the curve that at least so many have judged: each is an answer of its own.
    pub(super) fn judged_by(&self, minimum: u64) -> impl Iterator<Item = &CurvePoint> {
        self.curve.iter().filter(move |point| point.judges >= minimum)
    }

    /// How far answers can have been moved; the last accuracy is that of at least `minimum` judges.
    pub(super) fn influence(&self, minimum: u64) -> Influence {
        let moved = |count: u64| FAKES as f64 * self.reach / count.max(1) as f64;
        Influence {
            fakes: FAKES,
            share: moved(self.reports),
            accuracy: self.judged_by(minimum).last().map(|point| moved(point.judges)),
        }
    }
}

/// Fake reports for which the bound is stated.
const FAKES: u64 = 100;

/// How far an answer can be moved.
#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Influence {
    /// So many of the reports that are in
    pub(crate) fakes: u64,
    /// … can have moved any share by at most this
    pub(crate) share: f64,
    /// … and the last accuracy by at most this, if they were among those that judged it. No bound is known for the model.
    pub(crate) accuracy: Option<f64>,
}

/// The thread, and what it has last shown.
pub(super) struct Learning {
    shown: watch::Receiver<Arc<View>>,
    stop: Arc<AtomicBool>,
    thread: Thread,
    handle: Mutex<Option<JoinHandle<anyhow::Result<()>>>>,
}

impl Learning {
    /// Recovers the state and begins to learn. When this returns, everything in the log has been learnt from.
    pub(super) fn start(
        task: &Task,
        format: &ReportFormat,
        reader: Arc<dyn LogReader>,
        directory: &Path,
    ) -> anyhow::Result<Self> {
        let file = SnapshotFile::new(directory);
        let live = match file.read(task, reader.len()) {
            Some(live) => live,
            None => Live::new(task)?,
        };
        let (show, shown) = watch::channel(Arc::default());
        let stop = Arc::new(AtomicBool::new(false));
        let mut learner = Learner {
            task: task.clone(),
            format: format.clone(),
            reader,
            file,
            live,
            show,
            kept: Instant::now(),
        };
        learner.catch_up(&AtomicBool::new(false))?;
        learner.publish();
        let stopping = stop.clone();
        let handle = thread::Builder::new().name("learner".into()).spawn(move || learner.run(&stopping))?;
        Ok(Self { shown, stop, thread: handle.thread().clone(), handle: Mutex::new(Some(handle)) })
    }

    /// There is something new.
    pub(super) fn wake(&self) {
        self.thread.unpark();
    }

    pub(super) fn view(&self) -> Arc<View> {
        self.shown.borrow().clone()
    }

    /// Whether the thread is still at it.
    pub(super) fn is_well(&self) -> bool {
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        handle.as_ref().is_some_and(|handle| !handle.is_finished())
    }

    /// Learns from what is left and puts the state on the disk.
    pub(super) fn stop(&self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        self.wake();
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        match handle.map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(anyhow!("the learner has failed")),
        }
    }
}

struct Learner {
    task: Task,
    format: ReportFormat,
    reader: Arc<dyn LogReader>,
    file: SnapshotFile,
    live: Live,
    show: watch::Sender<Arc<View>>,
    kept: Instant,
}

impl Learner {
    fn run(mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        let learnt = self.until_stopped(stop);
        if let Err(error) = &learnt {
            tracing::error!("learning has stopped: {error:#}");
        }
        learnt
    }

    fn until_stopped(&mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let began = Instant::now();
            let before = self.live.reports();
            self.catch_up_if_possible(stop)?;
            if self.live.reports() > before {
                self.publish();
                self.keep_now_and_then()?;
                // Not more often than anybody looks
                thread::sleep(SHOW.saturating_sub(began.elapsed()));
            } else {
                thread::park_timeout(REST);
            }
        }
        self.catch_up(&AtomicBool::new(false))?;
        self.publish();
        self.file.write(&self.task, &self.live)
    }

    /// The same, unless the log cannot be read just now: what is learnt so far stays, and the rest is for later.
    fn catch_up_if_possible(&mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        match self.catch_up(stop) {
            Err(error) if error.downcast_ref().is_some_and(LogError::may_pass) => {
                tracing::warn!("learning waits: {error:#}");
                thread::park_timeout(PATIENCE);
                Ok(())
            }
            done => done,
        }
    }

    /// Learns from what the log has, up to its present end.
    fn catch_up(&mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        // Of one block after the other
        let mut block: Vec<Report> = vec![Report::default(); BLOCK];
        let mut filled = 0;
        for stored in self.reader.read(self.live.reports())? {
            let stored = stored?;
            let decoded = self.format.decode_into(&stored.body, &mut block[filled]);
            decoded.with_context(|| format!("report {} of the log", stored.position))?;
            filled += 1;
            if filled == BLOCK {
                self.live.observe(&block)?;
                filled = 0;
                self.keep_now_and_then()?;
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
        }
        Ok(self.live.observe(&block[..filled])?)
    }

    fn publish(&self) {
        self.show.send_replace(Arc::new(View {
            reports: self.live.reports(),
            shares: self.live.shares(),
            curve: self.live.curve(),
            reach: self.live.influence(1),
            model: self.live.model().map(Arc::new),
        }));
    }

    fn keep_now_and_then(&mut self) -> anyhow::Result<()> {
        if self.kept.elapsed() >= KEEP {
            self.file.write(&self.task, &self.live)?;
            self.kept = Instant::now();
        }
        Ok(())
    }
}
