//! How vector mechanisms are tried.

use super::Examiner;
use crate::{Case, Reports};
use undertone_privacy::vector::{Ball, BallVector, VectorMechanism, VectorRandomizer};

/// Each concrete mechanism, so that its own type of report is examined.
pub(super) fn face<E: Examiner>(name: &str, mechanism: &VectorMechanism, examiner: &mut E) -> E::Finding {
    match *mechanism {
        VectorMechanism::Laplace(mechanism) => examiner.unbiased(&case(name, mechanism, corner)),
        VectorMechanism::L2Laplace(mechanism) => examiner.floats(&case(name, mechanism, axis)),
        VectorMechanism::Gaussian(mechanism) | VectorMechanism::Gdp(mechanism) => {
            examiner.unbiased(&case(name, mechanism, axis))
        }
        VectorMechanism::Duchi(mechanism) => examiner.floats(&case(name, mechanism, axis)),
        VectorMechanism::PrivUnit(mechanism) => examiner.floats(&case(name, mechanism, axis)),
        VectorMechanism::Codebook(mechanism) => examiner.unbiased(&case(name, mechanism, axis)),
        VectorMechanism::DiscreteGaussian(mechanism) => examiner.unbiased(&case(name, mechanism, axis)),
    }
}

/// Any two vectors are neighbours; the farthest are opposite each other on the sphere, in the `direction` in which the
/// mechanism tells most. The decoder is also checked at the centre and half way.
fn case<R: VectorRandomizer>(name: &str, mechanism: R, direction: fn(Ball, f64) -> Vec<f64>) -> Case<R> {
    let ball = mechanism.ball();
    let at = |length: f64| place(ball, &direction(ball, length * ball.radius()));
    let mut case = Case::new(name, mechanism, vec![(at(1.0), at(-1.0))], Reports::Sampled);
    case.inputs = vec![at(1.0), at(-1.0), at(0.0), at(0.5)];
    case
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
