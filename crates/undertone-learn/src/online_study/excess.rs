//! How much worse than the best a θ does in the whole population: F(θ) - F(θ*), with y integrated out.
//!
//! For the linear design and T = (y - x'β)/σ ~ N(a, b²) the Huber loss has the mean
//!
//! > E ρ_c(T) = (a² + b²)/2 - (h(a - c) + h(-a - c))/2,   h(k) = E(k + b·Z)₊² = (k² + b²)·Φ(k/b) + k·b·φ(k/b)
//!
//! and the logistic loss log(1 + e^s) - π*·s. Both are averaged over a fixed sample of x. Given any x, θ* is the best there
//! is, so that no sample makes the excess negative; the paper takes the empirical loss, of which θ* is not the minimum.

use super::functions::sigmoid;
use super::lanes::{LANES, Lanes};
use super::people::{People, Records};
use super::stream::Streams;
use crate::online::laws::DesignKind;
use undertone_privacy::accounting::normal::{cdf, pdf};
use undertone_privacy::gradient::{RecordLoss, RecordModel};

/// Points of the sample, in blocks of lanes.
const BLOCKS: usize = 64;
/// Of the sample, whatever the seed of a study is.
const SEED: u64 = 1;

/// The excess loss of a model on some people.
#[derive(Clone, Debug)]
pub struct Excess {
    people: People,
    model: RecordModel,
    /// x with its weight
    sample: Vec<(Vec<f64>, f64)>,
    best: f64,
}

impl Excess {
    /// Of a model on some people.
    pub fn new(people: People, model: RecordModel) -> Self {
        let (mut streams, mut sample) = (Streams::new(SEED, 0), Vec::with_capacity(BLOCKS * LANES));
        let (mut x, mut y): (Vec<Lanes>, Lanes) = (vec![[0.0; LANES]; people.dimension + 1], [0.0; LANES]);
        for _ in 0..BLOCKS {
            let mut drawn = people;
            drawn.draw(&mut streams, &mut x, &mut y);
            for l in 0..LANES {
                let x: Vec<f64> = x.iter().map(|x| x[l]).collect();
                let weight = model.weighting().of(&x);
                sample.push((x, weight));
            }
        }
        let mut excess = Self { people, model, sample, best: 0.0 };
        excess.best = excess.loss(&people.truth());
        excess
    }

    /// F(θ) - F(θ*).
    pub fn of(&self, theta: &[f64]) -> f64 {
        self.loss(theta) - self.best
    }

    fn loss(&self, theta: &[f64]) -> f64 {
        let truth = self.people.truth();
        let dot = |x: &[f64], beta: &[f64]| -> f64 { x.iter().zip(beta).map(|(x, b)| x * b).sum() };
        let one = |(x, weight): &(Vec<f64>, f64)| {
            let (score, best) = (dot(x, theta), dot(x, &truth));
            weight
                * match (self.people.kind, self.model.loss()) {
                    (DesignKind::Linear, RecordLoss::Huber(huber)) => {
                        let (sigma, c) = (theta[x.len()], huber.cut());
                        let (a, b) = ((best - score) / sigma, truth[x.len()] / sigma);
                        sigma * (mean_huber(a, b, c) + 0.5 * huber.consistency())
                    }
                    _ => score.max(0.0) + (-score.abs()).exp().ln_1p() - sigmoid(best) * score,
                }
        };
        self.sample.iter().map(one).sum::<f64>() / self.sample.len() as f64
    }
}

/// E ρ_c(T) for T ~ N(a, b²).
fn mean_huber(a: f64, b: f64, c: f64) -> f64 {
    let beyond = |k: f64| (k * k + b * b) * cdf(k / b) + k * b * pdf(k / b);
    0.5 * (a * a + b * b - beyond(a - c) - beyond(-a - c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::gradient::{Weight, Weighting};

    #[test]
    fn the_mean_of_the_huber_loss_is_its_integral() {
        for (a, b, c) in [(0.0, 1.0, 1.345), (2.0, 0.5, 1.345), (-3.0, 4.0, 1.0), (30.0, 0.1, 2.0)] {
            let rho = |t: f64| if t.abs() <= c { 0.5 * t * t } else { c * t.abs() - 0.5 * c * c };
            let (n, mut sum) = (40_000, 0.0);
            for i in 0..n {
                let z = (f64::from(i) + 0.5) / f64::from(n) * 20.0 - 10.0;
                sum += rho(a + b * z) * pdf(z) * 20.0 / f64::from(n);
            }
            assert!((mean_huber(a, b, c) - sum).abs() < 1e-6 * sum.max(1.0), "{a}, {b}, {c}: {sum}");
        }
    }

    #[test]
    fn the_truth_is_the_best_and_the_excess_is_half_of_the_hessian_nearby() {
        let weighting = Weighting::new(Weight::Square, 2f64.sqrt()).unwrap();
        for kind in [DesignKind::Linear, DesignKind::Logistic] {
            let people = People { kind, dimension: 5 };
            let excess = Excess::new(people, people.model(weighting).unwrap());
            let truth = people.truth();
            for j in 0..truth.len() {
                let moved = |by: f64| {
                    let mut theta = truth.clone();
                    theta[j] += by;
                    excess.of(&theta)
                };
                assert!(moved(0.1) > 0.0 && moved(-0.1) > 0.0 && moved(1.0) > moved(0.1));
                // quadratic near the truth: half as far, a quarter of the excess
                assert!((moved(2e-2) / moved(1e-2) - 4.0).abs() < 0.2, "{kind:?}, {j}");
            }
        }
    }
}
