//! `task survey`: a document that asks everybody one question about the whole record.

use super::columns::{Bounded, Listed, Scaled};
use super::explained::{Explained, People};
use super::running::Running;
use crate::commands::privatize::classes;
use crate::exit::Usage;
use crate::{arguments, new_file, output};
use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use undertone_learn::marginals::{Design, Method};
use undertone_privacy::Epsilon;
use undertone_privacy::statistic::{Answering, Schema};
use undertone_report::{
    ColumnKind, CosineWords, EncodingWords, FeatureColumn, LearnerWords, MechanismWords, OrderWords,
    ReportFormat, Stretch, SurveyWords, TASK_VERSION, Task, TermWords, ViewWords,
};

/// Make a task document that asks everybody one question about the whole record, once
///
/// Everything about a person is private here, so no table is looked at: values, bounds and constants have to be public. Each
/// device draws one question, answers it with the whole ε, and is never asked again; what the answers say is asked later, with
/// `query`.
///
/// Categories make tables over up to --order of them; numbers with --density make kernels and densities; with --label, moments
/// that `train` makes a linear model of, or, with --losses or --copies, what other methods of one round need.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone task survey --category smoker=no,yes --category region=ne,nw,se,sw --order 2 --n 10000 --epsilon 1 -o task.toml
  undertone task survey --density --bounded age=18,65 --degrees 10 --epsilon 1 -o task.toml
  undertone task survey --label sick --classes no,yes --number age=41.5,13.85 --n 100000 --epsilon 2 -o task.toml
  undertone task survey --label sick --classes no,yes --category smoker=no,yes --losses logistic --bound 2 --n 100000 \\
      --epsilon 1 -o task.toml
  undertone task survey --label sick --classes no,yes --category smoker=no,yes --copies 1 --blossom --mu 1 -o task.toml")]
pub(crate) struct Survey {
    /// A column of words, with all its values; with --label, the first is what the others are compared with; may be given often
    #[arg(long, value_name = "COLUMN=VALUE,…")]
    category: Vec<Listed>,
    /// A column of numbers, with public bounds, for --density; may be given often
    #[arg(long, value_name = "COLUMN=LOW,HIGH")]
    bounded: Vec<Bounded>,
    /// A column of numbers, with a public mean and standard deviation, for --label; may be given often
    #[arg(long, value_name = "COLUMN=MEAN,SD")]
    number: Vec<Scaled>,
    /// How many categories are looked at together
    #[arg(long, value_name = "K", default_value = "3")]
    order: u32,
    /// What is asked about categories
    #[arg(long, value_name = "METHOD", default_value = "views")]
    method: Asked,
    /// About how many people will answer
    #[arg(long, value_name = "N", default_value = "10000")]
    n: u64,
    /// Ask for products of cosines of --bounded numbers
    #[arg(long, requires = "bounded")]
    density: bool,
    /// The cosines of each number
    #[arg(long, value_name = "T", default_value = "10")]
    degrees: u32,
    /// ε
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true, required_unless_present = "mu")]
    epsilon: Option<Epsilon>,
    #[command(flatten)]
    explained: Explained,
    #[command(flatten)]
    running: Running,
    /// Where to write the task; on the output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// Print JSON: the id and the task
    #[arg(long)]
    json: bool,
}

/// What is asked about categories.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Asked {
    /// Tables that cover many smaller ones
    Views,
    /// Tables over K columns
    Direct,
    /// Parities of bits
    Hadamard,
    /// Products of literals
    Chebyshev,
}

/// How far the polynomial of the published method may be off.
const CHEBYSHEV_ERROR: f64 = 0.05;

#[derive(Debug, Serialize)]
struct Made<'a> {
    id: String,
    file: Option<String>,
    task: &'a Task,
}

impl Survey {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(path) = &self.output {
            new_file::refuse_existing(path, self.force)?;
        }
        let task = self.task()?;
        if let Some(path) = &self.output {
            output::write_file(path, &task.to_toml(), self.force)?;
        }
        let file = self.output.as_ref().map(|path| path.display().to_string());
        if self.json {
            return output::json(&Made { id: task.id().to_string(), file, task: &task }, out);
        }
        match file {
            None => write!(out, "{}", task.to_toml())?,
            Some(file) => writeln!(out, "Task {} in {file}", task.id())?,
        }
        Ok(())
    }

    fn task(&self) -> anyhow::Result<Task> {
        let (features, encoding) = self.columns();
        if features.is_empty() {
            return Err(
                Usage::new("there are no columns: --category, --bounded or --number names one").into()
            );
        }
        let (survey, mechanism) = self.words(&encoding)?;
        let Explained { label, classes, .. } = &self.explained;
        let label = label.as_ref().map(|label| label.column.clone()).unwrap_or_default();
        let name = if label.is_empty() { "survey" } else { &label };
        let mut collection = self.running.collection(name, LearnerWords::Later, vec![mechanism.level()])?;
        collection.encoding = encoding;
        let task = Task {
            version: TASK_VERSION,
            label,
            classes: classes.as_deref().map(classes::given).transpose()?.unwrap_or_default(),
            number: None,
            mechanism,
            features,
            record: None,
            survey: Some(survey),
            collection: Some(collection),
        };
        ReportFormat::new(&task).map_err(Usage::new)?;
        Ok(task)
    }

    fn columns(&self) -> (Vec<FeatureColumn>, Vec<EncodingWords>) {
        let column = |name: &String, kind| FeatureColumn { name: name.clone(), kind };
        // What explains is compared with the first value, which needs no covariate of its own.
        let first = usize::from(self.explained.label.is_some());
        let categories = self.category.iter().map(|Listed { column: name, values }| {
            (column(name, ColumnKind::Words), Listed::encoding(values[first..].to_vec()))
        });
        let bounded = self.bounded.iter().map(|&Bounded { column: ref name, low, high }| {
            let range = Stretch::Range { low, high, missing: false };
            (column(name, ColumnKind::Number), EncodingWords::Number(range))
        });
        let numbers = self.number.iter().map(|Scaled { column: name, constants }| {
            let (mean, deviation) = constants.unwrap_or((0.0, 1.0));
            let stretch = Stretch::Standard { mean, scale: 1.0 / deviation, missing: false };
            (column(name, ColumnKind::Number), EncodingWords::Number(stretch))
        });
        categories.chain(bounded).chain(numbers).unzip()
    }

    /// What is asked, and how it is answered.
    fn words(&self, encoding: &[EncodingWords]) -> anyhow::Result<(SurveyWords, MechanismWords)> {
        if let Some(label) = &self.explained.label {
            return self.explained.words(label, &People { n: self.n, epsilon: self.epsilon, encoding });
        }
        let epsilon = self.epsilon.context("--epsilon is needed")?;
        let survey = if self.density {
            SurveyWords::Cosines(CosineWords { degrees: self.degrees, weights: None })
        } else {
            self.categories(epsilon)?
        };
        let mechanism =
            MechanismWords { kind: "best".into(), epsilon: Some(epsilon.get()), ..MechanismWords::default() };
        Ok((survey, mechanism))
    }

    fn categories(&self, epsilon: Epsilon) -> anyhow::Result<SurveyWords> {
        let levels = self.category.iter().map(|listed| listed.values.len() as u32).collect();
        let schema = Schema::new(levels).map_err(Usage::new)?;
        let method = match self.method {
            Asked::Views => Method::Views,
            Asked::Direct => Method::Direct(Answering::Best),
            Asked::Hadamard => Method::Hadamard,
            Asked::Chebyshev => Method::Chebyshev { error: CHEBYSHEV_ERROR },
        };
        let order = self.order;
        let design = Design::new(method, schema, self.n, epsilon, order as usize).map_err(Usage::new)?;
        Ok(match self.method {
            Asked::Views => {
                let view = |view: &undertone_privacy::statistic::View| ViewWords {
                    columns: view.attributes.iter().map(|&place| place as u32).collect(),
                    weight: view.weight,
                };
                SurveyWords::Views(design.views().iter().map(view).collect())
            }
            Asked::Direct => SurveyWords::Tables(OrderWords { order }),
            Asked::Hadamard => SurveyWords::Parities(OrderWords { order }),
            Asked::Chebyshev => {
                SurveyWords::Terms(TermWords { degree: design.degree(), order, error: CHEBYSHEV_ERROR })
            }
        })
    }
}
