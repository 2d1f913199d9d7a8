//! What a device says about a vector, whichever mechanism it runs.

use super::{BallVector, CodebookReport, Noise, STEPS, VectorMechanism};
use crate::{PrivacyError, Randomizer, Unbiased};
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// No coordinate of a report is larger, in grid steps; noise beyond is cut off here, which is post-processing.
pub const LARGEST_STEP: i64 = 1 << 40;
/// An honest report is refused with a probability of less than e^-40.
const SURELY: f64 = 40.0;

/// A report that may leave a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VectorReport {
    /// Integers on the grid of the ball
    Steps(Vec<i64>),
    /// A codeword of a public codebook
    Codeword(CodebookReport),
}

impl VectorMechanism {
    /// A report of `input`; an error for mechanisms that are computed in floats, which stay in simulations.
    pub fn report(&self, input: &BallVector, rng: &mut impl CryptoRng) -> Result<VectorReport, PrivacyError> {
        Ok(match self {
            Self::Laplace(mechanism) => steps(mechanism.randomize(input, rng)?),
            Self::Gaussian(mechanism) | Self::Gdp(mechanism) => steps(mechanism.randomize(input, rng)?),
            Self::DiscreteGaussian(mechanism) => steps(mechanism.randomize(input, rng)?),
            Self::Codebook(mechanism) => VectorReport::Codeword(mechanism.randomize(input, rng)?),
            Self::L2Laplace(_) | Self::Duchi(_) | Self::PrivUnit(_) => {
                return Err(PrivacyError::SimulationOnly { kind: self.kind().name() });
            }
        })
    }

    /// The unbiased estimate of what a report of this mechanism is about.
    pub fn estimate(&self, report: &VectorReport) -> Result<Vec<f64>, PrivacyError> {
        match (self, report) {
            (Self::Laplace(mechanism), VectorReport::Steps(steps)) => Ok(mechanism.estimate(steps)),
            (Self::Gaussian(mechanism) | Self::Gdp(mechanism), VectorReport::Steps(steps)) => {
                Ok(mechanism.estimate(steps))
            }
            (Self::DiscreteGaussian(mechanism), VectorReport::Steps(steps)) => Ok(mechanism.estimate(steps)),
            (Self::Codebook(mechanism), VectorReport::Codeword(report)) => Ok(mechanism.estimate(report)),
            _ => Err(PrivacyError::SimulationOnly { kind: self.kind().name() }),
        }
    }

    /// The longest report in steps, as a vector, that an honest device sends but for a chance of less than e^-40.
    ///
    /// Gaussian noise of scale s is longer than s·√(p + 2√(p·t) + 2t) with a probability below e^-t (Laurent, Massart,
    /// *Adaptive estimation of a quadratic functional*, 2000). Laplace noise is bounded coordinate by coordinate, and p of
    /// them are √p times as long. A codeword has one length. Nothing tighter is asked for: cutting honest noise would make
    /// what is learnt from it wrong.
    fn longest(&self) -> f64 {
        let p = self.ball().dimension() as f64;
        let root = libm::sqrt(p + 2.0 * libm::sqrt(p * SURELY) + 2.0 * SURELY);
        let noise = match self {
            Self::Laplace(_) => return libm::sqrt(p) * self.largest(),
            // Half a step of rounding in every coordinate
            Self::Gaussian(mechanism) | Self::Gdp(mechanism) => {
                mechanism.noise().width() * root + libm::sqrt(p)
            }
            Self::DiscreteGaussian(mechanism) => mechanism.noise().width() * root,
            // |r·v/m|² is what the estimate of the centre scatters.
            Self::Codebook(_) | Self::L2Laplace(_) | Self::Duchi(_) | Self::PrivUnit(_) => {
                return libm::sqrt(self.variance_at_norm(0.0)) * f64::from(STEPS) / self.ball().radius();
            }
        };
        f64::from(STEPS) + noise
    }

    /// The largest coordinate in steps of such a report: under Laplace noise of scale b, where one coordinate is beyond
    /// b·(t + ln p) with a probability of e^-t/p, STEPS + b·(t + ln p); elsewhere no coordinate is longer than the whole.
    fn largest(&self) -> f64 {
        match self {
            Self::Laplace(mechanism) => {
                let p = self.ball().dimension() as f64;
                f64::from(STEPS) + mechanism.noise().width() * (SURELY + libm::log(p))
            }
            _ => self.longest(),
        }
    }

    /// Whether no honest coordinate is cut off at [`LARGEST_STEP`], but for a chance of less than e^-40: cutting would make
    /// the estimate wrong.
    pub fn fits_a_report(&self) -> bool {
        self.largest() <= LARGEST_STEP as f64
    }

    /// How far a report of this mechanism can be from the centre: that is how much a liar can say.
    pub fn reach(&self) -> f64 {
        self.ball().radius() * (self.longest() / f64::from(STEPS))
    }

    /// Whether an honest device can have said so, but for a chance of less than e^-40.
    pub fn is_plausible(&self, report: &VectorReport) -> bool {
        match (self, report) {
            (Self::Codebook(mechanism), VectorReport::Codeword(report)) => {
                u32::from(report.index) < mechanism.codewords()
            }
            // What is computed in floats says nothing.
            (Self::Codebook(_) | Self::L2Laplace(_) | Self::Duchi(_) | Self::PrivUnit(_), _)
            | (_, VectorReport::Codeword(_)) => false,
            (_, VectorReport::Steps(steps)) => {
                let largest = self.largest().min(LARGEST_STEP as f64);
                let small = steps.iter().all(|&k| k.unsigned_abs() as f64 <= largest);
                // Of Laplace noise there is nothing more to ask for: every corner of the cube is as honest as its sides.
                let short = matches!(self, Self::Laplace(_)) || length(steps) <= self.longest();
                steps.len() == self.ball().dimension() && small && short
            }
        }
    }
}

fn steps(report: Vec<i64>) -> VectorReport {
    VectorReport::Steps(report.into_iter().map(|k| k.clamp(-LARGEST_STEP, LARGEST_STEP)).collect())
}

fn length(steps: &[i64]) -> f64 {
    libm::sqrt(steps.iter().map(|&k| (k as f64) * (k as f64)).sum())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ball, corner, delta, epsilon, mu};
    use super::super::{Ball, VectorKind};
    use super::*;
    use crate::{Guarantee, Rho};
    use alloc::vec;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn promises(level: f64) -> [Guarantee; 4] {
        [
            Guarantee::Pure(epsilon(level)),
            Guarantee::Approximate(epsilon(level), delta(1e-6)),
            Guarantee::Gaussian(mu(level)),
            Guarantee::Concentrated(Rho::new(level).unwrap()),
        ]
    }

    /// Every mechanism whose reports may leave a device, under the promise that it keeps.
    fn device_safe(ball: Ball, level: f64) -> Vec<VectorMechanism> {
        let safe = VectorKind::ALL.into_iter().filter(|kind| kind.is_device_safe());
        let built = safe.flat_map(|kind| {
            promises(level)
                .into_iter()
                .filter_map(move |promise| VectorMechanism::new(kind, ball, promise).ok())
        });
        built.collect()
    }

    #[test]
    fn what_every_mechanism_says_is_plausible() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        for (p, level) in [(1, 0.1), (1, 4.0), (7, 0.05), (7, 1.0), (7, 8.0), (40, 1.0)] {
            let mechanisms = device_safe(ball(p), level);
            assert_eq!(mechanisms.len(), 5);
            for mechanism in mechanisms {
                let input = corner(mechanism.ball(), 1.0);
                for _ in 0..2_000 {
                    let said = mechanism.report(&input, &mut rng).unwrap();
                    assert!(
                        mechanism.is_plausible(&said),
                        "{} at {level}: {said:?}",
                        mechanism.kind().name()
                    );
                }
            }
        }
    }

    #[test]
    fn estimates_of_reports_have_the_right_mean() {
        let (trials, mut rng) = (20_000, ChaCha12Rng::seed_from_u64(2));
        for mechanism in device_safe(Ball::new(3, 2.5).unwrap(), 2.0) {
            let input = corner(mechanism.ball(), 0.7);
            let (mut first, mut second) = ([0.0; 3], [0.0; 3]);
            for _ in 0..trials {
                let said = mechanism.report(&input, &mut rng).unwrap();
                for (j, value) in mechanism.estimate(&said).unwrap().into_iter().enumerate() {
                    first[j] += value / f64::from(trials);
                    second[j] += value * value / f64::from(trials);
                }
            }
            for (j, truth) in mechanism.ball().value_of(&input).into_iter().enumerate() {
                let deviation = libm::sqrt((second[j] - first[j] * first[j]) / f64::from(trials));
                let off = (first[j] - truth) / deviation;
                assert!(off.abs() < 5.0, "{}, {j}: {off} standard errors", mechanism.kind().name());
            }
        }
    }

    #[test]
    fn what_is_computed_in_floats_says_nothing() {
        let (mut rng, pure) = (ChaCha12Rng::seed_from_u64(3), Guarantee::Pure(epsilon(1.0)));
        for kind in [VectorKind::L2Laplace, VectorKind::Duchi, VectorKind::PrivUnit] {
            let mechanism = VectorMechanism::new(kind, ball(3), pure).unwrap();
            let refused = Err(PrivacyError::SimulationOnly { kind: kind.name() });
            assert_eq!(mechanism.report(&corner(ball(3), 1.0), &mut rng), refused);
            let steps = VectorReport::Steps(vec![0; 3]);
            assert!(mechanism.estimate(&steps).is_err() && !mechanism.is_plausible(&steps));
        }
    }

    #[test]
    fn what_nobody_says_is_not_plausible() {
        let word = |index| VectorReport::Codeword(CodebookReport { seed: 5, index });
        // σ is far above what would let 2^40 pass for a length: only the bound on each coordinate is left.
        for mechanism in device_safe(ball(3), 1e-6).into_iter().chain(device_safe(ball(3), 1.0)) {
            let name = mechanism.kind().name();
            let plausible = |report: VectorReport| mechanism.is_plausible(&report);
            if let VectorMechanism::Codebook(codebook) = mechanism {
                let codewords = codebook.codewords() as u16;
                assert!(
                    plausible(word(codewords - 1))
                        && !plausible(word(codewords))
                        && !plausible(word(u16::MAX))
                );
                assert!(!plausible(VectorReport::Steps(vec![0; 3])));
                assert!(mechanism.estimate(&VectorReport::Steps(vec![0; 3])).is_err());
                continue;
            }
            assert!(plausible(VectorReport::Steps(vec![0; 3])), "{name}");
            assert!(!plausible(word(0)) && mechanism.estimate(&word(0)).is_err(), "{name}");
            for other in [vec![], vec![0; 2], vec![0; 4]] {
                assert!(!plausible(VectorReport::Steps(other)), "{name}");
            }
            for far in [LARGEST_STEP + 1, -LARGEST_STEP - 1, i64::MAX, i64::MIN] {
                assert!(!plausible(VectorReport::Steps(vec![0, far, 0])), "{name}: {far}");
            }
        }
    }

    #[test]
    fn the_longest_plausible_report_is_the_one_that_is_stated() {
        let steps = f64::from(STEPS);
        let t = 40.0_f64;
        let root = libm::sqrt(3.0 + 2.0 * libm::sqrt(3.0 * t) + 2.0 * t);
        for mechanism in device_safe(ball(3), 1.0) {
            let most = match mechanism {
                VectorMechanism::Codebook(_) => continue,
                VectorMechanism::Laplace(laplace) => steps + laplace.noise().width() * (t + libm::log(3.0)),
                VectorMechanism::DiscreteGaussian(gaussian) => steps + gaussian.noise().width() * root,
                VectorMechanism::Gaussian(gaussian) | VectorMechanism::Gdp(gaussian) => {
                    steps + gaussian.noise().width() * root + libm::sqrt(3.0)
                }
                other => panic!("{other:?}"),
            };
            for sign in [-1, 1] {
                let along = |k: i64| mechanism.is_plausible(&VectorReport::Steps(vec![0, sign * k, 0]));
                assert!(along(most as i64) && !along(most as i64 + 1), "{}", mechanism.kind().name());
            }
            // Noise of independent coordinates may be as large in all of them; of the others the whole has a length.
            let corner = VectorReport::Steps(vec![most as i64, -(most as i64), most as i64]);
            let (laplace, reach) = (mechanism.kind() == VectorKind::Laplace, mechanism.reach());
            assert_eq!(mechanism.is_plausible(&corner), laplace);
            let farthest = most / steps * if laplace { libm::sqrt(3.0) } else { 1.0 };
            assert!((reach / (mechanism.ball().radius() * farthest) - 1.0).abs() < 1e-12, "{reach}");
        }
    }

    #[test]
    fn noise_beyond_the_largest_step_is_cut_off_there() {
        assert_eq!(
            steps(vec![i64::MIN, -1, 0, i64::MAX]),
            VectorReport::Steps(vec![-LARGEST_STEP, -1, 0, LARGEST_STEP])
        );
    }
}
