//! How a collector is run: a TOML file, and the environment for what must not be in one.

use super::tokens::{TokenHash, from_hex, random, to_hex};
use crate::new_file::sync_folder;
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use undertone_collect::{CommitOptions, SegmentOptions};
use undertone_report::{Collection, Task, TaskId};

/// The environment variable of the secret that admission tokens are made with.
pub(crate) const ADMISSION_SECRET: &str = "UNDERTONE_ADMISSION_SECRET";

/// The most connections at a time: each is an open file.
const MOST_CONNECTIONS: usize = 1 << 20;
/// The most seconds to send a request in: a day.
const MOST_PATIENCE: u64 = 86_400;
/// The most milliseconds to wait for others.
const MOST_WINDOW: u64 = 10_000;
/// The fewest bytes of a segment.
const LEAST_SEGMENT: u64 = 1 << 14;

/// The configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The task document, TOML or JSON
    pub(crate) task: PathBuf,
    /// Where everything is kept
    pub(crate) directory: PathBuf,
    /// Where to listen
    pub(crate) listen: SocketAddr,
    /// Encrypted connections, if there is a certificate
    pub(crate) tls: Option<Tls>,
    /// Who may do what; without any token of a role, everybody may send and read, and nobody may operate
    pub(crate) tokens: Vec<TokenHash>,
    pub(crate) store: Store,
    pub(crate) limits: Limits,
}

/// Where reports are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Store {
    pub(crate) kind: StoreKind,
}

/// What keeps them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StoreKind {
    /// Files below the directory
    #[default]
    Files,
    /// A PostgreSQL database, which several collectors may share; the environment says which
    Postgres,
}

/// A certificate and its key, as PEM files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tls {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// What one sender, or all of them, may ask of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// Bytes of a request
    pub(crate) body: usize,
    /// Bytes of all requests that are being received or stored
    pub(crate) bodies: usize,
    /// Connections at a time
    pub(crate) connections: usize,
    /// Requests a second from one address, on average
    pub(crate) rate: f64,
    /// How many of them may come at once
    pub(crate) burst: f64,
    /// Seconds to send a request in
    pub(crate) patience: u64,
    /// Reports that may wait to be stored
    pub(crate) waiting: usize,
    /// Milliseconds to wait for others before the disk is asked to sync
    pub(crate) window: u64,
    /// Bytes of a segment of the log
    pub(crate) segment: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            task: "task.toml".into(),
            directory: "undertone-data".into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            tls: None,
            tokens: Vec::new(),
            store: Store::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 8 << 20,
            bodies: 256 << 20,
            connections: 1024,
            rate: 1000.0,
            burst: 2000.0,
            patience: 30,
            waiting: 1 << 17,
            window: 0,
            segment: 256 << 20,
        }
    }
}

impl Config {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let config: Self = toml::from_str(&text).with_context(|| path.display().to_string())?;
        config.limits.check().with_context(|| path.display().to_string())?;
        Ok(config)
    }

    /// The task to collect.
    pub(crate) fn task(&self) -> anyhow::Result<Task> {
        let path = &self.task;
        let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let task =
            if text.trim_start().starts_with('{') { Task::from_json(&text) } else { Task::from_toml(&text) };
        let task = task.with_context(|| path.display().to_string())?;
        ensure!(
            task.collection.is_some(),
            "{}: the task has no [collection]; `undertone task new` makes one",
            path.display()
        );
        Ok(task)
    }

    /// The secret of admission tokens: from the environment, or made once and kept beside the log.
    pub(crate) fn admission_secret(&self) -> anyhow::Result<[u8; 32]> {
        if let Ok(text) = std::env::var(ADMISSION_SECRET) {
            return secret(&text).with_context(|| format!("the environment's {ADMISSION_SECRET}"));
        }
        let path = self.directory.join("admission.secret");
        match fs::read_to_string(&path) {
            Ok(text) => secret(text.trim()).with_context(|| path.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made: [u8; 32] = random()?;
                write_secret(&path, &to_hex(&made)).with_context(|| path.display().to_string())?;
                sync_folder(&self.directory)?;
                Ok(made)
            }
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    pub(crate) fn commit(&self) -> CommitOptions {
        let Limits { waiting, window, .. } = self.limits;
        CommitOptions {
            window: Duration::from_millis(window),
            queued_reports: waiting,
            ..CommitOptions::default()
        }
    }

    /// The log's files, for the reports that may come while they are not too old nor too new.
    pub(crate) fn segments(&self, collection: &Collection) -> SegmentOptions {
        let window = collection.expiry_age.saturating_add(collection.clock_skew);
        let options = SegmentOptions::for_window(window.div_ceil(collection.time_precision));
        SegmentOptions { segment_bytes: self.limits.segment, ..options }
    }

    /// Where everything about one task is kept.
    pub(crate) fn task_directory(&self, task: TaskId) -> PathBuf {
        self.directory.join(task.to_string())
    }

    /// What is there if an operator has closed the collection.
    pub(crate) fn closed_mark(&self, task: TaskId) -> PathBuf {
        self.task_directory(task).join("closed")
    }
}

impl Limits {
    fn check(&self) -> anyhow::Result<()> {
        let sizes = [
            ("body", self.body),
            ("bodies", self.bodies),
            ("connections", self.connections),
            ("waiting", self.waiting),
        ];
        if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            bail!("limits.{name} is 0, but has to be at least 1");
        }
        for (name, value) in [("rate", self.rate), ("burst", self.burst)] {
            ensure!(value > 0.0 && value.is_finite(), "limits.{name} is {value}, but has to be above 0");
        }
        ensure!(
            (self.body..=u32::MAX as usize).contains(&self.bodies),
            "limits.bodies is {}, but has to be at least limits.body, {}, and less than 4 GiB",
            self.bodies,
            self.body
        );
        ensure!(
            self.connections <= MOST_CONNECTIONS,
            "limits.connections is {}, but has to be at most {MOST_CONNECTIONS}",
            self.connections
        );
        ensure!(
            (1..=MOST_PATIENCE).contains(&self.patience),
            "limits.patience is {}, but has to be from 1 to {MOST_PATIENCE} seconds",
            self.patience
        );
        ensure!(
            self.window <= MOST_WINDOW,
            "limits.window is {}, but has to be at most {MOST_WINDOW} milliseconds: every sender waits so long",
            self.window
        );
        ensure!(
            self.segment >= LEAST_SEGMENT,
            "limits.segment is {}, but has to be at least {LEAST_SEGMENT} bytes: each is a file, and one of Parquet",
            self.segment
        );
        Ok(())
    }
}

fn secret(text: &str) -> anyhow::Result<[u8; 32]> {
    let bytes = from_hex(text).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.context("a secret is 32 bytes, in hexadecimal")
}

/// A file that nobody else may read, and that is there when it is whole.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension(format!("secret.{}", std::process::id()));
    // What a process of the same number has left behind
    let _ = fs::remove_file(&beside);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_out_of_range_are_refused_with_their_value() {
        Limits::default().check().unwrap();
        let refused = |limits: Limits| limits.check().unwrap_err().to_string();
        let d = Limits::default();
        assert!(refused(Limits { window: u64::MAX, ..d }).contains("limits.window is 18446744073709551615"));
        assert!(refused(Limits { segment: 1, ..d }).contains("limits.segment is 1,"));
        assert!(refused(Limits { patience: 0, ..d }).contains("limits.patience is 0,"));
        assert!(refused(Limits { patience: 86_401, ..d }).contains("limits.patience is 86401,"));
        assert!(refused(Limits { connections: usize::MAX, ..d }).contains("limits.connections is 1844674"));
        assert!(refused(Limits { connections: 0, ..d }).contains("limits.connections is 0,"));
    }

    #[test]
    fn a_secret_is_made_once_and_nobody_else_may_read_it() {
        let directory = std::env::temp_dir().join(format!("undertone-secret-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("admission.secret");
        write_secret(&path, &to_hex(&[7; 32])).unwrap();
        assert_eq!(secret(&fs::read_to_string(&path).unwrap()).unwrap(), [7; 32]);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::remove_dir_all(directory).unwrap();
    }
}
