//! Methods that ask in stages, where what was learnt decides about what is asked next.

use super::data::Data;
use super::methods::{StageOptions, Staging, Taken, options};
use rand_chacha::ChaCha12Rng;
use undertone_learn::linear::{LinearModel, fit_choosing_l2};
use undertone_learn::loss::Loss;
use undertone_learn::stages::{Answering, ClusterPriors, Clusters, First, MultiStage, Trainer};
use undertone_learn::{LearnError, Source};
use undertone_privacy::label::{Label, LabelKind, LabelMechanism, LabelSet};
use undertone_privacy::{Epsilon, Randomizer};

/// The share of ε for counting labels in clusters.
const PRIOR_SHARE: f64 = 0.1;

/// Fits a softmax model to whatever it is given.
struct Softmax<'a> {
    data: &'a Data,
    taken: Taken,
    seed: u64,
}

impl Trainer for Softmax<'_> {
    type Model = LinearModel;

    fn train(
        &self,
        _: &[u64],
        examples: &mut dyn Source,
        start: Option<&LinearModel>,
    ) -> Result<LinearModel, LearnError> {
        let options = options(Loss::Softmax, self.taken.target(), self.data, self.seed);
        let (features, classes) = (self.data.rows.width(), self.data.classes);
        let start = start.map(|model| &model.weights);
        Ok(fit_choosing_l2(examples, features, classes, &options, start, |_| ())?.model)
    }
}

/// Stages, each of which asks its share of people.
pub(super) fn stages(
    data: &Data,
    epsilon: Epsilon,
    count: usize,
    staging: Staging,
    options: &StageOptions,
    seed: u64,
    rng: &mut ChaCha12Rng,
) -> Result<LinearModel, LearnError> {
    let classes = data.classes as u32;
    let fractions = vec![1.0 / count as f64; count];
    let subset = First::Alike(LabelKind::Subset);
    let plan = MultiStage { first: subset, ..MultiStage::debiased(classes, epsilon, &fractions) };
    let (plan, taken) = match staging {
        Staging::Published => (MultiStage::as_published(classes, epsilon, &fractions), Taken::Naive),
        Staging::Right => (plan, Taken::Likelihood),
        Staging::Telling => (MultiStage { answers: Answering::Telling, ..plan }, Taken::Likelihood),
    };
    run(data, options.apply(plan), &Softmax { data, taken, seed }, rng)
}

/// A curator counts labels in clusters for a tenth of ε; the rest is for everybody's own report.
pub(super) fn with_clusters(
    data: &Data,
    epsilon: Epsilon,
    count: usize,
    options: &StageOptions,
    seed: u64,
    rng: &mut ChaCha12Rng,
) -> Result<LinearModel, LearnError> {
    let of_counts = Epsilon::new(PRIOR_SHARE * epsilon.get())?;
    let of_reports = Epsilon::new(epsilon.get() - of_counts.get())?;
    let (classes, rows) = (data.classes as u32, std::slice::from_ref(&data.rows));
    let labels: Vec<Label> = data.labels.iter().map(|&label| Label(label)).collect();
    let clusters = Clusters::fit(rows, options.clusters)?;
    let prior = ClusterPriors::release(clusters, rows, &labels, classes, of_counts, rng)?;
    let fractions = vec![1.0 / count as f64; count];
    let plan = MultiStage::as_published(classes, of_reports, &fractions);
    let plan = options.apply(MultiStage { first: First::Prior(&prior), ..plan });
    run(data, plan, &Softmax { data, taken: Taken::Naive, seed }, rng)
}

impl StageOptions {
    pub(super) fn apply<'a>(&self, plan: MultiStage<'a>) -> MultiStage<'a> {
        let Self { temperature, warm_start, filter, trust, .. } = *self;
        MultiStage { temperature, warm_start, filter, trust, ..plan }
    }
}

/// The model of the last stage.
pub(super) fn run<T: Trainer>(
    data: &Data,
    plan: MultiStage<'_>,
    trainer: &T,
    rng: &mut ChaCha12Rng,
) -> Result<T::Model, LearnError> {
    let mut devices = |person: u64, mechanism: &LabelMechanism| -> Result<LabelSet, LearnError> {
        Ok(mechanism.randomize(&Label(data.labels[person as usize]), rng)?)
    };
    let mut staged = plan.run(std::slice::from_ref(&data.rows), &mut devices, trainer)?;
    staged.models.pop().ok_or(LearnError::NoReports)
}
