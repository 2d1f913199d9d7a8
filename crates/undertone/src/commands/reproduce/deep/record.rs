//! The record: one line for each run that has ended, written as it ends, so that what was cut short goes on.

use super::setting::{Set, Setting};
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// Accuracy, or the root of the mean squared error of ratings
    pub(super) value: f64,
    /// By whom the judge happens to know
    pub(super) sampling_error: f64,
    /// Of all cores, where the system tells
    pub(super) cpu_seconds: Option<f64>,
    pub(super) wall_seconds: f64,
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Run {
    #[serde(flatten)]
    pub(super) setting: Setting,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
}

/// All runs that have ended, and the file that has them.
pub(super) struct Record {
    path: PathBuf,
    file: File,
    runs: Vec<Run>,
}

/// The first line: the fields of [`Setting`] and [`Outcome`].
const HEADER: &str = "part,set,method,epsilon,seed,people,network,epochs,temperature,first_share,mixup,\
value,sampling_error,cpu_seconds,wall_seconds\n";

impl Record {
    /// What is at `path`, or nothing yet; `anew` forgets it. Only one program at a time has it.
    pub(super) fn open(path: &Path, anew: bool) -> anyhow::Result<Self> {
        let named = || path.display().to_string();
        let options = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = options.with_context(named)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{}: another program is writing it", named()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(named),
        }
        let mut text = String::new();
        if !anew {
            file.read_to_string(&mut text).with_context(named)?;
        }
        // A line that was cut short is a run that has not ended.
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        file.set_len(text.len() as u64).with_context(named)?;
        if text.is_empty() {
            file.write_all(HEADER.as_bytes()).with_context(named)?;
            text.push_str(HEADER);
        }
        let runs = read(&text).with_context(named)?;
        Ok(Self { path: path.to_owned(), file, runs })
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub(super) fn has(&self, setting: &Setting) -> bool {
        self.runs.iter().any(|run| run.setting == *setting)
    }

    /// Whether any run is of this set.
    pub(super) fn has_of(&self, set: Set) -> bool {
        self.runs.iter().any(|run| run.setting.set == set)
    }

    /// One more, on the disk when this returns.
    pub(super) fn push(&mut self, run: Run) -> anyhow::Result<()> {
        let named = || self.path.display().to_string();
        let mut line = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        line.serialize((&run.setting, run.outcome))?;
        self.file.write_all(&line.into_inner()?).with_context(named)?;
        self.file.sync_data().with_context(named)?;
        self.runs.push(run);
        Ok(())
    }
}

fn read(text: &str) -> anyhow::Result<Vec<Run>> {
    let lines = text.strip_prefix(HEADER);
    let lines = lines.context("is no record of this program's; --force begins a new one")?;
    let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(lines.as_bytes());
    let mut runs = Vec::new();
    for (line, run) in (2..).zip(reader.into_deserialize()) {
        let (setting, outcome): (Setting, Outcome) = run.with_context(|| format!("line {line}"))?;
        ensure!(outcome.value.is_finite(), "line {line}: the value is {}", outcome.value);
        runs.push(Run { setting, outcome });
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::super::setting::{Method, example};
    use super::*;

    fn run(method: Method, epsilon: f64, seed: u64) -> Run {
        let outcome = Outcome {
            value: 0.1 + 0.2,
            sampling_error: 1e-3,
            cpu_seconds: (seed > 1).then_some(12.25),
            wall_seconds: 6.5,
        };
        Run { setting: example(method, epsilon, seed), outcome }
    }

    #[test]
    fn what_was_written_is_read_again_and_half_a_line_is_no_run() {
        let path = std::env::temp_dir().join(format!("undertone-record-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let runs = [
            run(Method::Ours, f64::INFINITY, 1),
            run(Method::OneStage, 0.5, 2),
            run(Method::ThreeStages, 4.0, 101),
        ];
        let mut record = Record::open(&path, false).unwrap();
        for run in &runs {
            record.push(run.clone()).unwrap();
        }
        // Nobody else writes meanwhile.
        assert!(Record::open(&path, false).err().unwrap().to_string().contains("another program"));
        drop(record);
        let record = Record::open(&path, false).unwrap();
        assert_eq!(record.runs(), runs);
        assert!(record.has(&runs[1].setting) && !record.has(&run(Method::OneStage, 0.5, 3).setting));
        drop(record);
        let whole = std::fs::read_to_string(&path).unwrap();
        assert_eq!(whole.lines().count(), 4);
        std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let mut record = Record::open(&path, false).unwrap();
        assert_eq!(record.runs(), &runs[..2]);
        record.push(runs[2].clone()).unwrap();
        drop(record);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        std::fs::write(&path, format!("{HEADER}fashion,x\n")).unwrap();
        assert!(format!("{:#}", Record::open(&path, false).err().unwrap()).contains("line 2"));
        std::fs::write(&path, "something else\n").unwrap();
        assert!(format!("{:#}", Record::open(&path, false).err().unwrap()).contains("no record"));
        assert!(Record::open(&path, true).unwrap().runs().is_empty());
        std::fs::remove_file(&path).unwrap();
    }
}
