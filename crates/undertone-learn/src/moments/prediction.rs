//! What noise is expected to cost, so that an answer that is worse than none is not given without saying so.
//!
//! The variances of the moments are known exactly. Take what is believed of the population for the truth, draw moments around
//! it as reports would, solve for each, and look at the risk of the weights under the truth: its mean over some draws is the
//! risk to expect. The draws come from a fixed public stream, so that the same moments have the same prediction; all of it is
//! post-processing. The mean is shortened beforehand, as |mean|² exceeds its truth by p·v: signal that is not there must not speak
//! for the weights. Among collections whose mean is long those are many that owe it to luck, so that there is a second, cautious
//! belief, in which the truth is as short as nine in ten such means would allow.

use super::closure::Surrogate;
use super::estimate::{Moments, Repaired};
use super::fit::OneRound;
use super::minimize::Problem;
use crate::LearnError;
use undertone_privacy::vector::stream::PublicStream;

/// How many times moments are drawn.
const DRAWS: u64 = 24;
/// Half of the places at which multiples of the first covariate are looked at.
const LATTICE: i32 = 400;
/// One-sided: one in ten normal numbers is farther above their mean, in standard deviations.
const ONE_IN_TEN: f64 = 1.281_551_565_544_600_4;
/// Where they come from.
const SEED: u128 = 0x756e_6465_7274_6f6e_6520_6f6e_6520_726f;

/// Risks under what is believed of the population. Those of the squared loss are less E\[y²\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Of the constant predictor, w = 0
    pub constant: f64,
    /// Of the best multiple of the first covariate alone, which is a constant where that one is
    pub first: f64,
    /// Of the best weights, if the moments were known
    pub best: f64,
    /// Of the weights to expect from moments as noisy as these
    pub fitted: f64,
    /// The standard error of `fitted`, from the number of draws
    pub standard_error: f64,
    /// The share of draws whose weights are worse than the constant
    pub worse: f64,
}

impl Prediction {
    /// What noise is expected to cost.
    pub fn noise(&self) -> f64 {
        self.fitted - self.best
    }
}

/// How long the mean is believed to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    /// As long as it is on average
    Even,
    /// So short that one mean in ten would look as long
    Cautious,
}

impl Belief {
    /// How far below its mean a normal number is believed to be, in standard deviations.
    fn deviations(self) -> f64 {
        match self {
            Self::Even => 0.0,
            Self::Cautious => ONE_IN_TEN,
        }
    }
}

/// What is believed: repaired, but with a mean that is no longer than its truth.
///
/// |mean|² is |μ|² + p·v on average, with the variance 2p·v² + 4v·|μ|².
fn believed(moments: &Moments, belief: Belief) -> Result<Repaired, LearnError> {
    let (square, v) = (moments.mean_square(), moments.mean_variance());
    let noise = moments.covariates() as f64 * v;
    let scatter = (2.0 * noise * v + 4.0 * v * (square - noise).max(0.0)).sqrt();
    let excess = noise + belief.deviations() * scatter;
    let keep = if square > excess { (1.0 - excess / square).sqrt() } else { 0.0 };
    let mean = moments.mean().iter().map(|x| keep * x).collect();
    Ok(Repaired { mean, ..moments.repaired()? })
}

/// The least risk of weights (w, 0, …, 0), on a lattice of w.
fn first_alone(problem: &Problem, radius: f64, constant: f64, covariates: usize) -> f64 {
    let mut weights = vec![0.0; covariates];
    let risks = (-LATTICE..=LATTICE).map(|place| {
        weights[0] = radius * f64::from(place) / f64::from(LATTICE);
        problem.risk(&weights)
    });
    risks.fold(constant, f64::min)
}

pub(super) fn predict(
    method: &OneRound,
    surrogate: Surrogate,
    moments: &Moments,
    belief: Belief,
) -> Result<Prediction, LearnError> {
    let truth = believed(moments, belief)?;
    let problem = Problem::new(surrogate, &truth, method.radius);
    let (best, constant) = (problem.minimum().risk, surrogate.risk(0.0, 0.0));
    let svec = truth.spectrum.svec();
    let (mut sum, mut square, mut worse) = (0.0, 0.0, 0.0);
    for draw in 0..DRAWS {
        let mut stream = PublicStream::new(SEED, draw);
        let mut noisy = |truth: &[f64], variance: f64| {
            let mut values = vec![0.0; truth.len()];
            stream.fill_normal(&mut values);
            for (value, truth) in values.iter_mut().zip(truth) {
                *value = truth + variance.sqrt() * *value;
            }
            values
        };
        let mean = noisy(&truth.mean, moments.mean_variance());
        let variance = moments.second_variance();
        let second = moments.second().map(|_| (noisy(&svec, variance), variance));
        let weights = method.minimum(&Moments::new(mean, moments.mean_variance(), second)?)?;
        let loss = problem.risk(&weights) - constant;
        sum += loss / DRAWS as f64;
        square += loss * loss / DRAWS as f64;
        worse += f64::from(u8::from(loss > 0.0)) / DRAWS as f64;
    }
    let standard_error = ((square - sum * sum).max(0.0) / (DRAWS - 1) as f64).sqrt();
    let first = first_alone(&problem, method.radius, constant, truth.mean.len());
    Ok(Prediction { constant, first, best, fitted: constant + sum, standard_error, worse })
}
