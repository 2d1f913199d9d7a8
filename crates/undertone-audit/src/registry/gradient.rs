//! How the whole way of a gradient is tried, from a record to the report that leaves a device.
//!
//! A collector may send any θ of the box, and anybody may have any record. So a trial names both: a θ and the two records
//! whose gradients are farthest apart there. What is judged is what a device runs, the gradient in floating point, the clamp
//! in integers and the noise, on noise that is calibrated to the ball of that θ. A device that holds no record at all says
//! something as well, and is compared with one that does.

use super::vector::{equivalent, whole_codebooks};
use super::{Examiner, Setup};
use crate::{Case, ExactLoss, Reports};
use rand_core::CryptoRng;
use undertone_privacy::accounting::epsilon_of_gaussian;
use undertone_privacy::gradient::{
    CentredBall, Huber, Logistic, Multinomial, RecordLoss, RecordModel, Weight, Weighting,
};
use undertone_privacy::vector::{
    BallVector, Codebook, Gaussian, Noise, STEPS, VectorKind, VectorMechanism, VectorRandomizer,
};
use undertone_privacy::{Guarantee, Mu, PrivacyError, Randomizer, Unbiased};

/// The loss of which gradients are randomized, and whether records are weighted by R²/|x|² or, as they are unless somebody says
/// otherwise, by R/|x|.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the losses have documentation of their own")]
pub enum GradientKind {
    Huber,
    Logistic,
    Softmax,
    HuberLinear,
    LogisticLinear,
    SoftmaxLinear,
}

impl GradientKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Huber,
        Self::Logistic,
        Self::Softmax,
        Self::HuberLinear,
        Self::LogisticLinear,
        Self::SoftmaxLinear,
    ];

    /// The mechanisms that they are tried with: with the first weights one for each law that a device draws from under a pure
    /// promise, (ε, δ) or μ; with the other weights those that are chosen for a pure promise and for μ.
    pub fn mechanisms(self) -> &'static [VectorKind] {
        match self.weight() {
            Weight::Linear => &[VectorKind::Gdp, VectorKind::Codebook],
            _ => &[VectorKind::Laplace, VectorKind::Gaussian, VectorKind::Gdp, VectorKind::Codebook],
        }
    }

    fn weight(self) -> Weight {
        match self {
            Self::Huber | Self::Logistic | Self::Softmax => Weight::Square,
            Self::HuberLinear | Self::LogisticLinear | Self::SoftmaxLinear => Weight::Linear,
        }
    }

    /// The loss by its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Huber => "huber",
            Self::Logistic => "logistic",
            Self::Softmax => "softmax",
            Self::HuberLinear => "huber-linear",
            Self::LogisticLinear => "logistic-linear",
            Self::SoftmaxLinear => "softmax-linear",
        }
    }

    /// Codewords of a trial. A report takes an eighth of the time of one of a device, where [`VectorKind::Codebook`] is
    /// judged by itself; what is new here is where its vectors come from.
    const CODEWORDS: u32 = 32;

    /// The trial of a mechanism at the θ and the records that tell most, each with its constant and |x|² = R² = 2.
    pub(super) fn trial(self, kind: VectorKind, setup: &Setup) -> Result<GradientTrial, PrivacyError> {
        let weighting = Weighting::new(self.weight(), 2f64.sqrt())?;
        let (model, theta, records) = match self {
            // Residuals beyond the cut, on either side; with weights R/|x| one of them of a record so long that it says
            // nothing about the scale
            Self::Huber | Self::HuberLinear => {
                let loss = RecordLoss::Huber(Huber::new(Huber::CUT, 0.1, 20.0)?);
                let model = RecordModel::new(loss, weighting, 2, 10.0)?;
                let length = if self == Self::Huber { 1.0 } else { 1e9 };
                let records = [(1.0, 1e12), (length, -1e12)].map(|(x, y)| Record { x: vec![x, x], y });
                (model, vec![0.5, -0.5, 1.0], records)
            }
            // On both sides of a steep plane, each with the label of the other
            Self::LogisticLinear => {
                let model = RecordModel::new(RecordLoss::Logistic(Logistic), weighting, 3, 1e6)?;
                let record = |side: f64, y| Record { x: vec![1.0, 1.0, side], y };
                (model, vec![0.0, 0.0, 1e6], [record(1e-4, 0.0), record(-1e-4, 1.0)])
            }
            // At |θ| = 2 the noise is that of a ball a third smaller, and x makes the angle at which gradients fill it.
            Self::Logistic => {
                let model = RecordModel::new(RecordLoss::Logistic(Logistic), weighting, 3, 10.0)?;
                let along = 2f64.sqrt() * 0.466_65;
                let across = (1.0 - along * along).sqrt();
                let record = |side: f64, y| Record { x: vec![1.0, across, side * along], y };
                (model, vec![0.0, 0.0, 2.0], [record(1.0, 0.0), record(-1.0, 1.0)])
            }
            // On both sides of the plane between two steep classes, each with the label of the other
            Self::Softmax | Self::SoftmaxLinear => {
                let loss = RecordLoss::Multinomial(Multinomial::new(3)?);
                let model = RecordModel::new(loss, weighting, 3, 1e6)?;
                let record = |side, y| Record { x: vec![1.0, 1.0, side], y };
                (model, vec![0.0, 0.0, 1e6, 0.0, 0.0, -1e6], [record(1e-4, 1.0), record(-1e-4, 0.0)])
            }
        };
        let ball = model.ball_at(&theta)?.ball;
        let mechanism = match kind {
            VectorKind::Codebook => {
                let codebook = Codebook::with_codewords(ball, setup.epsilon, Self::CODEWORDS)?;
                VectorMechanism::Codebook(codebook)
            }
            _ => VectorMechanism::new(kind, ball, setup.vector_promise(kind))?,
        };
        GradientTrial::new(model, theta, records, mechanism)
    }
}

/// What a device has.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// With its constant first
    pub x: Vec<f64>,
    /// The number or the label
    pub y: f64,
}

/// A θ, two records and a mechanism that is not to tell one from the other.
#[derive(Clone, Debug)]
pub struct GradientTrial {
    model: RecordModel,
    theta: Vec<f64>,
    around: CentredBall,
    records: [Record; 2],
    mechanism: VectorMechanism,
}

impl GradientTrial {
    /// A trial of `mechanism`, which has to be one for the ball of this model at this θ.
    pub fn new(
        model: RecordModel,
        theta: Vec<f64>,
        records: [Record; 2],
        mechanism: VectorMechanism,
    ) -> Result<Self, PrivacyError> {
        let around = model.ball_at(&theta)?;
        let (ours, theirs) = (around.ball, mechanism.ball());
        if ours.dimension() != theirs.dimension() {
            let (length, dimension) = (theirs.dimension(), ours.dimension());
            return Err(PrivacyError::WrongLength { length, dimension });
        }
        if ours != theirs {
            return Err(PrivacyError::Radius { value: theirs.radius() });
        }
        Ok(Self { model, theta, around, records, mechanism })
    }

    /// Each concrete mechanism, so that its own type of report is examined.
    pub(super) fn face<E: Examiner>(&self, name: &str, examiner: &mut E) -> E::Finding {
        match self.mechanism {
            VectorMechanism::Laplace(mechanism) => {
                let reports = Reports::Representatives(self.far_reports());
                examiner.unbiased(&self.case(name, mechanism, reports))
            }
            VectorMechanism::Gaussian(mechanism) | VectorMechanism::Gdp(mechanism) => {
                let case = self.gaussian(name, mechanism);
                match equivalent(mechanism.guarantee()) {
                    Some(promise) => {
                        examiner.calibrated(&case, &self.gaussian(name, mechanism.claiming(promise)))
                    }
                    None => examiner.unbiased(&case),
                }
            }
            VectorMechanism::Codebook(mechanism) => {
                let reports = Reports::Representatives(whole_codebooks(mechanism.codewords()));
                examiner.unbiased(&self.case(name, mechanism, reports))
            }
            VectorMechanism::DiscreteGaussian(mechanism) => {
                examiner.unbiased(&self.case(name, mechanism, Reports::Sampled))
            }
            VectorMechanism::L2Laplace(mechanism) => {
                examiner.floats(&self.case(name, mechanism, Reports::Sampled))
            }
            VectorMechanism::Duchi(mechanism) => {
                examiner.floats(&self.case(name, mechanism, Reports::Sampled))
            }
            VectorMechanism::PrivUnit(mechanism) => {
                examiner.floats(&self.case(name, mechanism, Reports::Sampled))
            }
        }
    }

    /// Whether its reports are in floating point.
    pub(super) fn is_simulation_only(&self) -> bool {
        !self.mechanism.kind().is_device_safe()
    }

    /// The two records, and one of them beside no record; the decoder is also checked at a record in between.
    fn case<R: VectorRandomizer>(
        &self,
        name: &str,
        mechanism: R,
        reports: Reports<R::Report>,
    ) -> Case<FromRecord<R>> {
        let Self { model, theta, around, records: [a, b], .. } = self.clone();
        let nothing = Record { x: vec![f64::NAN; model.covariates()], y: f64::NAN };
        let short = Record { x: a.x.iter().map(|x| x / 3.0).collect(), y: a.y };
        let pairs = vec![(a.clone(), b.clone()), (a.clone(), nothing.clone())];
        let mut case = Case::new(name, FromRecord { model, theta, around, mechanism }, pairs, reports);
        case.inputs = vec![a, b, nothing, short];
        case
    }

    /// Gaussian noise of s steps makes integer points as hard to tell apart as N(0, 1) and N(μ, 1) with μ their distance
    /// over s, rounded or not: the loss of a pair of records is known exactly.
    fn gaussian(&self, name: &str, mechanism: Gaussian) -> Case<FromRecord<Gaussian>> {
        let mut case = self.case(name, mechanism, Reports::Sampled);
        let [a, b] = self.vectors();
        let apart = |x: &BallVector, y: &BallVector| -> u64 {
            x.steps().iter().zip(y.steps()).map(|(x, y)| u64::from(x.abs_diff(*y)).pow(2)).sum()
        };
        let square = apart(&a, &b).max(apart(&a, &BallVector::zero(self.around.ball)));
        let mu = (square as f64).sqrt() / mechanism.noise().width();
        case.known = match mechanism.guarantee() {
            Guarantee::Gaussian(_) => Some(ExactLoss { loss: mu, error: 1e-12 * mu }),
            // which is rounded up
            Guarantee::Approximate(_, delta) => {
                let epsilon = Mu::new(mu).and_then(|mu| epsilon_of_gaussian(mu, delta));
                epsilon.ok().map(|e| ExactLoss { loss: e.get(), error: 1e-9 * e.get() })
            }
            Guarantee::Pure(_) | Guarantee::Concentrated(_) => None,
        };
        case
    }

    /// Far beyond both vectors, where every coordinate favours the same one, and between them.
    fn far_reports(&self) -> Vec<Vec<i64>> {
        let [a, b] = self.vectors();
        let far = 3 * i64::from(STEPS);
        let signs = || a.steps().iter().zip(b.steps()).map(|(a, b)| i64::from((a - b).signum()));
        [-far, 0, far].map(|step| signs().map(|sign| sign * step).collect()).to_vec()
    }

    fn vectors(&self) -> [BallVector; 2] {
        // θ and the ball were checked when the trial was made, and no record is refused.
        let vector = |record: &Record| self.model.vector_at(&self.theta, &record.x, record.y, &self.around);
        self.records.each_ref().map(|record| vector(record).expect("a trial has a point of its model"))
    }
}

/// What a device does with a record: its gradient at θ, seen from the centre, put on the grid and randomized.
#[derive(Clone, Debug)]
struct FromRecord<R> {
    model: RecordModel,
    theta: Vec<f64>,
    around: CentredBall,
    mechanism: R,
}

impl<R: VectorRandomizer> FromRecord<R> {
    fn vector(&self, record: &Record) -> Result<BallVector, PrivacyError> {
        self.model.vector_at(&self.theta, &record.x, record.y, &self.around)
    }

    fn decentred(&self, vector: Vec<f64>) -> Vec<f64> {
        vector.into_iter().zip(&self.around.centre).map(|(x, centre)| x + centre).collect()
    }
}

impl<R: VectorRandomizer> Randomizer for FromRecord<R> {
    type Input = Record;
    type Report = R::Report;

    fn guarantee(&self) -> Guarantee {
        self.mechanism.guarantee()
    }

    fn randomize(&self, record: &Record, rng: &mut impl CryptoRng) -> Result<R::Report, PrivacyError> {
        self.mechanism.randomize(&self.vector(record)?, rng)
    }

    fn ln_likelihood(&self, report: &R::Report, record: &Record) -> f64 {
        self.vector(record).map_or(f64::NEG_INFINITY, |vector| self.mechanism.ln_likelihood(report, &vector))
    }
}

impl<R: VectorRandomizer> Unbiased for FromRecord<R> {
    fn truth(&self, record: &Record) -> Vec<f64> {
        self.vector(record).map_or(Vec::new(), |vector| self.decentred(self.mechanism.truth(&vector)))
    }

    fn estimate(&self, report: &R::Report) -> Vec<f64> {
        self.decentred(self.mechanism.estimate(report))
    }

    fn variance(&self, record: &Record) -> f64 {
        self.vector(record).map_or(f64::NAN, |vector| self.mechanism.variance(&vector))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Kind, Mechanism};
    use crate::verdict::Breach;
    use crate::{Auditor, Settings, Verdict};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::vector::{Ball, Laplace};
    use undertone_privacy::{Delta, Epsilon};

    fn judge(trial: GradientTrial, trials: u64) -> Verdict {
        let settings = Settings { trials, confidence: 0.99 };
        let mut auditor = Auditor::new(settings, ChaCha12Rng::seed_from_u64(1));
        auditor.judge("a gradient", &Mechanism::Gradient(trial)).unwrap()
    }

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    fn mu(value: f64) -> Mu {
        Mu::new(value).unwrap()
    }

    /// The Huber loss with seven parameters at records whose gradients are farthest apart, also in l1.
    fn seven_parameters(mechanism: impl Fn(Ball) -> VectorMechanism) -> GradientTrial {
        let loss = RecordLoss::Huber(Huber::new(Huber::CUT, 0.1, 20.0).unwrap());
        let weighting = Weighting::new(Weight::Square, 2f64.sqrt()).unwrap();
        let model = RecordModel::new(loss, weighting, 6, 10.0).unwrap();
        let records = [1e3, -1e3].map(|y| Record { x: vec![3f64.sqrt().recip(); 6], y });
        let ball = model.ball().unwrap().ball;
        GradientTrial::new(model, model.start(), records, mechanism(ball)).unwrap()
    }

    #[test]
    fn the_records_of_every_trial_show_what_its_mechanism_promises() {
        let setup = Setup::usual(epsilon(1.0)).unwrap();
        for loss in GradientKind::ALL {
            for &kind in loss.mechanisms() {
                let verdict = judge(loss.trial(kind, &setup).unwrap(), 300);
                // Laplace noise is made for the corners, where only the records of the regression are.
                let corner = kind != VectorKind::Laplace || loss == GradientKind::Huber;
                let least = if corner { 0.999 } else { 0.8 };
                let found = verdict.exact.unwrap();
                assert!(verdict.kept() && (least..=1.0).contains(&found), "{loss:?} {kind}: {verdict}");
            }
        }
    }

    #[test]
    fn samples_of_the_whole_way_prove_most_of_mu() {
        let setup = Setup::usual(epsilon(1.0)).unwrap();
        for loss in GradientKind::ALL {
            let verdict = judge(loss.trial(VectorKind::Gdp, &setup).unwrap(), 30_000);
            assert!(verdict.kept() && verdict.lower_bound > 0.95, "{verdict}");
        }
    }

    #[test]
    fn noise_as_printed_is_caught_on_the_way_of_a_device() {
        let caught = |mechanism: &dyn Fn(Ball) -> VectorMechanism| {
            let verdict = judge(seven_parameters(mechanism), 20_000);
            assert!(matches!(verdict.breaches[..], [Breach::Exact { .. }, ..]), "{verdict}");
        };
        let gdp = |really: f64, claimed: Guarantee| {
            move |ball| VectorMechanism::Gdp(Gaussian::gdp(ball, mu(really)).unwrap().claiming(claimed))
        };
        // a variance of 4/μ instead of 4/μ², and the norm bound in place of the diameter
        caught(&gdp(0.5f64.sqrt(), Guarantee::Gaussian(mu(0.5))));
        caught(&gdp(2.0, Guarantee::Gaussian(mu(1.0))));
        // a variance of 8·ln(1.25/δ)/ε instead of over ε²
        let (e, d) = (0.1, 1e-5);
        let really = 2.0 / (8.0 * (1.25f64 / d).ln() / e).sqrt();
        caught(&gdp(really, Guarantee::Approximate(epsilon(e), Delta::new(d).unwrap())));
        // five covariates taken for the six that the constant makes of them
        caught(&|ball| {
            let noise = Laplace::new(ball, epsilon((6f64 / 5.0).sqrt())).unwrap();
            VectorMechanism::Laplace(noise.claiming(Guarantee::Pure(epsilon(1.0))))
        });
        let honest = seven_parameters(|ball| VectorMechanism::Gdp(Gaussian::gdp(ball, mu(1.0)).unwrap()));
        assert!(judge(honest, 20_000).kept());
    }

    #[test]
    fn a_mechanism_for_another_ball_is_refused() {
        let model = RecordModel::new(
            RecordLoss::Logistic(Logistic),
            Weighting::new(Weight::Square, 1.0).unwrap(),
            2,
            10.0,
        )
        .unwrap();
        let record = || Record { x: vec![1.0, 0.0], y: 0.0 };
        let trial = |ball| {
            let mechanism = VectorMechanism::Gdp(Gaussian::gdp(ball, mu(1.0)).unwrap());
            GradientTrial::new(model, vec![0.0; 2], [record(), record()], mechanism)
        };
        // At zero the ball has half the radius of the one for every θ.
        let large = trial(model.ball().unwrap().ball);
        assert!(matches!(large, Err(PrivacyError::Radius { .. })), "{large:?}");
        assert!(trial(model.ball_at(&[0.0; 2]).unwrap().ball).is_ok());
    }

    #[test]
    fn the_names_of_the_trials_say_what_is_tried() {
        let kind = Kind::Gradient(GradientKind::Softmax, VectorKind::Codebook);
        assert_eq!(kind.name(), "gradient softmax codebook");
    }
}
