//! How vector mechanisms are tried.

use super::Examiner;
use crate::{Case, Reports};
use std::collections::BTreeSet;
use undertone_privacy::accounting::mu_for;
use undertone_privacy::label::Label;
use undertone_privacy::vector::{
    Additive, Ball, BallVector, CodebookReport, Noise, NoisyPoint, STEPS, VectorMechanism, VectorRandomizer,
};
use undertone_privacy::{Guarantee, Mu, Randomizer};

/// Each concrete mechanism, so that its own type of report is examined.
pub(super) fn face<E: Examiner>(name: &str, mechanism: &VectorMechanism, examiner: &mut E) -> E::Finding {
    use Reports::{Representatives, Sampled};
    match *mechanism {
        VectorMechanism::Laplace(mechanism) => {
            let reports = far_reports(mechanism.ball());
            examiner.unbiased(&case(name, mechanism, corner, Representatives(reports)))
        }
        VectorMechanism::L2Laplace(mechanism) => examiner.floats(&case(name, mechanism, axis, Sampled)),
        VectorMechanism::Gaussian(mechanism) | VectorMechanism::Gdp(mechanism) => {
            let case = case(name, mechanism, axis, Sampled);
            match equivalent(mechanism.guarantee()) {
                Some(promise) => examiner.calibrated(&case, &claiming(&case, promise)),
                None => examiner.unbiased(&case),
            }
        }
        VectorMechanism::Duchi(mechanism) => examiner.floats(&case(name, mechanism, axis, Sampled)),
        VectorMechanism::PrivUnit(mechanism) => examiner.floats(&case(name, mechanism, axis, Sampled)),
        VectorMechanism::Codebook(mechanism) => {
            let reports = whole_codebooks(mechanism.codewords());
            examiner.unbiased(&case(name, mechanism, axis, Representatives(reports)))
        }
        VectorMechanism::DiscreteGaussian(mechanism) => {
            let case = case(name, mechanism, axis, Sampled);
            match equivalent(mechanism.guarantee()) {
                Some(promise) => examiner.calibrated(&case, &claiming(&case, promise)),
                None => examiner.unbiased(&case),
            }
        }
    }
}

/// Any two points are neighbours; of many labels, some.
pub(super) fn point(name: &str, mechanism: &NoisyPoint) -> Case<NoisyPoint> {
    let last = mechanism.points().labels() - 1;
    let labels: BTreeSet<u32> = [0, 1, last / 2, last].into();
    Case::local(name, mechanism.clone(), labels.into_iter().map(Label).collect(), Reports::Sampled)
}

/// The μ that Gaussian noise keeps if and only if it keeps this promise. For (ε, δ) that is the analytic calibration. For ρ
/// it is √(2ρ): along one line the discrete Gaussian is as hard to tell apart as the continuous one, to twelve digits at
/// the widths in use, and a single event of a test shows far more of μ than of ρ.
pub(super) fn equivalent(promise: Guarantee) -> Option<Guarantee> {
    let mu = match promise {
        Guarantee::Approximate(epsilon, delta) => mu_for(epsilon, delta).ok()?,
        Guarantee::Concentrated(rho) => Mu::new((2.0 * rho.get()).sqrt()).ok()?,
        Guarantee::Pure(_) | Guarantee::Gaussian(_) => return None,
    };
    Some(Guarantee::Gaussian(mu))
}

/// The same trial for another promise.
fn claiming<N: Noise>(case: &Case<Additive<N>>, promise: Guarantee) -> Case<Additive<N>> {
    Case { randomizer: case.randomizer.claiming(promise), ..case.clone() }
}

/// Any two vectors are neighbours; the farthest are opposite each other on the sphere. First comes the `direction` in
/// which the mechanism tells most, then others, so that no coordinate and no difference of coordinates goes unseen: noise
/// that is shared by coordinates, or left out of one, shows there. The decoder is also checked at the centre and half way.
fn case<R: VectorRandomizer>(
    name: &str,
    mechanism: R,
    direction: fn(Ball, f64) -> Vec<f64>,
    reports: Reports<R::Report>,
) -> Case<R> {
    let ball = mechanism.ball();
    let at = |direction: fn(Ball, f64) -> Vec<f64>, share: f64| {
        place(ball, &direction(ball, share * ball.radius()))
    };
    let opposite = |direction| (at(direction, 1.0), at(direction, -1.0));
    let mut pairs = vec![opposite(direction)];
    if ball.dimension() > 1 {
        pairs.extend([axis, last_axis, corner, difference].map(opposite));
        pairs.dedup();
    }
    let mut case = Case::new(name, mechanism, pairs, reports);
    case.inputs = [1.0, -1.0, 0.0, 0.5].map(|share| at(direction, share)).to_vec();
    case
}

/// Reports in the corners, on and outside the cube, where the distances to two vectors differ most, and the centre.
fn far_reports(ball: Ball) -> Vec<Vec<i64>> {
    let steps = i64::from(STEPS);
    [-3 * steps, -steps, 0, steps, 3 * steps].map(|step| vec![step; ball.dimension()]).to_vec()
}

/// Every index of some codebooks: the promise holds for each codebook by itself.
pub(super) fn whole_codebooks(codewords: u32) -> Vec<CodebookReport> {
    let index = |seed, index: u32| CodebookReport { seed, index: index as u16 };
    [0u128, 1, u128::MAX / 3]
        .into_iter()
        .flat_map(|seed| (0..codewords).map(move |i| index(seed, i)))
        .collect()
}

/// The vector on the grid.
fn place(ball: Ball, vector: &[f64]) -> BallVector {
    // A direction has as many coordinates as its ball, and nothing else is refused.
    ball.clamp(vector).expect("the directions below have the right length")
}

/// Along the first axis.
fn axis(ball: Ball, length: f64) -> Vec<f64> {
    let mut vector = vec![0.0; ball.dimension()];
    vector[0] = length;
    vector
}

/// Along the last axis.
fn last_axis(ball: Ball, length: f64) -> Vec<f64> {
    let mut vector = axis(ball, length);
    vector.reverse();
    vector
}

/// Along the difference of the first two coordinates, where noise that they share cancels.
fn difference(ball: Ball, length: f64) -> Vec<f64> {
    let mut vector = vec![0.0; ball.dimension()];
    let half = length * std::f64::consts::FRAC_1_SQRT_2;
    (vector[0], vector[1]) = (half, -half);
    vector
}

/// Towards a corner of the cube, which is farthest in l1.
fn corner(ball: Ball, length: f64) -> Vec<f64> {
    vec![length / (ball.dimension() as f64).sqrt(); ball.dimension()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Mechanism;
    use crate::{Auditor, Settings, audit, suite};
    use rand_chacha::ChaCha12Rng;
    use rand_core::{CryptoRng, SeedableRng};
    use undertone_privacy::vector::{DiscreteGaussian, Gaussian};
    use undertone_privacy::{Delta, Epsilon, PrivacyError, Rho, Unbiased};

    fn ball() -> Ball {
        Ball::new(3, 1.0).unwrap()
    }

    fn settings(trials: u64) -> Settings {
        Settings { trials, confidence: 0.99 }
    }

    /// A Gaussian that draws its noise once for all coordinates.
    #[derive(Clone)]
    struct Shared(Gaussian);

    impl Randomizer for Shared {
        type Input = BallVector;
        type Report = Vec<i64>;

        fn guarantee(&self) -> Guarantee {
            self.0.guarantee()
        }

        fn randomize(&self, input: &BallVector, rng: &mut impl CryptoRng) -> Result<Vec<i64>, PrivacyError> {
            let noise = self.0.noise().sample(rng);
            Ok(input.steps().iter().map(|&k| i64::from(k) + noise).collect())
        }

        fn ln_likelihood(&self, report: &Vec<i64>, input: &BallVector) -> f64 {
            self.0.ln_likelihood(report, input)
        }
    }

    impl Unbiased for Shared {
        fn truth(&self, input: &BallVector) -> Vec<f64> {
            self.0.truth(input)
        }

        fn estimate(&self, report: &Vec<i64>) -> Vec<f64> {
            self.0.estimate(report)
        }

        fn variance(&self, input: &BallVector) -> f64 {
            self.0.variance(input)
        }
    }

    impl VectorRandomizer for Shared {
        fn ball(&self) -> Ball {
            self.0.ball()
        }

        fn variance_at_norm(&self, norm: f64) -> f64 {
            self.0.variance_at_norm(norm)
        }
    }

    #[test]
    fn noise_that_coordinates_share_is_caught_by_the_auditor_and_by_the_suite() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let shared = Shared(Gaussian::gdp(ball(), Mu::new(1.0).unwrap()).unwrap());
        let case = case("shared", shared, axis, Reports::Sampled);
        assert!(!audit(&case, &settings(20_000), &mut rng).unwrap().kept());
        assert!(suite::check_unbiased(&case, 20_000, &mut rng).is_err());
    }

    #[test]
    fn five_per_cent_too_little_gaussian_noise_breaks_every_promise() {
        let (epsilon, delta, rho) =
            (Epsilon::new(3.0).unwrap(), Delta::new(1e-3).unwrap(), Rho::new(1.0).unwrap());
        let mu = mu_for(epsilon, delta).unwrap();
        let approximate = Guarantee::Approximate(epsilon, delta);
        let gaussian = |share: f64| {
            let noise = Gaussian::gdp(ball(), Mu::new(mu.get() / share).unwrap()).unwrap();
            Mechanism::Vector(VectorMechanism::Gaussian(noise.claiming(approximate)))
        };
        let discrete = |share: f64| {
            let noise =
                DiscreteGaussian::new(ball(), Rho::new(rho.get() / (share * share)).unwrap()).unwrap();
            Mechanism::Vector(VectorMechanism::DiscreteGaussian(noise.claiming(Guarantee::Concentrated(rho))))
        };
        for (honest, short) in [(gaussian(1.0), gaussian(0.95)), (discrete(1.0), discrete(0.95))] {
            let mut auditor = Auditor::new(settings(300_000), ChaCha12Rng::seed_from_u64(2));
            assert!(auditor.judge("honest", &honest).unwrap().kept());
            assert!(!auditor.judge("short of noise", &short).unwrap().kept());
        }
    }
}
