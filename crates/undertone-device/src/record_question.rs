//! A task about whole records, as a device sees it.
//!
//! Everything that the noise is made of is computed here, from the words of the task. A collector says where its learner
//! stands, and nothing else: the point is checked before the record is looked at, and the ball of all gradients at it is the
//! device's own.

use crate::record::Covariates;
use crate::{DeviceError, Record};
use rand_core::CryptoRng;
use undertone_privacy::Guarantee;
use undertone_privacy::gradient::RecordModel;
use undertone_privacy::vector::VectorMechanism;
use undertone_report::{GradientReport, Point, Report, ReportError, ReportFormat, Task, TaskId};

/// No log has more reports. A version is repeated in the report: a collector that gave every device one of its own could tell
/// by it who sent what, whoever stands in between. Where that matters, compare points with others.
const MOST_REPORTS: u64 = 1 << 53;

/// A task about records that a device may answer.
#[derive(Clone, Debug)]
pub struct RecordQuestion {
    format: ReportFormat,
    model: RecordModel,
    covariates: Covariates,
    tiers: Vec<(Guarantee, VectorMechanism)>,
}

impl RecordQuestion {
    /// Checks a task and rebuilds everything that noise is made of.
    pub fn new(task: &Task) -> Result<Self, DeviceError> {
        let format = ReportFormat::new(task)?;
        let tier = |&level: &f64| Ok((task.promise_at(level)?, task.vector_mechanism(level)?));
        let tiers = format.collection().tiers.iter().map(tier).collect::<Result<_, DeviceError>>()?;
        Ok(Self { model: task.record_model()?, covariates: Covariates::of(task), tiers, format })
    }

    /// The task's id.
    pub fn task_id(&self) -> TaskId {
        self.format.task_id()
    }

    /// How its reports are written.
    pub fn format(&self) -> &ReportFormat {
        &self.format
    }

    /// What is computed of a record.
    pub fn model(&self) -> &RecordModel {
        &self.model
    }

    /// What an answer in this tier costs.
    pub fn price(&self, tier: u8) -> Result<Guarantee, DeviceError> {
        Ok(self.tier(tier)?.0)
    }

    /// Refuses to answer when the task is not open, `now` being in seconds of the Unix epoch.
    pub fn check_open(&self, now: u64) -> Result<(), DeviceError> {
        let collection = self.format.collection();
        if collection.is_open(now) {
            return Ok(());
        }
        Err(DeviceError::Closed { now, opens: collection.opens, closes: collection.closes })
    }

    /// The bytes of one answer: the gradient of the record at `point`, randomized anew each time.
    ///
    /// What is wrong with the question or the point is an error before the record is looked at. Afterwards the size of the bytes
    /// does not depend on it, nor does what is done but for the time that it takes to compare words, and a record that is none is
    /// answered like the others.
    pub fn answer(
        &self,
        point: &Point,
        record: &Record,
        tier: u8,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, DeviceError> {
        self.check_open(now)?;
        let (_, mechanism) = self.tier(tier)?;
        if point.version > MOST_REPORTS {
            return Err(ReportError::FutureVersion { version: point.version, now: MOST_REPORTS }.into());
        }
        let around = self.model.ball_at(&point.parameters)?;
        let (x, y) = self.covariates.encode(record)?;
        let vector = self.model.vector_at(&point.parameters, &x, y, &around)?;
        let mut report = Report { time: self.format.collection().unit_of(now), tier, ..Report::default() };
        rng.fill_bytes(&mut report.id.0);
        let said = mechanism.report(&vector, rng)?;
        report.gradient = Some(GradientReport { version: point.version, said });
        Ok(self.format.encode(&report)?)
    }

    fn tier(&self, tier: u8) -> Result<&(Guarantee, VectorMechanism), ReportError> {
        let tiers = self.tiers.len();
        self.tiers.get(usize::from(tier)).ok_or(ReportError::UnknownTier { tier, tiers })
    }
}
