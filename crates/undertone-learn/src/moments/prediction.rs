//! What noise is expected to cost, so that an answer that is worse than none is not given without saying so.
//!
//! The variances of the moments are known exactly. Take what is believed of the population for the truth, draw moments around
//! it as reports would, solve for each, and look at the risk of the weights under the truth: its mean over some draws is the
//! risk to expect. The draws come from a fixed public stream, so that the same moments have the same prediction; all of it is
//! post-processing. The mean, or the difference of two classes, is shortened beforehand, as its square exceeds its truth by p·v: signal
//! that is not there must not speak for the weights. Among collections whose mean is long those are many that owe it to luck, so that there is a second, cautious
//! belief, in which the truth is as short as nine in ten such means would allow.

use super::classes::Classes;
use super::estimate::{Moments, Repaired};
use super::fit::OneRound;
use super::length::Length;
use super::minimize::Problem;
use crate::LearnError;
use undertone_privacy::vector::stream::PublicStream;

/// How many times moments are drawn.
const DRAWS: u64 = 24;
/// Half of the places at which multiples of the first covariate are looked at.
const LATTICE: i32 = 400;
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

/// What is taken for the truth: repaired moments with a mean that is no longer than its truth, or classes no farther apart.
enum Truth {
    Margins(Problem),
    Classes(Classes),
}

impl Truth {
    fn new(method: &OneRound, moments: &Moments, length: Length) -> Result<Self, LearnError> {
        if let Some(constant) = method.between_classes(moments) {
            return Ok(Self::Classes(Classes::new(method.loss, constant, moments, length, 0.0)?));
        }
        let keep = length.keep(moments.mean_square(), moments.covariates(), moments.mean_variance());
        let mean = moments.mean().iter().map(|x| keep * x).collect();
        let repaired = Repaired { mean, ..moments.repaired()? };
        Ok(Self::Margins(Problem::new(method.surrogate(moments), repaired, method.radius)))
    }

    /// E\[yx\] and svec of E\[xx'\].
    fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        match self {
            Self::Margins(problem) => (problem.repaired.mean.clone(), problem.repaired.spectrum.svec()),
            Self::Classes(classes) => classes.moments(),
        }
    }

    fn risk(&self, weights: &[f64]) -> f64 {
        match self {
            Self::Margins(problem) => problem.risk(weights),
            Self::Classes(classes) => classes.risk(weights),
        }
    }

    /// The least risk in the ball.
    fn best(&self, radius: f64) -> f64 {
        match self {
            Self::Margins(problem) => problem.minimum().risk,
            Self::Classes(classes) => classes.risk(&classes.minimum(radius)),
        }
    }
}

/// The least risk of weights (w, 0, …, 0), on a lattice of w.
fn first_alone(truth: &Truth, radius: f64, constant: f64, covariates: usize) -> f64 {
    let mut weights = vec![0.0; covariates];
    let risks = (-LATTICE..=LATTICE).map(|place| {
        weights[0] = radius * f64::from(place) / f64::from(LATTICE);
        truth.risk(&weights)
    });
    risks.fold(constant, f64::min)
}

pub(super) fn predict(
    method: &OneRound,
    moments: &Moments,
    length: Length,
) -> Result<Prediction, LearnError> {
    let truth = Truth::new(method, moments, length)?;
    let (mean, svec) = truth.moments();
    let (best, constant) = (truth.best(method.radius), truth.risk(&vec![0.0; mean.len()]));
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
        let told = noisy(&mean, moments.mean_variance());
        let variance = moments.second_variance();
        let second = moments.second().map(|_| (noisy(&svec, variance), variance));
        let weights = method.minimum(&Moments::new(told, moments.mean_variance(), second)?)?;
        let loss = truth.risk(&weights) - constant;
        sum += loss / DRAWS as f64;
        square += loss * loss / DRAWS as f64;
        worse += f64::from(u8::from(loss > 0.0)) / DRAWS as f64;
    }
    let standard_error = ((square - sum * sum).max(0.0) / (DRAWS - 1) as f64).sqrt();
    let first = first_alone(&truth, method.radius, constant, mean.len());
    Ok(Prediction { constant, first, best, fitted: constant + sum, standard_error, worse })
}
