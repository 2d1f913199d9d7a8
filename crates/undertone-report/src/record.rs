//! What is asked of a whole record: a gradient, at the point where the learner stands.
//!
//! A device computes the gradient of the record's loss at a public point, randomizes it and sends that, and nothing of the
//! record itself. Everything that its noise is made of follows from these words: the ball of all gradients, hence every
//! scale. None of it is taken from a server.

use crate::collection::wrong;
use crate::{BallWords, CategoryWords, EncodingWords, FunctionalWords, Task, TaskError, maps};
use serde::{Deserialize, Serialize};
use undertone_privacy::gradient::{Huber, Logistic, Multinomial, RecordLoss, RecordModel, Weight, Weighting};
use undertone_privacy::vector::{VectorKind, VectorMechanism};
use undertone_privacy::{Delta, Epsilon, Guarantee, Mu};

/// The loss, and what bounds its gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordWords {
    /// What is minimised
    pub loss: LossWords,
    /// How records are weighted: `square`, `linear` or `clip`
    pub weights: String,
    /// R of the weights
    pub radius: f64,
    /// No coefficient leaves ± this
    pub bound: f64,
    /// How the response of a regression becomes a number of the order of one, by public constants
    #[serde(default, deserialize_with = "maps::optional", skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseWords>,
    /// The ball of all gradients and the noise on it, which follow from the rest
    #[serde(deserialize_with = "maps::one")]
    pub ball: BallWords,
    /// The share of people expected in each tier, for steps that weigh tiers by their noise; without it all count alike.
    /// Only right if people choose their tier independently of what their record says
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<Vec<f64>>,
    /// Linear functions of the parameters, each of which gets an interval
    #[serde(default, deserialize_with = "maps::many", skip_serializing_if = "Vec::is_empty")]
    pub functionals: Vec<FunctionalWords>,
}

/// A loss in the words of a document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossWords {
    /// Regression, with the scale of its errors
    Huber(#[serde(deserialize_with = "maps::one")] HuberWords),
    /// Of two classes
    Logistic,
    /// Of any number of classes, of which the last has no coefficients
    Multinomial,
}

/// The cut of a regression, and where the scale of its errors stays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HuberWords {
    /// c
    pub cut: f64,
    /// The scale is at least
    pub least_scale: f64,
    /// The scale is at most
    pub most_scale: f64,
}

/// y becomes (y - mean)·scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseWords {
    /// What becomes zero
    pub mean: f64,
    /// One over what becomes one
    pub scale: f64,
}

/// How a point moves with the reports, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlineWords {
    /// η of the steps η·(i + offset)^-α
    pub eta: f64,
    /// α
    pub alpha: f64,
    /// Reports by which the steps are ahead
    pub offset: u64,
    /// Reports before averaging begins
    pub burn_in: u64,
    /// A report may be made at a point that is so many reports old
    pub stale: u64,
    /// The least curvature at the optimum, as a plan has it: without it nobody can say whether a run has converged
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curvature: Option<f64>,
    /// s of the mean, which weighs the i-th point about like i^s: 0 unless it is given, and 3 forgets the start sooner
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decay: Option<f64>,
    /// Whether every other report goes to a second chain with half of the steps, by which a bias shows
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub two_chains: bool,
}

/// The largest η: no step overflows.
const MOST_ETA: f64 = 1e6;
/// The largest s of a mean that forgets.
const MOST_DECAY: f64 = 100.0;
/// The most reports that a point may be old: so many points are kept.
const MOST_STALE: u64 = 1 << 16;
/// The most numbers of all points that are kept. Each has one of its centre beside it, which takes a quarter of a gigabyte,
/// and half of that again for as long as a snapshot is written.
const MOST_KEPT: u64 = 1 << 24;

/// Shares that people write with a few digits sum to one within this.
pub const SHARES_TOLERANCE: f64 = 1e-6;

impl OnlineWords {
    pub(crate) fn check(&self) -> Result<(), TaskError> {
        if !(self.eta > 0.0 && self.eta <= MOST_ETA) {
            return wrong("learner", format!("has η = {}, not above 0 and at most {MOST_ETA}", self.eta));
        }
        if let Some(curvature) = self.curvature.filter(|m| !(*m > 0.0 && m.is_finite())) {
            return wrong("learner", format!("has the curvature {curvature}, which has to be positive"));
        }
        if let Some(decay) = self.decay.filter(|s| !(0.0..=MOST_DECAY).contains(s)) {
            return wrong("learner", format!("has the decay {decay}, not from 0 to {MOST_DECAY}"));
        }
        if self.two_chains && !(self.alpha > 0.5 && self.alpha < 1.0) {
            let problem =
                format!("has two chains, whose intervals need α between 1/2 and 1, not {}", self.alpha);
            return wrong("learner", problem);
        }
        if !(0.0..=1.0).contains(&self.alpha) {
            return wrong("learner", format!("has α = {}, which has to lie between 0 and 1", self.alpha));
        }
        if !(1..=MOST_STALE).contains(&self.stale) {
            return wrong("learner", format!("has stale = {}, not from 1 to {MOST_STALE}", self.stale));
        }
        match [("offset", self.offset), ("burn_in", self.burn_in)].into_iter().find(|(_, n)| *n > 1 << 53) {
            Some((name, n)) => wrong("learner", format!("has {name} = {n}, but at most 2^53 are counted")),
            None => Ok(()),
        }
    }
}

impl RecordWords {
    /// What devices compute, for the columns of `task`.
    pub fn model(&self, task: &Task) -> Result<RecordModel, TaskError> {
        let weight = Weight::ALL.into_iter().find(|weight| weight.name() == self.weights);
        let Some(weight) = weight else {
            let problem = format!("are `{}`, not square, linear or clip", self.weights);
            return Err(TaskError::Record { field: "weights", problem });
        };
        let loss = match self.loss {
            LossWords::Huber(HuberWords { cut, least_scale, most_scale }) => {
                RecordLoss::Huber(Huber::new(cut, least_scale, most_scale)?)
            }
            LossWords::Logistic => RecordLoss::Logistic(Logistic),
            LossWords::Multinomial => RecordLoss::Multinomial(Multinomial::new(task.labels())?),
        };
        let weighting = Weighting::new(weight, self.radius)?;
        Ok(RecordModel::new(loss, weighting, task.covariates()?, self.bound)?)
    }

    fn check_shares(&self, task: &Task) -> Result<(), TaskError> {
        let Some(shares) = &self.shares else { return Ok(()) };
        let tiers = task.collection.as_ref().map_or(0, |collection| collection.tiers.len());
        let sum: f64 = shares.iter().sum();
        let sound = shares.iter().all(|share| *share > 0.0) && (sum - 1.0).abs() <= SHARES_TOLERANCE;
        if sound && shares.len() == tiers {
            return Ok(());
        }
        let problem = format!("are {shares:?}, and have to be {tiers} numbers above zero that sum to one");
        Err(TaskError::Record { field: "shares", problem })
    }

    pub(crate) fn check(&self, task: &Task, level: f64) -> Result<(), TaskError> {
        let problem = |field, problem: String| Err(TaskError::Record { field, problem });
        let classes = task.classes.len();
        let fits = match self.loss {
            LossWords::Huber(_) => classes == 0,
            LossWords::Logistic => classes == 2,
            LossWords::Multinomial => classes > 1,
        };
        if !fits {
            return problem("loss", format!("does not go with {classes} classes"));
        }
        match (self.loss, self.response) {
            (LossWords::Huber(_), Some(ResponseWords { mean, scale }))
                if !(mean.is_finite() && scale.is_finite() && scale != 0.0) =>
            {
                return problem("response", format!("has mean {mean} and scale {scale}"));
            }
            (LossWords::Logistic | LossWords::Multinomial, Some(_)) => {
                return problem("response", "is there, but classes have none".into());
            }
            _ => {}
        }
        let words = &task.mechanism;
        if words.set_size.is_some() || words.top.is_some() || words.prior.is_some() {
            return problem("mechanism", "has parameters of a label mechanism".into());
        }
        if task.collection.is_none() {
            return problem("collection", "is missing: points come from a collector".into());
        }
        self.check_shares(task)?;
        self.check_functionals(task)?;
        let parameters = self.model(task)?.parameters() as u64;
        let stale = task.collection.as_ref().map_or(0, |collection| collection.learner.stale());
        if stale.saturating_mul(parameters) > MOST_KEPT {
            let numbers = format!("{stale} points of {parameters} parameters");
            return problem("learner", format!("keeps {numbers}, more than {MOST_KEPT} numbers in all"));
        }
        task.vector_mechanism(level).map(|_| ())
    }
}

impl Task {
    /// q: the constant, and the features that its public encoding makes of the columns.
    pub fn covariates(&self) -> Result<usize, TaskError> {
        let encoding =
            self.collection.as_ref().map(|collection| &collection.encoding[..]).unwrap_or_default();
        let width = |words: &EncodingWords| match words {
            EncodingWords::Number(stretch) => Ok(1 + usize::from(stretch.missing())),
            EncodingWords::Category(CategoryWords::Values { values, other, missing }) => {
                Ok(values.len() + usize::from(*other) + usize::from(*missing))
            }
            _ => Err(TaskError::Record {
                field: "encoding",
                problem: "of a private column is neither number nor values".into(),
            }),
        };
        let widths = encoding.iter().map(width).collect::<Result<Vec<_>, TaskError>>()?;
        Ok(1 + widths.into_iter().sum::<usize>())
    }

    /// What a device computes of a record.
    pub fn record_model(&self) -> Result<RecordModel, TaskError> {
        self.record.as_ref().ok_or(TaskError::NotRecords)?.model(self)
    }

    /// The promise at a level, ε or μ.
    pub fn promise_at(&self, level: f64) -> Result<Guarantee, TaskError> {
        let words = &self.mechanism;
        Ok(match (words.epsilon, words.delta, words.mu) {
            (Some(_), None, None) if words.kind == VectorKind::DiscreteGaussian.name() => {
                return Err(TaskError::Record {
                    field: "mechanism",
                    problem: "discrete-gaussian promises ρ, which no task can say; gdp is as good".into(),
                });
            }
            (Some(_), None, None) => Guarantee::Pure(Epsilon::new(level)?),
            (Some(_), Some(delta), None) => Guarantee::Approximate(Epsilon::new(level)?, Delta::new(delta)?),
            (None, None, Some(_)) => Guarantee::Gaussian(Mu::new(level)?),
            _ => {
                let problem = "needs epsilon, or epsilon and delta, or mu".into();
                return Err(TaskError::Record { field: "mechanism", problem });
            }
        })
    }

    /// The mechanism of the people who have chosen this level, on the ball that holds every gradient.
    pub fn vector_mechanism(&self, level: f64) -> Result<VectorMechanism, TaskError> {
        let known = VectorKind::ALL.into_iter().filter(|kind| kind.is_device_safe());
        let kind = known.clone().find(|kind| kind.name() == self.mechanism.kind);
        let kind = kind.ok_or_else(|| TaskError::UnknownMechanism {
            kind: self.mechanism.kind.clone(),
            known: known.map(VectorKind::name).collect::<Vec<_>>().join(", "),
        })?;
        let ball = self.record_model()?.ball()?.ball;
        let mechanism = VectorMechanism::new(kind, ball, self.promise_at(level)?)?;
        if mechanism.fits_a_report() {
            return Ok(mechanism);
        }
        let problem = format!("{} at {level} has more noise than the integers of a report hold", kind.name());
        Err(TaskError::Record { field: "mechanism", problem })
    }
}
