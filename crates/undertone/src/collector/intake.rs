//! What strangers send becomes a submission, or is refused with its reason before anything is stored.

use super::{Collector, now};
use serde::Serialize;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::oneshot::{self, error::RecvError};
use undertone_collect::{Admission, LogError, Outcome, Submission};
use undertone_report::ReportError;
use utoipa::ToSchema;

/// The most characters of an explanation.
const DETAIL: usize = 240;

/// How long somebody who asks whether all is well may have to wait.
const PROBE: Duration = Duration::from_secs(2);

/// What became of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is in the log, for good, at this position
    Accepted(u64),
    /// It was there before
    Duplicate,
    Refused(Refusal),
}

/// Why a report was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Refusal {
    /// A name that stays
    pub(crate) reason: &'static str,
    /// What it was this time
    pub(crate) detail: String,
}

/// Why nothing can be stored at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Too many are waiting
    Busy,
    /// The log has failed; why is in our own messages, since it may name files or what a database has said
    Broken,
}

impl Refusal {
    fn new(reason: &'static str, detail: impl Into<String>) -> Self {
        let mut detail = detail.into();
        // A stranger's own words are not said back at length.
        if let Some((end, _)) = detail.char_indices().nth(DETAIL) {
            detail.truncate(end);
            detail.push('…');
        }
        Self { reason, detail }
    }
}

impl From<ReportError> for Refusal {
    fn from(error: ReportError) -> Self {
        Self::new(error.reason(), error.to_string())
    }
}

impl Collector {
    /// Stores what is valid and new. When this returns, every report that it calls accepted or duplicate is durable.
    pub(crate) async fn take(
        &self,
        reports: Vec<Result<Vec<u8>, ReportError>>,
        admission: Option<Admission>,
    ) -> Result<Vec<Verdict>, Trouble> {
        let now = now();
        let horizon = self.collection().horizon(now);
        let (mut verdicts, mut batch) =
            (Vec::with_capacity(reports.len()), Vec::with_capacity(reports.len()));
        let mut looked_again = false;
        for report in reports {
            let submission = match report {
                Ok(body) => self.submission(body, admission, now, &mut looked_again).await,
                Err(error) => Err(error.into()),
            };
            match submission {
                Ok(submission) => {
                    batch.push(submission);
                    verdicts.push(None);
                }
                Err(refusal) => verdicts.push(Some(Verdict::Refused(refusal))),
            }
        }
        let outcomes = if batch.is_empty() { Vec::new() } else { self.store(batch, horizon).await? };
        let mut stored = outcomes.into_iter().map(verdict);
        // As many outcomes come back as submissions went in.
        let verdicts = verdicts.into_iter().map(|verdict| verdict.or_else(|| stored.next()));
        let verdicts: Vec<Verdict> = verdicts.flatten().collect();
        self.count(&verdicts);
        Ok(verdicts)
    }

    /// Everything that can be told about a report without looking at others.
    async fn submission(
        &self,
        body: Vec<u8>,
        admission: Option<Admission>,
        now: u64,
        looked_again: &mut bool,
    ) -> Result<Submission, Refusal> {
        if self.is_closed() {
            return Err(Refusal::new("closed", "the collection has been closed"));
        }
        if self.collection().admission && admission.is_none() {
            return Err(Refusal::new("admission-needed", "this task needs a token of admission"));
        }
        let header = self.format.accept(&body, now)?;
        // The point may be another collector's, which has seen more of a log that is shared; one look is enough for a batch.
        if header.version.is_some_and(|version| version > self.reader.len()) && !*looked_again {
            *looked_again = true;
            self.look_again().await;
        }
        let latest = header.version.map(|version| self.latest(version)).transpose()?;
        Ok(Submission { id: header.id.0, time: header.time, admission, latest, body })
    }

    /// The last position of the log that a gradient at a point of this version may take.
    fn latest(&self, version: u64) -> Result<u64, ReportError> {
        let now = self.reader.len();
        if version > now {
            return Err(ReportError::FutureVersion { version, now });
        }
        Ok(version.saturating_add(self.collection().learner.stale()))
    }

    /// Learns how long the log is now. If that cannot be told, it is as long as it was.
    async fn look_again(&self) {
        let reader = self.reader.clone();
        let looked = tokio::task::spawn_blocking(move || reader.read(reader.len()).map(drop)).await;
        if let Ok(Err(error)) = looked {
            tracing::warn!("the length of the log is not known: {error}");
        }
    }

    async fn store(&self, batch: Vec<Submission>, horizon: u64) -> Result<Vec<Outcome>, Trouble> {
        let (answer, answered) = oneshot::channel();
        self.submit(batch, horizon, answer)?;
        self.done(answered.await)
    }

    /// Closes the present segment of the log, with everything that has been acknowledged, and says where it ends.
    pub(crate) async fn close_segment(&self) -> Result<u64, Trouble> {
        let (answer, answered) = oneshot::channel();
        {
            let commit = self.commit.read().unwrap_or_else(PoisonError::into_inner);
            let Some(commit) = &*commit else { return Err(Trouble::Busy) };
            let asked = commit.close_segment(move |closed| drop(answer.send(closed)));
            asked.map_err(|_| Trouble::Busy)?;
        }
        self.done(answered.await)
    }

    /// What the log has said, and whether it is well.
    fn done<T>(&self, said: Result<Result<T, LogError>, RecvError>) -> Result<T, Trouble> {
        let broken = match said {
            Ok(Ok(done)) => {
                // A database that was out of reach may be back.
                self.broken.store(false, Ordering::Relaxed);
                return Ok(done);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the log has stopped".into(),
        };
        if !self.broken.swap(true, Ordering::Relaxed) {
            tracing::error!("the log has failed: {broken}");
        }
        Err(Trouble::Broken)
    }

    /// Whether reports can be stored. After an error that is tried, with none: where a balancer sends nothing to who is not
    /// well, no report would ever tell that the database is back.
    pub(super) async fn can_store(&self) -> bool {
        if !self.broken.load(Ordering::Relaxed) {
            return true;
        }
        matches!(tokio::time::timeout(PROBE, self.store(Vec::new(), 0)).await, Ok(Ok(_)))
    }

    fn submit(
        &self,
        batch: Vec<Submission>,
        horizon: u64,
        answer: oneshot::Sender<Result<Vec<Outcome>, LogError>>,
    ) -> Result<(), Trouble> {
        let commit = self.commit.read().unwrap_or_else(PoisonError::into_inner);
        let Some(commit) = &*commit else { return Err(Trouble::Busy) };
        // Whoever has gone away meanwhile is told when they ask again.
        let submitted = commit.submit(batch, horizon, move |outcomes| drop(answer.send(outcomes)));
        submitted.map_err(|_| Trouble::Busy)
    }

    fn count(&self, verdicts: &[Verdict]) {
        let accepted =
            verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Accepted(_))).count() as u64;
        if accepted > 0 {
            self.tally.accept(accepted);
            self.learning.wake();
        }
        for verdict in verdicts {
            match verdict {
                Verdict::Accepted(_) => {}
                Verdict::Duplicate => self.tally.refuse("duplicate"),
                Verdict::Refused(refusal) => self.tally.refuse(refusal.reason),
            }
        }
    }
}

fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Accepted(position) => Verdict::Accepted(position),
        Outcome::Duplicate => Verdict::Duplicate,
        Outcome::Equivocation => Verdict::Refused(Refusal::new(
            "equivocation",
            "another report was stored under its id and time: an answer is sent again as it was, or not at all",
        )),
        Outcome::TooOld => {
            Verdict::Refused(Refusal::new("too-old", "its time has passed the horizon of the log"))
        }
        Outcome::TooLate => {
            let detail = "its point is more reports old than the task allows";
            Verdict::Refused(Refusal::new("stale-version", detail))
        }
        Outcome::AdmissionSpent => Verdict::Refused(Refusal::new(
            "admission-spent",
            "its token has admitted as many reports as it may",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::Config;
    use serde_json::Value;
    use std::ops::Range;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use undertone_collect::{LogReader, Reports};
    use undertone_report::{Spelling, Task};

    /// A log of which each look is counted.
    struct Watched {
        reader: Arc<dyn LogReader>,
        looks: AtomicUsize,
    }

    impl LogReader for Watched {
        fn len(&self) -> u64 {
            self.reader.len()
        }

        fn read(&self, from: u64) -> Result<Reports, LogError> {
            self.looks.fetch_add(1, Ordering::Relaxed);
            self.reader.read(from)
        }

        fn closed(&self) -> Result<Vec<Range<u64>>, LogError> {
            self.reader.closed()
        }
    }

    #[test]
    fn a_batch_of_gradients_from_the_future_asks_once_how_long_the_log_is() {
        let folder = std::env::temp_dir().join(format!("undertone-intake-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        let vectors: Value =
            serde_json::from_str(include_str!("../../../../testdata/wire/gradient.json")).unwrap();
        let mut task = Task::from_json(vectors["task_canonical"].as_str().unwrap()).unwrap();
        let words = task.collection.as_mut().unwrap();
        words.opens = now() / 3600 * 3600 - 3600;
        words.closes = words.opens + 86_400;
        let config =
            Config { task: folder.join("task.json"), directory: folder.join("data"), ..Config::default() };
        std::fs::write(&config.task, task.to_json()).unwrap();
        let mut collector = Arc::into_inner(Collector::open(&config).unwrap()).unwrap();
        let watched = Arc::new(Watched { reader: collector.reader.clone(), looks: AtomicUsize::new(0) });
        collector.reader = watched.clone();
        let report = |number: u8, version: u64| {
            let mut report: Value =
                serde_json::from_str(vectors["reports"][0]["json"].as_str().unwrap()).unwrap();
            report["task"] = task.id().to_string().into();
            report["id"] = format!("{number:032x}").into();
            report["time"] = collector.collection().unit_of(now()).into();
            report["gradient"]["version"] = version.into();
            collector.format.read_one(report.to_string().as_bytes(), Spelling::Json)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let take = |reports| {
            let verdicts = runtime.block_on(collector.take(reports, None)).unwrap();
            let name = |verdict: &Verdict| match verdict {
                Verdict::Accepted(position) => position.to_string(),
                Verdict::Duplicate => "duplicate".into(),
                Verdict::Refused(refusal) => refusal.reason.to_owned(),
            };
            (verdicts.iter().map(name).collect::<Vec<_>>(), watched.looks.load(Ordering::Relaxed))
        };
        let future = (0..9).map(|number| report(number, 3)).collect();
        assert_eq!(take(future), (vec!["future-version".to_owned(); 9], 1));
        let (verdicts, looks) = take(vec![report(0, 0), report(1, 0), report(0, 0)]);
        assert_eq!((verdicts, looks), (["0", "1", "duplicate"].map(str::to_owned).to_vec(), 1));
        collector.stop().unwrap();
        drop(collector);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
