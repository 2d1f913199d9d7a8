//! Records that are known: their moments, the risk of weights, and the weights of least risk.

use crate::convex::Feasible;
use crate::moments::MarginLoss;

/// The width over which the kink of the hinge is smoothed to find its minimum.
const SMOOTH: f64 = 0.02;
/// Steps of the accelerated descent.
const STEPS: usize = 600;

/// Records (x, y), row by row.
#[derive(Clone, Debug)]
pub struct Sample {
    covariates: usize,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Sample {
    /// Of n·p numbers and n responses.
    pub fn new(covariates: usize, x: Vec<f64>, y: Vec<f64>) -> Self {
        debug_assert_eq!(x.len(), covariates * y.len());
        Self { covariates, x, y }
    }

    /// p.
    pub fn covariates(&self) -> usize {
        self.covariates
    }

    /// The records.
    pub fn records(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.x.chunks_exact(self.covariates).zip(self.y.iter().copied())
    }

    /// n.
    pub fn people(&self) -> usize {
        self.y.len()
    }

    /// The means of yx and of svec(xx').
    pub fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let p = self.covariates;
        let (mut first, mut second) = (vec![0.0; p], vec![0.0; p * (p + 1) / 2]);
        for (x, y) in self.records() {
            first.iter_mut().zip(x).for_each(|(sum, x)| *sum += y * x);
            let mut place = second.iter_mut();
            for (i, a) in x.iter().enumerate() {
                x[..=i].iter().zip(place.by_ref()).for_each(|(b, sum)| *sum += a * b);
            }
        }
        let n = self.y.len() as f64;
        for sum in &mut first {
            *sum /= n;
        }
        for i in 0..p {
            for j in 0..=i {
                let weight = if i == j { 1.0 } else { std::f64::consts::SQRT_2 };
                second[i * (i + 1) / 2 + j] *= weight / n;
            }
        }
        (first, second)
    }

    /// The mean loss of w; that of the squared loss less the mean of y².
    pub fn risk(&self, loss: MarginLoss, w: &[f64]) -> f64 {
        let term = |(x, y): (&[f64], f64)| {
            let score: f64 = x.iter().zip(w).map(|(x, w)| x * w).sum();
            match loss {
                MarginLoss::Squared => score * score - 2.0 * y * score,
                _ => loss.at(y * score),
            }
        };
        self.records().map(term).sum::<f64>() / self.y.len() as f64
    }

    /// The weights of least risk in the ball, by Nesterov's accelerated projected descent; the hinge is smoothed, to
    /// ((1/2-t) + √((1/2-t)² + β²))/2.
    pub fn optimum(&self, loss: MarginLoss, radius: f64) -> Vec<f64> {
        let p = self.covariates;
        let ball = Feasible::Ball { radius };
        // |x| ≤ 1, and the largest eigenvalue of E[xx'] is at most its largest row sum
        let (_, second) = self.moments();
        let entry = |i: usize, j: usize| second[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)].abs();
        let largest = (0..p).map(|i| (0..p).map(|j| entry(i, j)).sum::<f64>()).fold(0.0, f64::max);
        let curvature = match loss {
            MarginLoss::Logistic => 0.25,
            MarginLoss::Hinge => 0.5 / SMOOTH,
            MarginLoss::Squared => 2.0,
        };
        let step = 1.0 / (curvature * largest);
        let (mut w, mut ahead, mut pace) = (vec![0.0; p], vec![0.0; p], 1.0f64);
        for _ in 0..STEPS {
            let gradient = self.gradient(loss, &ahead);
            let mut next: Vec<f64> = ahead.iter().zip(gradient).map(|(w, g)| w - step * g).collect();
            ball.project(&mut next);
            let faster = 0.5 * (1.0 + (1.0 + 4.0 * pace * pace).sqrt());
            let momentum = (pace - 1.0) / faster;
            ahead = next.iter().zip(&w).map(|(new, old)| new + momentum * (new - old)).collect();
            (w, pace) = (next, faster);
        }
        w
    }

    fn gradient(&self, loss: MarginLoss, w: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.covariates];
        for (x, y) in self.records() {
            let score: f64 = x.iter().zip(w).map(|(x, w)| x * w).sum();
            let slope = match loss {
                MarginLoss::Logistic => y * loss.slope(y * score),
                MarginLoss::Hinge => {
                    let away = 0.5 - y * score;
                    -0.5 * y * (1.0 + away / (away * away + SMOOTH * SMOOTH).sqrt())
                }
                MarginLoss::Squared => 2.0 * (score - y),
            };
            sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += slope * x);
        }
        let n = self.y.len() as f64;
        sum.into_iter().map(|sum| sum / n).collect()
    }
}
