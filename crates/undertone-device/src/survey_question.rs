//! A survey, as a device sees it: one question about the whole record, drawn by the device itself.
//!
//! The record never leaves. Its cells become levels or covariates by the public encoding of the task, and nothing about their
//! values is an error: what is no value of a category is its first one unless the category has a place for it, and what is no
//! number makes the answer that of the middle.

use crate::record::Covariates;
use crate::{DeviceError, Record};
use rand_core::CryptoRng;
use undertone_privacy::survey::{Survey, SurveyRecord};
use undertone_privacy::{Guarantee, Randomizer};
use undertone_report::{
    CategoryWords, Cell, EncodingWords, Report, ReportError, ReportFormat, SurveyWords, Task, TaskError,
    TaskId,
};

/// A survey that a device may answer.
#[derive(Clone, Debug)]
pub struct SurveyQuestion {
    format: ReportFormat,
    words: SurveyWords,
    encoding: Vec<EncodingWords>,
    covariates: Covariates,
    tiers: Vec<Survey>,
}

impl SurveyQuestion {
    /// Checks a task and rebuilds its mechanisms.
    pub fn new(task: &Task) -> Result<Self, DeviceError> {
        let format = ReportFormat::new(task)?;
        let words = task.survey.clone().ok_or(TaskError::NotSurvey)?;
        let tiers = format.collection().tiers.iter().map(|&level| task.survey_at(level));
        let tiers = tiers.collect::<Result<_, TaskError>>()?;
        let encoding = format.collection().encoding.clone();
        let covariates = Covariates::new(encoding.clone(), words.response());
        Ok(Self { format, words, encoding, covariates, tiers })
    }

    /// The task's id.
    pub fn task_id(&self) -> TaskId {
        self.format.task_id()
    }

    /// How its reports are written.
    pub fn format(&self) -> &ReportFormat {
        &self.format
    }

    /// What an answer in this tier costs.
    pub fn price(&self, tier: u8) -> Result<Guarantee, DeviceError> {
        Ok(self.tier(tier)?.guarantee())
    }

    /// Refuses to answer when the task is not open, `now` being in seconds of the Unix epoch.
    pub fn check_open(&self, now: u64) -> Result<(), DeviceError> {
        let collection = self.format.collection();
        if collection.is_open(now) {
            return Ok(());
        }
        Err(DeviceError::Closed { now, opens: collection.opens, closes: collection.closes })
    }

    /// The bytes of one answer, to a question that is drawn anew each time: a [`Device`](crate::Device) repeats the first.
    pub fn answer(
        &self,
        record: &Record,
        tier: u8,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, DeviceError> {
        self.check_open(now)?;
        let report = self.report(record, tier, self.format.collection().unit_of(now), rng)?;
        Ok(self.format.encode(&report)?)
    }

    /// The same as a report that is not yet bytes, made at this unit of time.
    pub fn report(
        &self,
        record: &Record,
        tier: u8,
        time: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Report, DeviceError> {
        let (survey, record) = (self.tier(tier)?, self.record(record)?);
        let mut report = Report { time, tier, ..Report::default() };
        rng.fill_bytes(&mut report.id.0);
        report.survey = Some(survey.randomize(&record, rng)?);
        Ok(report)
    }

    /// What the survey looks at. Only a wrong number of cells, which is public, is an error.
    fn record(&self, record: &Record) -> Result<SurveyRecord, DeviceError> {
        let (found, expected) = (record.features.len(), self.encoding.len());
        if found != expected {
            return Err(ReportError::WrongColumns { found, expected }.into());
        }
        if self.words.is_of_categories() {
            let levels = self.encoding.iter().zip(&record.features).map(|(words, cell)| level(words, cell));
            return Ok(SurveyRecord { levels: levels.collect(), ..SurveyRecord::default() });
        }
        let Some(radius) = self.words.radius() else {
            let number = |cell: &Cell| if let Cell::Number(x) = cell { *x } else { f64::NAN };
            return Ok(SurveyRecord {
                x: record.features.iter().map(number).collect(),
                ..SurveyRecord::default()
            });
        };
        let (x, y) = self.covariates.encode(record)?;
        // A class is its place, 0 or 1; a label is -1 or 1.
        let y = if self.words.response().is_some() { y } else { 2.0 * y - 1.0 };
        Ok(SurveyRecord { x: x.into_iter().map(|x| x / radius).collect(), y, ..SurveyRecord::default() })
    }

    fn tier(&self, tier: u8) -> Result<&Survey, ReportError> {
        let tiers = self.tiers.len();
        self.tiers.get(usize::from(tier)).ok_or(ReportError::UnknownTier { tier, tiers })
    }
}

/// The place of a cell among the values of its category; all values are looked at, whichever it is.
fn level(words: &EncodingWords, cell: &Cell) -> u32 {
    let EncodingWords::Category(CategoryWords::Values { values, other, missing }) = words else { return 0 };
    let text = match cell {
        Cell::Words(text) => Some(text.clone()),
        Cell::Number(value) => Some(value.to_string()),
        Cell::Missing | Cell::Vector(_) => None,
    };
    let count = values.len() as u32;
    let elsewhere = match text {
        Some(_) if *other => count,
        None if *missing => count + u32::from(*other),
        _ => 0,
    };
    let own =
        |level, (place, value): (u32, &String)| if text.as_ref() == Some(value) { place } else { level };
    (0..).zip(values).fold(elsewhere, own)
}
