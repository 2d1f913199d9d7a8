//! The answer to a survey: the number of the question in eight bytes, and as many words of eight as it takes.

use crate::ReportError;
use undertone_privacy::PrivacyError;
use undertone_privacy::survey::{Survey, SurveyReport};

/// What the answers of one tier look like.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SurveyForm {
    survey: Survey,
    most_words: usize,
}

/// Bytes of a word, and of the number of the question.
const WORD: usize = 8;

impl SurveyForm {
    pub(super) fn new(survey: Survey) -> Result<Self, PrivacyError> {
        let most_words = survey.most_words()?;
        Ok(Self { survey, most_words })
    }

    /// The length of the longest answer.
    pub(super) fn most_bytes(&self) -> usize {
        WORD * (1 + self.most_words)
    }

    /// The most words of an answer.
    pub(super) fn most_words(&self) -> usize {
        self.most_words
    }

    /// The bytes that follow the number of the question.
    pub(super) fn bytes(&self, question: u64) -> Result<usize, ReportError> {
        let questions = self.survey.questions();
        let words =
            self.survey.words(question).map_err(|_| ReportError::UnknownQuestion { question, questions })?;
        Ok(WORD * words)
    }

    /// The answer that these bytes, as many as there have to be, are.
    pub(super) fn read(&self, question: u64, bytes: &[u8]) -> Result<SurveyReport, ReportError> {
        let word =
            |bytes: &[u8]| bytes.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte)).cast_signed();
        let report = SurveyReport { question, words: bytes.chunks_exact(WORD).map(word).collect() };
        self.check(&report)?;
        Ok(report)
    }

    /// Refuses what no honest device says, but for a chance that nobody meets.
    pub(super) fn check(&self, report: &SurveyReport) -> Result<(), ReportError> {
        self.bytes(report.question)?;
        self.survey.check(report).map_err(|_| ReportError::Implausible {})
    }

    /// Appends an answer that passed [`check`](Self::check).
    pub(super) fn write(report: &SurveyReport, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&report.question.to_be_bytes());
        bytes.extend(report.words.iter().flat_map(|word| word.to_be_bytes()));
    }
}
