//! The thread that learns from the log, in its order, while others append to it.

use super::learner::Learner;
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
use undertone_learn::live::{CurvePoint, LiveShare, RecordEstimate};
use undertone_learn::online::Level;
use undertone_report::{Point, Report, ReportFormat, ReportId, Task};

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
    /// Of whole records, what is known about each parameter
    pub(super) records: Option<RecordEstimate>,
}

impl View {
    /// The points of the curve that at least so many have judged: each is an answer of its own.
    pub(super) fn judged_by(&self, minimum: u64) -> impl Iterator<Item = &CurvePoint> {
        self.curve.iter().filter(move |point| point.judges >= minimum)
    }

    /// How far answers can have been moved; the last accuracy is that of at least `minimum` judges.
    pub(super) fn influence(&self, minimum: u64) -> Influence {
        let moved = |count: u64| FAKES as f64 * self.reach / count.max(1) as f64;
        // Steps get smaller, so that each of the next moves a point by no more than the first of them.
        let point = self.records.as_ref().map(|records| FAKES as f64 * records.reach);
        Influence {
            fakes: FAKES,
            share: self.records.is_none().then(|| moved(self.reports)),
            accuracy: self.judged_by(minimum).last().map(|point| moved(point.judges)),
            point,
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
    /// … can have moved any share by at most this; of whole records there are none
    pub(crate) share: Option<f64>,
    /// … and the last accuracy by at most this, if they were among those that judged it. No bound is known for the model.
    pub(crate) accuracy: Option<f64>,
    /// Of whole records: so many more could move the point by at most this, as the crow flies
    pub(crate) point: Option<f64>,
}

/// The thread, and what it has last shown.
pub(super) struct Learning {
    shown: watch::Receiver<Arc<View>>,
    /// Where a learner of whole records stands
    point: watch::Receiver<Option<Arc<Point>>>,
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
        let (live, last) = match file.read(task, &*reader)? {
            Some(kept) => kept,
            None => (Learner::new(task)?, ReportId::default()),
        };
        let (show, shown) = watch::channel(Arc::default());
        let (stand, point) = watch::channel(None);
        let stop = Arc::new(AtomicBool::new(false));
        let mut learner = Student {
            task: task.clone(),
            format: format.clone(),
            reader,
            file,
            live,
            show,
            stand,
            last,
            keep_at: Instant::now() + KEEP,
        };
        learner.catch_up(&AtomicBool::new(false))?;
        learner.publish();
        let stopping = stop.clone();
        let handle = thread::Builder::new().name("learner".into()).spawn(move || learner.run(&stopping))?;
        Ok(Self { shown, point, stop, thread: handle.thread().clone(), handle: Mutex::new(Some(handle)) })
    }

    /// There is something new.
    pub(super) fn wake(&self) {
        self.thread.unpark();
    }

    pub(super) fn view(&self) -> Arc<View> {
        self.shown.borrow().clone()
    }

    /// Where devices take their gradients now; none if labels are asked for.
    pub(super) fn point(&self) -> Option<Arc<Point>> {
        self.point.borrow().clone()
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

/// Who sits in the thread.
struct Student {
    task: Task,
    format: ReportFormat,
    reader: Arc<dyn LogReader>,
    file: SnapshotFile,
    live: Learner,
    show: watch::Sender<Arc<View>>,
    stand: watch::Sender<Option<Arc<Point>>>,
    /// The last report that was learnt from
    last: ReportId,
    /// When to put the state on the disk
    keep_at: Instant,
}

impl Student {
    fn run(mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        let learnt = self.until_stopped(stop);
        if let Err(error) = &learnt {
            tracing::error!("learning has stopped: {error:#}");
        }
        learnt
    }

    fn until_stopped(&mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        let (mut show_at, mut unseen) = (Instant::now(), false);
        while !stop.load(Ordering::Relaxed) {
            let before = self.live.reports();
            self.catch_up_if_possible(stop)?;
            let grown = self.live.reports() > before;
            if grown {
                self.keep_now_and_then();
                unseen = true;
            }
            // Devices wait for the point; the rest is shown not more often than anybody looks.
            let waiting = grown && matches!(self.live, Learner::Records(_));
            if unseen && Instant::now() >= show_at {
                self.publish();
                (show_at, unseen) = (Instant::now() + SHOW, false);
            }
            if !waiting {
                let left = show_at.saturating_duration_since(Instant::now());
                if grown { thread::sleep(left) } else { thread::park_timeout(REST) }
            }
        }
        self.catch_up(&AtomicBool::new(false))?;
        self.publish();
        self.file.write(&self.task, &self.live, self.last)
    }

    /// Learns from what the log has, unless it cannot be read just now: what is learnt so far stays, and the rest is for
    /// later.
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
                self.observe(&block)?;
                filled = 0;
                self.keep_now_and_then();
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
        }
        self.observe(&block[..filled])
    }

    fn observe(&mut self, block: &[Report]) -> anyhow::Result<()> {
        self.live.observe(block)?;
        self.stand_here();
        self.last = block.last().map_or(self.last, |report| report.id);
        Ok(())
    }

    /// Tells devices where a learner of whole records stands, if this is one.
    fn stand_here(&self) {
        if let Learner::Records(live) = &self.live {
            let point = Point { version: live.reports(), parameters: live.point().to_vec() };
            self.stand.send_replace(Some(Arc::new(point)));
        }
    }

    fn publish(&self) {
        let reports = self.live.reports();
        self.show.send_replace(Arc::new(match &self.live {
            Learner::Labels(live) => View {
                reports,
                shares: live.shares(),
                curve: live.curve(),
                reach: live.influence(1),
                model: live.model().map(Arc::new),
                records: None,
            },
            Learner::Records(live) => {
                View { reports, records: Some(live.estimate(Level::NINETY_FIVE)), ..View::default() }
            }
        }));
    }

    /// Without a snapshot the next start takes longer, and that is all: no reason to learn no more.
    fn keep_now_and_then(&mut self) {
        if Instant::now() < self.keep_at {
            return;
        }
        if let Err(error) = self.file.write(&self.task, &self.live, self.last) {
            tracing::warn!("what was learnt is not put on the disk, and learning goes on: {error:#}");
        }
        self.keep_at = Instant::now() + KEEP;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use undertone_collect::{Log, SegmentLog, SegmentOptions, Submission};
    use undertone_report::{Collection, LearnerWords, MechanismWords, TASK_VERSION};

    fn task() -> Task {
        let mechanism = MechanismWords {
            kind: "rr".into(),
            epsilon: Some(1.0),
            delta: None,
            mu: None,
            set_size: None,
            top: None,
            prior: None,
        };
        let collection = Collection {
            name: "test".into(),
            min_reports: 1,
            opens: 0,
            closes: 3600 << 20,
            time_precision: 3600,
            expiry_age: 7200,
            clock_skew: 60,
            learner: LearnerWords::SharesOnly,
            encoding: vec![],
            tiers: vec![1.0],
            admission: false,
        };
        Task {
            version: TASK_VERSION,
            label: "y".into(),
            classes: vec!["a".into(), "b".into()],
            mechanism,
            features: vec![],
            collection: Some(collection),
            record: None,
        }
    }

    /// A report of this number, for a log.
    fn submission(format: &ReportFormat, number: u8) -> Submission {
        let id = ReportId([number; 16]);
        let report = Report {
            id,
            time: 5,
            tier: 0,
            features: vec![],
            members: vec![0],
            among: vec![],
            gradient: None,
        };
        Submission { id: id.0, time: 5, admission: None, body: format.encode(&report).unwrap(), latest: None }
    }

    #[test]
    fn a_snapshot_that_cannot_be_written_does_not_end_learning_and_one_of_another_log_is_removed() {
        let folder = std::env::temp_dir().join(format!("undertone-learning-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let task = task();
        let format = ReportFormat::new(&task).unwrap();
        let open = |name| {
            let options = SegmentOptions { filter_bytes: 1 << 10, front: 20, ..SegmentOptions::default() };
            SegmentLog::open(&folder.join(name), *task.id().as_bytes(), options).unwrap()
        };
        let mut log = open("log");
        log.append(&[1, 2].map(|number| submission(&format, number)), 0).unwrap();
        let file = SnapshotFile::new(&folder);
        let mut learner = Student {
            task: task.clone(),
            format: format.clone(),
            reader: log.reader(),
            file: SnapshotFile::new(&folder),
            live: Learner::new(&task).unwrap(),
            show: watch::channel(Arc::default()).0,
            stand: watch::channel(None).0,
            last: ReportId::default(),
            keep_at: Instant::now(),
        };
        let path = folder.join("learner.snapshot");
        fs::create_dir(&path).unwrap();
        learner.catch_up(&AtomicBool::new(false)).unwrap();
        learner.keep_now_and_then();
        assert!(learner.keep_at > Instant::now(), "it was tried, and is tried again later");
        assert!(file.read(&task, &*log.reader()).unwrap().is_none());
        log.append(&[submission(&format, 3)], 0).unwrap();
        learner.catch_up(&AtomicBool::new(false)).unwrap();
        assert_eq!(learner.live.reports(), 3);
        fs::remove_dir(&path).unwrap();
        learner.keep_at = Instant::now();
        learner.keep_now_and_then();
        let kept = |log: &SegmentLog| {
            let kept = file.read(&task, &*log.reader()).unwrap();
            kept.map(|(live, last)| (live.reports(), last))
        };
        assert_eq!(kept(&log), Some((3, ReportId([3; 16]))));
        // As many reports, of which the last is another
        let mut other = open("other");
        other.append(&[1, 2, 4].map(|number| submission(&format, number)), 0).unwrap();
        assert_eq!(kept(&other), None);
        assert!(!path.exists());
        drop((log, other));
        fs::remove_dir_all(folder).unwrap();
    }
}
