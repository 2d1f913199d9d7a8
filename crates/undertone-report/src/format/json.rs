//! Reports as JSON, for people and browsers: cells by the names of their columns, labels by the names of their classes.
//!
//! It says the same as the bytes, and is as strict: every column is there once (`null` for an empty cell), nothing else
//! is, and a label that is a number is the place of its class.

use super::{MOST_BYTES, ReportFormat};
use crate::{Cell, ColumnKind, FeatureColumn, Report, ReportError};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;
use std::fmt;

/// The media type of a report as JSON.
pub const JSON_MEDIA_TYPE: &str = "application/vnd.undertone.report+json;version=1";
/// A byte takes at most six characters, as in `\u0000`, and a byte of a vector about as many.
const MOST_JSON: usize = 8 * MOST_BYTES;
/// The version that is written and read.
const JSON_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportJson {
    version: u32,
    task: String,
    id: String,
    time: u64,
    tier: u8,
    features: Pairs,
    labels: Vec<Class>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    among: Vec<Class>,
}

/// An object in the order in which it was written, with its repetitions.
struct Pairs(Vec<(String, CellJson)>);

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "null, a number, words or a list of numbers")]
enum CellJson {
    Missing,
    Number(f64),
    Words(String),
    Vector(Vec<f64>),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "the name of a class or its place")]
enum Class {
    Place(u32),
    Name(String),
}

impl ReportFormat {
    /// A report for people and browsers, or what no report of this task can hold.
    pub fn to_json(&self, report: &Report) -> Result<String, ReportError> {
        self.check_report(report)?;
        let names = |labels: &[u32]| {
            labels.iter().map(|&label| Class::Name(self.classes[label as usize].clone())).collect()
        };
        let cells = self.columns.iter().zip(&report.features);
        let json = ReportJson {
            version: JSON_VERSION,
            task: self.task.to_string(),
            id: report.id.to_string(),
            time: report.time,
            tier: report.tier,
            features: Pairs(cells.map(|(column, cell)| (column.name.clone(), cell.into())).collect()),
            labels: names(&report.members),
            among: names(&report.among),
        };
        serde_json::to_string(&json).map_err(malformed)
    }

    /// The report that this JSON says.
    pub fn from_json(&self, json: impl AsRef<[u8]>) -> Result<Report, ReportError> {
        let json = json.as_ref();
        if json.len() > MOST_JSON {
            return Err(ReportError::TooLong { length: json.len(), most: MOST_JSON });
        }
        let json: ReportJson = serde_json::from_slice(json).map_err(malformed)?;
        if json.version != JSON_VERSION {
            let problem = format!("its version is {}, this program reads {JSON_VERSION}", json.version);
            return Err(ReportError::MalformedJson { problem });
        }
        let id = |text: &str| text.parse().map_err(malformed);
        if json.task.parse::<crate::TaskId>().map_err(malformed)? != self.task {
            return Err(ReportError::OtherTask {});
        }
        let report = Report {
            id: id(&json.id)?,
            time: json.time,
            tier: json.tier,
            features: self.cells(json.features)?,
            members: self.labels_of(json.labels)?,
            among: self.labels_of(json.among)?,
        };
        self.check_report(&report)?;
        Ok(report)
    }

    /// The cells in the order of the columns.
    fn cells(&self, Pairs(pairs): Pairs) -> Result<Vec<Cell>, ReportError> {
        let mut by_name = HashMap::with_capacity(pairs.len());
        for (column, cell) in pairs {
            if let Some(_earlier) = by_name.insert(column.clone(), cell) {
                return Err(ReportError::RepeatedColumn { column });
            }
        }
        let cell = |column: &FeatureColumn| match by_name.remove(&column.name) {
            Some(cell) => cell.to_cell(column),
            None => Err(ReportError::MissingColumn { column: column.name.clone() }),
        };
        let cells = self.columns.iter().map(cell).collect::<Result<_, _>>()?;
        match by_name.into_keys().min() {
            Some(column) => Err(ReportError::UnknownColumn { column }),
            None => Ok(cells),
        }
    }

    /// The labels in rising order; one that is there twice stays so, and is refused later.
    fn labels_of(&self, classes: Vec<Class>) -> Result<Vec<u32>, ReportError> {
        let label = |class| match class {
            Class::Place(place) => Ok(place),
            Class::Name(class) => self.labels.get(&class).copied().ok_or(ReportError::UnknownClass { class }),
        };
        let mut labels = classes.into_iter().map(label).collect::<Result<Vec<_>, _>>()?;
        labels.sort_unstable();
        Ok(labels)
    }
}

impl CellJson {
    fn to_cell(&self, column: &FeatureColumn) -> Result<Cell, ReportError> {
        match (self, column.kind) {
            (Self::Missing, _) => Ok(Cell::Missing),
            // Adding zero takes the sign from a negative zero.
            (Self::Number(x), ColumnKind::Number) => Ok(Cell::Number(x + 0.0)),
            (Self::Words(words), ColumnKind::Words) => Ok(Cell::Words(words.clone())),
            (Self::Vector(values), ColumnKind::Vector(_)) => {
                Ok(Cell::Vector(values.iter().map(|&x| x as f32 + 0.0).collect()))
            }
            _ => Err(ReportError::WrongKind { column: column.name.clone() }),
        }
    }
}

impl From<&Cell> for CellJson {
    fn from(cell: &Cell) -> Self {
        match cell {
            Cell::Missing => Self::Missing,
            Cell::Number(x) => Self::Number(x + 0.0),
            Cell::Words(words) => Self::Words(words.clone()),
            // Every number with 24 bits is one with 53, so that it reads back as itself.
            Cell::Vector(values) => Self::Vector(values.iter().map(|&x| f64::from(x + 0.0)).collect()),
        }
    }
}

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, cell)| (name, cell)))
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cells of the public columns by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

fn malformed(problem: impl fmt::Display) -> ReportError {
    ReportError::MalformedJson { problem: problem.to_string() }
}
