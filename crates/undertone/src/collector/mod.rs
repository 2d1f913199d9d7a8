//! The collector: bytes from strangers become a durable log, and the log becomes answers while it grows.
//!
//! ```text
//!  request ─► Intake ─► GroupCommit ─► log ─► Learning ─► View ─► answers, dashboard
//!             decode,     fsync, then    │     in log order,
//!             window,     the answer     │     off the request path
//!             token                      ├──── snapshot + the rest = the same state, to the last bit
//!                                        └──── Sealing: closed segments as Parquet
//! ```
//!
//! Nothing here is trusted with anybody's label: whatever arrives was randomized before.

pub(crate) mod admission;
pub(crate) mod client;
pub(crate) mod config;
mod history;
pub(crate) mod http;
mod intake;
mod learner;
mod learning;
mod sealing;
mod snapshot_file;
mod status;
mod store;
mod tally;
pub(crate) mod tokens;

pub(crate) use config::Config;
pub(crate) use intake::Verdict;
pub(crate) use status::{ClassShare, Point, Status};

use crate::finding::Finding;
use crate::new_file::{remove_unfinished, sync_folder};
use crate::randomness;
use admission::AdmissionKey;
use anyhow::Context;
use history::History;
use learning::{Learning, View};
use sealing::Sealing;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};
use tally::Tally;
use tokens::Tokens;
use undertone_audit::registry::{GradientTrial, Mechanism};
use undertone_audit::{Auditor, Settings};
use undertone_collect::{FolderLock, GroupCommit, Log, LogReader};
use undertone_learn::Model;
use undertone_privacy::gradient::{Multinomial, RecordLoss, RecordModel};
use undertone_privacy::{Epsilon, Guarantee, PrivacyError};
use undertone_report::{Collection, Report, ReportFormat, Task};

/// Reports drawn to audit the task's mechanism when a collector starts, and how sure the bound is.
const AUDIT: Settings = Settings { trials: 20_000, confidence: 0.99 };

/// The most parameters of a model on trial, and the most classes.
const MOST_AUDITED: usize = 16;
const MOST_CLASSES_AUDITED: u32 = 5;

/// One task, collected.
pub(crate) struct Collector {
    task: Task,
    format: ReportFormat,
    /// Until the collector stops
    commit: RwLock<Option<GroupCommit>>,
    /// Whether the log has failed
    broken: AtomicBool,
    reader: Arc<dyn LogReader>,
    admission: AdmissionKey,
    tokens: Tokens,
    tally: Tally,
    history: History,
    audit: Vec<Finding>,
    learning: Learning,
    /// Of labels only: gradients are of no use to anybody but their learner
    sealing: Option<Sealing>,
    /// Nobody else writes where this collector does
    _lock: FolderLock,
    /// Whether an operator has closed it before its time
    closed: AtomicBool,
}

impl Collector {
    /// Opens the log of a configuration, recovers what was learnt from it, and goes on.
    pub(crate) fn open(config: &Config) -> anyhow::Result<Arc<Self>> {
        let task = config.task()?;
        let format = ReportFormat::new(&task)?;
        if !task.asks_for_records() {
            sealing::refuse_taken_names(&task).with_context(|| config.task.display().to_string())?;
        }
        let directory = config.task_directory(task.id());
        std::fs::create_dir_all(&directory)
            .with_context(|| format!("{} cannot be made", directory.display()))?;
        // The names of the folders are as precious as what is in them.
        sync_folder(&config.directory)?;
        if let Some(parent) = config.directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_folder(parent)?;
        }
        let lock = FolderLock::take(&directory)?;
        remove_unfinished(&directory)?;
        let log = store::open(config, &format)?;
        let reader = log.reader();
        let learning = Learning::start(&task, &format, reader.clone(), &directory)?;
        let sealing = if task.asks_for_records() {
            None
        } else {
            Some(Sealing::start(&task, &format, reader.clone(), &directory.join("reports"))?)
        };
        let secret = config.admission_secret()?;
        Ok(Arc::new(Self {
            audit: audit(&task)?,
            commit: RwLock::new(Some(GroupCommit::start(log, config.commit())?)),
            broken: AtomicBool::new(false),
            admission: AdmissionKey::new(secret, task.id()),
            tokens: Tokens::new(&config.tokens)?,
            tally: Tally::default(),
            history: History::new(now(), reader.len()),
            closed: AtomicBool::new(config.closed_mark(task.id()).exists()),
            reader,
            learning,
            sealing,
            _lock: lock,
            format,
            task,
        }))
    }

    /// All reports that are stored, in the order of the log.
    pub(crate) fn stored(&self) -> anyhow::Result<Vec<Report>> {
        let stored = self.reader.read(0)?;
        stored.map(|stored| Ok(self.format.decode(&stored?.body)?)).collect()
    }

    /// The model so far, if there is one.
    pub(crate) fn model(&self) -> Option<Arc<Model>> {
        self.view().model.clone()
    }

    /// How many reports are stored.
    pub(crate) fn reports(&self) -> u64 {
        self.reader.len()
    }

    /// How often the log was synced, since the start.
    fn commits(&self) -> u64 {
        self.commit.read().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, GroupCommit::commits)
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    /// How the task is collected.
    fn collection(&self) -> &Collection {
        self.format.collection()
    }

    /// What was learnt last.
    fn view(&self) -> Arc<View> {
        self.learning.view()
    }

    /// Whether there are enough reports to show anything.
    fn is_shown(&self, view: &View) -> bool {
        view.reports >= self.collection().min_reports
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Notes how many reports there are, once a second.
    fn tick(&self) {
        self.history.note(now(), self.reader.len());
    }

    pub(crate) fn status(&self) -> Status {
        Status::of(self, &self.view(), now())
    }

    /// Commits what is waiting, learns from it and leaves a snapshot.
    pub(crate) fn stop(&self) -> anyhow::Result<()> {
        let commit = self.commit.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(commit) = commit {
            commit.shut_down();
        }
        if let Some(sealing) = &self.sealing {
            sealing.stop();
        }
        self.learning.stop()
    }
}

/// Judges the mechanism of each tier by the code that devices run.
fn audit(task: &Task) -> anyhow::Result<Vec<Finding>> {
    let mut auditor = Auditor::new(AUDIT, randomness::generator(None)?);
    let tiers = task.collection.as_ref().map(|collection| collection.tiers.clone()).unwrap_or_default();
    let judge = |level: f64| {
        let (mechanism, promise) = if task.asks_once() {
            (Mechanism::Survey(Box::new(task.survey_at(level)?)), task.promise_at(level)?)
        } else if task.asks_for_records() {
            let (kind, promise) = (task.vector_mechanism(level)?.kind(), task.promise_at(level)?);
            let model = on_trial(&task.record_model()?)?;
            (Mechanism::Gradient(GradientTrial::extreme(model, kind, promise)?), promise)
        } else if task.asks_for_numbers() {
            let epsilon = Epsilon::new(level)?;
            (Mechanism::Number(task.number_mechanism_at(epsilon)?), Guarantee::Pure(epsilon))
        } else {
            let epsilon = Epsilon::new(level)?;
            (Mechanism::Label(task.mechanism_at(epsilon)?), Guarantee::Pure(epsilon))
        };
        let name = format!("{} at {promise}", task.mechanism.kind);
        Ok(Finding::from(auditor.judge(&name, &mechanism)?))
    };
    tiers.into_iter().map(judge).collect()
}

/// The same model with as many covariates and classes as a trial has time for. What is proved is proved for any number of them.
fn on_trial(model: &RecordModel) -> Result<RecordModel, PrivacyError> {
    let loss = match model.loss() {
        RecordLoss::Multinomial(multinomial) if multinomial.classes() > MOST_CLASSES_AUDITED => {
            RecordLoss::Multinomial(Multinomial::new(MOST_CLASSES_AUDITED)?)
        }
        loss => loss,
    };
    let with = |covariates| RecordModel::new(loss, model.weighting(), covariates, model.bound());
    let mut covariates = model.covariates();
    while with(covariates)?.parameters() > MOST_AUDITED && covariates > 1 {
        covariates -= 1;
    }
    with(covariates)
}

/// Seconds of the Unix epoch.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Marks a place on the disk, durably.
fn mark(path: &Path, set: bool) -> anyhow::Result<()> {
    let done = if set {
        std::fs::File::create(path).and_then(|file| file.sync_all())
    } else {
        std::fs::remove_file(path)
    };
    match done {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !set => {}
        other => other.with_context(|| format!("{} cannot be written", path.display()))?,
    }
    path.parent().map_or(Ok(()), sync_folder)
}
