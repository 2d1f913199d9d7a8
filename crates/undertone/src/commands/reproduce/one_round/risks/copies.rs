//! Algorithm 4 and its kin: noisy copies of z = yx, and one pass of SIGM.
//!
//! The reports do not depend on the loss, the ball or the steps: one collection serves all of them, and each problem gets the best
//! of three step sizes *in hindsight*, which flatters the method.

use super::judge::Judge;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_learn::copies::{
    BernsteinSlope, CopiesDescent, DescentOptions, Layout, SlopeOracle, smooth_hinge_slope,
};
use undertone_learn::moments::MarginLoss;
use undertone_learn::moments::study::Sample;
use undertone_privacy::statistic::{RecordMoments, Response};
use undertone_privacy::vector::{Ball, GaussianCopies};
use undertone_privacy::{Delta, Epsilon, Randomizer};

/// β of the smoothed hinge.
const SMOOTH: f64 = 0.25;
/// δ of the promise.
const DELTA: f64 = 1e-6;
/// Steps of a pass.
const STEPS: u64 = 100;
/// Lengths of w, as shares of R, for whose noise a step size is right: at none the inner copies are quiet.
const LENGTHS: [f64; 3] = [0.0, 0.25, 1.0];

/// The excess risk for each judge.
pub(super) fn excesses(
    train: &Sample,
    judges: &[Judge<'_>],
    (layout, degree): (Layout, usize),
    epsilon: Epsilon,
    seed: u64,
) -> anyhow::Result<Vec<f64>> {
    let p = train.covariates();
    let delta = Delta::new(DELTA)?;
    let mechanism = GaussianCopies::analytic(Ball::new(p, 1.0)?, layout.inner(degree), epsilon, delta)?;
    let batch = (train.people() as u64 / STEPS).max(1);
    let mut descents = Vec::new();
    for judge in judges {
        for length in LENGTHS {
            descents.push(descent(judge, layout, degree, mechanism, length, batch)?);
        }
    }
    let records = RecordMoments::new(p, Response::Sign)?;
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    for (x, y) in train.records() {
        let report = mechanism.randomize(&records.of(x, y)?.first, &mut rng)?;
        descents.iter_mut().try_for_each(|descent| descent.observe(&report))?;
    }
    let of_judge = |(judge, tried): (&Judge<'_>, &[CopiesDescent])| {
        tried.iter().map(|descent| judge.excess(descent.weights())).fold(f64::INFINITY, f64::min)
    };
    Ok(judges.iter().zip(descents.chunks(LENGTHS.len())).map(of_judge).collect())
}

/// A descent whose steps are right for gradients at |w| = `length`·R:
///
/// > σ² = E\[P̂²\]·(1 + p·σ₀²),   with τ² = |w|²·σ_inner²/(4R²) for the copies of u
fn descent(
    judge: &Judge<'_>,
    layout: Layout,
    degree: usize,
    mechanism: GaussianCopies,
    length: f64,
    batch: u64,
) -> anyhow::Result<CopiesDescent> {
    let (loss, radius) = (judge.problem.loss, judge.problem.radius());
    let (oracle, slope) = match loss {
        MarginLoss::Hinge => (
            SlopeOracle::hinge(layout, degree, SMOOTH, radius)?,
            BernsteinSlope::new(degree, radius, |t| smooth_hinge_slope(t, SMOOTH))?,
        ),
        _ => (
            SlopeOracle::direct(layout, degree, loss, radius)?,
            BernsteinSlope::new(degree, radius, |t| loss.slope(t))?,
        ),
    };
    let copies = length * length * mechanism.inner_variance() / 4.0;
    let inner = layout.second_moment(slope.coefficients(), slope.place(0.0), copies);
    let noise = (inner * (1.0 + judge.problem.covariates as f64 * mechanism.outer_variance())).sqrt();
    // P' = d·Δc/(2R) between its nodes
    let rise = slope.coefficients().windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
    let smoothness = degree as f64 * rise / (2.0 * radius);
    let options = DescentOptions { order: 1.0, batch, noise, smoothness, seed: 0 };
    Ok(CopiesDescent::new(mechanism, oracle, options)?)
}
