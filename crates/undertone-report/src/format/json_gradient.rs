//! A randomized gradient as JSON: `{"version": n, "steps": [...]}`, or `{"version": n, "seed": "...", "index": j}`.

use super::gradient::GradientForm;
use super::json::present;
use crate::hexadecimal::{self, Digits};
use crate::{GradientReport, ReportError};
use serde::de::{DeserializeSeed, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::fmt;
use undertone_privacy::vector::{CodebookReport, VectorReport};

/// What is written.
#[derive(Serialize)]
pub(super) struct GradientJson {
    version: u64,
    #[serde(flatten)]
    said: SaidJson,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SaidJson {
    Steps { steps: Vec<i64> },
    Codeword { seed: String, index: u16 },
}

/// What is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Found<'a> {
    version: u64,
    #[serde(borrow, default, deserialize_with = "present")]
    steps: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    seed: Option<String>,
    #[serde(default, deserialize_with = "present")]
    index: Option<u16>,
}

impl From<&GradientReport> for GradientJson {
    fn from(report: &GradientReport) -> Self {
        let said = match &report.said {
            VectorReport::Steps(steps) => SaidJson::Steps { steps: steps.clone() },
            VectorReport::Codeword(CodebookReport { seed, index }) => {
                SaidJson::Codeword { seed: Digits(&seed.to_be_bytes()).to_string(), index: *index }
            }
        };
        Self { version: report.version, said }
    }
}

/// Reads a gradient of this form.
pub(super) struct Gradient<'a>(pub(super) &'a GradientForm);

impl<'de> DeserializeSeed<'de> for Gradient<'_> {
    type Value = Result<GradientReport, ReportError>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let Found { version, steps, seed, index } = crate::maps::one(deserializer)?;
        let said = match (self.0.steps(), steps, seed, index) {
            (Some(most), Some(steps), None, None) => {
                let mut reader = serde_json::Deserializer::from_str(steps.get());
                let steps = Integers { most }.deserialize(&mut reader).map_err(serde::de::Error::custom)?;
                VectorReport::Steps(steps)
            }
            (None, None, Some(seed), Some(index)) => match hexadecimal::read_array(&seed) {
                Some(seed) => {
                    VectorReport::Codeword(CodebookReport { seed: u128::from_be_bytes(seed), index })
                }
                None => return Err(serde::de::Error::custom("a seed is 32 hexadecimal digits")),
            },
            _ => return Ok(Err(ReportError::Implausible {})),
        };
        Ok(Ok(GradientReport { version, said }))
    }
}

/// A list of integers, of which one more than there may be is kept.
pub(super) struct Integers {
    pub(super) most: usize,
}

impl<'de> DeserializeSeed<'de> for Integers {
    type Value = Vec<i64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<i64>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Integers {
    type Value = Vec<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of integers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<i64>, A::Error> {
        let mut integers = Vec::new();
        while integers.len() <= self.most {
            match list.next_element()? {
                Some(integer) => integers.push(integer),
                None => return Ok(integers),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(integers)
    }
}
