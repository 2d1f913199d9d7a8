//! Reports as JSON, for people and browsers: cells by the names of their columns, labels by the names of their classes.
//!
//! It says the same as the bytes, and is as strict: every column is there once (`null` for an empty cell), nothing else
//! is, and a label that is a number is the place of its class.

use super::{MOST_BYTES, ReportFormat};
use crate::{Cell, ColumnKind, FeatureColumn, Report, ReportError};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
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

#[derive(Serialize)]
#[serde(untagged)]
enum CellJson {
    Missing,
    Number(f64),
    Words(String),
    Vector(Vec<f64>),
}

#[derive(Serialize)]
#[serde(untagged)]
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
    fn cells(&self, Pairs(mut pairs): Pairs) -> Result<Vec<Cell>, ReportError> {
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        if let Some(pair) = pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(ReportError::RepeatedColumn { column: pair[0].0.clone() });
        }
        let mut cells: Vec<Option<CellJson>> = self.columns.iter().map(|_| None).collect();
        for (name, cell) in pairs {
            let Some(&place) = self.places.get(&name) else {
                return Err(ReportError::UnknownColumn { column: name });
            };
            cells[place] = Some(cell);
        }
        let cell = |(cell, column): (Option<CellJson>, &FeatureColumn)| match cell {
            Some(cell) => cell.into_cell(column),
            None => Err(ReportError::MissingColumn { column: column.name.clone() }),
        };
        cells.into_iter().zip(&self.columns).map(cell).collect()
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
    fn into_cell(self, column: &FeatureColumn) -> Result<Cell, ReportError> {
        match (self, column.kind) {
            (Self::Missing, _) => Ok(Cell::Missing),
            // Adding zero takes the sign from a negative zero.
            (Self::Number(x), ColumnKind::Number) => Ok(Cell::Number(x + 0.0)),
            (Self::Words(words), ColumnKind::Words) => Ok(Cell::Words(words)),
            (Self::Vector(values), ColumnKind::Vector(_)) => {
                Ok(Cell::Vector(values.into_iter().map(|x| x as f32 + 0.0).collect()))
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

impl<'de> Deserialize<'de> for CellJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = CellJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a number, words or a list of numbers")
    }

    fn visit_unit<E>(self) -> Result<CellJson, E> {
        Ok(CellJson::Missing)
    }

    fn visit_f64<E>(self, x: f64) -> Result<CellJson, E> {
        Ok(CellJson::Number(x))
    }

    fn visit_u64<E>(self, x: u64) -> Result<CellJson, E> {
        Ok(CellJson::Number(x as f64))
    }

    fn visit_i64<E>(self, x: i64) -> Result<CellJson, E> {
        Ok(CellJson::Number(x as f64))
    }

    fn visit_str<E>(self, words: &str) -> Result<CellJson, E> {
        Ok(CellJson::Words(words.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<CellJson, A::Error> {
        let mut values = Vec::new();
        while let Some(x) = numbers.next_element()? {
            values.push(x);
        }
        Ok(CellJson::Vector(values))
    }
}

impl<'de> Deserialize<'de> for Class {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ClassVisitor)
    }
}

struct ClassVisitor;

impl Visitor<'_> for ClassVisitor {
    type Value = Class;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a class or its place")
    }

    fn visit_u64<E: Error>(self, place: u64) -> Result<Class, E> {
        u32::try_from(place)
            .map(Class::Place)
            .map_err(|_| E::custom(format_args!("{place} is no place of a class")))
    }

    fn visit_str<E>(self, name: &str) -> Result<Class, E> {
        Ok(Class::Name(name.to_owned()))
    }
}

fn malformed(problem: impl fmt::Display) -> ReportError {
    ReportError::MalformedJson { problem: problem.to_string() }
}
