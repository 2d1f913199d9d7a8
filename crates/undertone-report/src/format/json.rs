//! Reports as JSON, for people and browsers: cells by the names of their columns, labels by the names of their classes.
//!
//! It says the same as the bytes, and is as strict: every column is there once (`null` for an empty cell), nothing else
//! is, and a label that is a number is the place of its class.

use super::answer::AnswerForm;
use super::gradient::GradientForm;
use super::json_gradient::{Gradient, GradientJson};
use super::json_reader::{Cells, Labels};
use super::json_survey::{Survey, SurveyJson};
use super::survey::SurveyForm;
use super::{Form, MOST_BYTES, ReportFormat};
use crate::{Cell, FeatureColumn, GradientReport, Report, ReportError, maps};
use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use undertone_privacy::survey::SurveyReport;

/// The media type of a report as JSON.
pub const JSON_MEDIA_TYPE: &str = "application/vnd.undertone.report+json;version=1";
/// A byte takes at most six characters, as in `\u0000`, and a byte of a vector about as many.
const MOST_JSON: usize = 8 * MOST_BYTES;
/// The version that is written and read.
const JSON_VERSION: u32 = 1;

/// What is written.
#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    task: String,
    id: String,
    time: u64,
    tier: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<Pairs<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    among: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gradient: Option<GradientJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    survey: Option<SurveyJson<'a>>,
}

/// What is read, up to what takes a task to understand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Found<'a> {
    version: u32,
    task: String,
    id: String,
    time: u64,
    tier: u8,
    #[serde(borrow, default, deserialize_with = "present")]
    features: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    labels: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    among: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    number: Option<i64>,
    #[serde(borrow, default, deserialize_with = "present")]
    gradient: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    survey: Option<&'a RawValue>,
}

/// An object, in the order of the columns.
struct Pairs<'a> {
    columns: &'a [FeatureColumn],
    cells: &'a [Cell],
}

#[derive(Serialize)]
#[serde(untagged)]
enum CellJson<'a> {
    Missing,
    Number(f64),
    Words(&'a str),
    Vector(Vec<f64>),
}

impl ReportFormat {
    /// A report for people and browsers, or what no report of this task can hold.
    pub fn to_json(&self, report: &Report) -> Result<String, ReportError> {
        self.check_report(report)?;
        let names =
            |labels: &[u32]| labels.iter().map(|&label| self.classes[label as usize].as_str()).collect();
        let public = report.gradient.is_none() && report.survey.is_none();
        let of_labels = public && report.number.is_none();
        let json = Written {
            version: JSON_VERSION,
            task: self.task.to_string(),
            id: report.id.to_string(),
            time: report.time,
            tier: report.tier,
            features: public.then_some(Pairs { columns: &self.columns, cells: &report.features }),
            labels: of_labels.then(|| names(&report.members)),
            among: names(&report.among),
            number: report.number,
            gradient: report.gradient.as_ref().map(GradientJson::from),
            survey: report.survey.as_ref().map(SurveyJson::from),
        };
        serde_json::to_string(&json).map_err(malformed)
    }

    /// The report that this JSON says.
    pub fn from_json(&self, json: impl AsRef<[u8]>) -> Result<Report, ReportError> {
        let json = json.as_ref();
        if json.len() > MOST_JSON {
            return Err(ReportError::TooLong { length: json.len(), most: MOST_JSON });
        }
        let found = read(json)?;
        if found.version != JSON_VERSION {
            let problem = format!("its version is {}, this program reads {JSON_VERSION}", found.version);
            return Err(ReportError::MalformedJson { problem });
        }
        if found.task.parse::<crate::TaskId>().map_err(malformed)? != self.task {
            return Err(ReportError::OtherTask {});
        }
        let id = found.id.parse().map_err(malformed)?;
        self.collection.check_window(found.time)?;
        let mut report = Report { id, time: found.time, tier: found.tier, ..Report::default() };
        let form = self.form(found.tier)?;
        if found.survey.is_some() && !matches!(form, Form::Survey(_)) {
            return Err(ReportError::WrongAnswer {
                problem: "has an answer to a survey where none is asked for",
            });
        }
        match form {
            Form::Labels(form) => self.read_labels(form, &found, &mut report)?,
            Form::Number(_) => self.read_number(&found, &mut report)?,
            Form::Gradient(form) => report.gradient = Some(read_gradient(form, &found)?),
            Form::Survey(form) => report.survey = Some(read_survey(form, &found)?),
        }
        self.check_report(&report)?;
        Ok(report)
    }

    fn read_labels(
        &self,
        form: &AnswerForm,
        found: &Found<'_>,
        report: &mut Report,
    ) -> Result<(), ReportError> {
        if found.gradient.is_some() {
            return Err(ReportError::WrongAnswer { problem: "has a gradient where labels are asked for" });
        }
        if found.number.is_some() {
            return Err(ReportError::WrongAnswer { problem: "has a number where labels are asked for" });
        }
        report.features = self.cells(there(found.features, "features")?)?;
        self.check_cells(&report.features)?;
        let among = found.among.map(|among| self.labels_of(among)).transpose()?;
        report.members = self.labels_of(there(found.labels, "labels")?)?;
        form.check_asked(among.is_some())?;
        report.among = among.unwrap_or_default();
        Ok(())
    }

    fn read_number(&self, found: &Found<'_>, report: &mut Report) -> Result<(), ReportError> {
        if found.labels.is_some() || found.among.is_some() || found.gradient.is_some() {
            return Err(ReportError::WrongAnswer { problem: "has something beside the number asked for" });
        }
        report.features = self.cells(there(found.features, "features")?)?;
        self.check_cells(&report.features)?;
        report.number = Some(found.number.ok_or_else(|| malformed("missing field `number`"))?);
        Ok(())
    }

    /// The cells in the order of the columns.
    fn cells(&self, features: &RawValue) -> Result<Vec<Cell>, ReportError> {
        let cell = |(cell, column): (Option<Cell>, &FeatureColumn)| {
            cell.ok_or_else(|| ReportError::MissingColumn { column: column.name.clone() })
        };
        understood(Cells(self), features)??.into_iter().zip(&self.columns).map(cell).collect()
    }

    /// The labels in rising order; one that is there twice stays so, and is refused later.
    fn labels_of(&self, classes: &RawValue) -> Result<Vec<u32>, ReportError> {
        let mut labels = understood(Labels(self), classes)??;
        labels.sort_unstable();
        Ok(labels)
    }
}

/// The gradient of a report that has nothing else.
fn read_gradient(form: &GradientForm, found: &Found<'_>) -> Result<GradientReport, ReportError> {
    let more = [found.features, found.labels, found.among].iter().any(Option::is_some);
    if more || found.number.is_some() {
        return Err(ReportError::WrongAnswer {
            problem: "has features or labels, which a gradient comes without",
        });
    }
    let gradient = understood(Gradient(form), there(found.gradient, "gradient")?)??;
    form.check(&gradient)?;
    Ok(gradient)
}

/// The answer of a report that has nothing else.
fn read_survey(form: &SurveyForm, found: &Found<'_>) -> Result<SurveyReport, ReportError> {
    let more = [found.features, found.labels, found.among, found.gradient].iter().any(Option::is_some);
    if more || found.number.is_some() {
        return Err(ReportError::WrongAnswer { problem: "has something beside the answer to the survey" });
    }
    understood(Survey(form), there(found.survey, "survey")?)
}

fn there<'a>(field: Option<&'a RawValue>, name: &str) -> Result<&'a RawValue, ReportError> {
    field.ok_or_else(|| malformed(format_args!("missing field `{name}`")))
}

fn read(json: &[u8]) -> Result<Found<'_>, ReportError> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let found = maps::one(&mut reader).map_err(malformed)?;
    reader.end().map_err(malformed)?;
    Ok(found)
}

fn understood<'de, S: DeserializeSeed<'de>>(seed: S, json: &'de RawValue) -> Result<S::Value, ReportError> {
    seed.deserialize(&mut serde_json::Deserializer::from_str(json.get())).map_err(malformed)
}

/// A field that may be left out, and is not `null` where it is there.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl<'a> From<&'a Cell> for CellJson<'a> {
    fn from(cell: &'a Cell) -> Self {
        match cell {
            Cell::Missing => Self::Missing,
            // Adding zero takes the sign from a negative zero.
            Cell::Number(x) => Self::Number(x + 0.0),
            Cell::Words(words) => Self::Words(words),
            // Every number with 24 bits is one with 53, so that it reads back as itself.
            Cell::Vector(values) => Self::Vector(values.iter().map(|&x| f64::from(x + 0.0)).collect()),
        }
    }
}

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cells = self.cells.iter().map(CellJson::from);
        serializer.collect_map(self.columns.iter().map(|column| &column.name).zip(cells))
    }
}

fn malformed(problem: impl fmt::Display) -> ReportError {
    ReportError::MalformedJson { problem: problem.to_string() }
}
