//! A task about a number, as a device sees it.
//!
//! The number is clipped to the public bounds and placed on their grid, in integers, before anything is drawn: no number, however
//! large, moves what is randomized by more than the noise was made for.

use crate::DeviceError;
use rand_core::CryptoRng;
use undertone_privacy::number::{NumberMechanism, NumberRandomizer};
use undertone_privacy::{Epsilon, Guarantee};
use undertone_report::{Cell, Report, ReportError, ReportFormat, Task, TaskId};

/// A task about a number that a device may answer.
#[derive(Clone, Debug)]
pub struct NumberQuestion {
    format: ReportFormat,
    tiers: Vec<(Epsilon, NumberMechanism)>,
}

impl NumberQuestion {
    /// Checks a task and rebuilds its mechanisms.
    pub fn new(task: &Task) -> Result<Self, DeviceError> {
        let format = ReportFormat::new(task)?;
        let tier = |&tier: &f64| {
            let epsilon = Epsilon::new(tier)?;
            Ok((epsilon, task.number_mechanism_at(epsilon)?))
        };
        let tiers = format.collection().tiers.iter().map(tier).collect::<Result<_, DeviceError>>()?;
        Ok(Self { format, tiers })
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
        Ok(Guarantee::Pure(self.tier(tier)?.0))
    }

    /// Refuses to answer when the task is not open, `now` being in seconds of the Unix epoch.
    pub fn check_open(&self, now: u64) -> Result<(), DeviceError> {
        let collection = self.format.collection();
        if collection.is_open(now) {
            return Ok(());
        }
        Err(DeviceError::Closed { now, opens: collection.opens, closes: collection.closes })
    }

    /// The bytes of one answer, randomized anew each time: a [`Device`](crate::Device) repeats the first.
    ///
    /// What is wrong with the question or the public features, and a number that is none, is an error before anything is drawn;
    /// afterwards neither the way through this function nor the size of the bytes depends on the number.
    pub fn answer(
        &self,
        features: Vec<Cell>,
        number: f64,
        tier: u8,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, DeviceError> {
        self.check_open(now)?;
        let (_, mechanism) = self.tier(tier)?;
        self.format.check_features(&features)?;
        let place = mechanism.bounds().place(number)?;
        let time = self.format.collection().unit_of(now);
        let mut report = Report { time, tier, features, ..Report::default() };
        rng.fill_bytes(&mut report.id.0);
        report.number = Some(mechanism.report(&place, rng)?);
        Ok(self.format.encode(&report)?)
    }

    fn tier(&self, tier: u8) -> Result<&(Epsilon, NumberMechanism), ReportError> {
        let tiers = self.tiers.len();
        self.tiers.get(usize::from(tier)).ok_or(ReportError::UnknownTier { tier, tiers })
    }
}
