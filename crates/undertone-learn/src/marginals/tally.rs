//! How many answers name what, question by question: all that is kept of them.

use super::counts::Noise;
use super::design::Design;
use crate::LearnError;
use crate::labels::check_members;
use serde::{Deserialize, Serialize};
use undertone_privacy::PrivacyError;

/// More labels of all questions together are not counted.
const MOST_COUNTERS: u32 = 1 << 24;

/// Counts of answers to the questions of one design. They add up, in any order and on any machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Answers to each question
    asked: Vec<u64>,
    /// Where the labels of each question begin, and where those of the last one end
    starts: Vec<u32>,
    /// The members of an answer to each question, where their number is fixed
    set_sizes: Vec<Option<u32>>,
    /// Answers that name each label of each question
    seen: Vec<u64>,
}

impl Tally {
    /// Before any answer.
    pub fn new(design: &Design) -> Result<Self, LearnError> {
        let questionnaire = &design.questionnaire;
        let questions = questionnaire.questions();
        if questions > u64::from(MOST_COUNTERS) {
            return Err(PrivacyError::TooManyQuestions { most: MOST_COUNTERS.into() }.into());
        }
        let (mut starts, mut end) = (vec![0], 0u32);
        let mut set_sizes = Vec::with_capacity(questions as usize);
        for number in 0..questions {
            let question = questionnaire.question(number)?;
            let labels = question.labels(questionnaire.schema())?;
            end = end.saturating_add(labels);
            if end > MOST_COUNTERS {
                let cells = f64::from(labels) * questions as f64;
                return Err(PrivacyError::ProductDomain { cells, most: MOST_COUNTERS }.into());
            }
            starts.push(end);
            set_sizes.push(questionnaire.mechanism(&question)?.set_size());
        }
        Ok(Self { asked: vec![0; questions as usize], starts, set_sizes, seen: vec![0; end as usize] })
    }

    /// Takes in an answer that names these labels. What the design cannot have made is refused and not counted.
    pub fn observe(&mut self, question: u64, members: &[u32]) -> Result<(), LearnError> {
        let questions = self.asked.len() as u64;
        if question >= questions {
            return Err(PrivacyError::UnknownQuestion { question, questions }.into());
        }
        let (start, labels) = self.place(question as usize);
        check_members(members, labels, self.set_sizes[question as usize])
            .map_err(|problem| LearnError::Report { row: self.reports() + 1, problem })?;
        for &member in members {
            self.seen[start + member as usize] += 1;
        }
        self.asked[question as usize] += 1;
        Ok(())
    }

    /// Leaves `self` as if it had also observed everything that `other`, a tally of the same design, did.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.starts, other.starts);
        self.asked.iter_mut().zip(&other.asked).for_each(|(sum, more)| *sum += more);
        self.seen.iter_mut().zip(&other.seen).for_each(|(sum, more)| *sum += more);
    }

    /// How many have answered.
    pub fn reports(&self) -> u64 {
        self.asked.iter().sum()
    }

    /// How many have answered one question.
    pub(super) fn asked(&self, question: usize) -> u64 {
        self.asked[question]
    }

    /// Whether these are counts of answers to as many questions with as many labels.
    pub(super) fn fits(&self, design: &Design) -> bool {
        Self::new(design).is_ok_and(|empty| empty.starts == self.starts && empty.set_sizes == self.set_sizes)
    }

    /// The unbiased shares of a question's labels, if anyone has answered it.
    pub(super) fn shares(&self, question: usize, noise: &Noise) -> Option<Vec<f64>> {
        let (start, labels) = self.place(question);
        let asked = self.asked[question];
        (asked > 0).then(|| noise.shares(&self.seen[start..start + labels as usize], asked))
    }

    /// Where the labels of a question begin, and how many they are.
    fn place(&self, question: usize) -> (usize, u32) {
        let start = self.starts[question];
        (start as usize, self.starts[question + 1] - start)
    }
}

#[cfg(test)]
impl Tally {
    /// Counts as they are on average: `rates` of `asked` answers name each label.
    pub(super) fn set(&mut self, question: u64, asked: u64, rates: &[f64]) {
        let (start, _) = self.place(question as usize);
        self.asked[question as usize] = asked;
        for (seen, rate) in self.seen[start..].iter_mut().zip(rates) {
            *seen = (rate * asked as f64).round() as u64;
        }
    }
}
