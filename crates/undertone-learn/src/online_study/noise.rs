//! What a device adds to its gradient, in **simulation**: the laws of the mechanisms, in floats.
//!
//! With Δ = 2r the diameter of the ball that holds the gradients of all records, Δ₁ their largest l1 distance, at most √p·Δ, and
//! p the length of θ:
//!
//! | noise | promise | law |
//! |---|---|---|
//! | `Gaussian` | μ-GDP | N(0, (Δ/μ)²·I) |
//! | `GaussianBetween` | own μ-GDP for each person | the same, μ uniform between two bounds |
//! | `Laplace` | pure ε | on every coordinate, of scale Δ₁/ε |
//! | `L2Laplace` | pure ε | a uniform direction and a length of law Gamma(p, Δ/ε) |
//! | `Duchi`, `PrivUnit` | pure ε | a point of a sphere, likelier near the gradient's direction |
//!
//! The paper prints variances of 4/μ and 8·ln(1.25/δ)/ε of its Gaussians, which break the promise for μ < 1 and ε < 1; its
//! scale √d of Laplace noise counts covariates where θ has more coordinates. The codebook of a device is within two per cent
//! of `PrivUnit` up to ε = 3 and is not simulated apart.

use super::cosines::Cosines;
use super::lanes::{LANES, Lanes, dot, each};
use super::stream::Streams;
use undertone_privacy::gradient::RecordModel;
use undertone_privacy::vector::VectorRandomizer;
use undertone_privacy::vector::simulated::SimulatedPrivUnit;
use undertone_privacy::{Epsilon, Mu, PrivacyError};

/// A mechanism and its promise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Gradients as they are: no promise at all
    None,
    /// μ-GDP
    Gaussian(Mu),
    /// Each person's own μ, uniform between these
    GaussianBetween(Mu, Mu),
    /// Laplace noise on every coordinate
    Laplace(Epsilon),
    /// Laplace noise of the l2 norm
    L2Laplace(Epsilon),
    /// Duchi's mechanism for the ball
    Duchi(Epsilon),
    /// PrivUnit with the best cap
    PrivUnit(Epsilon),
}

/// A mechanism made for a model.
#[derive(Clone, Debug)]
pub(super) enum Perturbation {
    None,
    Gaussian { scale: f64 },
    GaussianBetween { diameter: f64, low: f64, high: f64 },
    Laplace { scale: f64 },
    L2Laplace { scale: f64 },
    Direction { centre: Vec<f64>, radius: f64, cosines: Cosines },
}

impl Noise {
    /// E|noise|² for a gradient at the edge of the ball of `model`.
    pub fn second_moment(&self, model: &RecordModel) -> Result<f64, PrivacyError> {
        let (p, diameter) = (model.parameters() as f64, 2.0 * model.radius());
        Ok(match (self, self.made_for(model)?) {
            (Self::GaussianBetween(low, high), _) => p * diameter * diameter / (low.get() * high.get()),
            (_, Perturbation::Gaussian { scale }) => p * scale * scale,
            (_, Perturbation::Laplace { scale }) => 2.0 * p * scale * scale,
            (_, Perturbation::L2Laplace { scale }) => p * (p + 1.0) * scale * scale,
            (_, Perturbation::Direction { radius, cosines, .. }) => {
                radius * radius * (1.0 / (cosines.mean * cosines.mean) - 1.0)
            }
            _ => 0.0,
        })
    }

    pub(super) fn made_for(&self, model: &RecordModel) -> Result<Perturbation, PrivacyError> {
        let diameter = 2.0 * model.radius();
        let direction = |epsilon: Epsilon, cosine: f64| {
            let ball = model.ball()?;
            let cosines = Cosines::new(ball.ball.dimension(), epsilon, cosine);
            Ok(Perturbation::Direction { centre: ball.centre, radius: model.radius(), cosines })
        };
        Ok(match *self {
            Self::None => Perturbation::None,
            Self::Gaussian(mu) => Perturbation::Gaussian { scale: diameter / mu.get() },
            Self::GaussianBetween(low, high) => {
                Perturbation::GaussianBetween { diameter, low: low.get(), high: high.get() }
            }
            Self::Laplace(epsilon) => Perturbation::Laplace { scale: model.l1_diameter() / epsilon.get() },
            Self::L2Laplace(epsilon) => Perturbation::L2Laplace { scale: diameter / epsilon.get() },
            Self::Duchi(epsilon) => direction(epsilon, 0.0)?,
            Self::PrivUnit(epsilon) => {
                let best = SimulatedPrivUnit::new(model.ball()?.ball, epsilon);
                direction(epsilon, best.cap().unwrap_or(0.0))?
            }
        })
    }
}

impl Perturbation {
    /// Turns gradients into reports; `room` has as many places.
    #[inline(always)]
    pub(super) fn apply(&self, gradient: &mut [Lanes], room: &mut [Lanes], streams: &mut Streams) {
        match self {
            Self::None => {}
            Self::Gaussian { scale } => {
                streams.normals(room);
                add(gradient, &[*scale; LANES], room);
            }
            Self::GaussianBetween { diameter, low, high } => {
                let place = streams.uniform();
                streams.normals(room);
                add(gradient, &each(|l| diameter / (low + (high - low) * place[l])), room);
            }
            Self::Laplace { scale } => {
                streams.laplaces(room);
                add(gradient, &[*scale; LANES], room);
            }
            Self::L2Laplace { scale } => {
                streams.exponentials(room);
                let length = room.iter().fold([0.0; LANES], |sum, part| each(|l| sum[l] + part[l]));
                streams.normals(room);
                let square = dot(room, room);
                add(gradient, &each(|l| scale * length[l] / square[l].sqrt()), room);
            }
            Self::Direction { centre, radius, cosines } => {
                direction(gradient, room, streams, centre, *radius, cosines);
            }
        }
    }
}

/// gradient += factor·noise.
#[inline(always)]
fn add(gradient: &mut [Lanes], factor: &Lanes, noise: &[Lanes]) {
    for (g, noise) in gradient.iter_mut().zip(noise) {
        *g = each(|l| factor[l].mul_add(noise[l], g[l]));
    }
}

/// v = g - centre becomes the direction u = ±v/|v|, positive with probability 1/2 + |v|/(2r); the report is centre + r·V/m
/// with V of the drawn cosine along u and a uniform direction across.
#[inline(always)]
fn direction(
    gradient: &mut [Lanes],
    room: &mut [Lanes],
    streams: &mut Streams,
    centre: &[f64],
    radius: f64,
    cosines: &Cosines,
) {
    for (g, centre) in gradient.iter_mut().zip(centre) {
        *g = each(|l| g[l] - centre);
    }
    // A gradient of length zero has no direction; this one stands for any.
    let square = dot(gradient, gradient);
    let norm: Lanes = each(|l| (square[l] + 1e-300).sqrt());
    let coin = streams.uniform();
    let sign: Lanes = each(|l| if coin[l] < 0.5 + norm[l] / (2.0 * radius) { 1.0 } else { -1.0 });
    let (side, place) = (streams.uniform(), streams.uniform());
    let cosine: Lanes = each(|l| cosines.at(side[l], place[l]));
    streams.normals(room);
    // The part of the normal vector across u, and what has to be added along it
    let factor: Lanes = each(|l| sign[l] / norm[l]);
    let along = dot(room, gradient);
    let square = dot(room, room);
    let along: Lanes = each(|l| along[l] * factor[l]);
    let across: Lanes = each(|l| {
        let width = super::lanes::larger(square[l] - along[l] * along[l], 1e-300).sqrt();
        (1.0 - cosine[l] * cosine[l]).sqrt() / width
    });
    let length = radius / cosines.mean;
    let from_u: Lanes = each(|l| length * (cosine[l] - across[l] * along[l]) * factor[l]);
    for ((g, noise), centre) in gradient.iter_mut().zip(room).zip(centre) {
        *g = each(|l| centre + from_u[l] * g[l] + length * across[l] * noise[l]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::gradient::{Huber, RecordLoss, Weight, Weighting};

    #[test]
    fn reports_are_unbiased_and_as_far_away_as_their_mechanism_says() {
        let huber = Huber::new(Huber::CUT, 0.1, 20.0).unwrap();
        let weighting = Weighting::new(Weight::Square, 2f64.sqrt()).unwrap();
        let model = RecordModel::new(RecordLoss::Huber(huber), weighting, 6, 100.0).unwrap();
        let ball = model.ball().unwrap();
        // A gradient at the edge of the ball
        let truth: Vec<f64> = ball.centre.iter().map(|c| c + model.radius() / 7f64.sqrt()).collect();
        let (epsilon, mu) = (|e| Epsilon::new(e).unwrap(), |m| Mu::new(m).unwrap());
        for noise in [
            Noise::Gaussian(mu(0.5)),
            Noise::GaussianBetween(mu(1.0), mu(2.0)),
            Noise::Laplace(epsilon(1.0)),
            Noise::L2Laplace(epsilon(3.0)),
            Noise::Duchi(epsilon(1.0)),
            Noise::PrivUnit(epsilon(3.0)),
        ] {
            let perturbation = noise.made_for(&model).unwrap();
            let mut streams = Streams::new(3, 0);
            let (mut sums, mut squares, mut fourths, rounds) = ([0.0; 7], 0.0, 0.0, 40_000);
            for _ in 0..rounds {
                let mut gradient: Vec<Lanes> = truth.iter().map(|&value| [value; LANES]).collect();
                perturbation.apply(&mut gradient, &mut [[0.0; LANES]; 7], &mut streams);
                let mut lengths = [0.0; LANES];
                for ((report, truth), sum) in gradient.iter().zip(&truth).zip(&mut sums) {
                    let away = report.map(|value| value - truth);
                    *sum += away.iter().sum::<f64>();
                    lengths = each(|l| lengths[l] + away[l] * away[l]);
                }
                squares += lengths.iter().sum::<f64>();
                fourths += lengths.iter().map(|square| square * square).sum::<f64>();
            }
            let n = f64::from(rounds) * LANES as f64;
            let (mean, expected) = (squares / n, noise.second_moment(&model).unwrap());
            let error = ((fourths / n - mean * mean) / n).sqrt();
            assert!(
                (mean - expected).abs() < 5.0 * error + 1e-3 * expected,
                "{noise:?}: {mean} for {expected}"
            );
            for sum in sums {
                assert!((sum / n).abs() < 5.0 * (expected / n).sqrt(), "{noise:?}: {sum}");
            }
        }
    }
}
