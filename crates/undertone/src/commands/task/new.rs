//! `task new`: a document from the public columns of a table.

use super::running::Running;
use crate::commands::privatize::{classes, kinds, label_kind, number_kind, places};
use crate::exit::Usage;
use crate::progress::row_counter;
use crate::tables::{TableFile, column_place, feature_columns, features};
use crate::{arguments, new_file, output};
use anyhow::{Context, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use undertone_learn::features::{EncoderFit, EncoderOptions, Override, Treatment};
use undertone_privacy::Epsilon;
use undertone_privacy::label::{LabelKind, LabelMechanism};
use undertone_report::{
    Collection, EncodingWords, FeatureColumn, LearnerWords, MechanismWords, NumberWords, ReportFormat,
    TASK_VERSION, Task,
};

/// Make a task document from the public columns of a table
///
/// How each column becomes features is computed from the public columns and becomes part of the task: means, scales and
/// the values of categories are told to everybody. The column of the label is not looked at, so the classes have to be
/// named. Whatever is in the public columns must be public indeed: use a table that everybody may see.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone task new people.csv --label income --classes low,middle,high --epsilon 1 -o task.toml
  undertone task new people.csv --label salary --low 0 --high 100000 --epsilon 1 -o task.toml
  undertone task new people.csv --label income --classes classes.txt --epsilon 1 --tiers 1,0.5,0.25 \\
      --drop name,street --opens 2027-01-15 --days 7 --learner logistic -o task.toml")]
pub(crate) struct New {
    /// CSV (also .gz), Parquet or IDX, of which the public columns are looked at
    table: PathBuf,
    /// The column whose values are private; it need not be in the table
    #[arg(long, value_name = "COLUMN")]
    label: String,
    /// All values that the label can have: a file with one on each line, or a list with commas
    #[arg(long, value_name = "FILE|LIST", required_unless_present = "low")]
    classes: Option<String>,
    /// The label is a number, and smaller ones count as this one
    #[arg(long, value_name = "A", value_parser = arguments::number, allow_hyphen_values = true, requires = "high")]
    #[arg(conflicts_with_all = ["classes", "set_size", "top"])]
    low: Option<f64>,
    /// The label is a number, and larger ones count as this one
    #[arg(long, value_name = "B", value_parser = arguments::number, allow_hyphen_values = true, requires = "low")]
    high: Option<f64>,
    /// ε, the promise to each person
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true)]
    epsilon: Epsilon,
    /// Each ε that a person may choose, --epsilon first
    #[arg(long, value_name = "E,…", value_delimiter = ',', value_parser = arguments::epsilon, allow_hyphen_values = true)]
    tiers: Option<Vec<Epsilon>>,
    /// How labels are randomized; by default what has the least second moment, subset or rr, or for numbers the least worst-case
    /// variance
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(kinds()))]
    mechanism: Option<String>,
    /// Labels in each report, for --mechanism subset
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    set_size: Option<u32>,
    /// Classes to answer among, for --mechanism rr-top-k
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',')]
    top: Option<Vec<String>>,
    /// What is learnt; softmax by default, shares-only if there are no public columns; of numbers linear and mean-only
    #[arg(long, value_name = "LEARNER", value_parser = learner())]
    learner: Option<LearnerWords>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    drop: Vec<String>,
    /// Treat a column in another way than its cells suggest: COLUMN=number|category|text; may be given often
    #[arg(long, value_name = "COLUMN=KIND")]
    encode: Vec<Override>,
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

#[derive(Debug, Serialize)]
struct Made<'a> {
    id: String,
    file: Option<String>,
    task: &'a Task,
}

impl New {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(path) = &self.output {
            new_file::refuse_existing(path, self.force)?;
            new_file::refuse_input(path, [&self.table])?;
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
            Some(file) => {
                writeln!(out, "Task {} in {file}", task.id())?;
                writeln!(
                    out,
                    "Its constants come from the {} public column(s) only; `{}` was not looked at.",
                    task.features.len(),
                    task.label
                )?;
            }
        }
        Ok(())
    }

    fn task(&self) -> anyhow::Result<Task> {
        let number = self.low.zip(self.high).map(|(low, high)| NumberWords { low, high });
        let classes = match &self.classes {
            Some(classes) => classes::given(classes)?,
            None => Vec::new(),
        };
        let top = self.top.as_ref().map(|top| places(top, &classes)).transpose()?;
        let kind = match number {
            Some(number) => number_kind(number, self.mechanism.as_deref(), self.epsilon)?.name(),
            None => self.kind(classes.len() as u32)?.name(),
        };
        // What is wrong with the words is said before a long table is read.
        let mut task = Task {
            version: TASK_VERSION,
            label: self.label.clone(),
            mechanism: MechanismWords {
                kind: kind.to_owned(),
                epsilon: Some(self.epsilon.get()),
                delta: None,
                mu: None,
                set_size: self.set_size,
                top,
                prior: None,
            },
            classes,
            features: Vec::new(),
            collection: Some(self.collection()?),
            number,
            record: None,
            survey: None,
        };
        ReportFormat::new(&task).map_err(Usage::new)?;
        let (columns, encoding) = self.look()?;
        if let Some(collection) = &mut task.collection {
            if columns.is_empty() && self.learner.is_none() {
                collection.learner =
                    if number.is_some() { LearnerWords::MeanOnly } else { LearnerWords::SharesOnly };
            }
            collection.encoding = encoding;
        }
        task.features = columns;
        ReportFormat::new(&task).with_context(|| self.table.display().to_string())?;
        Ok(task)
    }

    /// The public columns, and how they become features.
    fn look(&self) -> anyhow::Result<(Vec<FeatureColumn>, Vec<EncodingWords>)> {
        let table = TableFile::open(&self.table)?;
        for name in &self.drop {
            column_place(table.schema(), "--drop", name)?;
        }
        let mut without: Vec<&str> = self.drop.iter().map(String::as_str).collect();
        without.push(&self.label);
        if let Some(skipped) = self.encode.iter().find(|said| said.treatment == Treatment::Skip) {
            return Err(Usage::new(format!("--drop leaves `{}` out, not --encode", skipped.column)).into());
        }
        let columns = feature_columns(table.schema(), &without).context("--drop leaves it out")?;
        let options = EncoderOptions { overrides: self.encode.clone(), ..EncoderOptions::default() };
        let encoding = encoding(table, &columns, options)?;
        Ok((columns, encoding))
    }

    fn collection(&self) -> anyhow::Result<Collection> {
        let tiers = match &self.tiers {
            Some(tiers) => tiers.iter().map(|tier| tier.get()).collect(),
            None => vec![self.epsilon.get()],
        };
        let usual = if self.low.is_some() { LearnerWords::Linear } else { LearnerWords::Softmax };
        self.running.collection(&self.label, self.learner.unwrap_or(usual), tiers)
    }

    /// The kind that was asked for, that another option belongs to, or the best.
    fn kind(&self, classes: u32) -> Result<LabelKind, Usage> {
        let mechanism = self.mechanism.as_deref().map(label_kind).transpose()?;
        match mechanism {
            Some(LabelKind::RrPrior) => Err(Usage::new(
                "--mechanism rr-prior needs columns of priors, which only a document written by hand can name",
            )),
            Some(kind) => Ok(kind),
            None if self.top.is_some() => Ok(LabelKind::RrTopK),
            None if self.set_size.is_some() => Ok(LabelKind::Subset),
            None => match LabelMechanism::best(classes, self.epsilon).map_err(Usage::new)? {
                LabelMechanism::RandomizedResponse(_) => Ok(LabelKind::Rr),
                _ => Ok(LabelKind::Subset),
            },
        }
    }
}

/// How the columns of a table become features.
pub(crate) fn encoding(
    table: TableFile,
    columns: &[FeatureColumn],
    options: EncoderOptions,
) -> anyhow::Result<Vec<EncodingWords>> {
    let path = table.path().display().to_string();
    let mut fit = EncoderFit::new(columns, options).map_err(Usage::new)?;
    let table = table.select(columns.iter().map(|column| column.name.as_str()))?;
    let progress = row_counter("looking at public columns");
    for batch in table.batches()? {
        let batch = batch?;
        fit.observe(&features(&batch, columns)?).with_context(|| path.clone())?;
        progress.inc(batch.num_rows() as u64);
    }
    progress.finish_and_clear();
    ensure!(table.rows() > 0, "{path}: the table has no rows");
    Ok(fit.finish()?.words())
}

/// A learner by its name.
fn learner() -> impl TypedValueParser<Value = LearnerWords> {
    let known = || LearnerWords::ALL.into_iter().chain([LearnerWords::MeanOnly]);
    PossibleValuesParser::new(known().map(LearnerWords::name)).map(move |name| {
        let found = known().find(|learner| learner.name() == name);
        found.unwrap_or(LearnerWords::Softmax)
    })
}
