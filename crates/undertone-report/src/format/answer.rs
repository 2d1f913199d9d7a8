//! The randomized part of a report, whose size is fixed: it says nothing.
//!
//! Where the mechanism names one label it is a number, in as few bytes as K - 1 takes (1, 2 or 4); elsewhere it is a mask
//! of ⌈K/8⌉ bytes, in which label k is bit k mod 8, counted from the lowest, of byte ⌊k/8⌋. With priors a mask of
//! the labels that were answered among comes first.

use crate::{ReportError, Task, TaskError};
use undertone_privacy::Epsilon;
use undertone_privacy::label::LabelRandomizer;

/// What the answers of one tier look like.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AnswerForm {
    labels: u32,
    epsilon: Epsilon,
    /// The labels in every answer, if their number is fixed
    set_size: Option<u32>,
    /// The mask of the labels that everybody answers among, if these are not all
    asked: Option<Vec<u8>>,
    /// Whether people answer among labels of their own
    priors: bool,
}

/// An answer that has been checked and is still bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerBytes<'a> {
    said: Said<'a>,
    among: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said<'a> {
    Number(u32),
    Mask(&'a [u8]),
}

impl AnswerForm {
    pub(super) fn of(task: &Task, epsilon: Epsilon) -> Result<Self, TaskError> {
        let labels = task.labels();
        if task.has_priors() {
            return Ok(Self { labels, epsilon, set_size: Some(1), asked: None, priors: true });
        }
        let mechanism = task.mechanism_at(epsilon)?;
        let asked = mechanism.support().map(|support| mask_of(support, labels));
        Ok(Self { labels, epsilon, set_size: mechanism.set_size(), asked, priors: false })
    }

    pub(super) fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The length of every answer.
    pub(super) fn bytes(&self) -> usize {
        let said = if self.is_number() { self.number_bytes() } else { self.mask_bytes() };
        said + if self.priors { self.mask_bytes() } else { 0 }
    }

    fn is_number(&self) -> bool {
        self.set_size == Some(1)
    }

    fn number_bytes(&self) -> usize {
        match self.labels - 1 {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        }
    }

    fn mask_bytes(&self) -> usize {
        self.labels.div_ceil(8) as usize
    }

    /// The answer that `bytes`, of which there are as many as there have to be, are. If it is known, `choice` is what a
    /// person with these cells answers among.
    pub(super) fn read<'a>(
        &self,
        bytes: &'a [u8],
        choice: Option<&[u32]>,
    ) -> Result<AnswerBytes<'a>, ReportError> {
        let (among, said) = bytes.split_at(if self.priors { self.mask_bytes() } else { 0 });
        if self.priors {
            self.check_bits(among)?;
            check_choice(members(among), choice)?;
        }
        if self.is_number() {
            let label = said.iter().fold(0, |number, &byte| number << 8 | u32::from(byte));
            self.check_label(label)?;
            let asked = if self.priors { Some(among) } else { self.asked.as_deref() };
            if asked.is_some_and(|asked| !contains(asked, label)) {
                return Err(ReportError::NotAsked { label });
            }
            return Ok(AnswerBytes { said: Said::Number(label), among });
        }
        self.check_bits(said)?;
        self.check_size(said.iter().map(|byte| byte.count_ones()).sum())?;
        Ok(AnswerBytes { said: Said::Mask(said), among })
    }

    /// Refuses labels that no answer of this form has.
    pub(super) fn check(
        &self,
        members: &[u32],
        among: &[u32],
        choice: Option<&[u32]>,
    ) -> Result<(), ReportError> {
        self.check_asked(self.priors || !among.is_empty())?;
        self.check_labels(among)?;
        if self.priors {
            check_choice(among.iter().copied(), choice)?;
        }
        self.check_labels(members)?;
        self.check_size(members.len() as u32)?;
        let asked = |label: u32| match &self.asked {
            Some(asked) => contains(asked, label),
            None => !self.priors || among.binary_search(&label).is_ok(),
        };
        match members.iter().find(|&&label| !asked(label)) {
            Some(&label) => Err(ReportError::NotAsked { label }),
            None => Ok(()),
        }
    }

    /// Appends labels that passed [`check`](Self::check).
    pub(super) fn write(&self, members: &[u32], among: &[u32], bytes: &mut Vec<u8>) {
        if self.priors {
            bytes.extend(mask_of(among, self.labels));
        }
        if self.is_number() {
            bytes.extend_from_slice(&members[0].to_be_bytes()[4 - self.number_bytes()..]);
        } else {
            bytes.extend(mask_of(members, self.labels));
        }
    }

    /// Refuses labels to answer among, whether there are any, where people do not have their own.
    pub(super) fn check_asked(&self, there: bool) -> Result<(), ReportError> {
        if there && !self.priors {
            return Err(ReportError::WrongChoice { problem: "are there, but the task has no priors" });
        }
        Ok(())
    }

    /// Refuses labels that there are not, and then such as are not in rising order.
    fn check_labels(&self, labels: &[u32]) -> Result<(), ReportError> {
        labels.iter().try_for_each(|&label| self.check_label(label))?;
        if labels.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(ReportError::LabelsNotRising {});
        }
        Ok(())
    }

    fn check_label(&self, label: u32) -> Result<(), ReportError> {
        if label < self.labels {
            Ok(())
        } else {
            Err(ReportError::UnknownLabel { label, labels: self.labels })
        }
    }

    fn check_size(&self, found: u32) -> Result<(), ReportError> {
        match self.set_size.filter(|&size| size != found) {
            Some(expected) => Err(ReportError::SetSize { found, expected }),
            None => Ok(()),
        }
    }

    /// The last byte of a mask has bits for labels below K only.
    fn check_bits(&self, mask: &[u8]) -> Result<(), ReportError> {
        let used = self.labels % 8;
        let stray = mask.last().filter(|_| used != 0).is_some_and(|last| last >> used != 0);
        if stray { Err(ReportError::StrayBits { labels: self.labels }) } else { Ok(()) }
    }
}

impl AnswerBytes<'_> {
    /// The labels that were said, and those that were answered among, in the place of what was there.
    pub(super) fn write(&self, said: &mut Vec<u32>, among: &mut Vec<u32>) {
        said.clear();
        match self.said {
            Said::Number(label) => said.push(label),
            Said::Mask(mask) => said.extend(members(mask)),
        }
        among.clear();
        among.extend(members(self.among));
    }
}

/// Refuses labels to answer among that are missing, or are not the `choice` where it is known.
fn check_choice(among: impl Iterator<Item = u32> + Clone, choice: Option<&[u32]>) -> Result<(), ReportError> {
    if among.clone().next().is_none() {
        return Err(ReportError::WrongChoice { problem: "are missing" });
    }
    match choice {
        Some([]) => Err(ReportError::WrongChoice { problem: "follow from no prior in its cells" }),
        Some(choice) if !among.eq(choice.iter().copied()) => {
            Err(ReportError::WrongChoice { problem: "are not those that follow from its cells" })
        }
        _ => Ok(()),
    }
}

fn contains(mask: &[u8], label: u32) -> bool {
    mask[label as usize / 8] >> (label % 8) & 1 == 1
}

fn mask_of(members: &[u32], labels: u32) -> Vec<u8> {
    let mut mask = vec![0; labels.div_ceil(8) as usize];
    for &label in members {
        mask[label as usize / 8] |= 1 << (label % 8);
    }
    mask
}

fn members(mask: &[u8]) -> impl Iterator<Item = u32> + Clone {
    let bytes = (0..).step_by(8).zip(mask);
    bytes
        .flat_map(|(first, &byte)| (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| first + bit))
}
