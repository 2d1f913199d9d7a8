//! `privatize`: a table in, reports out; the true labels never leave.

pub(super) mod classes;
mod devices;
mod numbers;
mod priors;
mod sought;
mod summary;
mod survey;

use crate::exit::Usage;
use crate::people::Part;
use crate::progress::row_counter;
use crate::reports::{Marks, ReportsWriter};
use crate::tables::{
    ClassIndex, TableFile, Unlabelled, column_kind, column_place, label_place, number_place,
};
use crate::{arguments, model_file, new_file, output, randomness};
use anyhow::{Context, ensure};
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{FieldRef, Schema};
use arrow_select::filter::filter_record_batch;
use clap::builder::PossibleValuesParser;
use devices::{Devices, Priors};
pub(super) use numbers::number_kind;
use priors::{FromColumns, FromModel};
use rand_chacha::ChaCha12Rng;
use sought::Sought;
use std::io::{self, Write};
use std::path::PathBuf;
pub(super) use summary::SIMULATION;
use summary::Summary;
use undertone_learn::Model;
use undertone_learn::nonparametric::Magnitudes;
use undertone_privacy::Epsilon;
use undertone_privacy::label::{Label, LabelKind, LabelMechanism};
use undertone_privacy::number::NumberKind;
use undertone_report::{FeatureColumn, MechanismWords, TASK_VERSION, Task};

/// Turn a table with private labels into reports: each label is randomized, the other columns are public and stay
///
/// Reports are Parquet with the task inside: what was asked, under which promise, by which mechanism. The labels
/// themselves are nowhere in them. Randomness comes from the operating system.
///
/// All columns but the label are published as they are: drop what must not be seen. The classes should be known
/// beforehand; without --classes they are read from the labels, and that a class occurs is then not private.
///
/// With --low and --high the label is a number: it is clipped to these bounds, which must not come from the table, and randomized.
///
/// With --magnitudes the label is a number of which nobody knows how large it is: some people say only that, so that `undertone plan
/// --pilot` finds bounds for the others.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone privatize table.csv --label income --epsilon 1 --classes low,middle,high -o reports.parquet
  undertone privatize table.parquet --label income --epsilon 2 --classes classes.txt --drop name,street -o reports.parquet
  undertone privatize table.csv --label salary --low 0 --high 100000 --epsilon 1 -o reports.parquet
  undertone privatize table.csv --label salary --magnitudes 0,30 --epsilon 1 --part 1/20 -o pilot.parquet
  undertone privatize table.csv --task survey.toml -o reports.parquet")]
pub(crate) struct Privatize {
    /// CSV (also .gz), Parquet or IDX
    table: PathBuf,
    /// The column whose values are private
    #[arg(long, value_name = "COLUMN", required_unless_present = "task")]
    label: Option<String>,
    /// ε, the promise to each person
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true)]
    #[arg(required_unless_present = "task")]
    epsilon: Option<Epsilon>,
    /// A survey, which has the promise and everything else in it: whole records are private, and none of their columns is
    /// published
    #[arg(long, value_name = "TASK")]
    #[arg(conflicts_with_all = ["label", "epsilon", "mechanism", "low", "high", "classes", "set_size", "top", "prior"])]
    #[arg(conflicts_with_all = ["magnitudes", "prior_columns", "temperature", "drop", "part"])]
    task: Option<PathBuf>,
    /// How labels are randomized; by default what has the least second moment, subset or rr, or for numbers the least worst-case
    /// variance
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(kinds()))]
    mechanism: Option<String>,
    /// The label is a number, and smaller ones count as this one
    #[arg(long, value_name = "A", value_parser = arguments::number, allow_hyphen_values = true, requires = "high")]
    #[arg(conflicts_with_all = ["classes", "set_size", "top", "prior", "prior_columns"])]
    low: Option<f64>,
    /// The label is a number, and larger ones count as this one
    #[arg(long, value_name = "B", value_parser = arguments::number, allow_hyphen_values = true, requires = "low")]
    high: Option<f64>,
    /// The label is a number, and people say which powers of two its size lies between: below 2^A, one bin for each power of two, and
    /// beyond 2^B
    #[arg(long, value_name = "A,B", value_parser = arguments::magnitudes, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["low", "high", "classes", "top", "prior", "prior_columns"])]
    magnitudes: Option<Magnitudes>,
    /// All values that the label can have: a file with one on each line, or a list with commas
    #[arg(long, value_name = "FILE|LIST")]
    classes: Option<String>,
    /// Labels in each report, for --mechanism subset
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    set_size: Option<u32>,
    /// Classes to answer among, for --mechanism rr-top-k
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',')]
    top: Option<Vec<String>>,
    /// A model, learnt from other people's reports, that gives each person a prior, for --mechanism rr-prior
    #[arg(long, value_name = "MODEL")]
    prior: Option<PathBuf>,
    /// Public columns, one for each class in order, that hold each person's prior, for --mechanism rr-prior
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', conflicts_with = "prior")]
    prior_columns: Option<Vec<String>>,
    /// Answer right as often as possible if --prior, its scores divided by T, is right; without T, tell as much as possible
    #[arg(long, value_name = "T", value_parser = arguments::positive, allow_hyphen_values = true, requires = "prior")]
    temperature: Option<f64>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    drop: Vec<String>,
    /// Only the rows of part I of N, which a public hash of the row number chooses, or of parts I to J
    #[arg(long, value_name = "I/N|I-J/N")]
    part: Option<Part>,
    /// Where to write the reports
    #[arg(short, long, value_name = "REPORTS")]
    output: PathBuf,
    /// Replace REPORTS if it exists
    #[arg(long)]
    force: bool,
    /// Simulate: repeat a run exactly. Whoever knows the seed knows the labels, so such reports have no privacy
    #[arg(long, value_name = "SEED", value_parser = arguments::seed)]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Privatize {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        new_file::refuse_existing(&self.output, self.force)?;
        new_file::refuse_input(&self.output, [&self.table].into_iter().chain(&self.prior))?;
        if let Some(file) = &self.task {
            return self.run_survey(file, out);
        }
        if let Some(number) = self.number() {
            return self.run_numbers(number, out);
        }
        let prior = self.prior.as_ref().map(|path| model_file::read_with_hash(path)).transpose()?;
        let table = match &prior {
            // A CSV does not say what its columns hold, but the model does.
            Some((model, _)) => TableFile::open_as(&self.table, model.encoder.columns())?,
            None => TableFile::open(&self.table)?,
        };
        let columns = match self.magnitudes {
            Some(_) => Columns::of_number(table.schema(), self.label()?, &self.drop)?,
            None => Columns::of(table.schema(), self.label()?, &self.drop)?,
        };
        let classes = match (&self.classes, self.magnitudes) {
            (Some(text), _) => classes::given(text)?,
            (None, Some(magnitudes)) => magnitudes.names(),
            (None, None) => classes_in(&table, columns.label)?,
        };
        self.warn(prior.as_ref().map(|(model, _)| model));
        let priors = self.priors(prior, &classes)?;
        let task = self.task(classes, &columns, priors.as_deref())?;
        let (rows, devices, bytes) = self.stream(&table, &columns, &task, priors)?;
        let summary = Summary::new(self, &task, rows, &devices, bytes);
        if self.json { output::json(&summary, out) } else { summary.tell(out) }
    }

    /// The private column, without which clap lets surveys through only.
    fn label(&self) -> Result<&str, Usage> {
        self.label.as_deref().ok_or_else(|| Usage::new("--label is missing"))
    }

    /// Whether the classes are those that occur.
    fn has_classes_from_labels(&self) -> bool {
        self.classes.is_none() && self.magnitudes.is_none()
    }

    fn epsilon(&self) -> Result<Epsilon, Usage> {
        self.epsilon.ok_or_else(|| Usage::new("--epsilon is missing"))
    }

    /// What gives each person a prior, if anything does.
    fn priors(
        &self,
        model: Option<(Model, String)>,
        classes: &[String],
    ) -> anyhow::Result<Option<Box<dyn Priors>>> {
        Ok(match (model, &self.prior_columns) {
            (Some(model), _) => {
                let priors = FromModel::new(
                    model,
                    self.temperature,
                    self.epsilon()?,
                    self.label()?,
                    classes,
                    self.seed,
                );
                Some(Box::new(priors.context("--prior")?))
            }
            (None, Some(columns)) => Some(Box::new(FromColumns::new(columns, classes)?)),
            (None, None) => None,
        })
    }

    fn task(
        &self,
        classes: Vec<String>,
        columns: &Columns,
        priors: Option<&dyn Priors>,
    ) -> anyhow::Result<Task> {
        let kind = self.kind(classes.len() as u32)?;
        if kind == LabelKind::RrTopK && self.top.is_none() {
            return Err(Usage::new("--mechanism rr-top-k needs --top, the classes to answer among").into());
        }
        if kind == LabelKind::RrPrior && priors.is_none() {
            return Err(Usage::new("--mechanism rr-prior needs --prior or --prior-columns").into());
        }
        let top = self.top.as_ref().map(|top| places(top, &classes)).transpose()?;
        let task = Task {
            version: TASK_VERSION,
            label: self.label()?.to_owned(),
            features: columns.described()?,
            classes,
            mechanism: MechanismWords {
                kind: kind.name().to_owned(),
                epsilon: Some(self.epsilon()?.get()),
                delta: None,
                mu: None,
                set_size: self.set_size,
                top,
                prior: priors.map(Priors::words),
            },
            collection: None,
            number: None,
            record: None,
            survey: None,
        };
        task.check().map_err(Usage::new)?;
        Ok(task)
    }

    /// The kind that was asked for, that another option belongs to, or the best.
    fn kind(&self, classes: u32) -> Result<LabelKind, Usage> {
        Ok(match &self.mechanism {
            Some(name) => label_kind(name)?,
            None if self.prior.is_some() || self.prior_columns.is_some() => LabelKind::RrPrior,
            None if self.top.is_some() => LabelKind::RrTopK,
            None if self.set_size.is_some() => LabelKind::Subset,
            None => match LabelMechanism::best(classes, self.epsilon()?).map_err(Usage::new)? {
                LabelMechanism::RandomizedResponse(_) => LabelKind::Rr,
                _ => LabelKind::Subset,
            },
        })
    }

    /// Whether those who reported for `prior` are known to be others than those who are asked now.
    fn asks_others_than(&self, prior: &Model) -> bool {
        let parts = prior.training.parts.iter().map(|part| part.parse::<Part>().ok());
        let apart = |other: Option<Part>| self.part.zip(other).is_some_and(|(a, b)| !a.overlaps(b));
        !prior.training.parts.is_empty() && parts.into_iter().all(apart)
    }

    fn warn(&self, prior: Option<&Model>) {
        // Should the standard error be closed, the summary still tells.
        let mut errors = io::stderr();
        if self.has_classes_from_labels() {
            let _ = writeln!(
                errors,
                "warning: the set of classes was taken from the private labels; name them with --classes"
            );
        }
        if let Some(prior) = prior.filter(|prior| !self.asks_others_than(prior)) {
            let parts = prior.training.parts.join(", ");
            let before =
                if parts.is_empty() { String::new() } else { format!(" (part {parts} of some table)") };
            let _ = writeln!(
                errors,
                "warning: whoever reported for --prior{before} must not be asked again: two reports at ε are worth 2ε; \
                 --part asks others"
            );
        }
        if self.seed.is_some() {
            let _ = writeln!(errors, "warning: {}", summary::SIMULATION);
        }
    }

    /// Reads, randomizes and writes, block by block.
    fn stream(
        &self,
        table: &TableFile,
        columns: &Columns,
        task: &Task,
        priors: Option<Box<dyn Priors>>,
    ) -> anyhow::Result<(u64, Devices, u64)> {
        let mut rng = randomness::generator(self.seed)?;
        let mut devices = Devices::of(task, priors)?;
        let marks = Marks {
            simulation: self.seed.is_some(),
            part: self.part.map(|part| part.to_string()),
            classes_from_labels: self.has_classes_from_labels(),
            segment: None,
        };
        let mut writer = ReportsWriter::create(&self.output, self.force, task, &columns.fields(), &marks)?;
        let sought = Sought::of(self.magnitudes, task);
        let (mut labels, mut next_row, mut asked, progress) = (Vec::new(), 1, 0, row_counter("reports"));
        for batch in table.batches()? {
            let batch = batch?;
            let rows = batch.num_rows();
            labels.clear();
            sought
                .look_up(batch.column(columns.label).as_ref(), next_row, &mut labels)
                .with_context(|| self.table.display().to_string())?;
            let mut features = columns.public(&batch)?;
            if let Some(part) = self.part {
                features = only(part, next_row, &features, &mut labels)?;
            }
            let row_of = |place: usize| match self.part {
                None => next_row + place as u64,
                Some(part) => (next_row..).filter(|&row| part.holds(row)).nth(place).unwrap_or(next_row),
            };
            ask(&mut devices, &labels, &features, row_of, &mut rng, &mut writer)
                .with_context(|| self.table.display().to_string())?;
            asked += labels.len() as u64;
            next_row += rows as u64;
            progress.inc(rows as u64);
        }
        progress.finish_and_clear();
        ensure!(next_row > 1, "{}: the table has no rows", self.table.display());
        ensure!(asked > 0, "{}: none of its {} rows is in the part", self.table.display(), next_row - 1);
        Ok((asked, devices, writer.finish()?))
    }
}

/// The mechanism for classes of this name.
pub(super) fn label_kind(name: &str) -> Result<LabelKind, Usage> {
    let numbers = |_| Usage::new(format!("--mechanism {name} is for numbers, which --low and --high bound"));
    name.parse().map_err(numbers)
}

/// The names of all mechanisms for labels, of either sort.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    LabelKind::ALL.map(LabelKind::name).into_iter().chain(NumberKind::ALL.map(NumberKind::name))
}

/// Reads the classes from the labels, in a pass of its own.
fn classes_in(table: &TableFile, label: usize) -> anyhow::Result<Vec<String>> {
    let progress = row_counter("looking for classes");
    let classes = ClassIndex::classes_in(table, label, Unlabelled::Refused, |rows| progress.inc(rows));
    progress.finish_and_clear();
    classes.context("the classes could not be read from the labels; --classes names them")
}

/// Asks everybody in a batch, as many at once as memory allows.
fn ask(
    devices: &mut Devices,
    labels: &[Label],
    features: &RecordBatch,
    row_of: impl Fn(usize) -> u64,
    rng: &mut ChaCha12Rng,
    writer: &mut ReportsWriter,
) -> anyhow::Result<()> {
    let at_once = devices.at_once();
    for (block, labels) in labels.chunks(at_once).enumerate() {
        let features = features.slice(block * at_once, labels.len());
        let row_of = |place: usize| row_of(block * at_once + place);
        let (reports, among) = devices.answer(labels, &features, row_of, rng)?;
        writer.write(features.columns().to_vec(), reports, among)?;
    }
    Ok(())
}

/// The rows of `features`, and of `labels`, that are in the part.
fn only<L>(
    part: Part,
    first_row: u64,
    features: &RecordBatch,
    labels: &mut Vec<L>,
) -> anyhow::Result<RecordBatch> {
    let inside: Vec<bool> = (first_row..).take(labels.len()).map(|row| part.holds(row)).collect();
    let mut keep = inside.iter();
    labels.retain(|_| keep.next().is_some_and(|&keep| keep));
    Ok(filter_record_batch(features, &BooleanArray::from(inside))?)
}

/// The places of `names` among the classes.
pub(super) fn places(names: &[String], classes: &[String]) -> Result<Vec<u32>, Usage> {
    let place = |name: &String| {
        let found = (0..).zip(classes).find(|(_, class)| *class == name);
        found
            .map(|(place, _)| place)
            .ok_or_else(|| Usage::new(format!("--top names `{name}`, which is no class")))
    };
    names.iter().map(place).collect()
}

/// Which columns of a table are what.
struct Columns {
    label: usize,
    features: Vec<(usize, FieldRef)>,
}

impl Columns {
    fn of(schema: &Schema, label: &str, drop: &[String]) -> Result<Self, Usage> {
        Self::around(schema, label_place(schema, label)?, drop)
    }

    /// The same where the label is a number.
    fn of_number(schema: &Schema, label: &str, drop: &[String]) -> Result<Self, Usage> {
        Self::around(schema, number_place(schema, label)?, drop)
    }

    fn around(schema: &Schema, place: usize, drop: &[String]) -> Result<Self, Usage> {
        for name in drop {
            if column_place(schema, "--drop", name)? == place {
                return Err(Usage::new(format!("--drop names `{name}`, which is the label")));
            }
        }
        let public = |field: &FieldRef| !drop.contains(field.name());
        let features = schema.fields().iter().cloned().enumerate();
        Ok(Self {
            label: place,
            features: features.filter(|(i, field)| *i != place && public(field)).collect(),
        })
    }

    /// In the words of a task.
    fn described(&self) -> anyhow::Result<Vec<FeatureColumn>> {
        let column = |(_, field): &(usize, FieldRef)| {
            let kind = column_kind(field).context("--drop leaves it out")?;
            Ok(FeatureColumn { name: field.name().clone(), kind })
        };
        self.features.iter().map(column).collect()
    }

    fn fields(&self) -> Vec<FieldRef> {
        self.features.iter().map(|(_, field)| field.clone()).collect()
    }

    fn public(&self, batch: &RecordBatch) -> anyhow::Result<RecordBatch> {
        let places: Vec<usize> = self.features.iter().map(|(place, _)| *place).collect();
        Ok(batch.project(&places)?)
    }
}
