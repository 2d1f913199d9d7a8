//! One person's device: a budget, and answers that are given once.

use crate::ledger_file::{Entries, Entry, LedgerFile};
use crate::{DeviceError, NumberQuestion, Prepared, Question, Record, RecordQuestion, SurveyQuestion};
use getrandom::SysRng;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::collections::HashMap;
use std::path::Path;
use undertone_privacy::Guarantee;
use undertone_privacy::accounting::Ledger;
use undertone_privacy::label::Label;
use undertone_report::hexadecimal::{self, Digits};
use undertone_report::{Cell, IdError, Point, Task, TaskId};

/// A person's device.
///
/// **Privacy.** A label is randomized once for each task, and what was said is repeated: averaging over many answers to one
/// question learns nothing. Each answer is charged at the ε of its tier before its bytes exist outside of this crate, and
/// the sum never exceeds the budget, whatever is asked and in whatever order. Randomness comes from the operating system.
#[derive(Debug)]
pub struct Device {
    file: LedgerFile,
    entries: Entries,
    ledger: Ledger,
    /// What was said
    answers: HashMap<TaskId, Prepared>,
    /// Whether a write has failed, so that nobody knows what is on the disk
    stopped: bool,
}

impl Device {
    /// The device whose ledger is at `ledger`, with a budget of `cap` for all answers together. A ledger that is damaged,
    /// gone, used by another program or of another budget is an error: nothing is said without one.
    pub fn open(ledger: &Path, cap: Guarantee) -> Result<Self, DeviceError> {
        let (file, entries) = LedgerFile::open(ledger, cap)?;
        let found = Guarantee::try_from(entries.cap).map_err(|error| file.damaged(error.to_string()))?;
        if found != cap {
            return Err(DeviceError::OtherCap { found, asked: cap });
        }
        let mut ledger = Ledger::new(cap)?;
        let mut answers = HashMap::with_capacity(entries.answers.len());
        for entry in &entries.answers {
            let promise =
                Guarantee::try_from(entry.promise).map_err(|error| file.damaged(error.to_string()))?;
            ledger.reserve(promise).map_err(|error| file.damaged(error.to_string()))?;
            let task: TaskId =
                entry.task.parse().map_err(|error: IdError| file.damaged(error.to_string()))?;
            let report =
                hexadecimal::read(&entry.report).ok_or_else(|| file.damaged("a report is no hexadecimal"))?;
            if answers.insert(task, Prepared::new(report)).is_some() {
                return Err(file.damaged(format!("task {task} is answered twice")));
            }
        }
        Ok(Self { file, entries, ledger, answers, stopped: false })
    }

    /// What may be promised away in all, and what has been.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What was said to a task, if anything was.
    pub fn said(&self, task: TaskId) -> Option<&Prepared> {
        self.answers.get(&task)
    }

    /// The answer to a task, `now` being in seconds of the Unix epoch and `tier` the place of the ε that the person chose.
    ///
    /// If the task was answered before, it is that answer, and nothing else is looked at. If not, the label is randomized,
    /// the ledger charged, and both are on the disk when this returns.
    pub fn answer(
        &mut self,
        task: &Task,
        features: Vec<Cell>,
        label: Label,
        tier: u8,
        now: u64,
    ) -> Result<Prepared, DeviceError> {
        let question = Question::new(task)?;
        question.check_open(now)?;
        let promise = question.price(tier);
        self.once(question.task_id(), promise, |rng| question.answer(features, label, tier, now, rng))
    }

    /// The answer to a task about a number, which is clipped to the task's bounds; the same rules hold.
    pub fn answer_number(
        &mut self,
        task: &Task,
        features: Vec<Cell>,
        number: f64,
        tier: u8,
        now: u64,
    ) -> Result<Prepared, DeviceError> {
        let question = NumberQuestion::new(task)?;
        question.check_open(now)?;
        let promise = question.price(tier);
        self.once(question.task_id(), promise, |rng| question.answer(features, number, tier, now, rng))
    }

    /// The answer to a task about whole records, at the point where its learner stands; the same rules hold. A new point is no
    /// new question: what was said once is said again, whatever became of it, since a second gradient would be a second
    /// promise.
    pub fn answer_record(
        &mut self,
        task: &Task,
        point: &Point,
        record: &Record,
        tier: u8,
        now: u64,
    ) -> Result<Prepared, DeviceError> {
        let question = RecordQuestion::new(task)?;
        question.check_open(now)?;
        let promise = question.price(tier);
        self.once(question.task_id(), promise, |rng| question.answer(point, record, tier, now, rng))
    }

    /// The answer to a survey; the same rules hold, and the question that was drawn first stays the only one.
    pub fn answer_survey(
        &mut self,
        task: &Task,
        record: &Record,
        tier: u8,
        now: u64,
    ) -> Result<Prepared, DeviceError> {
        let question = SurveyQuestion::new(task)?;
        question.check_open(now)?;
        let promise = question.price(tier);
        self.once(question.task_id(), promise, |rng| question.answer(record, tier, now, rng))
    }

    /// What was said to `task` before; or what `answer` says, once the ledger has been charged and both are on the disk.
    fn once(
        &mut self,
        task: TaskId,
        promise: Result<Guarantee, DeviceError>,
        answer: impl FnOnce(&mut ChaCha12Rng) -> Result<Vec<u8>, DeviceError>,
    ) -> Result<Prepared, DeviceError> {
        if self.stopped {
            return Err(DeviceError::Stopped);
        }
        if let Some(said) = self.answers.get(&task) {
            return Ok(said.clone());
        }
        let promise = promise?;
        let mut ledger = self.ledger.clone();
        ledger.reserve(promise)?;
        let mut rng = ChaCha12Rng::try_from_rng(&mut SysRng)
            .map_err(|error| DeviceError::NoRandomness { problem: error.to_string() })?;
        let report = answer(&mut rng)?;
        let mut entries = self.entries.clone();
        entries.answers.push(Entry {
            task: task.to_string(),
            promise: promise.into(),
            report: Digits(&report).to_string(),
        });
        // From here on a failure leaves open what is on the disk.
        self.stopped = true;
        self.file.write(&entries)?;
        self.stopped = false;
        (self.entries, self.ledger) = (entries, ledger);
        let prepared = Prepared::new(report);
        self.answers.insert(task, prepared.clone());
        Ok(prepared)
    }
}
