//! One round, whole records: everybody is asked one question of a public family, once, and answers in integers.
//!
//! A [`Survey`] is what a task of one round asks. It draws a question, which says nothing about the record, evaluates it and
//! randomizes the answer with the whole promise. Whatever the family, an answer is the number of the question and a few words
//! of 64 bits, as many as the question says: one format for all of them, and nothing to read from its length.
//!
//! **Privacy.** The question is public and independent of the record, so that the loss is that of the mechanism which answers
//! it; each of them is proved in its own file.

mod answering;
mod words;

pub use answering::{AnsweringKind, NumberAnswering};

use crate::statistic::{
    Allocation, Answer, CosineBasis, LossAt, Moment, MomentRelease, MomentReport, MomentVectors,
    Questionnaire, RecordMoments,
};
use crate::vector::{BallVector, GaussianCopies};
use crate::{DeviceSafe, Guarantee, PrivacyError, Randomizer};
use alloc::vec::Vec;
use rand_core::{CryptoRng, Rng};

/// What everybody is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Survey {
    /// A category of the record: a cell of a table, a parity, a product of literals
    Categories(Questionnaire),
    /// The loss at a node of a grid of parameters
    Losses {
        /// The nodes, and the loss
        at: LossAt,
        /// Who is asked which
        allocation: Allocation,
        /// How the share of its range is told
        answering: NumberAnswering,
    },
    /// A product of cosines
    Cosines {
        /// The products
        basis: CosineBasis,
        /// Who is asked which
        allocation: Allocation,
        /// How the value is told
        answering: NumberAnswering,
    },
    /// The first or the second moment
    Moments(MomentRelease),
    /// Gaussian copies of the first moment
    Copies {
        /// What a record is
        moments: RecordMoments,
        /// The copies
        copies: GaussianCopies,
    },
}

/// A record, as far as surveys look at one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurveyRecord {
    /// The level of each attribute, for categories
    pub levels: Vec<u32>,
    /// The covariates, for everything else
    pub x: Vec<f64>,
    /// The response
    pub y: f64,
}

/// What a person says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SurveyReport {
    /// The public question
    pub question: u64,
    /// The answer
    pub words: Vec<i64>,
}

impl Survey {
    /// How many questions there are.
    pub fn questions(&self) -> u64 {
        match self {
            Self::Categories(questionnaire) => questionnaire.questions(),
            Self::Losses { allocation, .. } | Self::Cosines { allocation, .. } => {
                allocation.statistics() as u64
            }
            Self::Moments(_) => 2,
            Self::Copies { .. } => 1,
        }
    }

    /// The probability with which a question is drawn.
    pub fn probability(&self, question: u64) -> f64 {
        match self {
            _ if question >= self.questions() => 0.0,
            Self::Categories(questionnaire) => {
                questionnaire.weight(question) as f64 / questionnaire.weights() as f64
            }
            Self::Copies { .. } => 1.0,
            Self::Losses { allocation, .. } | Self::Cosines { allocation, .. } => {
                allocation.share(question as usize)
            }
            Self::Moments(release) => release.probability(moment(question)),
        }
    }

    /// A person's question, for whoever assigns them: it needs no secrecy.
    pub fn draw(&self, rng: &mut impl Rng) -> u64 {
        match self {
            Self::Categories(questionnaire) => questionnaire.draw(rng),
            Self::Losses { allocation, .. } | Self::Cosines { allocation, .. } => allocation.draw(rng).into(),
            Self::Moments(release) => u64::from(release.share().toss(rng)),
            Self::Copies { .. } => 0,
        }
    }

    /// The words of every answer to a question.
    pub fn words(&self, question: u64) -> Result<usize, PrivacyError> {
        self.known(question)?;
        Ok(match self {
            Self::Categories(questionnaire) => {
                let asked = questionnaire.question(question)?;
                words::of_labels(asked.labels(questionnaire.schema())?)
            }
            Self::Losses { answering, .. } | Self::Cosines { answering, .. } => answering.words(),
            Self::Moments(_) => words::CODEWORD,
            Self::Copies { copies, .. } => (1 + copies.inner()) * copies.ball().dimension(),
        })
    }

    /// The words of the longest answer.
    pub fn most_words(&self) -> Result<usize, PrivacyError> {
        match self {
            Self::Categories(questionnaire) => Ok(words::of_labels(questionnaire.most_labels())),
            _ => self.words(0),
        }
    }

    /// An error if no honest device says this, but for a chance that nobody meets.
    pub fn check(&self, report: &SurveyReport) -> Result<(), PrivacyError> {
        let SurveyReport { question, words } = report;
        let (length, dimension) = (words.len(), self.words(*question)?);
        if length != dimension {
            return Err(PrivacyError::WrongLength { length, dimension });
        }
        let plausible = self.probability(*question) > 0.0
            && match self {
                Self::Categories(questionnaire) => {
                    let mechanism = questionnaire.mechanism(&questionnaire.question(*question)?)?;
                    words::are_labels(words, mechanism)
                }
                Self::Losses { answering, .. } | Self::Cosines { answering, .. } => {
                    answering.is_plausible(words)
                }
                Self::Moments(release) => words::codeword(words)
                    .is_some_and(|word| release.is_plausible(&moment_report(*question, word))),
                Self::Copies { copies, .. } => copies.is_plausible(words),
            };
        if plausible { Ok(()) } else { Err(PrivacyError::Implausible) }
    }

    /// The answer of a record to a question that was drawn. Only what is public about the record, such as how many
    /// attributes it has, can be an error.
    pub fn answer(
        &self,
        question: u64,
        record: &SurveyRecord,
        rng: &mut impl CryptoRng,
    ) -> Result<SurveyReport, PrivacyError> {
        self.known(question)?;
        let words = match self {
            Self::Categories(questionnaire) => {
                let asked = questionnaire.question(question)?;
                let labels = asked.labels(questionnaire.schema())?;
                words::from_labels(&questionnaire.answer(question, &record.levels, rng)?.labels, labels)
            }
            Self::Losses { at, answering, .. } => {
                answering.randomize(at.share(question as u32, &record.x, record.y)?, rng)?
            }
            Self::Cosines { basis, answering, .. } => {
                answering.randomize(basis.value(question as u32, &record.x)?, rng)?
            }
            Self::Moments(release) => {
                let vectors = release.moments().of(&record.x, record.y)?;
                words::from_codeword(release.tell(moment(question), &vectors, rng)?)
            }
            Self::Copies { moments, copies } => copies.randomize(&first(moments, record)?, rng)?,
        };
        Ok(SurveyReport { question, words })
    }

    /// What was said to a question about categories.
    pub fn labels_of(&self, report: &SurveyReport) -> Result<Answer, PrivacyError> {
        let Self::Categories(_) = self else { return Err(PrivacyError::Implausible) };
        self.check(report)?;
        Ok(Answer { question: report.question, labels: words::to_labels(&report.words) })
    }

    /// The unbiased value of an answer about a number.
    pub fn number_of(&self, report: &SurveyReport) -> Result<f64, PrivacyError> {
        match self {
            Self::Losses { answering, .. } | Self::Cosines { answering, .. } => {
                self.check(report)?;
                Ok(answering.decode(&report.words))
            }
            _ => Err(PrivacyError::Implausible),
        }
    }

    /// Which moment was told, and its codeword.
    pub fn moment_of(&self, report: &SurveyReport) -> Result<MomentReport, PrivacyError> {
        let Self::Moments(_) = self else { return Err(PrivacyError::Implausible) };
        self.check(report)?;
        let word = words::codeword(&report.words).ok_or(PrivacyError::Implausible)?;
        Ok(moment_report(report.question, word))
    }

    fn known(&self, question: u64) -> Result<(), PrivacyError> {
        let questions = self.questions();
        if question < questions { Ok(()) } else { Err(PrivacyError::UnknownQuestion { question, questions }) }
    }
}

impl Randomizer for Survey {
    type Input = SurveyRecord;
    type Report = SurveyReport;

    fn guarantee(&self) -> Guarantee {
        match self {
            Self::Categories(questionnaire) => questionnaire.guarantee(),
            Self::Losses { answering, .. } | Self::Cosines { answering, .. } => answering.guarantee(),
            Self::Moments(release) => release.guarantee(),
            Self::Copies { copies, .. } => copies.guarantee(),
        }
    }

    fn randomize(
        &self,
        record: &SurveyRecord,
        rng: &mut impl CryptoRng,
    ) -> Result<SurveyReport, PrivacyError> {
        self.answer(self.draw(rng), record, rng)
    }

    /// ln of the probability of the question, and of the answer to it.
    fn ln_likelihood(&self, report: &SurveyReport, record: &SurveyRecord) -> f64 {
        let of_the_schema = match self {
            Self::Categories(questionnaire) => questionnaire.schema().check_record(&record.levels).is_ok(),
            _ => true,
        };
        if !of_the_schema || self.check(report).is_err() {
            return f64::NEG_INFINITY;
        }
        let asked = libm::log(self.probability(report.question));
        let said = match self {
            // The questionnaire and the release have drawn the question in their own likelihood.
            Self::Categories(questionnaire) => {
                let answer = Answer { question: report.question, labels: words::to_labels(&report.words) };
                return questionnaire.ln_likelihood(&answer, &record.levels);
            }
            Self::Moments(release) => {
                let vectors = release.moments().of(&record.x, record.y);
                let word = words::codeword(&report.words);
                return word.zip(vectors.ok()).map_or(
                    f64::NEG_INFINITY,
                    |(word, vectors): (_, MomentVectors)| {
                        release.ln_likelihood(&moment_report(report.question, word), &vectors)
                    },
                );
            }
            Self::Losses { at, answering, .. } => at
                .share(report.question as u32, &record.x, record.y)
                .and_then(|share| answering.ln_likelihood(&report.words, share)),
            Self::Cosines { basis, answering, .. } => basis
                .value(report.question as u32, &record.x)
                .and_then(|value| answering.ln_likelihood(&report.words, value)),
            Self::Copies { moments, copies } => {
                first(moments, record).map(|vector| copies.ln_likelihood(&report.words, &vector))
            }
        };
        said.map_or(f64::NEG_INFINITY, |said| asked + said)
    }
}

impl DeviceSafe for Survey {}

fn moment(question: u64) -> Moment {
    if question == 0 { Moment::First } else { Moment::Second }
}

fn moment_report(question: u64, word: crate::vector::CodebookReport) -> MomentReport {
    MomentReport { moment: moment(question), word }
}

fn first(moments: &RecordMoments, record: &SurveyRecord) -> Result<BallVector, PrivacyError> {
    Ok(moments.of(&record.x, record.y)?.first)
}

#[cfg(test)]
mod tests;
