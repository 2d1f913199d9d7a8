//! A curator, who has a table of true labels, releases a private model of them.
//!
//! Under `label-central` the features are public and decide about the cells; under `full-central` the domain and the number of rows
//! do, and every cell answers. Nothing is measured on the labels beside what is released: it would cost more than ε.

use super::domain::{self, Domain};
use super::{Kind, Train, coverage, name};
use crate::commands::privatize::classes;
use crate::exit::Usage;
use crate::new_file::NewFile;
use crate::people::{Origin, fit_encoder};
use crate::tables::TableFile;
use crate::{arguments, output, randomness};
use anyhow::{Context, anyhow};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rand_chacha::ChaCha12Rng;
use serde::Serialize;
use std::io::{self, Write};
use undertone_learn::features::Encoder;
use undertone_learn::held_out::Those;
use undertone_learn::nonparametric::central::{
    ClassRelease, Clipping, Design, FullNumbers, Learnt, calibrate_intervals, calibrate_sets,
    release_classes, release_numbers,
};
use undertone_learn::nonparametric::{CellModel, Coverage, NonparametricModel, Output, TrustModel, rates};
use undertone_learn::{Curator, Examples, LearnError, Model, NumberPredictor, Predictor, Training};
use undertone_privacy::Epsilon;
use undertone_privacy::number::Bounds;
use undertone_report::NumberWords;

/// What a curator says beforehand.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "A curator, who has true labels and releases a private model of them")]
pub(super) struct CuratorWords {
    /// With --label: what is private, labels (label-central) or whole records (full-central); whoever runs this is trusted with them
    #[arg(long, value_name = "TRUST", value_parser = trusts())]
    pub(super) trust: Option<TrustModel>,
    /// ε, the promise for the change of one label, or of one record
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true, requires = "trust")]
    epsilon: Option<Epsilon>,
    /// All values that the label can have: a file with one on each line, or a list with commas
    #[arg(long, value_name = "FILE|LIST", requires = "trust", conflicts_with_all = ["low", "high"])]
    classes: Option<String>,
    /// Where a private column lies, such as `age=0..100` or `town=Ely|Bath`; of full-central, whose other columns are not looked at
    #[arg(long, value_name = "NAME=CELLS", value_delimiter = ',', requires = "trust")]
    domain: Vec<Domain>,
    /// h, the width of cells along features on [0, 1]; what the theory suggests if not given
    #[arg(long, value_name = "H", value_parser = arguments::number, allow_hyphen_values = true, requires = "trust")]
    width: Option<f64>,
    /// The label is a number without bounds: the order p of a moment that is bounded, at least 2
    #[arg(long, value_name = "P", value_parser = arguments::number, allow_hyphen_values = true)]
    #[arg(requires_all = ["trust", "moment"], conflicts_with_all = ["low", "classes"])]
    order: Option<f64>,
    /// The bound on E|label|^p, which must not come from the table; decides where labels are clipped
    #[arg(long, value_name = "M", value_parser = arguments::number, allow_hyphen_values = true, requires = "order")]
    moment: Option<f64>,
}

fn trusts() -> impl TypedValueParser<Value = TrustModel> {
    let central = [TrustModel::LabelCentral, TrustModel::FullCentral];
    PossibleValuesParser::new(central.map(TrustModel::name))
        .try_map(|name| TrustModel::named(&name).context("no such model of trust"))
}

/// What was released and under which promise, for machines.
#[derive(Serialize)]
struct Summary<'a> {
    model: &'static str,
    trust: TrustModel,
    /// Who has to be trusted with what
    needs: &'static str,
    epsilon: f64,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<NumberWords>,
    people: u64,
    features: usize,
    /// Cells, whether or not they answer for themselves
    cells: usize,
    method: &'static str,
    #[serde(flatten)]
    coverage: Option<coverage::Told>,
    simulation: bool,
    classes_from_labels: bool,
    output: String,
}

/// A model and how it was released.
struct Released {
    model: CellModel,
    method: &'static str,
    coverage: Option<Coverage>,
    clipped: u64,
}

/// Everything that decides about a release but for the people.
struct Release<'a> {
    trust: TrustModel,
    epsilon: Epsilon,
    learnt: Learnt,
    number: Option<NumberWords>,
    words: &'a CuratorWords,
    coverage: Option<f64>,
}

impl Train {
    pub(super) fn run_curator(&self, trust: TrustModel, out: &mut impl Write) -> anyhow::Result<()> {
        let epsilon = self.check_curator(trust)?;
        let origin = self.curator_origin(epsilon)?;
        let file = NewFile::create(&self.output, self.force)?;
        let encoder = match trust {
            TrustModel::FullCentral => domain::encoder(&self.curator.domain)?,
            _ => fit_encoder(&origin, self.encoding())?,
        };
        let learnt = match (self.curator.order, origin.number()) {
            (Some(order), _) => Learnt::Heavy(order),
            (None, Some(_)) => Learnt::Number,
            (None, None) => Learnt::Classes(origin.classes().len() as u32),
        };
        let release = Release {
            trust,
            epsilon,
            learnt,
            number: origin.number(),
            words: &self.curator,
            coverage: self.coverage,
        };
        let mut rng = randomness::generator(self.seed)?;
        let released = self.release(&release, &origin, &encoder, &mut rng)?;
        tell_curator(&released, self.seed.is_some());
        let summary = self.curator_summary(&release, &origin, &encoder, &released);
        self.write(&self.curator_model(&release, &origin, encoder, released), file)?;
        if self.json { output::json(&summary, out) } else { summary.explain(out) }
    }

    /// Whether the options go together.
    fn check_curator(&self, trust: TrustModel) -> Result<Epsilon, Usage> {
        let (name_of, words) = (trust.name(), &self.curator);
        if self.label.is_none() {
            return Err(Usage::new(format!(
                "--trust {name_of} is for a curator who has a table of true labels, named by --label: reports come from devices, \
                 which trust nobody"
            )));
        }
        if let Some(kind) = self.model.filter(|&kind| kind != Kind::Cells) {
            return Err(Usage::new(format!("--trust {name_of} releases cells, not --model {}", name(&kind))));
        }
        if trust == TrustModel::FullCentral && words.domain.is_empty() {
            return Err(Usage::new(
                "--trust full-central needs --domain: where private columns lie must not come from the table",
            ));
        }
        if trust != TrustModel::FullCentral && !words.domain.is_empty() {
            return Err(Usage::new(format!("--domain is for --trust full-central, not for {name_of}")));
        }
        let numbers = self.low.is_some() || words.order.is_some();
        if trust == TrustModel::FullCentral && self.coverage.is_some() && !numbers {
            return Err(Usage::new(
                "--coverage: under full-central a cell says one class and no probabilities, of which sets are made",
            ));
        }
        words.epsilon.ok_or_else(|| Usage::new(format!("--trust {name_of} needs --epsilon")))
    }

    /// The table, of which only columns with a domain are read where there are any.
    fn curator_origin(&self, epsilon: Epsilon) -> anyhow::Result<Origin> {
        let label = self.label.as_deref().context("--label is needed")?;
        let [path] = &self.reports[..] else {
            return Err(Usage::new("--label takes one table, not several").into());
        };
        let words = &self.curator;
        let columns = domain::columns(&words.domain);
        let table = if columns.is_empty() {
            TableFile::open(path)?
        } else {
            let names = columns.iter().map(|column| column.name.as_str()).chain([label]);
            TableFile::open_as(path, &columns)?.select(names)?
        };
        let heavy = words.order.zip(words.moment).map(|(order, moment)| {
            // The T of all people together, beyond which no cell of theirs needs to look
            rates::central_clip(order, moment, table.rows().max(1) as f64, epsilon.get())
        });
        match (heavy, self.low.zip(self.high)) {
            (Some(clip), _) if !(clip > 0.0 && clip.is_finite()) => {
                Err(Usage::new("--order has to be at least 2 and --moment positive, both finite").into())
            }
            (Some(clip), _) => Origin::numbers(table, label, NumberWords { low: -clip, high: clip }, false),
            (None, Some((low, high))) => Origin::numbers(table, label, NumberWords { low, high }, false),
            (None, None) => {
                let classes = words.classes.as_deref().map(classes::given).transpose()?;
                Origin::labels(table, label, classes.as_deref())
            }
        }
    }

    fn release(
        &self,
        release: &Release<'_>,
        origin: &Origin,
        encoder: &Encoder,
        rng: &mut ChaCha12Rng,
    ) -> anyhow::Result<Released> {
        let mut people = self.people(origin, encoder);
        let (learning, aside) = if release.coverage.is_some() {
            let learning = self.gather(&mut Those::others(&mut people))?;
            (learning, Some(self.gather(&mut Those::held_out(&mut people))?))
        } else {
            (self.gather(&mut people)?, None)
        };
        drop(people);
        let mut released = match release.number {
            None => release.classes(&learning, rng)?,
            Some(_) => release.numbers(&learning, rng)?,
        };
        if let (Some(share), Some(aside)) = (release.coverage, aside) {
            released.coverage = Some(release.calibrate(&released.model, &aside, share, rng)?);
        }
        Ok(released)
    }

    fn curator_summary<'a>(
        &self,
        release: &Release<'_>,
        origin: &'a Origin,
        encoder: &Encoder,
        released: &Released,
    ) -> Summary<'a> {
        let partition = released.model.partition();
        Summary {
            model: "cells",
            trust: release.trust,
            needs: needs(release.trust),
            epsilon: release.epsilon.get(),
            label: origin.label(),
            classes: release.number.is_none().then(|| origin.classes().len()),
            number: bounds_of(&released.model),
            people: origin.len(),
            features: encoder.width(),
            cells: partition.leaves().into_iter().filter(|&leaf| leaf).count(),
            method: released.method,
            coverage: released.coverage.as_ref().map(coverage::Told::new),
            simulation: self.seed.is_some(),
            classes_from_labels: release.number.is_none() && self.curator.classes.is_none(),
            output: self.output.display().to_string(),
        }
    }

    fn curator_model(
        &self,
        release: &Release<'_>,
        origin: &Origin,
        encoder: Encoder,
        released: Released,
    ) -> Model {
        let training = Training {
            reports: origin.len(),
            method: released.method.into(),
            l2: None,
            seed: self.seed.unwrap_or_default(),
            simulation: self.seed.is_some(),
            parts: Vec::new(),
            expected: None,
            curator: Some(Curator { trust: release.trust, epsilon: release.epsilon.get() }),
        };
        let (label, number) = (origin.label().to_owned(), bounds_of(&released.model));
        let cells = NonparametricModel::Cells(released.model);
        let model = if let Some(number) = number {
            let predictor = NumberPredictor::Nonparametric(cells);
            Model::of_number((label, number), Vec::new(), encoder, predictor, training)
        } else {
            let about = (label, origin.classes().to_vec());
            Model::new(about, Vec::new(), encoder, Predictor::Nonparametric(cells), training)
        };
        model.covering(released.coverage)
    }
}

impl Release<'_> {
    fn design(&self) -> Design {
        Design { learnt: self.learnt, epsilon: self.epsilon, width: self.words.width }
    }

    fn classes(&self, people: &Examples, rng: &mut ChaCha12Rng) -> anyhow::Result<Released> {
        let (labels, rows, epsilon) = (labels(people), &people.rows, self.epsilon);
        let Learnt::Classes(classes) = self.learnt else { return Err(anyhow!("a number has no classes")) };
        let design = self.design();
        let (model, method) = if self.trust == TrustModel::FullCentral {
            let grid = design.grid(domain::axes(&self.words.domain)?, people.len() as u64).map_err(usage)?;
            (grid.release_classes(rows, &labels, classes, false, epsilon, rng)?, "votes of all cells")
        } else {
            let cells = design.cells(rows).map_err(usage)?;
            // Sets need probabilities, which the counts have.
            let (how, method) = match self.coverage {
                None => (ClassRelease::Class, "exponential mechanism"),
                Some(_) => (ClassRelease::Counts, "noisy counts"),
            };
            (release_classes(cells, rows, &labels, classes, how, epsilon, rng)?, method)
        };
        Ok(Released { model, method, coverage: None, clipped: 0 })
    }

    fn numbers(&self, people: &Examples, rng: &mut ChaCha12Rng) -> anyhow::Result<Released> {
        let (numbers, rows, epsilon) = (people.numbers.values(), &people.rows, self.epsilon);
        let heavy = self.words.order.zip(self.words.moment);
        let number = self.number.context("classes have no bounds")?;
        let design = self.design();
        let ((model, clipped), method) = if self.trust == TrustModel::FullCentral {
            let n = people.len() as u64;
            let grid = design.grid(domain::axes(&self.words.domain)?, n).map_err(usage)?;
            let bounds = match heavy {
                Some((order, moment)) => {
                    let each = (n as f64 / f64::from(grid.cells())).max(1.0);
                    let clip = rates::central_clip(order, moment, each, epsilon.get());
                    Bounds::new(-clip, clip)?
                }
                None => number.bounds()?,
            };
            let how = FullNumbers::TwoSided;
            (grid.release_numbers(rows, numbers, bounds, how, epsilon, rng)?, "two-sided sums of all cells")
        } else {
            let clipping = match heavy {
                Some((order, bound)) => Clipping::Moment { order, bound },
                None => Clipping::Bounds(number.bounds()?),
            };
            let cells = design.cells(rows).map_err(usage)?;
            (release_numbers(cells, rows, numbers, clipping, epsilon, rng)?, "noisy sums")
        };
        Ok(Released { model, method, coverage: None, clipped })
    }

    /// On people whom the model was not learnt from, so that it costs no more than ε in all.
    fn calibrate(
        &self,
        model: &CellModel,
        aside: &Examples,
        share: f64,
        rng: &mut ChaCha12Rng,
    ) -> anyhow::Result<Coverage> {
        let (model, levels) = (NonparametricModel::Cells(model.clone()), (1.0 - share, coverage::DELTA));
        Ok(match model.output() {
            Output::Classes(_) => Coverage::Sets(calibrate_sets(
                &model,
                &aside.rows,
                &labels(aside),
                levels,
                self.epsilon,
                rng,
            )?),
            Output::Number { low, high } => Coverage::Intervals(calibrate_intervals(
                &model,
                &aside.rows,
                aside.numbers.values(),
                Bounds::new(low, high)?,
                levels,
                self.epsilon,
                rng,
            )?),
        })
    }
}

/// True labels of people whose labels are known.
fn labels(people: &Examples) -> Vec<u32> {
    people.unbiased.iter().map(|vector| vector.entries[0].0).collect()
}

/// A parameter that somebody has typed.
fn usage(error: LearnError) -> anyhow::Error {
    match error {
        LearnError::Parameter { .. } => Usage::new(error).into(),
        error => error.into(),
    }
}

fn bounds_of(model: &CellModel) -> Option<NumberWords> {
    match model.output() {
        Output::Number { low, high } => Some(NumberWords { low, high }),
        Output::Classes(_) => None,
    }
}

fn needs(trust: TrustModel) -> &'static str {
    match trust {
        TrustModel::FullCentral => "a curator who sees every record; the change of any one of them is hidden",
        _ => {
            "a curator who sees every true label; the change of any one of them is hidden, features are public"
        }
    }
}

/// What is for the curator's eyes, and no part of the release.
fn tell_curator(released: &Released, simulation: bool) {
    // Should the standard error be closed, the summary still tells what is released.
    if released.clipped > 0 {
        let _ = writeln!(
            io::stderr(),
            "note: {} labels were clipped; this number is for the curator alone, it is not private",
            released.clipped
        );
    }
    if simulation {
        let _ = writeln!(
            io::stderr(),
            "warning: with --seed the noise can be repeated: a simulation, without privacy"
        );
    }
}

impl Summary<'_> {
    fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { people, label, epsilon, cells, features, method, .. } = self;
        let what = match (self.classes, self.number) {
            (Some(classes), _) => format!("{classes} classes"),
            (None, Some(NumberWords { low, high })) => format!("a number from {low} to {high}"),
            (None, None) => String::new(),
        };
        writeln!(out, "{people} people's `{label}`, {what}, released under ε = {epsilon}")?;
        writeln!(out, "Trust: {}, {}", self.trust.name(), self.needs)?;
        if self.simulation {
            writeln!(out, "The noise was drawn from a seed: a simulation, without privacy")?;
        }
        if self.classes_from_labels {
            writeln!(out, "The set of classes was read from the labels: that a class occurs is not private")?;
        }
        writeln!(out, "Model: cells, {method}; {cells} cells, {features} features")?;
        if let Some(coverage) = &self.coverage {
            coverage.explain(out)?;
        }
        writeln!(
            out,
            "How good it is costs more to tell from the same labels: `undertone evaluate` with others does not"
        )?;
        writeln!(out, "\nWritten: {}", self.output)?;
        Ok(())
    }
}
