//! Asking people, each of them once.
//!
//! Whoever learns does not hold the labels: it names a person and a mechanism, and a device answers. The transcript has every
//! question and every answer. It refuses to ask anybody a second time, since two reports at ε are worth 2ε.

use crate::LearnError;
use undertone_privacy::label::{LabelMechanism, LabelRandomizer, LabelSet};

/// Those who hold the labels.
pub trait Devices {
    /// The report of `person`, counted from zero, who runs `mechanism` once.
    fn answer(&mut self, person: u64, mechanism: &LabelMechanism) -> Result<LabelSet, LearnError>;
}

impl<F: FnMut(u64, &LabelMechanism) -> Result<LabelSet, LearnError>> Devices for F {
    fn answer(&mut self, person: u64, mechanism: &LabelMechanism) -> Result<LabelSet, LearnError> {
        self(person, mechanism)
    }
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Counted from zero
    pub person: u64,
    /// Counted from zero
    pub stage: usize,
    /// The labels that the person answered among; none if among all
    pub among: Option<Vec<u32>>,
    /// What the person said
    pub report: LabelSet,
}

/// Devices that are asked once each, and what they said.
pub struct Asking<'a> {
    devices: &'a mut dyn Devices,
    asked: Vec<bool>,
    transcript: Vec<Record>,
}

impl<'a> Asking<'a> {
    /// Nobody has been asked yet.
    pub fn new(devices: &'a mut dyn Devices) -> Self {
        Self { devices, asked: Vec::new(), transcript: Vec::new() }
    }

    /// Has `person` run `mechanism`; an error, before anything is drawn, if that person has answered before.
    pub fn ask(
        &mut self,
        person: u64,
        stage: usize,
        mechanism: &LabelMechanism,
    ) -> Result<&Record, LearnError> {
        let place = person as usize;
        if self.asked.len() <= place {
            self.asked.resize(place + 1, false);
        }
        if self.asked[place] {
            return Err(LearnError::AskedTwice { person });
        }
        // Whatever becomes of the answer, the person has given it.
        self.asked[place] = true;
        let report = self.devices.answer(person, mechanism)?;
        let among = mechanism.support().map(<[u32]>::to_vec);
        self.transcript.push(Record { person, stage, among, report });
        // One was pushed in the line above.
        Ok(&self.transcript[self.transcript.len() - 1])
    }

    /// All questions and answers so far, in order.
    pub fn transcript(&self) -> &[Record] {
        &self.transcript
    }

    /// The same, to keep.
    pub fn into_transcript(self) -> Vec<Record> {
        self.transcript
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::LabelKind;

    #[test]
    fn a_person_who_has_answered_is_not_asked_again() {
        let mechanism = LabelKind::Rr.mechanism(3, Epsilon::new(1.0).unwrap()).unwrap();
        let mut draws = 0;
        let mut devices = |_: u64, _: &LabelMechanism| {
            draws += 1;
            Ok(LabelSet::new(vec![1]))
        };
        let mut asking = Asking::new(&mut devices);
        asking.ask(5, 0, &mechanism).unwrap();
        asking.ask(4, 0, &mechanism).unwrap();
        let error = asking.ask(5, 1, &mechanism).unwrap_err();
        assert!(matches!(error, LearnError::AskedTwice { person: 5 }), "{error}");
        assert_eq!(asking.transcript().len(), 2);
        assert_eq!(draws, 2);
    }

    #[test]
    fn a_person_whose_answer_was_lost_is_not_asked_again_either() {
        let mechanism = LabelKind::Rr.mechanism(3, Epsilon::new(1.0).unwrap()).unwrap();
        let mut devices = |_: u64, _: &LabelMechanism| Err(LearnError::NoReports);
        let mut asking = Asking::new(&mut devices);
        assert!(matches!(asking.ask(0, 0, &mechanism), Err(LearnError::NoReports)));
        assert!(matches!(asking.ask(0, 0, &mechanism), Err(LearnError::AskedTwice { person: 0 })));
    }
}
