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
    /// It is in the log, for good
    Accepted,
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
        if version > self.reader.len() {
            // Another collector of the same log may be ahead: reading there tells how far it has come.
            tokio::task::block_in_place(|| drop(self.reader.read(self.reader.len())));
        }
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
        let accepted = verdicts.iter().filter(|verdict| **verdict == Verdict::Accepted).count() as u64;
        if accepted > 0 {
            self.tally.accept(accepted);
            self.learning.wake();
        }
        for verdict in verdicts {
            match verdict {
                Verdict::Accepted => {}
                Verdict::Duplicate => self.tally.refuse("duplicate"),
                Verdict::Refused(refusal) => self.tally.refuse(refusal.reason),
            }
        }
    }
}

fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Accepted(_) => Verdict::Accepted,
        Outcome::Duplicate => Verdict::Duplicate,
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
