//! How vector mechanisms are tried.

use super::Examiner;
use crate::{Case, Reports};
use undertone_privacy::vector::{Ball, BallVector, CodebookReport, STEPS, VectorMechanism, VectorRandomizer};

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
            examiner.unbiased(&case(name, mechanism, axis, Sampled))
        }
        VectorMechanism::Duchi(mechanism) => examiner.floats(&case(name, mechanism, axis, Sampled)),
        VectorMechanism::PrivUnit(mechanism) => examiner.floats(&case(name, mechanism, axis, Sampled)),
        VectorMechanism::Codebook(mechanism) => {
            let reports = whole_codebooks(mechanism.codewords());
            examiner.unbiased(&case(name, mechanism, axis, Representatives(reports)))
        }
        VectorMechanism::DiscreteGaussian(mechanism) => {
            examiner.unbiased(&case(name, mechanism, axis, Sampled))
        }
    }
}

/// Any two vectors are neighbours; the farthest are opposite each other on the sphere, in the `direction` in which the
/// mechanism tells most. The decoder is also checked at the centre and half way.
fn case<R: VectorRandomizer>(
    name: &str,
    mechanism: R,
    direction: fn(Ball, f64) -> Vec<f64>,
    reports: Reports<R::Report>,
) -> Case<R> {
    let ball = mechanism.ball();
    let at = |length: f64| place(ball, &direction(ball, length * ball.radius()));
    let mut case = Case::new(name, mechanism, vec![(at(1.0), at(-1.0))], reports);
    case.inputs = vec![at(1.0), at(-1.0), at(0.0), at(0.5)];
    case
}

/// Reports in the corners, on and outside the cube, where the distances to two vectors differ most, and the centre.
fn far_reports(ball: Ball) -> Vec<Vec<i64>> {
    let steps = i64::from(STEPS);
    [-3 * steps, -steps, 0, steps, 3 * steps].map(|step| vec![step; ball.dimension()]).to_vec()
}

/// Every index of some codebooks: the promise holds for each codebook by itself.
fn whole_codebooks(codewords: u32) -> Vec<CodebookReport> {
    let index = |seed, index: u32| CodebookReport { seed, index: index as u16 };
    [0u128, 1, u128::MAX / 3]
        .into_iter()
        .flat_map(|seed| (0..codewords).map(move |i| index(seed, i)))
        .collect()
}

/// The vector on the grid; the centre, should its length be wrong, which it is not.
fn place(ball: Ball, vector: &[f64]) -> BallVector {
    ball.clamp(vector).unwrap_or_else(|_| BallVector::zero(ball))
}

/// Along the first axis.
fn axis(ball: Ball, length: f64) -> Vec<f64> {
    let mut vector = vec![0.0; ball.dimension()];
    vector[0] = length;
    vector
}

/// Towards a corner of the cube, which is farthest in l1.
fn corner(ball: Ball, length: f64) -> Vec<f64> {
    vec![length / (ball.dimension() as f64).sqrt(); ball.dimension()]
}
