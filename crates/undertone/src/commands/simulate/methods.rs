//! The methods that can be compared: a mechanism, and what is made of its reports.

use super::averages::{auto, averaged};
use super::comparison::Promise;
use super::data::Data;
use super::interactive::interactive;
use super::networks::{network, network_stages};
use super::represented::{represented, represented_stages};
use super::staged::{stages, with_clusters};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_learn::convex::{ConvexLoss, LinearLoss};
use undertone_learn::labels::{Channel, LabelVectors};
use undertone_learn::linear::{
    ErmOptions, LinearModel, OnlineLinear, Step, Target, default_epochs, fit_choosing_l2,
};
use undertone_learn::loss::Loss;
use undertone_learn::networks::NetKind;
use undertone_learn::nonparametric::Average;
use undertone_learn::stages::Trust;
use undertone_learn::{Examples, LearnError, Predictor};
use undertone_privacy::Epsilon;
use undertone_privacy::label::{Label, LabelKind, LabelMechanism, LabelRandomizer, ReportColumn};

/// A method by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Method {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    /// Many passes over reports, with a λ that is chosen from them
    Erm(Mechanism, Loss, Taken),
    /// One pass, each report once, the mean of all points, with steps that fit themselves to the gradients
    Online(Mechanism),
    /// The same within a ball, with the constant step that is made for it
    Published(LabelKind),
    /// So many stages
    Stages(usize, Staging),
    /// The same as published, with priors of clusters, which a curator counts labels for, in the first
    Clusters(usize),
    /// Each device randomizes its own gradient at the current point
    Interactive(Noise),
    /// The best mechanism, averages over people who are alike
    Averages(Average),
    /// The best mechanism, what public features tell by themselves
    Representation,
    /// The same in two stages
    RepresentedStages,
    /// A network
    Network(Mechanism, NetKind, Taken),
    /// A network in so many stages, as published
    NetworkStages(usize, NetKind),
    /// The best mechanism, and what a line, averages and a representation make together, as those who were kept aside find likeliest
    Auto,
}

#[derive(Clone, Copy, Debug)]
enum Mechanism {
    Best,
    Kind(LabelKind),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    Likelihood,
    Debiased,
    Posterior,
    Naive,
}

/// What later stages are asked for, and what is made of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Staging {
    /// The truth as often as possible, believed
    Published,
    /// The same, by likelihood
    Right,
    /// What tells the most, by likelihood
    Telling,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Noise {
    /// On the span of the gradients, (ε, 10^-6)
    Normal,
    /// The codebook, pure ε
    Vector,
}

/// The weights of published one-pass methods stay within this distance of zero, and their steps are made for it.
pub(super) const RADIUS: f64 = 10.0;

const fn method(name: &'static str, about: &'static str, how: How) -> Method {
    Method { name, about, how }
}

/// All of them. A new one is one line.
pub(super) const ALL: [Method; 35] = {
    use LabelKind::{BitsPaper, Rr};
    use Loss::{Hinge, Logistic, Softmax, Squared};
    use Mechanism::{Best, Kind};
    use NetKind::{Cnn, Mlp};
    use Taken::{Debiased, Likelihood, Naive, Posterior};
    [
        method("default", "half first, then what tells most; likelihood", How::Stages(2, Staging::Telling)),
        method("one-round", "best mechanism, maximum likelihood", How::Erm(Best, Softmax, Likelihood)),
        method("debiased", "best mechanism, debiased loss", How::Erm(Best, Softmax, Debiased)),
        method("posterior", "best mechanism, posterior soft labels", How::Erm(Best, Softmax, Posterior)),
        method("logistic", "best mechanism, one against the rest", How::Erm(Best, Logistic, Likelihood)),
        method("hinge", "best mechanism, debiased hinge", How::Erm(Best, Hinge, Debiased)),
        method("linear", "best mechanism, debiased squares", How::Erm(Best, Squared, Debiased)),
        method("rr-likelihood", "randomized response, likelihood", How::Erm(Kind(Rr), Softmax, Likelihood)),
        method("rr-debiased", "randomized response, debiased loss", How::Erm(Kind(Rr), Softmax, Debiased)),
        method("rr-naive", "randomized response believed (LP-1ST)", How::Erm(Kind(Rr), Softmax, Naive)),
        method(
            "bits-debiased",
            "published bits, debiased loss",
            How::Erm(Kind(BitsPaper), Softmax, Debiased),
        ),
        method("subset-sgd", "best mechanism, one pass", How::Online(Best)),
        method("algorithm-1", "published bits, one pass, constant step in a ball", How::Published(BitsPaper)),
        method("lp-rr-sgd", "randomized response, one pass, constant step in a ball", How::Published(Rr)),
        method("two-stages", "best mechanism, then priors; likelihood", How::Stages(2, Staging::Right)),
        method(
            "three-stages",
            "best mechanism, then priors twice; likelihood",
            How::Stages(3, Staging::Right),
        ),
        method("lp-2st", "two stages as published", How::Stages(2, Staging::Published)),
        method("lp-3st", "three stages as published", How::Stages(3, Staging::Published)),
        method("clusters-1st", "priors from a curator's counts, then as published", How::Clusters(1)),
        method("clusters-2st", "the same in two stages", How::Clusters(2)),
        method("lp-normal-sgd", "Gaussian gradients, interactive, δ = 1e-6", How::Interactive(Noise::Normal)),
        method("vector-sgd", "codebook gradients, interactive", How::Interactive(Noise::Vector)),
        method("cells", "best mechanism, averages over cells", How::Averages(Average::Cells)),
        method("neighbours", "best mechanism, the nearest people", How::Averages(Average::Neighbours)),
        method(
            "forest",
            "best mechanism, many cells that reports tell apart",
            How::Averages(Average::Forest),
        ),
        method("planes", "best mechanism, a plane in each cell", How::Averages(Average::Planes)),
        method("representation", "best mechanism, what public features tell", How::Representation),
        method(
            "representation-2st",
            "half first, then what tells most; what public features tell",
            How::RepresentedStages,
        ),
        method("mlp", "best mechanism, dense layers, likelihood", How::Network(Best, Mlp, Likelihood)),
        method("mlp-1st", "dense layers, labels believed (LP-1ST)", How::NetworkStages(1, Mlp)),
        method("mlp-2st", "dense layers, half first (LP-2ST)", How::NetworkStages(2, Mlp)),
        method("cnn", "best mechanism, filters on images, likelihood", How::Network(Best, Cnn, Likelihood)),
        method("cnn-1st", "filters on images, labels believed (LP-1ST)", How::NetworkStages(1, Cnn)),
        method("cnn-2st", "filters on images, half first (LP-2ST)", How::NetworkStages(2, Cnn)),
        method("auto", "one-round, averages and representation, weighed by reports", How::Auto),
    ]
};

/// What can be chosen about stages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageOptions {
    pub(super) temperature: f64,
    pub(super) warm_start: bool,
    pub(super) filter: bool,
    pub(super) clusters: usize,
    pub(super) trust: Trust,
}

impl Default for StageOptions {
    fn default() -> Self {
        Self { temperature: 1.0, warm_start: false, filter: false, clusters: 50, trust: Trust::Local }
    }
}

impl Method {
    /// Whether it needs everybody as their features show them.
    pub(super) fn looks_at_features(&self) -> bool {
        matches!(self.how, How::Representation | How::RepresentedStages | How::Auto)
    }

    /// Whether its stages can start from the model before: what is solved for has no place to start from.
    pub(super) fn can_start(&self) -> bool {
        !matches!(self.how, How::RepresentedStages)
    }

    /// Whether there is anything for it to look at: for some only in one column of square images.
    pub(super) fn suits(&self, data: &Data) -> bool {
        match self.how {
            How::Network(_, kind, _) | How::NetworkStages(_, kind) => kind.suits(&data.encoder),
            _ => true,
        }
    }

    /// The method of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|method| method.name == name)
    }

    /// Whether somebody has to be trusted with true labels.
    pub(super) fn trust(&self) -> Trust {
        if matches!(self.how, How::Clusters(_)) { Trust::Central } else { Trust::Local }
    }

    /// What it learns from reports that others have gathered.
    pub(crate) fn learn(
        &self,
        reports: Examples,
        mechanism: &LabelMechanism,
        data: &Data,
        seed: u64,
    ) -> Result<Predictor, LearnError> {
        let second_moment = mechanism.covariance().worst_case_second_moment();
        self.how.learn(vec![reports], second_moment, data, seed)
    }

    /// Asks everybody, and learns from what they say.
    pub(crate) fn model(
        &self,
        data: &Data,
        promise: Promise,
        stage_options: &StageOptions,
        seed: u64,
    ) -> Result<Predictor, LearnError> {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        match (promise, self.how) {
            (Promise::None, how) => {
                let certain = Examples::certain(data.rows.clone(), data.labels.iter().copied());
                how.learn(vec![certain], 1.0, data, seed)
            }
            (
                Promise::Private(epsilon),
                How::Erm(mechanism, ..) | How::Online(mechanism) | How::Network(mechanism, ..),
            ) => {
                let mechanism = mechanism.built(data.classes as u32, epsilon)?;
                self.learn(reports(data, &mechanism, &mut rng)?, &mechanism, data, seed)
            }
            (Promise::Private(epsilon), How::Averages(_) | How::Representation | How::Auto) => {
                let mechanism = Mechanism::Best.built(data.classes as u32, epsilon)?;
                self.learn(reports(data, &mechanism, &mut rng)?, &mechanism, data, seed)
            }
            (Promise::Private(epsilon), How::Published(kind)) => {
                let mechanism = kind.mechanism(data.classes as u32, epsilon)?;
                self.learn(reports(data, &mechanism, &mut rng)?, &mechanism, data, seed)
            }
            (Promise::Private(epsilon), How::Stages(count, staging)) => {
                stages(data, epsilon, count, staging, stage_options, seed, &mut rng).map(Predictor::Linear)
            }
            (Promise::Private(epsilon), How::NetworkStages(count, kind)) => {
                network_stages(data, epsilon, count, kind, stage_options, seed, &mut rng)
            }
            (Promise::Private(epsilon), How::RepresentedStages) => {
                let model = represented_stages(data, epsilon, stage_options, &mut rng)?;
                Ok(Predictor::Represented(Box::new(model)))
            }
            (Promise::Private(epsilon), How::Clusters(count)) => {
                with_clusters(data, epsilon, count, stage_options, seed, &mut rng).map(Predictor::Linear)
            }
            (Promise::Private(epsilon), How::Interactive(noise)) => {
                interactive(data, epsilon, noise, &mut rng).map(Predictor::Linear)
            }
        }
    }
}

impl How {
    /// From reports that are there, of a mechanism whose worst second moment this is (1 for the truth), to a model;
    /// methods that ask while they learn fall back on the likelihood.
    fn learn(
        self,
        mut people: Vec<Examples>,
        second_moment: f64,
        data: &Data,
        seed: u64,
    ) -> Result<Predictor, LearnError> {
        let (features, classes) = (data.rows.width(), data.classes);
        Ok(Predictor::Linear(match self {
            Self::Averages(average) => return averaged(average, &people, classes, seed),
            Self::Representation | Self::RepresentedStages => return represented(&people, data),
            Self::Network(_, kind, taken) => return network(people, kind, taken, data, seed),
            Self::NetworkStages(_, kind) => return network(people, kind, Taken::Likelihood, data, seed),
            Self::Auto => return auto(people, data, seed),
            Self::Online(_) => one_pass(&people, data, Step::default(), None)?,
            Self::Published(_) => {
                let (labels, longest) = (classes as u32, data.rows.longest());
                let loss = LinearLoss::new(Loss::Softmax, labels, features + 1, longest, RADIUS)?;
                let steepness = loss.lipschitz() * (second_moment * data.labels.len() as f64).sqrt();
                one_pass(&people, data, Step::Constant(RADIUS / steepness), Some(RADIUS))?
            }
            Self::Erm(_, loss, taken) => {
                let options = options(loss, taken.target(), data, seed);
                fit_choosing_l2(&mut people, features, classes, &options, None, |_| ())?.model
            }
            Self::Stages(..) | Self::Clusters(_) | Self::Interactive(_) => {
                let likelihood = Self::Erm(Mechanism::Best, Loss::Softmax, Taken::Likelihood);
                return likelihood.learn(people, second_moment, data, seed);
            }
        }))
    }
}

/// Each report once, in order.
fn one_pass(
    people: &[Examples],
    data: &Data,
    step: Step,
    radius: Option<f64>,
) -> Result<LinearModel, LearnError> {
    let mut learner = OnlineLinear::new(data.rows.width(), data.classes, Loss::Softmax, step, radius)?;
    for block in people {
        block.rows.iter().zip(block.unbiased.iter()).for_each(|(row, label)| learner.observe(row, label));
    }
    learner.model()
}

pub(super) fn options(loss: Loss, target: Target, data: &Data, seed: u64) -> ErmOptions {
    let usual = ErmOptions::default();
    ErmOptions { loss, target, epochs: default_epochs(data.rows.len() as u64, usual.batch), seed, ..usual }
}

impl Taken {
    pub(super) fn target(self) -> Target {
        match self {
            Self::Likelihood => Target::Likelihood,
            Self::Debiased => Target::Unbiased,
            Self::Posterior => Target::Posterior(None),
            Self::Naive => Target::Naive,
        }
    }
}

impl Mechanism {
    fn built(self, classes: u32, epsilon: Epsilon) -> Result<LabelMechanism, LearnError> {
        Ok(match self {
            Self::Best => LabelMechanism::best(classes, epsilon)?,
            Self::Kind(kind) => kind.mechanism(classes, epsilon)?,
        })
    }
}

/// Everybody's device answers once.
pub(super) fn reports(
    data: &Data,
    mechanism: &LabelMechanism,
    rng: &mut ChaCha12Rng,
) -> Result<Examples, LearnError> {
    let labels: Vec<Label> = data.labels.iter().map(|&label| Label(label)).collect();
    let (mut column, channel) = (ReportColumn::new(), Channel::of_mechanism(mechanism));
    mechanism.randomize_column(&labels, &mut column, rng)?;
    let (mut unbiased, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
    for members in column.iter() {
        channel.push_unbiased(members, &[], &mut unbiased)?;
        channel.push_likelihood(members, &[], &mut likelihood)?;
    }
    Ok(Examples { rows: data.rows.clone(), unbiased, likelihood, ..Examples::default() })
}
