//! `task record`: a document that asks for the gradients of whole records.

use super::columns::{Listed, Scaled};
use super::doubts;
use super::functional::Function;
use super::running::Running;
use crate::commands::privatize::classes;
use crate::exit::Usage;
use crate::{arguments, new_file, output};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use undertone_privacy::gradient::Huber;
use undertone_privacy::vector::VectorMechanism;
use undertone_privacy::{Delta, Epsilon, Mu};
use undertone_report::{
    BallWords, CategoryWords, ColumnKind, EncodingWords, FeatureColumn, HuberWords, LearnerWords, LossWords,
    MechanismWords, OnlineWords, RecordWords, ReportFormat, ResponseWords, Stretch, TASK_VERSION, Task,
    TaskError,
};

/// Make a task document that asks for gradients of whole records
///
/// Everything about a person is private here, so no table is looked at: means and scales have to be public constants, such as
/// those of a census. Each device fetches the learner's point, computes the gradient of its own record there, randomizes it and
/// sends that, once. A category has a coefficient for each of its values but the first, with which the others are compared.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone task record --label charges=16500,4000 --number age=41.5,13.85 --number bmi=34,9.24 \\
      --category smoker=no,yes --mu 1 -o task.toml
  undertone task record --label sick --classes no,yes --number age=41.5,13.85 --epsilon 2 --alpha 0.6 -o task.toml")]
pub(crate) struct Record {
    /// The column that is explained; of a regression with a public mean and standard deviation: COLUMN=MEAN,SD
    #[arg(long, value_name = "COLUMN[=MEAN,SD]")]
    label: Scaled,
    /// All classes, for classification: a file with one on each line, or a list with commas
    #[arg(long, value_name = "FILE|LIST")]
    classes: Option<String>,
    /// A column of numbers, with a public mean and standard deviation; may be given often
    #[arg(long, value_name = "COLUMN=MEAN,SD")]
    number: Vec<Scaled>,
    /// A column of words, with all its values, of which the first is what the others are compared with; may be given often
    #[arg(long, value_name = "COLUMN=VALUE,…")]
    category: Vec<Listed>,
    /// ε: the codebook, unless ε is so large that Laplace noise is less
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true, required_unless_present = "mu")]
    epsilon: Option<Epsilon>,
    /// δ: with ε, the analytic Gaussian
    #[arg(long, value_name = "D", value_parser = arguments::delta, allow_hyphen_values = true, requires = "epsilon")]
    delta: Option<Delta>,
    /// μ: the Gaussian
    #[arg(long, value_name = "M", value_parser = arguments::mu, allow_hyphen_values = true, conflicts_with = "epsilon")]
    mu: Option<Mu>,
    /// Each ε, or μ, that a person may choose, the one above first
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',', value_parser = arguments::positive, allow_hyphen_values = true)]
    tiers: Option<Vec<f64>>,
    /// Another mechanism than the best for the promise: laplace for ε
    #[arg(long, value_name = "KIND")]
    mechanism: Option<String>,
    /// What bounds a gradient: square, linear or clip, which is biased
    #[arg(long, value_name = "WEIGHTS", default_value = "linear")]
    weights: String,
    /// R of the weights
    #[arg(long, value_name = "R", value_parser = arguments::positive, default_value = "1.4142135623730951")]
    radius: f64,
    /// No coefficient leaves ± this
    #[arg(long, value_name = "B", value_parser = arguments::positive, default_value = "20")]
    bound: f64,
    /// η of the steps η·(i + offset)^-α
    #[arg(long, value_name = "H", value_parser = arguments::positive, default_value = "1")]
    eta: f64,
    /// α; intervals need one between 1/2 and 1
    #[arg(long, value_name = "A", allow_hyphen_values = true, default_value = "0.6")]
    alpha: f64,
    /// Reports by which the steps are ahead, which tames the first
    #[arg(long, value_name = "N", default_value = "1000")]
    offset: u64,
    /// Reports before averaging begins
    #[arg(long, value_name = "N", default_value = "0")]
    burn_in: u64,
    /// The reports that a point may be old
    #[arg(long, value_name = "N", default_value = "256")]
    stale: u64,
    /// The least curvature at the optimum, as `plan --online` has it: intervals are refused before the start is forgotten
    #[arg(long, value_name = "M", value_parser = arguments::positive)]
    curvature: Option<f64>,
    /// Weigh the i-th point about like i^S in the mean; 3 forgets the start sooner than 0, the plain mean
    #[arg(long, value_name = "S", value_parser = arguments::positive)]
    decay: Option<f64>,
    /// Send every other report to a second chain with half of the steps, by which a bias shows
    #[arg(long)]
    two_chains: bool,
    /// The share of people expected in each of --tiers, for steps that weigh them by their noise. Only right if people choose
    /// their tier independently of what their record says
    #[arg(long, value_name = "SHARE,…", value_delimiter = ',', value_parser = arguments::positive, requires = "tiers")]
    shares: Option<Vec<f64>>,
    /// A linear function of the parameters that gets an interval of its own, such as
    /// `smokers of 50=smoker = yes:1,age:0.6`; may be given often. Chosen after a look at the estimate, it would cover too seldom
    #[arg(long, value_name = "NAME=PARAMETER:FACTOR,…")]
    functional: Vec<Function>,
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

/// Where the scale of errors stays, in standard deviations of the response. Errors have less of them than the response itself;
/// the curvature grows as the scale falls.
const LEAST_SCALE: f64 = 0.05;
const MOST_SCALE: f64 = 20.0;

#[derive(Debug, Serialize)]
struct Made<'a> {
    id: String,
    file: Option<String>,
    warnings: Vec<String>,
    task: &'a Task,
}

impl Record {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(path) = &self.output {
            new_file::refuse_existing(path, self.force)?;
        }
        let task = self.task()?;
        let warnings = doubts::about(&task);
        doubts::warn(&warnings);
        if let Some(path) = &self.output {
            output::write_file(path, &task.to_toml(), self.force)?;
        }
        let file = self.output.as_ref().map(|path| path.display().to_string());
        if self.json {
            return output::json(&Made { id: task.id().to_string(), file, warnings, task: &task }, out);
        }
        match file {
            None => write!(out, "{}", task.to_toml())?,
            Some(file) => writeln!(out, "Task {} in {file}", task.id())?,
        }
        Ok(())
    }

    fn task(&self) -> anyhow::Result<Task> {
        let classes = self.classes.as_deref().map(classes::given).transpose()?.unwrap_or_default();
        let level = self.epsilon.map(Epsilon::get).or(self.mu.map(Mu::get)).unwrap_or_default();
        let tiers = self.tiers.clone().unwrap_or_else(|| vec![level]);
        let learner = LearnerWords::Online(OnlineWords {
            eta: self.eta,
            alpha: self.alpha,
            offset: self.offset,
            burn_in: self.burn_in,
            stale: self.stale,
            curvature: self.curvature,
            decay: self.decay,
            two_chains: self.two_chains,
        });
        let mut collection = self.running.collection(&self.label.column, learner, tiers)?;
        let (features, encoding) = self.columns()?;
        collection.encoding = encoding;
        let mut task = Task {
            version: TASK_VERSION,
            label: self.label.column.clone(),
            mechanism: self.mechanism_words(),
            number: None,
            record: Some(self.words(&classes)?),
            survey: None,
            classes,
            features,
            collection: Some(collection),
        };
        if self.mechanism.is_none() {
            task.mechanism.kind = best(&task, level).map_err(Usage::new)?;
        }
        let task = task.stating_its_noise().map_err(Usage::new)?;
        ReportFormat::new(&task).map_err(Usage::new)?;
        Ok(task)
    }

    fn mechanism_words(&self) -> MechanismWords {
        MechanismWords {
            kind: self.mechanism.clone().unwrap_or_default(),
            epsilon: self.epsilon.map(Epsilon::get),
            delta: self.delta.map(Delta::get),
            mu: self.mu.map(Mu::get),
            ..MechanismWords::default()
        }
    }

    fn words(&self, classes: &[String]) -> Result<RecordWords, Usage> {
        let huber = HuberWords { cut: Huber::CUT, least_scale: LEAST_SCALE, most_scale: MOST_SCALE };
        let (loss, response) = match (classes.len(), self.label.constants) {
            (0, Some((mean, deviation))) => {
                (LossWords::Huber(huber), Some(ResponseWords { mean, scale: 1.0 / deviation }))
            }
            (0, None) => {
                return Err(Usage::new("--label needs a public mean and standard deviation, or --classes"));
            }
            (_, Some(_)) => return Err(Usage::new("--label has a mean, but --classes have none")),
            (2, None) => (LossWords::Logistic, None),
            (_, None) => (LossWords::Multinomial, None),
        };
        Ok(RecordWords {
            loss,
            weights: self.weights.clone(),
            radius: self.radius,
            bound: self.bound,
            response,
            ball: BallWords::default(),
            shares: self.shares.clone(),
            functionals: self.functional.iter().map(|Function(words)| words.clone()).collect(),
        })
    }

    fn columns(&self) -> Result<(Vec<FeatureColumn>, Vec<EncodingWords>), Usage> {
        let (mut columns, mut encoding) = (Vec::new(), Vec::new());
        for Scaled { column, constants } in &self.number {
            let Some((mean, deviation)) = *constants else {
                return Err(Usage::new(format!(
                    "--number {column} needs a public mean and standard deviation"
                )));
            };
            columns.push(FeatureColumn { name: column.clone(), kind: ColumnKind::Number });
            let stretch = Stretch::Standard { mean, scale: 1.0 / deviation, missing: false };
            encoding.push(EncodingWords::Number(stretch));
        }
        for Listed { column, values } in &self.category {
            columns.push(FeatureColumn { name: column.clone(), kind: ColumnKind::Words });
            let values = values[1..].to_vec();
            encoding.push(EncodingWords::Category(CategoryWords::Values {
                values,
                other: false,
                missing: false,
            }));
        }
        Ok((columns, encoding))
    }
}

/// The kind with the least noise of those that keep the task's promise.
fn best(task: &Task, level: f64) -> Result<String, TaskError> {
    let ball = task.record_model()?.ball()?.ball;
    Ok(VectorMechanism::best(ball, task.promise_at(level)?)?.kind().name().to_owned())
}
