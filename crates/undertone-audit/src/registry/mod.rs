//! Every mechanism there is, as a trial.
//!
//! The program knows mechanisms by their kinds, and here each kind says how it is to be tried: [`Mechanism::face`] matches
//! on all of them without a catch-all, and [`Kind::all`] is made of the families' own lists. So a kind that the shared
//! suite and the auditor do not know does not compile into the program.

mod central;
mod extremes;
mod gradient;
mod label;
mod number;
mod public;
mod survey;
mod vector;

pub use gradient::{GradientKind, GradientTrial, Record};
pub use survey::SurveyKind;

use crate::Case;
use undertone_privacy::central::{
    CellVotes, CentralKind, ExponentialMechanism, FlooredMeans, NoisyHistogram, NoisySum, TwoSidedSums,
};
use undertone_privacy::label::{LabelKind, LabelMechanism};
use undertone_privacy::number::{Bounds, NumberKind, NumberMechanism};
use undertone_privacy::public::{GenProt, OneCoordinate, PublicKind, RejectionBit};
use undertone_privacy::survey::Survey;
use undertone_privacy::vector::{Ball, NoisyPoint, PublicPoints, STEPS, VectorKind, VectorMechanism};
use undertone_privacy::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Randomizer, Rho, Unbiased};

/// A mechanism of any family by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the families have documentation of their own")]
pub enum Kind {
    Label(LabelKind),
    Number(NumberKind),
    Vector(VectorKind),
    /// Gaussian noise on one of some public points
    Point,
    /// The gradient of a whole record, from the record to the report
    Gradient(GradientKind, VectorKind),
    /// One question to everybody, from the record to the words
    Survey(SurveyKind),
    Public(PublicKind),
    Central(CentralKind),
}

impl Kind {
    /// All of them, family by family.
    pub fn all() -> impl Iterator<Item = Self> {
        let labels = LabelKind::ALL.into_iter().map(Self::Label);
        let numbers = NumberKind::ALL.into_iter().map(Self::Number);
        let vectors = VectorKind::ALL.into_iter().map(Self::Vector);
        let public = PublicKind::ALL.into_iter().map(Self::Public);
        let central = CentralKind::ALL.into_iter().map(Self::Central);
        let with_each =
            |loss: GradientKind| loss.mechanisms().iter().map(move |&kind| Self::Gradient(loss, kind));
        let gradients = GradientKind::ALL.into_iter().flat_map(with_each);
        let surveys = SurveyKind::ALL.into_iter().map(Self::Survey);
        let vectors = vectors.chain([Self::Point]).chain(gradients).chain(surveys);
        labels.chain(numbers).chain(vectors).chain(public).chain(central)
    }

    /// The family and the name in it.
    pub fn name(self) -> String {
        let (family, name) = match self {
            Self::Label(kind) => ("label", kind.name()),
            Self::Number(kind) => ("number", kind.name()),
            Self::Vector(kind) => ("vector", kind.name()),
            Self::Point => ("vector", "point"),
            Self::Gradient(loss, kind) => return format!("gradient {} {}", loss.name(), kind.name()),
            Self::Survey(kind) => ("survey", kind.name()),
            Self::Public(kind) => ("public", kind.name()),
            Self::Central(kind) => ("central", kind.name()),
        };
        format!("{family} {name}")
    }
}

/// What a mechanism is asked to promise and about what, where nobody has said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// The promise of mechanisms with a pure one, and with `delta` of those calibrated to (ε, δ).
    pub epsilon: Epsilon,
    /// δ
    pub delta: Delta,
    /// The promise of those that keep μ-GDP.
    pub mu: Mu,
    /// The promise of those that keep ρ-zCDP.
    pub rho: Rho,
    /// The classes of labels.
    pub classes: u32,
    /// Where numbers lie.
    pub bounds: Bounds,
    /// Where vectors lie.
    pub ball: Ball,
}

impl Setup {
    /// A usual collection under a pure promise of `epsilon`: ten classes, numbers from -1 to 1, vectors of the unit ball
    /// in three dimensions, δ = 10^-6, and μ and ρ that are `epsilon`, too.
    pub fn usual(epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Ok(Self {
            epsilon,
            delta: Delta::new(1e-6)?,
            mu: Mu::new(epsilon.get())?,
            rho: Rho::new(epsilon.get())?,
            classes: 10,
            bounds: Bounds::new(-1.0, 1.0)?,
            ball: Ball::new(3, 1.0)?,
        })
    }

    /// The promise that a vector mechanism is asked for.
    fn vector_promise(&self, kind: VectorKind) -> Guarantee {
        match kind {
            VectorKind::Gaussian => Guarantee::Approximate(self.epsilon, self.delta),
            VectorKind::Gdp => Guarantee::Gaussian(self.mu),
            VectorKind::DiscreteGaussian => Guarantee::Concentrated(self.rho),
            VectorKind::Laplace
            | VectorKind::L2Laplace
            | VectorKind::Duchi
            | VectorKind::PrivUnit
            | VectorKind::Codebook => Guarantee::Pure(self.epsilon),
        }
    }
}

/// A mechanism of any family, ready to run.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the families have documentation of their own")]
pub enum Mechanism {
    Label(LabelMechanism),
    Number(NumberMechanism),
    Vector(VectorMechanism),
    Point(NoisyPoint),
    Gradient(GradientTrial),
    Survey(Box<Survey>),
    RejectionBit(RejectionBit),
    GenProt(GenProt),
    OneCoordinate(OneCoordinate<NumberMechanism>),
    Exponential(ExponentialMechanism),
    Histogram(NoisyHistogram),
    CellVotes(CellVotes),
    CellSum(NoisySum),
    TwoSidedSums(TwoSidedSums),
    FlooredMeans(FlooredMeans),
}

/// The public strings of each person, where nobody has said how many.
pub const STRINGS: u32 = 8;

impl Mechanism {
    /// The mechanism of this kind under `setup`.
    pub fn new(kind: Kind, setup: &Setup) -> Result<Self, PrivacyError> {
        let Setup { epsilon, bounds, ball, .. } = *setup;
        Ok(match kind {
            Kind::Label(kind) => Self::Label(kind.mechanism(setup.classes, epsilon)?),
            Kind::Number(kind) => Self::Number(NumberMechanism::new(kind, bounds, epsilon)?),
            Kind::Vector(kind) => Self::Vector(VectorMechanism::new(kind, ball, setup.vector_promise(kind))?),
            Kind::Point => {
                let points = PublicPoints::Corners { labels: setup.classes, corner: STEPS };
                Self::Point(NoisyPoint::new(points, setup.mu)?)
            }
            Kind::Gradient(loss, kind) => Self::Gradient(loss.trial(kind, setup)?),
            Kind::Survey(kind) => Self::Survey(Box::new(kind.survey(setup)?)),
            Kind::Public(PublicKind::RejectionBit) => Self::RejectionBit(RejectionBit::new(bounds, epsilon)?),
            Kind::Public(PublicKind::GenProt) => Self::GenProt(GenProt::new(bounds, STRINGS, epsilon)?),
            Kind::Public(PublicKind::OneCoordinate) => {
                let number = NumberMechanism::best(bounds, epsilon)?;
                let dimension = u32::try_from(ball.dimension()).unwrap_or(u32::MAX);
                Self::OneCoordinate(OneCoordinate::new(dimension, number)?)
            }
            Kind::Central(kind) => Self::central(kind, setup)?,
        })
    }

    /// The central mechanism of this kind; of two cells, where there are cells.
    fn central(kind: CentralKind, setup: &Setup) -> Result<Self, PrivacyError> {
        let Setup { epsilon, bounds, classes, .. } = *setup;
        Ok(match kind {
            CentralKind::Exponential => Self::Exponential(ExponentialMechanism::new(epsilon)),
            CentralKind::Histogram => Self::Histogram(NoisyHistogram::new(epsilon)?),
            CentralKind::CellVotes => Self::CellVotes(CellVotes::new(central::CELLS, classes, epsilon)?),
            CentralKind::CellSum => Self::CellSum(NoisySum::new(bounds, epsilon)?),
            CentralKind::TwoSidedSums => {
                Self::TwoSidedSums(TwoSidedSums::new(central::CELLS, bounds, epsilon)?)
            }
            CentralKind::FlooredMeans => {
                Self::FlooredMeans(FlooredMeans::new(central::CELLS, bounds, central::FLOOR, epsilon)?)
            }
        })
    }

    /// Whether its reports are in floating point and must not leave a device.
    pub fn is_simulation_only(&self) -> bool {
        match self {
            Self::Vector(mechanism) => !mechanism.kind().is_device_safe(),
            Self::Gradient(trial) => trial.is_simulation_only(),
            _ => false,
        }
    }

    /// Brings the mechanism, under this name, before an examiner.
    pub fn face<E: Examiner>(&self, name: &str, examiner: &mut E) -> E::Finding {
        match self {
            Self::Label(mechanism) => examiner.unbiased(&label::case(name, mechanism)),
            Self::Number(mechanism) => examiner.unbiased(&number::case(name, mechanism)),
            Self::Vector(mechanism) => vector::face(name, mechanism, examiner),
            Self::Point(mechanism) => examiner.unbiased(&vector::point(name, mechanism)),
            Self::Gradient(trial) => trial.face(name, examiner),
            Self::Survey(survey) => examiner.plain(&survey::case(name, survey)),
            Self::RejectionBit(mechanism) => examiner.unbiased(&public::rejection_bit(name, mechanism)),
            Self::GenProt(mechanism) => examiner.unbiased(&public::gen_prot(name, mechanism)),
            Self::OneCoordinate(mechanism) => examiner.unbiased(&public::one_coordinate(name, mechanism)),
            Self::Exponential(mechanism) => examiner.plain(&central::exponential(name, mechanism)),
            Self::Histogram(mechanism) => examiner.unbiased(&central::histogram(name, mechanism)),
            Self::CellVotes(mechanism) => examiner.plain(&central::cell_votes(name, mechanism)),
            Self::CellSum(mechanism) => examiner.unbiased(&central::cell_sum(name, mechanism)),
            Self::TwoSidedSums(mechanism) => examiner.plain(&central::two_sided_sums(name, mechanism)),
            Self::FlooredMeans(mechanism) => examiner.plain(&central::floored_means(name, mechanism)),
        }
    }
}

/// Somebody who looks at mechanisms of any type: the suite, the auditor.
pub trait Examiner {
    /// What comes of it.
    type Finding;

    /// Looks at a mechanism without a decoder.
    fn plain<R: Randomizer>(&mut self, case: &Case<R>) -> Self::Finding;

    /// Looks at a mechanism with an unbiased decoder.
    fn unbiased<R: Unbiased>(&mut self, case: &Case<R>) -> Self::Finding;

    /// Looks at a mechanism whose promise is kept if and only if that of `equivalent` is, the same mechanism in a currency
    /// that can be judged more sharply; by default, at the mechanism alone.
    fn calibrated<R: Unbiased>(&mut self, case: &Case<R>, _equivalent: &Case<R>) -> Self::Finding {
        self.unbiased(case)
    }

    /// Looks at a mechanism whose reports are floating-point numbers; by default, as at any other.
    fn floats<R: Unbiased<Report = Vec<f64>>>(&mut self, case: &Case<R>) -> Self::Finding {
        self.unbiased(case)
    }
}
