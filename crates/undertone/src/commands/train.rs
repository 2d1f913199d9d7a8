//! From reports to a model.

mod auto;
mod averages;
mod coverage;
mod curator;
mod domain;
mod numbers;
mod summary;
mod survey;

use crate::arguments;
use crate::exit::Usage;
use crate::model_file;
use crate::new_file::{self, NewFile};
use crate::output;
use crate::people::{Origin, People, fit_encoder};
use crate::progress::progress_bar;
use crate::tables::TableFile;
use anyhow::{Context, ensure};
use clap::ValueEnum;
use curator::CuratorWords;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use summary::{Candidate, Summary, Tried};
use undertone_learn::evaluation::{Evaluation, Figures};
use undertone_learn::features::{Encoder, EncoderOptions, Override};
use undertone_learn::held_out::Those;
use undertone_learn::linear::{
    ErmOptions, Fitted, LinearModel, OnlineLinear, Progress, Step, Target, Weights, default_epochs, fit,
    fit_choosing_l2,
};
use undertone_learn::loss::Loss;
use undertone_learn::nonparametric::Coverage;
use undertone_learn::{Model, Predictor, Source, Training};
use undertone_report::{NumberWords, Task};

/// Learn a model from reports
///
/// REPORTS are files or directories that `privatize` has made; those of several stages may be named together. Step size
/// and regularisation are chosen by the reports of one person in eight, who are kept aside, unless --l2 gives it. With
/// --label, a table with true labels is learnt from instead, without any privacy, to compare with. From reports about numbers a line is
/// learnt by least squares, with the penalty that does best on everybody in turn.
///
/// From the answers to a survey that explains a label, a logistic, hinge or linear model is learnt, whichever the survey asks for.
/// It comes with the risk that is expected of it, and where the best constant is expected to do better, that is the model.
///
/// Cells, neighbours and forest believe in no line: they average reports of people who are alike. How alike is chosen by those who
/// are kept aside. Auto tries a line and averages, and keeps what does best on them.
///
/// With --trust, --label and --epsilon it is a curator who learns: from true labels, cells are released under a promise about the change
/// of one label, or of one whole record.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example:\n  undertone privatize nursery.csv.gz --label nursery --epsilon 1 -o reports.parquet\n  \
                        undertone train reports.parquet --model softmax -o model.json\n  \
                        undertone train reports.parquet --model auto --coverage 0.9 -o model.json\n  \
                        undertone train table.csv --label ill --trust label-central --epsilon 1 --classes no,yes -o model.json\n  \
                        undertone train table.csv --label ill --trust full-central --epsilon 1 --domain age=0..100 -o model.json"
)]
pub(crate) struct Train {
    /// Files or directories of reports
    #[arg(required = true)]
    reports: Vec<PathBuf>,
    /// What is learnt; softmax if not given, logistic of a survey, and linear where the label is a number
    #[arg(long, value_enum)]
    model: Option<Kind>,
    /// What a report is taken for; the first of these that suits the model if not given
    #[arg(long, value_enum)]
    method: Option<Method>,
    /// Where to write the model
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Replace MODEL if it exists
    #[arg(long)]
    force: bool,
    /// Learn from the true labels in this column of a table: no privacy
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// With --label: it is a number, and smaller ones count as this one
    #[arg(long, value_name = "A", value_parser = arguments::number, allow_hyphen_values = true, requires_all = ["high", "label"])]
    low: Option<f64>,
    /// With --label: it is a number, and larger ones count as this one
    #[arg(long, value_name = "B", value_parser = arguments::number, allow_hyphen_values = true, requires_all = ["low", "label"])]
    high: Option<f64>,
    /// A model to start from, such as that of the stage before: its columns are turned into features as it does it
    #[arg(long, value_name = "MODEL", conflicts_with = "columns")]
    start: Option<PathBuf>,
    /// λ of the penalty λ/2·|W|²; then nothing is chosen, and nobody kept aside
    #[arg(long, value_name = "LAMBDA", value_parser = arguments::penalty, allow_hyphen_values = true)]
    l2: Option<f64>,
    /// Passes over all reports; by default as many as make a few thousand steps
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    epochs: Option<NonZeroU32>,
    /// Reports of one step
    #[arg(long, value_name = "N", value_parser = arguments::count, default_value = "256")]
    batch: NonZeroU32,
    /// Keep the weights within this distance of zero; of moments in a survey 4√q by default for q covariates, of copies 1
    #[arg(long, value_name = "R", value_parser = arguments::positive, allow_hyphen_values = true)]
    radius: Option<f64>,
    /// How to treat a public column, such as `zip=category`: number, category, text or skip
    #[arg(long = "column", value_name = "NAME=KIND", value_delimiter = ',')]
    columns: Vec<Override>,
    /// Features for each text column
    #[arg(long, value_name = "N", value_parser = arguments::count, default_value = "16384", conflicts_with = "start")]
    buckets: NonZeroU32,
    /// Also sets of classes that hold the true one for this share of people, or intervals of numbers; calibrated on one in eight
    #[arg(long, value_name = "SHARE", value_parser = arguments::confidence, allow_hyphen_values = true, conflicts_with = "start")]
    coverage: Option<f64>,
    /// Of the order in which reports are gone through, 0 if not given; of a curator's noise, which is then a simulation
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Threads; as many as there are processors if not given. The model does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Megabytes in which reports are kept between passes; if they do not fit they are read again each time
    #[arg(long, value_name = "MB", default_value_t = 2048)]
    memory: usize,
    /// With --model auto: also how everything that was tried did
    #[arg(long)]
    explain: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    curator: CuratorWords,
}

/// What is learnt: linear scores with a loss, or averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Probabilities by softmax, cross-entropy
    Softmax,
    /// One logistic regression for each class against the rest
    Logistic,
    /// Multiclass hinge: margins, so that its probabilities are no chances
    Hinge,
    /// Least squares
    Linear,
    /// Averages over cells of public features
    Cells,
    /// Averages over the nearest people
    Neighbours,
    /// Averages over many random cells
    Forest,
    /// Whichever of a line, cells, neighbours and a forest does best on people who were kept aside
    Auto,
}

/// What a report is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Maximum likelihood: what the model makes of the report (softmax, logistic); the posterior in its stead if reports
    /// are so few that it finds nothing
    Likelihood,
    /// The unbiased label vector: the debiased loss, whose minimum is that of the true labels
    Debiased,
    /// A soft label: the posterior under even chances. Its probabilities are squeezed towards even ones
    Posterior,
    /// The truth, which it is not: for comparison
    Naive,
    /// The unbiased label vector, each report once and in order, the mean of all points: Algorithm 1 with steps that fit
    /// themselves to the gradients
    Sgd,
    /// Of copies in a survey: the hinge, smoothed
    #[value(name = "algorithm-4")]
    Algorithm4,
    /// Of copies in a survey: a mixture of absolute values
    #[value(name = "algorithm-5")]
    Algorithm5,
    /// Of copies in a survey: the slope of the loss itself
    Direct,
}

/// What came of it.
struct Learnt {
    kind: Kind,
    predictor: Predictor,
    /// What the reports were taken for, in the end
    method: String,
    l2: Option<f64>,
    /// Depth of cells, neighbours or people in a cell
    size: Option<u64>,
    /// Each λ or size that was tried, with its score
    tried: Vec<Tried>,
    /// How a model that was learnt from the others does on those who were kept aside
    judged: Option<Figures>,
    /// What else was tried, if the kind was not given
    candidates: Vec<Candidate>,
    coverage: Option<Coverage>,
    /// What was chosen, of a line
    options: Option<ErmOptions>,
}

impl Learnt {
    fn linear(kind: Kind, model: LinearModel, method: Method, l2: Option<f64>) -> Self {
        Self {
            kind,
            predictor: Predictor::Linear(model),
            method: name(&method),
            l2,
            size: None,
            tried: Vec::new(),
            judged: None,
            candidates: Vec::new(),
            coverage: None,
            options: None,
        }
    }
}

impl Train {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        self.check()?;
        if let Some(trust) = self.curator.trust {
            return self.run_curator(trust, out);
        }
        if self.label.is_none() && survey::is_asked(&self.reports[0])? {
            return self.run_survey(out);
        }
        self.refuse_copies()?;
        let origin = self.origin()?;
        if let Some(number) = origin.number() {
            return self.run_numbers(&origin, number, out);
        }
        let start = self.start.as_ref().map(|path| self.start(path, &origin)).transpose()?;
        let file = NewFile::create(&self.output, self.force)?;
        let encoder = match &start {
            Some(model) => model.encoder.clone(),
            None => fit_encoder(&origin, self.encoding())?,
        };
        let weights = start.as_ref().and_then(|model| match &model.predictor {
            Predictor::Linear(model) => Some(&model.weights),
            // Refused before
            Predictor::Number(_) | Predictor::Nonparametric(_) => None,
        });
        let learnt = self.learn(&origin, &encoder, weights)?;
        let simulation = origin.is_simulation() || start.as_ref().is_some_and(|m| m.training.simulation);
        let summary = Summary { simulation, ..self.summary(&origin, &encoder, &learnt) };
        self.save(&origin, encoder, learnt, start, file)?;
        if self.json { output::json(&summary, out) } else { summary.explain(&origin, self.explain, out) }
    }

    /// Whether the options go together.
    fn check(&self) -> Result<(), Usage> {
        let (method, model) = (self.method(), name(&self.kind()));
        if method == Method::Likelihood && !self.has_likelihood() {
            return Err(Usage::new(format!(
                "--method likelihood is for softmax and logistic, not for {model}"
            )));
        }
        self.check_averages()?;
        let given = [
            ("--l2", self.l2.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--start", self.start.is_some()),
        ];
        if let Some((option, _)) = given.iter().find(|(_, given)| method == Method::Sgd && *given) {
            return Err(Usage::new(format!("--method sgd has no use for {option}")));
        }
        new_file::refuse_input(&self.output, self.reports.iter().chain(&self.start))
    }

    /// Methods of surveys are none of labels.
    fn refuse_copies(&self) -> Result<(), Usage> {
        match self.method {
            Some(method @ (Method::Algorithm4 | Method::Algorithm5 | Method::Direct)) => {
                Err(Usage::new(format!("--method {} is for surveys that ask for copies", name(&method))))
            }
            _ => Ok(()),
        }
    }

    fn origin(&self) -> anyhow::Result<Origin> {
        let Some(label) = &self.label else { return Origin::reports(&self.reports) };
        let [table] = &self.reports[..] else {
            return Err(Usage::new("--label takes one table, not several").into());
        };
        match self.low.zip(self.high) {
            Some((low, high)) => {
                Origin::numbers(TableFile::open(table)?, label, NumberWords { low, high }, true)
            }
            None => Origin::labels(TableFile::open(table)?, label, None),
        }
    }

    fn encoding(&self) -> EncoderOptions {
        EncoderOptions {
            overrides: self.columns.clone(),
            buckets: self.buckets.get(),
            ..EncoderOptions::default()
        }
    }

    fn kind(&self) -> Kind {
        self.model.unwrap_or(Kind::Softmax)
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or_default()
    }

    fn method(&self) -> Method {
        let suitable = if self.has_likelihood() { Method::Likelihood } else { Method::Debiased };
        self.method.unwrap_or(suitable)
    }

    /// Whether the scores of the model are meant as probabilities.
    fn has_likelihood(&self) -> bool {
        matches!(self.kind(), Kind::Softmax | Kind::Logistic | Kind::Auto)
    }

    fn options(&self, rows: u64) -> ErmOptions {
        let batch = self.batch.get() as usize;
        ErmOptions {
            loss: self.kind().loss(),
            target: self.method().target(),
            l2: self.l2.unwrap_or_default(),
            epochs: self.epochs.map_or_else(|| default_epochs(rows, batch), NonZeroU32::get),
            batch,
            radius: self.radius,
            seed: self.seed(),
            threads: self.threads,
            ..ErmOptions::default()
        }
    }

    /// Everybody, in memory if they fit; one pass has nothing to come back to.
    fn people<'a>(&self, origin: &'a Origin, encoder: &'a Encoder) -> People<'a> {
        let memory = if self.method() == Method::Sgd { 0 } else { self.memory.saturating_mul(1 << 20) };
        People::new(origin, encoder, memory)
    }

    /// From these people, who are all or some of the origin's.
    fn learn_from(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
        start: Option<&Weights>,
    ) -> anyhow::Result<Learnt> {
        match (self.kind(), self.kind().average()) {
            (Kind::Auto, _) => self.best(origin, encoder, people),
            (_, Some(average)) => self.averages(origin, people, average),
            (_, None) => self.scores(origin, encoder, people, start),
        }
    }

    /// Scores that are linear in the features.
    fn scores(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
        start: Option<&Weights>,
    ) -> anyhow::Result<Learnt> {
        let kind = if self.kind() == Kind::Auto { Kind::Softmax } else { self.kind() };
        let (features, classes) = (encoder.width(), origin.classes().len());
        let options = self.options(origin.len());
        let bar = progress_bar(0);
        let report = |seen: Progress| {
            bar.set_length(seen.of);
            bar.set_position(seen.rows);
        };
        let learnt = match self.l2 {
            _ if self.method() == Method::Sgd => {
                let model = self.one_pass(people, features, classes)?;
                Learnt::linear(kind, model, self.method(), None)
            }
            Some(l2) => {
                let model = fit(people, features, classes, &options, start, report)?;
                Learnt::linear(kind, model, self.method(), Some(l2))
            }
            None => {
                let Fitted { model, target, l2, learning_rate, tried, judged } =
                    fit_choosing_l2(people, features, classes, &options, start, report)?;
                let judged = Some(Evaluation::of(&judged, &mut Those::held_out(people))?.figures()?);
                let soft = matches!(target, Target::Posterior(_));
                let method = if soft { Method::Posterior } else { self.method() };
                let tried = Tried::penalties(&tried);
                let options = Some(ErmOptions { target, l2, learning_rate, ..options });
                Learnt { tried, judged, options, ..Learnt::linear(kind, model, method, Some(l2)) }
            }
        };
        bar.finish_and_clear();
        Ok(learnt)
    }

    /// Each report once, in order.
    fn one_pass(
        &self,
        people: &mut dyn Source,
        features: usize,
        classes: usize,
    ) -> anyhow::Result<LinearModel> {
        let mut learner =
            OnlineLinear::new(features, classes, self.kind().loss(), Step::default(), self.radius)?;
        people.pass(&mut |block| {
            let reports = block.rows.iter().zip(block.unbiased.iter());
            reports.for_each(|(row, label)| learner.observe(row, label));
            Ok(())
        })?;
        Ok(learner.model()?)
    }

    fn summary<'a>(&self, origin: &'a Origin, encoder: &Encoder, learnt: &Learnt) -> Summary<'a> {
        Summary {
            model: name(&learnt.kind),
            label: origin.label(),
            classes: origin.classes().len(),
            reports: origin.len(),
            epsilon: origin.tasks().first().map(|task| task.mechanism.level()),
            features: encoder.width(),
            method: learnt.method.clone(),
            l2: learnt.l2,
            size: learnt.size,
            tried: learnt.tried.clone(),
            candidates: learnt.candidates.clone(),
            held_out_accuracy: learnt.judged.as_ref().map(|figures| figures.accuracy),
            held_out_log_loss: learnt.judged.as_ref().map(|figures| figures.log_loss),
            simulation: origin.is_simulation(),
            classes_from_labels: origin.has_classes_from_labels(),
            may_ask_twice: origin.may_ask_twice(),
            coverage: learnt.coverage.as_ref().map(coverage::Told::new),
            output: self.output.display().to_string(),
        }
    }

    fn save(
        &self,
        origin: &Origin,
        encoder: Encoder,
        learnt: Learnt,
        start: Option<Model>,
        file: NewFile,
    ) -> anyhow::Result<()> {
        let mut training = Training {
            reports: origin.len(),
            method: learnt.method,
            l2: learnt.l2,
            seed: self.seed(),
            simulation: origin.is_simulation(),
            parts: origin.parts(),
            expected: None,
            curator: None,
        };
        let mut tasks: Vec<Task> = origin.tasks().into_iter().cloned().collect();
        // What it started from was learnt from somebody's reports too.
        if let Some(start) = start {
            training.simulation |= start.training.simulation;
            let others = start.training.parts.into_iter().filter(|part| !training.parts.contains(part));
            let others: Vec<String> = others.collect();
            training.parts.extend(others);
            // With true labels there is no promise left to speak of, whatever it started from.
            if self.label.is_none() {
                tasks.extend(start.tasks);
            }
        }
        let about = (origin.label().to_owned(), origin.classes().to_vec());
        let model = Model::new(about, tasks, encoder, learnt.predictor, training);
        self.write(&model.covering(learnt.coverage), file)
    }

    fn write(&self, model: &Model, mut file: NewFile) -> anyhow::Result<()> {
        let written = file.write_all(model.to_json()?.as_bytes());
        written.with_context(|| format!("{} cannot be written", self.output.display()))?;
        file.keep()?;
        Ok(())
    }

    /// Reads the model to start from, which has to be about the same question and to be no less private.
    fn start(&self, path: &Path, origin: &Origin) -> anyhow::Result<Model> {
        let model = model_file::read(path)?;
        model_file::same_question(&model, origin).with_context(|| path.display().to_string())?;
        ensure!(
            self.label.is_some() || !model.tasks.is_empty(),
            "{} was learnt from true labels without privacy; what starts from it would tell about them",
            path.display()
        );
        ensure!(
            matches!(model.predictor, Predictor::Linear(_)),
            "{} holds averages over people who are alike: a line cannot start from them",
            path.display()
        );
        Ok(model)
    }
}

/// The word for a choice.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Kind {
    /// Of the line, where one is learnt.
    fn loss(self) -> Loss {
        match self {
            Self::Softmax | Self::Cells | Self::Neighbours | Self::Forest | Self::Auto => Loss::Softmax,
            Self::Logistic => Loss::Logistic,
            Self::Hinge => Loss::Hinge,
            Self::Linear => Loss::Squared,
        }
    }
}

impl Method {
    fn target(self) -> Target {
        match self {
            Self::Likelihood => Target::Likelihood,
            Self::Debiased | Self::Sgd => Target::Unbiased,
            Self::Posterior => Target::Posterior(None),
            // The others are of surveys, and refused.
            Self::Naive | Self::Algorithm4 | Self::Algorithm5 | Self::Direct => Target::Naive,
        }
    }
}
