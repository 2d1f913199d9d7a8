//! Reports as bytes, and back.
//!
//! A [`ReportFormat`] is made from a task once. There is exactly one spelling for each report: what decodes encodes to
//! the same bytes, and whatever else somebody sends is refused with a reason. The layout is in `docs/wire-format.md`.

mod answer;
mod choice;
mod gradient;
mod json;
mod json_gradient;
mod json_reader;
mod json_survey;
mod number;
mod reader;
mod survey;
mod writer;

#[cfg(test)]
mod tests;

use crate::{
    Cell, Collection, ColumnKind, FeatureColumn, GradientReport, Report, ReportError, ReportId, Task,
    TaskError, TaskId,
};
use answer::AnswerForm;
use choice::PriorCells;
use gradient::GradientForm;
pub use json::JSON_MEDIA_TYPE;
use number::NumberForm;
use reader::{CellBytes, Reader};
use std::collections::HashMap;
use survey::SurveyForm;
use undertone_privacy::Epsilon;
use undertone_privacy::survey::SurveyReport;

/// The media type of one report.
pub const MEDIA_TYPE: &str = "application/vnd.undertone.report;version=1";
/// The longest report.
pub const MOST_BYTES: usize = 1 << 20;
/// The longest words of a cell, in bytes.
pub const MOST_WORDS: usize = (1 << 16) - 1;
/// The first byte of every report of this version.
pub const REPORT_VERSION: u8 = 0xa1;
/// Version, task, id, time and tier.
const HEADER: usize = 1 + 32 + 16 + 8 + 1;

/// What is needed to read and write the reports of a task.
#[derive(Clone, Debug)]
pub struct ReportFormat {
    task: TaskId,
    collection: Collection,
    columns: Vec<FeatureColumn>,
    classes: Vec<String>,
    /// The place of each column, and of each class, by its name
    places: HashMap<String, usize>,
    labels: HashMap<String, u32>,
    /// How answers look, tier by tier
    answers: Answers,
    /// Where people's priors are, if in public columns
    priors: Option<PriorCells>,
}

/// How the answers of each tier look.
#[derive(Clone, Debug)]
enum Answers {
    /// To a question for labels
    Labels(Vec<AnswerForm>),
    /// To a question for a number
    Numbers(Vec<NumberForm>),
    /// To a question for whole records, of which nothing but a gradient is said
    Gradients(Vec<GradientForm>),
    /// To a survey, of which nothing but an answer is said
    Surveys(Vec<SurveyForm>),
}

/// The form of one tier.
#[derive(Clone, Copy)]
enum Form<'a> {
    Labels(&'a AnswerForm),
    Number(NumberForm),
    Gradient(&'a GradientForm),
    Survey(&'a SurveyForm),
}

/// What stands before the cells of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its id
    pub id: ReportId,
    /// When it was made, in units of the task's time precision
    pub time: u64,
    /// The place of the person's ε among the task's tiers
    pub tier: u8,
    /// The version of the point, of a gradient
    pub version: Option<u64>,
}

impl ReportFormat {
    /// The format of a task's reports. The task has to have a collection and to pass its own check.
    pub fn new(task: &Task) -> Result<Self, TaskError> {
        task.check()?;
        let collection = task.collection.clone().ok_or(TaskError::NoCollection)?;
        let answers = Answers::of(task, &collection.tiers)?;
        // The columns of a private record are not in its reports.
        let columns = task.public_columns().to_vec();
        let cells = columns.iter().map(|column| least_bytes(column.kind)).fold(0, usize::saturating_add);
        let least = (HEADER + answers.most_bytes()).saturating_add(cells);
        if least > MOST_BYTES {
            return Err(TaskError::LongReports { least, most: MOST_BYTES });
        }
        Ok(Self {
            task: task.id(),
            collection,
            places: columns.iter().map(|column| column.name.clone()).zip(0..).collect(),
            columns,
            labels: task.classes.iter().cloned().zip(0..).collect(),
            classes: task.classes.clone(),
            answers,
            priors: PriorCells::of(task),
        })
    }

    /// The task that reports are bound to.
    pub fn task_id(&self) -> TaskId {
        self.task
    }

    /// How the task is collected.
    pub fn collection(&self) -> &Collection {
        &self.collection
    }

    /// The bytes of a report, or what no report of this task can hold.
    pub fn encode(&self, report: &Report) -> Result<Vec<u8>, ReportError> {
        self.check_report(report)?;
        Ok(writer::write(self, report))
    }

    /// The report that these bytes are.
    pub fn decode(&self, bytes: &[u8]) -> Result<Report, ReportError> {
        let mut report = Report::default();
        self.decode_into(bytes, &mut report)?;
        Ok(report)
    }

    /// The same, in the place of another report, whose memory is used again: most of the time of reading many would else
    /// be spent on making and throwing away words. After an error it is neither the one nor the other.
    pub fn decode_into(&self, bytes: &[u8], report: &mut Report) -> Result<(), ReportError> {
        let Report { id, time, tier, features, members, among, number, gradient, survey } = report;
        features.resize(self.columns.len(), Cell::Missing);
        let mut places = features.iter_mut();
        let mut write = |cell: CellBytes<'_>| places.next().into_iter().for_each(|place| cell.write(place));
        let (header, answer) = self.read(bytes, &mut write)?;
        (*id, *time, *tier) = (header.id, header.time, header.tier);
        (*number, *gradient, *survey) = (None, None, None);
        if !matches!(answer, Answer::Labels(_)) {
            members.clear();
            among.clear();
        }
        match answer {
            Answer::Labels(answer) => answer.write(members, among),
            Answer::Number(found) => *number = Some(found),
            Answer::Gradient(found) => *gradient = Some(found),
            Answer::Survey(found) => *survey = Some(found),
        }
        Ok(())
    }

    /// Whether these bytes are a report, without making one of them.
    pub fn check(&self, bytes: &[u8]) -> Result<Header, ReportError> {
        self.read(bytes, |_| {}).map(|(header, _)| header)
    }

    /// The id and the time of a report of any task, of which nothing else is checked than the version.
    pub fn peek(bytes: &[u8]) -> Result<(ReportId, u64), ReportError> {
        let (_, header, _) = read_header(bytes)?;
        Ok((header.id, header.time))
    }

    /// The header of a report and its answer, while `cell` is given its cells.
    fn read<'a>(
        &'a self,
        bytes: &'a [u8],
        mut cell: impl FnMut(CellBytes<'a>),
    ) -> Result<(Header, Answer<'a>), ReportError> {
        not_too_long(bytes.len())?;
        let (task, header, mut reader) = read_header(bytes)?;
        if task != self.task.as_bytes() {
            return Err(ReportError::OtherTask {});
        }
        self.collection.check_window(header.time)?;
        let form = self.form(header.tier)?;
        match form {
            Form::Gradient(form) => {
                let answer = reader.take(form.bytes())?;
                reader.end()?;
                let gradient = form.read(answer)?;
                let version = Some(gradient.version);
                return Ok((Header { version, ..header }, Answer::Gradient(gradient)));
            }
            Form::Survey(form) => {
                let question = u64::from_be_bytes(*reader.array()?);
                let answer = reader.take(form.bytes(question)?)?;
                reader.end()?;
                return Ok((header, Answer::Survey(form.read(question, answer)?)));
            }
            Form::Labels(_) | Form::Number(_) => {}
        }
        let mut numbers = Vec::new();
        for column in &self.columns {
            let read = reader.cell(column)?;
            if self.priors.is_some() {
                numbers.push(if let CellBytes::Number(x) = read { Some(x) } else { None });
            }
            cell(read);
        }
        let form = match form {
            Form::Labels(form) => form,
            Form::Number(form) => {
                let said = i64::from_be_bytes(*reader.array()?);
                reader.end()?;
                return Ok((header, Answer::Number(form.check(said)?)));
            }
            // Read above, since they have no cells.
            Form::Gradient(_) | Form::Survey(_) => return Err(ReportError::Implausible {}),
        };
        let answer = reader.take(form.bytes())?;
        reader.end()?;
        let choice = self.priors.as_ref().map(|priors| priors.choice(&numbers, form.epsilon()));
        Ok((header, Answer::Labels(form.read(answer, choice.as_deref())?)))
    }

    /// The form of the answers of a tier.
    fn form(&self, tier: u8) -> Result<Form<'_>, ReportError> {
        let (place, tiers) = (usize::from(tier), self.collection.tiers.len());
        let form = match &self.answers {
            Answers::Labels(forms) => forms.get(place).map(Form::Labels),
            Answers::Numbers(forms) => forms.get(place).copied().map(Form::Number),
            Answers::Gradients(forms) => forms.get(place).map(Form::Gradient),
            Answers::Surveys(forms) => forms.get(place).map(Form::Survey),
        };
        form.ok_or(ReportError::UnknownTier { tier, tiers })
    }

    /// Refuses what no report of this task can hold.
    fn check_report(&self, report: &Report) -> Result<(), ReportError> {
        self.collection.check_window(report.time)?;
        let cells = self.check_cells(&report.features)?;
        let no_labels = report.members.is_empty() && report.among.is_empty();
        if let Form::Survey(form) = self.form(report.tier)? {
            return match &report.survey {
                Some(survey) if no_labels && report.number.is_none() && report.gradient.is_none() => {
                    form.check(survey)
                }
                _ => Err(ReportError::WrongAnswer {
                    problem: "has no answer to the survey, or something beside it",
                }),
            };
        }
        if report.survey.is_some() {
            return Err(ReportError::WrongAnswer {
                problem: "has an answer to a survey where none is asked for",
            });
        }
        let form = match (self.form(report.tier)?, report.number, &report.gradient) {
            (Form::Labels(form), None, None) => form,
            (Form::Number(form), Some(said), None) if no_labels => {
                form.check(said)?;
                return not_too_long(HEADER + cells + number::BYTES);
            }
            (Form::Gradient(form), None, Some(gradient)) if no_labels => return form.check(gradient),
            // Returned above.
            (Form::Survey(_), ..) => return Err(ReportError::Implausible {}),
            (Form::Number(_), ..) => {
                return Err(ReportError::WrongAnswer { problem: "has no number, or something beside it" });
            }
            (Form::Labels(_), Some(_), _) => {
                return Err(ReportError::WrongAnswer { problem: "has a number where labels are asked for" });
            }
            (Form::Gradient(_), ..) => {
                return Err(ReportError::WrongAnswer { problem: "has no gradient, or labels beside it" });
            }
            (Form::Labels(_), None, Some(_)) => {
                return Err(ReportError::WrongAnswer {
                    problem: "has a gradient where labels are asked for",
                });
            }
        };
        let length = HEADER + cells + form.bytes();
        let choice =
            self.priors.as_ref().map(|priors| priors.choice_of_cells(&report.features, form.epsilon()));
        form.check(&report.members, &report.among, choice.as_deref())?;
        not_too_long(length)
    }

    /// Refuses cells that a report of this task cannot hold, whatever the tier and the answer are.
    pub fn check_features(&self, features: &[Cell]) -> Result<(), ReportError> {
        not_too_long(HEADER + self.check_cells(features)? + self.answers.most_bytes())
    }

    /// Refuses cells that do not belong to the columns, and says how many bytes the others take.
    fn check_cells(&self, features: &[Cell]) -> Result<usize, ReportError> {
        if features.len() != self.columns.len() {
            return Err(ReportError::WrongColumns { found: features.len(), expected: self.columns.len() });
        }
        for (cell, column) in features.iter().zip(&self.columns) {
            check_cell(cell, column)?;
        }
        Ok(features.iter().map(writer::cell_bytes).sum())
    }
}

/// An answer that has been checked.
enum Answer<'a> {
    Labels(answer::AnswerBytes<'a>),
    Number(i64),
    Gradient(GradientReport),
    Survey(SurveyReport),
}

impl Answers {
    fn of(task: &Task, tiers: &[f64]) -> Result<Self, TaskError> {
        if task.asks_once() {
            let form = |&tier: &f64| Ok(SurveyForm::new(task.survey_at(tier)?)?);
            return tiers.iter().map(form).collect::<Result<_, TaskError>>().map(Self::Surveys);
        }
        if task.asks_for_records() {
            let form = |&tier: &f64| Ok(GradientForm::new(task.vector_mechanism(tier)?));
            return tiers.iter().map(form).collect::<Result<_, TaskError>>().map(Self::Gradients);
        }
        if task.asks_for_numbers() {
            let form = |&tier: &f64| Ok(NumberForm::new(task.number_mechanism_at(Epsilon::new(tier)?)?));
            return tiers.iter().map(form).collect::<Result<_, TaskError>>().map(Self::Numbers);
        }
        let form = |&tier: &f64| AnswerForm::of(task, Epsilon::new(tier)?);
        tiers.iter().map(form).collect::<Result<_, TaskError>>().map(Self::Labels)
    }

    /// The bytes of the longest answer.
    fn most_bytes(&self) -> usize {
        let most = match self {
            Self::Labels(forms) => forms.iter().map(AnswerForm::bytes).max(),
            Self::Numbers(_) => Some(number::BYTES),
            Self::Gradients(forms) => forms.iter().map(GradientForm::bytes).max(),
            Self::Surveys(forms) => forms.iter().map(SurveyForm::most_bytes).max(),
        };
        most.unwrap_or_default()
    }
}

fn not_too_long(length: usize) -> Result<(), ReportError> {
    if length > MOST_BYTES { Err(ReportError::TooLong { length, most: MOST_BYTES }) } else { Ok(()) }
}

fn read_header(bytes: &[u8]) -> Result<(&[u8; 32], Header, Reader<'_>), ReportError> {
    let mut reader = Reader::new(bytes);
    let [version] = *reader.array()?;
    if version != REPORT_VERSION {
        return Err(ReportError::UnknownVersion { found: version, supported: REPORT_VERSION });
    }
    let task = reader.array()?;
    let id = ReportId(*reader.array()?);
    let time = u64::from_be_bytes(*reader.array()?);
    let [tier] = *reader.array()?;
    Ok((task, Header { id, time, tier, version: None }, reader))
}

/// The bytes that any cell of a column has at least.
fn least_bytes(kind: ColumnKind) -> usize {
    match kind {
        ColumnKind::Number | ColumnKind::Words => 1,
        ColumnKind::Vector(width) => (width as usize).saturating_mul(4),
    }
}

fn check_cell(cell: &Cell, column: &FeatureColumn) -> Result<(), ReportError> {
    let name = || column.name.clone();
    let finite = match (cell, column.kind) {
        (Cell::Missing, ColumnKind::Number | ColumnKind::Words) => true,
        (Cell::Number(x), ColumnKind::Number) => x.is_finite(),
        (Cell::Words(words), ColumnKind::Words) => {
            if words.len() > MOST_WORDS {
                let length = words.len();
                return Err(ReportError::WordsTooLong { column: name(), length, most: MOST_WORDS });
            }
            true
        }
        (Cell::Vector(values), ColumnKind::Vector(width)) if values.len() == width as usize => {
            values.iter().all(|x| x.is_finite())
        }
        _ => return Err(ReportError::WrongKind { column: name() }),
    };
    if finite { Ok(()) } else { Err(ReportError::NotFinite { column: name() }) }
}
