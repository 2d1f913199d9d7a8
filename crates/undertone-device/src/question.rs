//! A task, as a device sees it: checked, and with the mechanisms that its own words make.

use crate::DeviceError;
use rand_core::CryptoRng;
use undertone_privacy::label::{Label, LabelMechanism, LabelSet, RrWithPrior};
use undertone_privacy::{Epsilon, Guarantee, PrivacyError, Randomizer};
use undertone_report::{Cell, PriorWords, Report, ReportError, ReportFormat, ReportId, Task, TaskId};

/// A task that a device may answer.
#[derive(Clone, Debug)]
pub struct Question {
    format: ReportFormat,
    labels: u32,
    tiers: Vec<Tier>,
    /// Where each person's prior is among the features, and the names of the columns
    priors: Option<Vec<(usize, String)>>,
}

#[derive(Clone, Debug)]
struct Tier {
    epsilon: Epsilon,
    /// None if each person has one of their own
    mechanism: Option<LabelMechanism>,
}

impl Question {
    /// Checks a task and rebuilds its mechanisms.
    pub fn new(task: &Task) -> Result<Self, DeviceError> {
        let format = ReportFormat::new(task)?;
        let place = |name: &String| {
            let place = task.features.iter().position(|column| column.name == *name);
            Ok((place.ok_or_else(|| DeviceError::NoPrior { column: name.clone() })?, name.clone()))
        };
        let priors = match &task.mechanism.prior {
            None => None,
            Some(PriorWords::Columns(names)) => {
                Some(names.iter().map(place).collect::<Result<_, DeviceError>>()?)
            }
            Some(PriorWords::Model { .. }) => return Err(DeviceError::ModelPrior),
        };
        let tier = |&tier: &f64| {
            let epsilon = Epsilon::new(tier)?;
            let mechanism = if priors.is_some() { None } else { Some(task.mechanism_at(epsilon)?) };
            Ok(Tier { epsilon, mechanism })
        };
        let tiers = format.collection().tiers.iter().map(tier).collect::<Result<_, DeviceError>>()?;
        Ok(Self { format, labels: task.labels(), tiers, priors })
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
        Ok(Guarantee::Pure(self.tier(tier)?.epsilon))
    }

    /// Refuses to answer when the task is not open, `now` being in seconds of the Unix epoch.
    pub fn check_open(&self, now: u64) -> Result<(), DeviceError> {
        let collection = self.format.collection();
        if collection.is_open(now) {
            return Ok(());
        }
        Err(DeviceError::Closed { now, opens: collection.opens, closes: collection.closes })
    }

    /// The bytes of one answer.
    ///
    /// It is randomized anew each time: whoever is asked twice has to give the bytes of the first time, which is what a
    /// [`Device`](crate::Device) does. What is wrong with the question, the public features or the label is an error before
    /// anything is drawn; afterwards neither the way through this function nor the size of the bytes depends on the label.
    pub fn answer(
        &self,
        features: Vec<Cell>,
        Label(label): Label,
        tier: u8,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, DeviceError> {
        self.check_open(now)?;
        if label >= self.labels {
            return Err(PrivacyError::UnknownLabel { label, labels: self.labels }.into());
        }
        let chosen = self.tier(tier)?;
        let mut report = Report {
            id: ReportId([0; 16]),
            time: self.format.collection().unit_of(now),
            tier,
            features,
            members: Vec::new(),
            among: Vec::new(),
            number: None,
            gradient: None,
            survey: None,
        };
        self.format.check_features(&report.features)?;
        let own;
        let mechanism = if let Some(mechanism) = &chosen.mechanism {
            mechanism
        } else {
            let with_prior = RrWithPrior::new(&self.prior(&report.features)?, chosen.epsilon)?;
            report.among = with_prior.top().to_vec();
            own = LabelMechanism::WithPrior(with_prior);
            &own
        };
        rng.fill_bytes(&mut report.id.0);
        let said: LabelSet = mechanism.randomize(&Label(label), rng)?;
        report.members = said.members().to_vec();
        Ok(self.format.encode(&report)?)
    }

    fn tier(&self, tier: u8) -> Result<&Tier, ReportError> {
        let tiers = self.tiers.len();
        self.tiers.get(usize::from(tier)).ok_or(ReportError::UnknownTier { tier, tiers })
    }

    /// This person's prior, in the order of the classes.
    fn prior(&self, features: &[Cell]) -> Result<Vec<f64>, DeviceError> {
        let entry = |(place, name): &(usize, String)| match features.get(*place) {
            Some(Cell::Number(p)) => Ok(*p),
            _ => Err(DeviceError::NoPrior { column: name.clone() }),
        };
        self.priors.iter().flatten().map(entry).collect()
    }
}
