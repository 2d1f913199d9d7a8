//! From reports to a model.

mod auto;
mod averages;
mod coverage;
mod curator;
mod domain;
mod factors;
mod kind;
mod networks;
mod numbers;
mod representation;
mod scores;
mod summary;
mod survey;
mod written;

use crate::arguments;
use crate::exit::Usage;
use crate::new_file::{self, NewFile};
use crate::output;
use crate::people::{Origin, People, fit_encoder};
use crate::tables::{TableFile, Unlabelled};
use anyhow::Context;
use clap::ValueEnum;
use curator::CuratorWords;
use kind::{Kind, Method};
use networks::NetworkWords;
use scores::Learnt;
use std::io::Write;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use summary::{Candidate, Summary, Tried};
use undertone_learn::features::{Encoder, EncoderOptions, Override};
use undertone_learn::{Predictor, Source};
use undertone_report::NumberWords;

/// Learn a model from reports
///
/// REPORTS are files or directories that `privatize` has made; those of several stages may be named together. Step size,
/// regularisation and passes are chosen by the reports of people who are kept aside, one in eight, or of few people more in turn, unless --l2
/// is given. With
/// --label, a table with true labels is learnt from instead, without any privacy, to compare with. From reports about numbers a line is
/// learnt by least squares, with the penalty that does best on everybody in turn.
///
/// From the answers to a survey that explains a label, a logistic, hinge or linear model is learnt, whichever the survey asks for.
/// It comes with the risk that is expected of it, and where the best constant is expected to do better, that is the model.
///
/// Cells, neighbours, planes and forest believe in no line: they average reports of people who are alike. How alike is chosen by
/// reports of people who did not teach them. A representation is made of public features alone, neighbours and smooth functions of everybody, and reports say what
/// of it is true: for images, text and many columns. Auto tries all of them that --budget allows, and keeps what does best: of classes often several, which speak together.
///
/// Networks are trained until the reports of those who are kept aside become no likelier. Cnn and inception look at one column of square images, rating at two
/// categories. The network of a first stage is what the second asks with (`privatize --prior`) and starts from (--start).
///
/// With --trust, --label and --epsilon it is a curator who learns: from true labels, cells are released under a promise about the change
/// of one label, or of one whole record.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example:\n  undertone privatize nursery.csv.gz --label nursery --epsilon 1 -o reports.parquet\n  \
                        undertone train reports.parquet --model softmax -o model.json\n  \
                        undertone train reports.parquet --model auto --coverage 0.9 -o model.json\n  \
                        undertone train reports.parquet --model cnn --checkpoints folder -o model.json\n  \
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
    /// λ of the penalty λ/2·|W|²; of a line nothing is chosen then, and nobody kept aside, and of a network it is 1e-4 if not given, of ratings 1e-5
    #[arg(long, value_name = "LAMBDA", value_parser = arguments::penalty, allow_hyphen_values = true)]
    l2: Option<f64>,
    /// Passes over all reports; by default as many as make a few thousand steps. At most so many where those who are kept aside choose: of a network, and of a line unless --l2 is given
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
    /// Threads; if not given, as many as there are processors, and one for a line whose steps are too short to be shared. The model does not
    /// depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Megabytes: in which reports are kept between passes, or read again each time if they do not fit; 2048 if not given. And that a
    /// representation or a network may take, which is refused if it needs more; 8192 if not given
    #[arg(long, value_name = "MB")]
    memory: Option<usize>,
    /// With --model representation or auto: keep in this folder what is finished, which takes about as much room as memory. A run that was interrupted goes
    /// on, and other reports of the same people find what their features tell
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// With --model auto also how everything that was tried did, and what was not tried, and why; of a network how each epoch went, of a
    /// representation what reports chose at each step
    #[arg(long)]
    explain: bool,
    /// With --model auto: minutes that all that is tried beside a line is expected to take on one core of a usual machine; what takes least
    /// is tried first, and what does not fit any more is not
    #[arg(long, value_name = "MINUTES", value_parser = arguments::positive, default_value = "20")]
    budget: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    networks: NetworkWords,
    #[command(flatten)]
    curator: CuratorWords,
}

impl Train {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        self.limit_threads()?;
        if let Some(trust) = self.curator.trust {
            return self.run_curator(trust, out);
        }
        self.check()?;
        if self.label.is_none() && survey::is_asked(&self.reports[0])? {
            return self.run_survey(out);
        }
        self.refuse_copies()?;
        let origin = self.origin()?;
        origin.tell_left_out();
        if let Some(number) = origin.number() {
            return self.run_numbers(&origin, number, out);
        }
        if self.kind() == Kind::Factors {
            return Err(Usage::new(format!(
                "--model factors is for numbers, and `{}` has classes: privatize it with --low and --high",
                origin.label()
            ))
            .into());
        }
        let start = self.start.as_ref().map(|path| self.start(path, &origin)).transpose()?;
        let file = NewFile::create(&self.output, self.force)?;
        let encoder = match &start {
            Some(model) => model.encoder.clone(),
            None => fit_encoder(&origin, self.encoding(&origin))?,
        };
        let learnt = self.learn(&origin, &encoder, start.as_ref().map(|model| &model.predictor))?;
        let simulation = origin.is_simulation() || start.as_ref().is_some_and(|m| m.training.simulation);
        let summary = Summary { simulation, ..self.summary(&origin, &encoder, &learnt) };
        self.save(&origin, encoder, learnt, start, file)?;
        if self.json { output::json(&summary, out) } else { summary.explain(&origin, self.explain, out) }
    }

    /// Has no more threads work than were asked for, and no more than there are processors.
    fn limit_threads(&self) -> anyhow::Result<()> {
        if self.threads == 0 {
            return Ok(());
        }
        let useful = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.min(useful));
        pool.build_global().with_context(|| format!("{} threads cannot be started", self.threads))
    }

    /// Whether the options go together.
    fn check(&self) -> Result<(), Usage> {
        let (method, model) = (self.method(), name(&self.kind()));
        if method == Method::Likelihood && !self.has_likelihood() {
            return Err(Usage::new(format!(
                "--method likelihood is for softmax, logistic and networks, not for {model}"
            )));
        }
        self.check_averages()?;
        self.check_networks()?;
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
            Some((low, high)) => Origin::numbers(
                TableFile::open(table)?,
                label,
                NumberWords { low, high },
                true,
                Unlabelled::LeftOut,
            ),
            None => Origin::labels(TableFile::open(table)?, label, None, Unlabelled::LeftOut),
        }
    }

    fn encoding(&self, origin: &Origin) -> EncoderOptions {
        EncoderOptions {
            overrides: self.usual_columns(origin.columns()),
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
        matches!(self.kind(), Kind::Softmax | Kind::Logistic | Kind::Auto) || self.kind().network().is_some()
    }

    /// Everybody, in memory if they fit; one pass has nothing to come back to, and representations and networks keep them themselves.
    fn people<'a>(&self, origin: &'a Origin, encoder: &'a Encoder) -> People<'a> {
        let kept = self.kind() == Kind::Representation || self.kind().network().is_some();
        let once = self.method() == Method::Sgd || kept;
        People::new(origin, encoder, if once { 0 } else { self.reports_memory() })
    }

    /// Bytes for reports.
    fn reports_memory(&self) -> usize {
        self.memory.unwrap_or(2048).saturating_mul(1 << 20)
    }

    /// From these people, who are all or some of the origin's.
    fn learn_from(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
        start: Option<&Predictor>,
    ) -> anyhow::Result<Learnt> {
        let (network, line) = match start {
            Some(Predictor::Network(start)) => (Some(&**start), None),
            Some(Predictor::Linear(start)) => (None, Some(&start.weights)),
            // Nothing else is started from.
            _ => (None, None),
        };
        match (self.kind(), self.kind().average(), self.kind().network()) {
            (Kind::Auto, ..) => self.best(origin, encoder, people),
            (Kind::Representation, ..) => self.representation(origin, encoder, people),
            (_, Some(average), _) => self.averages(origin, people, average),
            (_, _, Some(kind)) => self.network(kind, origin, encoder, people, network),
            (_, None, None) => self.scores(origin, encoder, people, line),
        }
    }
}

/// The word for a choice.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
