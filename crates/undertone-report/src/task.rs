//! The task of a collection.
//!
//! It names the columns, the classes, the promise and the mechanism, and nothing that depends on anyone's data. Without a
//! [`record`](Task::record) or a [`survey`](Task::survey) the label alone is private, and the columns are public; with one
//! all of it is.
//! Its canonical bytes are JSON without spaces, fields in the order of this file; the id is their SHA-256.

use crate::{Collection, NumberWords, RecordWords, SurveyWords, TaskError, TaskId, maps};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use undertone_privacy::Epsilon;
use undertone_privacy::label::{LabelKind, LabelMechanism, RrTopK, SubsetSelection};

/// The version of the document that this program writes and reads.
pub const TASK_VERSION: u32 = 1;

/// The public document of a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// [`TASK_VERSION`]
    pub version: u32,
    /// The column whose values are sensitive
    pub label: String,
    /// All values it can have; a label is the place of its class here. None if it is a number
    pub classes: Vec<String>,
    /// Where it lies, if it is a number
    #[serde(default, deserialize_with = "maps::optional", skip_serializing_if = "Option::is_none")]
    pub number: Option<NumberWords>,
    /// How devices randomize
    #[serde(deserialize_with = "maps::one")]
    pub mechanism: MechanismWords,
    /// The columns: public ones, which come with each report, or those of a private record, which never do
    #[serde(deserialize_with = "maps::many")]
    pub features: Vec<FeatureColumn>,
    /// What is asked of a whole record, if that is what is private
    #[serde(default, deserialize_with = "maps::optional", skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordWords>,
    /// What is asked of a whole record once, if everybody is asked one question
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survey: Option<SurveyWords>,
    /// How a collector runs it, if one does
    #[serde(default, deserialize_with = "maps::optional", skip_serializing_if = "Option::is_none")]
    pub collection: Option<Collection>,
}

/// A mechanism and its promise, in the words of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MechanismWords {
    /// The name of a [`LabelKind`], of a [`NumberKind`](undertone_privacy::number::NumberKind) where the label is a number, or of a
    /// [`VectorKind`](undertone_privacy::vector::VectorKind) for whole records
    pub kind: String,
    /// ε, the promise
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// δ, for `gaussian`: the promise is (ε, δ)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// μ, the promise of `gdp`, which has no ε
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// The number of labels in a report, for `subset` with a size of the asker's choice
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_size: Option<u32>,
    /// The labels to answer among, for `rr-top-k`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<Vec<u32>>,
    /// Where each person's prior comes from, for `rr-prior`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<PriorWords>,
}

impl MechanismWords {
    /// The number that the promise is about: ε, or μ where there is no ε. Zero, which no promise is, if there is neither.
    pub fn level(&self) -> f64 {
        self.epsilon.or(self.mu).unwrap_or_default()
    }

    /// The same mechanism at another level.
    #[must_use]
    pub fn at(&self, level: f64) -> Self {
        let [epsilon, mu] = [self.epsilon, self.mu].map(|own| own.map(|_| level));
        Self { epsilon, mu, ..self.clone() }
    }
}

/// Where a prior for each person comes from: something public, and not their own label.
///
/// The labels that a person answers among come with the report, in the order of the labels; they are public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PriorWords {
    /// A public model, which computes it from the public columns
    #[serde(deserialize_with = "model")]
    Model {
        /// SHA-256 of the model's document, in hexadecimal
        sha256: String,
        /// The model's scores are divided by it; without it, people answer among the labels that tell the most
        #[serde(skip_serializing_if = "Option::is_none")]
        temperature: Option<f64>,
    },
    /// Public columns, one for each class, that hold it
    Columns(Vec<String>),
}

fn model<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(String, Option<f64>), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Model {
        sha256: String,
        #[serde(default)]
        temperature: Option<f64>,
    }
    let Model { sha256, temperature } = maps::one(deserializer)?;
    Ok((sha256, temperature))
}

/// A public column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureColumn {
    /// Its name
    pub name: String,
    /// What its cells hold
    pub kind: ColumnKind,
}

/// What the cells of a public column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// A number, or nothing
    Number,
    /// Words, or nothing: a category or a text
    Words,
    /// As many numbers, such as the pixels of an image
    Vector(u32),
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => f.write_str("numbers"),
            Self::Words => f.write_str("words"),
            Self::Vector(width) => write!(f, "vectors of {width} numbers"),
        }
    }
}

impl Task {
    /// Reads a document and checks all of it.
    pub fn from_json(text: &str) -> Result<Self, TaskError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let task: Self = maps::one(&mut reader)?;
        reader.end()?;
        task.check()?;
        Ok(task)
    }

    /// The canonical bytes.
    pub fn to_json(&self) -> String {
        // Maps with keys that are no strings and failing writers are the only errors there are, and here are none.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The hash of the canonical bytes.
    pub fn id(&self) -> TaskId {
        TaskId::of(self.to_json().as_bytes())
    }

    /// K, the number of classes.
    pub fn labels(&self) -> u32 {
        self.classes.len() as u32
    }

    /// ε.
    pub fn epsilon(&self) -> Result<Epsilon, TaskError> {
        if self.keeps_columns_private() {
            return Err(TaskError::NotLabels);
        }
        Ok(Epsilon::new(self.mechanism.level())?)
    }

    /// What is private: a label, or a whole record.
    pub fn secret(&self) -> &'static str {
        if self.keeps_columns_private() { "record" } else { "label" }
    }

    /// Whether whole records are private, and not labels alone.
    pub fn asks_for_records(&self) -> bool {
        self.record.is_some()
    }

    /// Whether each person answers among labels of their own, which come with the report.
    pub fn has_priors(&self) -> bool {
        self.mechanism.prior.is_some()
    }

    /// Refuses a task that no device should answer.
    pub fn check(&self) -> Result<(), TaskError> {
        if self.version != TASK_VERSION {
            return Err(TaskError::Version { found: self.version, supported: TASK_VERSION });
        }
        no_repetition("class", self.classes.iter())?;
        no_repetition("column", self.features.iter().map(|column| &column.name).chain([&self.label]))?;
        self.check_level(self.mechanism.level())?;
        if let Some(collection) = &self.collection {
            self.check_prior_columns()?;
            collection.check(self)?;
        }
        self.record.as_ref().map_or(Ok(()), |record| record.ball.check(self))
    }

    /// Refuses a mechanism that no device should run at this ε, or μ.
    pub(crate) fn check_level(&self, level: f64) -> Result<(), TaskError> {
        if self.asks_once() {
            return self.check_survey(level);
        }
        if self.asks_for_numbers() {
            return self.check_number(level);
        }
        if let Some(record) = &self.record {
            return record.check(self, level);
        }
        if self.mechanism.delta.is_some() || self.mechanism.mu.is_some() {
            let kind = self.kind()?.name();
            return Err(TaskError::Parameters { kind, problem: "promises ε, and neither δ nor μ" });
        }
        self.check_mechanism(Epsilon::new(level)?)
    }

    fn check_mechanism(&self, epsilon: Epsilon) -> Result<(), TaskError> {
        let (kind, words) = (self.kind()?, &self.mechanism);
        let problem = |problem| Err(TaskError::Parameters { kind: kind.name(), problem });
        match kind {
            LabelKind::RrPrior if words.prior.is_none() => problem("needs a prior"),
            LabelKind::RrPrior if words.top.is_some() => problem("has no use for labels to answer among"),
            LabelKind::RrPrior if words.set_size.is_some() => problem("has no use for a set size"),
            LabelKind::RrPrior => {
                match &words.prior {
                    Some(PriorWords::Model { temperature: Some(temperature), .. })
                        if !(temperature.is_finite() && *temperature > 0.0) =>
                    {
                        return problem("needs a temperature above zero");
                    }
                    Some(PriorWords::Columns(columns)) if columns.len() != self.classes.len() => {
                        return problem("needs a column of priors for each class");
                    }
                    _ => {}
                }
                // The flat prior stands for all: what is wrong with K or ε is wrong for each.
                kind.mechanism(self.labels(), epsilon).map(|_| ()).map_err(TaskError::from)
            }
            _ if words.prior.is_some() => problem("has no use for a prior"),
            _ => self.mechanism_at(epsilon).map(|_| ()),
        }
    }

    /// A device that answers a collection has nothing but the columns of its report to find its prior in.
    fn check_prior_columns(&self) -> Result<(), TaskError> {
        let Some(PriorWords::Columns(names)) = &self.mechanism.prior else { return Ok(()) };
        let there = |name: &String| {
            self.features.iter().any(|column| column.name == *name && column.kind == ColumnKind::Number)
        };
        match names.iter().find(|name| !there(name)) {
            Some(name) => Err(TaskError::PriorColumn { name: name.clone() }),
            None => Ok(()),
        }
    }

    /// The mechanism that everybody runs; with priors there is none, since each person has one of their own.
    pub fn mechanism(&self) -> Result<LabelMechanism, TaskError> {
        self.mechanism_at(self.epsilon()?)
    }

    /// The same for people who have chosen another ε.
    pub fn mechanism_at(&self, epsilon: Epsilon) -> Result<LabelMechanism, TaskError> {
        if self.keeps_columns_private() {
            return Err(TaskError::NotLabels);
        }
        if self.asks_for_numbers() {
            return Err(TaskError::NotClasses);
        }
        let (kind, labels) = (self.kind()?, self.labels());
        let words = &self.mechanism;
        let problem = |problem| Err(TaskError::Parameters { kind: kind.name(), problem });
        match (kind, words.set_size, &words.top) {
            (LabelKind::RrPrior, ..) => problem("has a mechanism for each person"),
            (LabelKind::RrTopK, None, Some(top)) => {
                Ok(LabelMechanism::TopK(RrTopK::new(labels, top.clone(), epsilon)?))
            }
            (LabelKind::RrTopK, None, None) => problem("needs the labels to answer among"),
            (_, _, Some(_)) => problem("has no use for labels to answer among"),
            (LabelKind::Subset, Some(size), None) => {
                Ok(LabelMechanism::Subset(SubsetSelection::with_size(labels, size, epsilon)?))
            }
            (_, Some(_), None) => problem("has no use for a set size"),
            (_, None, None) => Ok(kind.mechanism(labels, epsilon)?),
        }
    }

    fn kind(&self) -> Result<LabelKind, TaskError> {
        let found = LabelKind::ALL.into_iter().find(|kind| kind.name() == self.mechanism.kind);
        found.ok_or_else(|| TaskError::UnknownMechanism {
            kind: self.mechanism.kind.clone(),
            known: LabelKind::ALL.map(LabelKind::name).join(", "),
        })
    }
}

fn no_repetition<'a>(what: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), TaskError> {
    let mut sorted: Vec<&String> = names.collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(TaskError::Repeated { what, name: pair[0].clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        Task {
            version: TASK_VERSION,
            label: "income".into(),
            classes: vec!["low".into(), "middle".into(), "high".into()],
            mechanism: MechanismWords {
                kind: "subset".into(),
                epsilon: Some(1.0),
                delta: None,
                mu: None,
                set_size: None,
                top: None,
                prior: None,
            },
            features: vec![
                FeatureColumn { name: "age".into(), kind: ColumnKind::Number },
                FeatureColumn { name: "photo".into(), kind: ColumnKind::Vector(784) },
            ],
            number: None,
            record: None,
            survey: None,
            collection: None,
        }
    }

    #[test]
    fn a_task_reads_back_as_itself_and_keeps_its_id() {
        let task = task();
        assert_eq!(Task::from_json(&task.to_json()).unwrap(), task);
        let canonical = concat!(
            r#"{"version":1,"label":"income","classes":["low","middle","high"],"#,
            r#""mechanism":{"kind":"subset","epsilon":1.0},"#,
            r#""features":[{"name":"age","kind":"number"},{"name":"photo","kind":{"vector":784}}]}"#
        );
        assert_eq!(task.to_json(), canonical);
        assert_eq!(task.id().to_string().len(), 64);
    }

    #[test]
    fn whatever_differs_has_another_id() {
        let changes: [fn(&mut Task); 4] = [
            |task| task.mechanism.epsilon = Some(2.0),
            |task| task.classes.swap(0, 1),
            |task| task.mechanism.kind = "rr".into(),
            |task| task.features[0].kind = ColumnKind::Words,
        ];
        for change in changes {
            let mut other = task();
            change(&mut other);
            assert_ne!(other.id(), task().id());
        }
    }

    #[test]
    fn what_no_device_should_answer_is_refused_by_name() {
        let refused = |change: fn(&mut Task)| {
            let mut task = task();
            change(&mut task);
            Task::from_json(&task.to_json()).unwrap_err().to_string()
        };
        assert!(refused(|task| task.version = 2).contains("version 2"));
        assert!(refused(|task| task.classes[1] = "low".into()).contains("`low`"));
        assert!(refused(|task| task.features[1].name = "income".into()).contains("`income`"));
        assert!(refused(|task| task.mechanism.epsilon = Some(0.0)).contains("epsilon"));
        assert!(refused(|task| task.mechanism.kind = "magic".into()).contains("`magic`"));
        assert!(refused(|task| task.mechanism.set_size = Some(9)).contains('9'));
        assert!(refused(|task| task.mechanism.kind = "rr-top-k".into()).contains("needs the labels"));
        assert!(refused(|task| task.mechanism.kind = "rr-prior".into()).contains("needs a prior"));
        assert!(refused(|task| task.classes.truncate(1)).contains("at least two"));
        assert!(Task::from_json("{}").unwrap_err().to_string().contains("not a task"));
        assert!(Task::from_json(&task().to_json().replace("\"label\"", "\"labels\"")).is_err());
    }
}
