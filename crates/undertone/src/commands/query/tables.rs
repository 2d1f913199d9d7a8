//! Tables over the columns of a survey about categories.

use crate::exit::Usage;
use crate::survey_reports::SurveyReports;
use anyhow::anyhow;
use serde::Serialize;
use undertone_learn::marginals::{Design, Marginals, Method, Tally};
use undertone_privacy::statistic::{Answering, View};
use undertone_privacy::survey::Survey;
use undertone_report::{CategoryWords, EncodingWords, SurveyWords, Task, TermWords};

/// What the answers to a survey about categories were counted to.
pub(super) struct Tables {
    task: Task,
    design: Design,
    tally: Tally,
    pub(super) answers: u64,
}

/// A table over some columns.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    pub(super) cells: Vec<TableCell>,
}

/// One cell of it.
#[derive(Debug, Serialize)]
pub(super) struct TableCell {
    /// The value of each column
    pub(super) values: Vec<String>,
    /// The best guess
    pub(super) share: f64,
    /// Covers the truth at least 95 times in 100
    pub(super) low: f64,
    pub(super) high: f64,
    /// Unbiased, with its standard error, where there is such an estimate
    pub(super) unbiased: Option<f64>,
    pub(super) standard_error: Option<f64>,
}

impl Tables {
    /// Counts the answers, for tables over up to `order` columns.
    pub(super) fn read(reports: &SurveyReports, order: usize) -> anyhow::Result<Self> {
        let task = reports.task().clone();
        let design = design(&task, &reports.survey, order)?;
        let mut tally = Tally::new(&design)?;
        let answers = reports.each(|report| {
            let answer = reports.survey.labels_of(report)?;
            Ok(tally.observe(answer.question, answer.labels.members())?)
        })?;
        Ok(Self { task, design, tally, answers })
    }

    /// The tables over these sets of columns, in the order that they are named.
    pub(super) fn over(&self, sets: &[Vec<usize>]) -> anyhow::Result<Vec<Table>> {
        let marginals = Marginals::new(&self.design, &self.tally)?;
        sets.iter().map(|places| self.table(&marginals, places)).collect()
    }

    fn table(&self, marginals: &Marginals<'_>, places: &[usize]) -> anyhow::Result<Table> {
        let marginal = marginals.marginal(places)?;
        let names = |&place: &usize| self.task.features[place].name.clone();
        let mut cells = Vec::with_capacity(marginal.cells.len());
        for (number, cell) in marginal.cells.iter().enumerate() {
            let (mut rest, mut values) = (number, Vec::new());
            for (&place, &levels) in places.iter().zip(&marginal.levels).rev() {
                values.push(level_name(&self.task, place, rest % levels));
                rest /= levels;
            }
            values.reverse();
            cells.push(TableCell {
                values,
                share: cell.share,
                low: cell.interval.0,
                high: cell.interval.1,
                unbiased: cell.unbiased.map(|figure| figure.value),
                standard_error: cell.unbiased.map(|figure| figure.standard_error),
            });
        }
        Ok(Table { columns: places.iter().map(names).collect(), cells })
    }
}

/// The places of the columns with these names, in rising order.
pub(super) fn places(task: &Task, names: &[String]) -> Result<Vec<usize>, Usage> {
    let place = |name: &String| {
        let found = task.features.iter().position(|column| column.name == *name);
        found.ok_or_else(|| {
            let known: Vec<&str> = task.features.iter().map(|column| column.name.as_str()).collect();
            Usage::new(format!("--columns names `{name}`, which is none of {}", known.join(", ")))
        })
    };
    let mut places = names.iter().map(place).collect::<Result<Vec<_>, Usage>>()?;
    places.sort_unstable();
    match places.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Usage::new(format!("--columns names `{}` twice", task.features[pair[0]].name))),
        None => Ok(places),
    }
}

fn design(task: &Task, survey: &Survey, order: usize) -> anyhow::Result<Design> {
    let Survey::Categories(questionnaire) = survey else {
        return Err(anyhow!("the survey is about numbers; `query density` asks about those"));
    };
    let (schema, epsilon) = (questionnaire.schema().clone(), questionnaire.epsilon());
    let new = |method, order| Design::new(method, schema.clone(), 1, epsilon, order);
    Ok(match task.survey.as_ref() {
        Some(SurveyWords::Views(views)) => {
            let view = |words: &undertone_report::ViewWords| View {
                attributes: words.columns.iter().map(|&column| column as usize).collect(),
                weight: words.weight,
            };
            Design::with_views(schema, epsilon, order, views.iter().map(view).collect())?
        }
        Some(SurveyWords::Tables(words)) => {
            let published = task.mechanism.kind == "published";
            let answering = if published { Answering::Published } else { Answering::Best };
            new(Method::Direct(answering), words.order as usize)?
        }
        Some(SurveyWords::Parities(words)) => new(Method::Hadamard, words.order as usize)?,
        Some(&SurveyWords::Terms(TermWords { order, error, .. })) => {
            new(Method::Chebyshev { error }, order as usize)?
        }
        _ => return Err(anyhow!("the survey is not about categories")),
    })
}

/// What the level of a column is called.
fn level_name(task: &Task, place: usize, level: usize) -> String {
    let encoding = task.collection.as_ref().and_then(|collection| collection.encoding.get(place));
    let Some(EncodingWords::Category(CategoryWords::Values { values, other, .. })) = encoding else {
        return level.to_string();
    };
    match values.get(level) {
        Some(value) => value.clone(),
        None if *other && level == values.len() => "(any other)".to_owned(),
        None => "(empty)".to_owned(),
    }
}
