//! The answer to a survey as JSON: `{"question": n, "words": [...]}`.

use super::json_gradient::Integers;
use super::survey::SurveyForm;
use serde::de::{DeserializeSeed, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use undertone_privacy::survey::SurveyReport;

/// What is written.
#[derive(Serialize)]
pub(super) struct SurveyJson<'a> {
    question: u64,
    words: &'a [i64],
}

/// What is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Found<'a> {
    question: u64,
    #[serde(borrow)]
    words: &'a RawValue,
}

impl<'a> From<&'a SurveyReport> for SurveyJson<'a> {
    fn from(report: &'a SurveyReport) -> Self {
        Self { question: report.question, words: &report.words }
    }
}

/// Reads an answer of this form, of which the format looks at the words.
pub(super) struct Survey<'a>(pub(super) &'a SurveyForm);

impl<'de> DeserializeSeed<'de> for Survey<'_> {
    type Value = SurveyReport;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<SurveyReport, D::Error> {
        let Found { question, words } = crate::maps::one(deserializer)?;
        let mut reader = serde_json::Deserializer::from_str(words.get());
        let words =
            Integers { most: self.0.most_words() }.deserialize(&mut reader).map_err(D::Error::custom)?;
        Ok(SurveyReport { question, words })
    }
}
