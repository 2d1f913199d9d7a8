//! A curator, who has a table of true labels, releases a private model of them.
//!
//! Under `label-central` the features are public and decide about the cells; under `full-central` the domain and the number of rows
//! do, and every cell answers. Nothing is measured on the labels beside what is released: it would cost more than ε.

mod refusals;
mod release;
mod told;

use super::Train;
use super::domain::{self, Domain};
use crate::commands::privatize::classes;
use crate::new_file::NewFile;
use crate::people::{Origin, fit_encoder};
use crate::tables::{TableFile, Unlabelled};
use crate::{arguments, output, randomness};
use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rand_chacha::ChaCha12Rng;
use release::{Release, Released};
use std::io::Write;
use std::path::Path;
use told::{bounds_of, tell_curator};
use undertone_learn::features::Encoder;
use undertone_learn::held_out::Those;
use undertone_learn::nonparametric::central::Learnt;
use undertone_learn::nonparametric::{NonparametricModel, TrustModel, rates};
use undertone_learn::{Curator, Model, NumberPredictor, Predictor, Training};
use undertone_privacy::Epsilon;
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

impl Train {
    pub(super) fn run_curator(&self, trust: TrustModel, out: &mut impl Write) -> anyhow::Result<()> {
        let (epsilon, table) = self.check_curator(trust)?;
        let origin = self.curator_origin(table, epsilon)?;
        let file = NewFile::create(&self.output, self.force)?;
        let encoder = match trust {
            TrustModel::FullCentral => domain::encoder(&self.curator.domain)?,
            _ => fit_encoder(&origin, self.encoding(&origin))?,
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

    /// The table, of which only columns with a domain are read where there are any.
    fn curator_origin(&self, path: &Path, epsilon: Epsilon) -> anyhow::Result<Origin> {
        let label = self.label.as_deref().context("--label is needed")?;
        let words = &self.curator;
        // A list that is none is refused before the table is looked at.
        let classes = words.classes.as_deref().map(classes::given).transpose()?;
        let columns = domain::columns(&words.domain);
        let table = if columns.is_empty() {
            TableFile::open(path)?
        } else {
            let table = TableFile::open_as(path, &columns)?;
            let names = columns.iter().map(|column| column.name.as_str());
            domain::check_columns(names.clone(), &table)?;
            table.select(names.chain([label]))?
        };
        let heavy = words.order.zip(words.moment).map(|(order, moment)| {
            // The T of all people together, beyond which no cell of theirs needs to look
            rates::central_clip(order, moment, table.rows().max(1) as f64, epsilon.get())
        });
        match (heavy, self.low.zip(self.high)) {
            (Some(clip), _) => Origin::numbers(
                table,
                label,
                NumberWords { low: -clip, high: clip },
                false,
                Unlabelled::Refused,
            ),
            (None, Some((low, high))) => {
                Origin::numbers(table, label, NumberWords { low, high }, false, Unlabelled::Refused)
            }
            (None, None) => Origin::labels(table, label, classes.as_deref(), Unlabelled::Refused),
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
