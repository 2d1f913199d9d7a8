//! Closed segments of the log as Parquet, made in a thread of its own.
//!
//! ```text
//! reports/00000000000000000000.parquet               a segment, named by the position of its first report
//! reports/epsilon-0.5/00000000000000000000.parquet   its reports of one ε, where people may choose theirs
//! ```
//!
//! They are what `privatize` makes, so `undertone train reports` works while the collector runs, and so does any engine.
//! The log is the truth, and a file is a function of the log: made again, it has the same bytes. A file appears whole or
//! not at all, and every segment has one for each ε, if need be without rows. So what is missing can be seen, and is made,
//! after a crash or when somebody has removed it.
//!
//! A file says of which segment it is by the ids of the segment's first and last report. One that is of none that the log
//! has is set aside at the start: the log was cut and has grown again, or is another.
//!
//! Nothing is made before the task's minimum of reports is reached.

mod sealed_file;
mod tiers;

use crate::new_file::remove_unfinished;
use anyhow::{Context, ensure};
use sealed_file::SealedFile;
pub(super) use sealed_file::refuse_taken_names;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;
use tiers::Tier;
use tokio::sync::watch;
use undertone_collect::{LogError, LogReader};
use undertone_report::{ReportFormat, ReportId, Task};

/// How often to look for closed segments when nobody wakes us.
const REST: Duration = Duration::from_secs(1);
/// How long to wait after an error.
const PATIENCE: Duration = Duration::from_mins(1);
/// Reports between two looks at whether to stop.
const GLANCE: u64 = 4096;

/// How far it has come.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// Every report before this position is in a file
    until: u64,
    /// How often it was tried to come further
    tries: u64,
    /// Why the last try did not succeed
    trouble: Option<String>,
}

/// The thread, and how far it has come.
pub(super) struct Sealing {
    folders: Vec<PathBuf>,
    progress: watch::Receiver<Progress>,
    stop: Arc<AtomicBool>,
    thread: Thread,
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl Sealing {
    /// Finds out what is there in `folder`, and begins to make what is missing.
    pub(super) fn start(
        task: &Task,
        format: &ReportFormat,
        reader: Arc<dyn LogReader>,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let tiers = Tier::all(task, format.collection(), folder);
        let folders = tiers.iter().map(|tier| tier.folder.clone()).collect();
        let (tell, progress) = watch::channel(Progress::default());
        let stop = Arc::new(AtomicBool::new(false));
        let sealer = Sealer {
            made: made(&tiers, &*reader)?,
            tiers,
            format: format.clone(),
            reader,
            progress: tell,
            stop: stop.clone(),
        };
        let handle = thread::Builder::new().name("sealer".into()).spawn(move || sealer.run())?;
        let thread = handle.thread().clone();
        Ok(Self { folders, progress, stop, thread, handle: Mutex::new(Some(handle)) })
    }

    /// Where the files are.
    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// How many reports of the log, from its beginning, are in files.
    pub(super) fn reports(&self) -> u64 {
        self.progress.borrow().until
    }

    /// Waits until every report before this position, of which all are in closed segments, is in a file; or for what is
    /// in the way.
    pub(super) async fn reach(&self, position: u64) -> Result<(), String> {
        let mut progress = self.progress.clone();
        let tries = progress.borrow().tries;
        self.thread.unpark();
        let there = |now: &Progress| now.until >= position || (now.tries > tries && now.trouble.is_some());
        match progress.wait_for(there).await {
            Ok(now) if now.until >= position => Ok(()),
            Ok(now) => Err(now.trouble.clone().unwrap_or_default()),
            Err(_) => Err("the thread that writes them has ended".into()),
        }
    }

    /// Ends the thread. What it was making is made at the next start.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.unpark();
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(handle) = handle {
            // Had it failed, there would be nothing to mend but files that are made again.
            drop(handle.join());
        }
    }
}

/// The segments that need not be made, by their first position; the folders are tidied up.
fn made(tiers: &[Tier], log: &dyn LogReader) -> anyhow::Result<BTreeSet<u64>> {
    let segments: BTreeMap<u64, u64> =
        log.closed()?.into_iter().map(|range| (range.start, range.end)).collect();
    let mut made: BTreeSet<u64> = segments.keys().copied().collect();
    for tier in tiers {
        let mut of_tier = BTreeSet::new();
        let folder = &tier.folder;
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        remove_unfinished(folder)?;
        for first in tier.made()? {
            let mark = segments.get(&first).map(|&end| mark_of(log, &(first..end))).transpose()?;
            if mark.is_some_and(|mark| tier.is_of(first, &mark)) {
                of_tier.insert(first);
            } else {
                tier.set_aside(first)?;
            }
        }
        made = made.intersection(&of_tier).copied().collect();
    }
    Ok(made)
}

/// What a segment is known by, whatever its log was: the ids of its first and last report.
fn mark_of(log: &dyn LogReader, segment: &Range<u64>) -> Result<String, LogError> {
    let id = |position| -> Result<String, LogError> {
        let stored = log.read(position)?.next().transpose()?;
        Ok(stored.map_or_else(|| "none".to_owned(), |stored| ReportId(stored.id).to_string()))
    };
    Ok(format!("{}-{}", id(segment.start)?, id(segment.end - 1)?))
}

struct Sealer {
    tiers: Vec<Tier>,
    format: ReportFormat,
    reader: Arc<dyn LogReader>,
    /// Segments that have their files, by their first position
    made: BTreeSet<u64>,
    progress: watch::Sender<Progress>,
    stop: Arc<AtomicBool>,
}

impl Sealer {
    fn run(mut self) {
        while !self.stop.load(Ordering::Relaxed) {
            let trouble = self.catch_up().err().map(|error| format!("{error:#}"));
            if let Some(trouble) = &trouble {
                tracing::error!("closed segments are not written as Parquet: {trouble}");
            }
            let rest = if trouble.is_some() { PATIENCE } else { REST };
            self.progress.send_modify(|progress| {
                progress.tries += 1;
                progress.trouble = trouble;
            });
            thread::park_timeout(rest);
        }
    }

    /// Makes the files of all closed segments that have none.
    fn catch_up(&mut self) -> anyhow::Result<()> {
        if self.reader.len() < self.format.collection().min_reports {
            return Ok(());
        }
        let until = self.progress.borrow().until;
        for segment in self.reader.closed()?.into_iter().filter(|segment| segment.end > until) {
            if !self.made.contains(&segment.start) && !self.make(&segment)? {
                return Ok(());
            }
            self.made.insert(segment.start);
            self.progress.send_modify(|progress| progress.until = segment.end);
        }
        Ok(())
    }

    /// Makes the files of a segment; false if it was stopped, and then there is none.
    fn make(&self, segment: &Range<u64>) -> anyhow::Result<bool> {
        let mark = mark_of(&*self.reader, segment)?;
        let files = self.tiers.iter().map(|tier| tier.create(segment.start, &mark));
        let mut files: Vec<SealedFile> = files.collect::<anyhow::Result<_>>()?;
        let mut next = segment.start;
        for stored in self.reader.read(segment.start)?.take((segment.end - segment.start) as usize) {
            let stored = stored?;
            let report = self.format.decode(&stored.body);
            let report = report.with_context(|| format!("report {} of the log", stored.position))?;
            // The format knows as many tiers as the task does.
            files[usize::from(report.tier)].push(report, stored.body.len())?;
            next += 1;
            if next.is_multiple_of(GLANCE) && self.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
        }
        ensure!(
            next == segment.end,
            "the log ends at {next}, within the segment from {} to {}",
            segment.start,
            segment.end
        );
        for (file, tier) in files.into_iter().zip(&self.tiers) {
            file.finish()?;
            tier.sync()?;
        }
        Ok(true)
    }
}
