//! One person's device: a budget, and answers that are given once.

use crate::ledger_file::{Entries, Entry, LedgerFile};
use crate::{
    Counter, DeviceError, NumberQuestion, Prepared, Question, Record, RecordQuestion, State, SurveyQuestion,
};
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
    /// gone, older than it was, used by another program or of another budget is an error: nothing is said without one.
    pub fn open(ledger: &Path, cap: Guarantee) -> Result<Self, DeviceError> {
        Self::opened(ledger, cap, None)
    }

    /// The same with a counter of the platform's, so that not even a backup of the whole folder brings a budget back.
    pub fn open_counted(
        ledger: &Path,
        cap: Guarantee,
        counter: Box<dyn Counter>,
    ) -> Result<Self, DeviceError> {
        Self::opened(ledger, cap, Some(counter))
    }

    fn opened(ledger: &Path, cap: Guarantee, counter: Option<Box<dyn Counter>>) -> Result<Self, DeviceError> {
        let (file, entries) = LedgerFile::open(ledger, cap, counter)?;
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

    /// What has become of the answer to a task, if there is one.
    pub fn state(&self, task: TaskId) -> Option<State> {
        let task = task.to_string();
        self.entries.answers.iter().find(|entry| entry.task == task).map(|entry| entry.state)
    }

    /// Notes what has become of the answer to a task. What a collector has, it has: that stays.
    pub fn note(&mut self, task: TaskId, state: State) -> Result<(), DeviceError> {
        if self.stopped {
            return Err(DeviceError::Stopped);
        }
        match self.state(task) {
            None => return Err(DeviceError::NotSaid { task }),
            Some(found) if found == state || found == State::Acknowledged => return Ok(()),
            Some(_) => {}
        }
        let (mut entries, name) = (self.entries.clone(), task.to_string());
        entries.answers.iter_mut().filter(|entry| entry.task == name).for_each(|entry| entry.state = state);
        self.write(entries)
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
        let (mechanism, promise) = (&task.mechanism.kind, question.price(tier));
        self.once(question.task_id(), mechanism, promise, |rng| {
            question.answer(features, label, tier, now, rng)
        })
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
        let (mechanism, promise) = (&task.mechanism.kind, question.price(tier));
        self.once(question.task_id(), mechanism, promise, |rng| {
            question.answer(features, number, tier, now, rng)
        })
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
        let (mechanism, promise) = (&task.mechanism.kind, question.price(tier));
        self.once(question.task_id(), mechanism, promise, |rng| {
            question.answer(point, record, tier, now, rng)
        })
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
        let (mechanism, promise) = (&task.mechanism.kind, question.price(tier));
        self.once(question.task_id(), mechanism, promise, |rng| question.answer(record, tier, now, rng))
    }

    /// What was said to `task` before; or what `answer` says, once the ledger has been charged and both are on the disk.
    fn once(
        &mut self,
        task: TaskId,
        mechanism: &str,
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
            mechanism: mechanism.to_owned(),
            promise: promise.into(),
            state: State::Stored,
            report: Digits(&report).to_string(),
        });
        self.write(entries)?;
        self.ledger = ledger;
        let prepared = Prepared::new(report);
        self.answers.insert(task, prepared.clone());
        Ok(prepared)
    }

    /// Makes `entries` those of the device, once they are on the disk. A failure leaves open what is there.
    fn write(&mut self, entries: Entries) -> Result<(), DeviceError> {
        self.stopped = true;
        self.entries = self.file.write(entries)?;
        self.stopped = false;
        Ok(())
    }
}
