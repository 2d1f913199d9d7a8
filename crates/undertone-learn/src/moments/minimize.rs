//! The least risk on a ball, for a risk that sees w through m = w'μ and q = w'Sw alone.
//!
//! At a minimum of a convex F(m, q) that rises with q there are ν, b ≥ 0 with -∂F/∂m·μ = (2b·S + ν·I)·w, hence
//!
//! > w = c·(S + κI)⁻¹μ, and κ = 0 unless |w| = R
//!
//! (and a law with |w'Sw| alone in it does rise with q: reflecting w in the direction S⁻¹μ leaves m and q, and by convexity the
//! middle of both has no more risk and a smaller q). So two searches along a line find it in the coordinates of the
//! eigenvectors, whatever p: c from 0 to R/|S⁻¹μ| at κ = 0, and κ upwards from 0 at |w| = R.

use super::closure::Surrogate;
use super::estimate::Repaired;

/// The places of a first look at κ, in the logarithm ...
const PLACES: usize = 48;
/// ... from this share of the largest eigenvalue to its inverse.
const LEAST: f64 = 1e-6;
/// Steps of a golden section: 0.618^40 is below 10^-8.
const SECTIONS: usize = 40;

/// S and μ in the coordinates of the eigenvectors, μ shortened to what the law of the surrogate can have.
pub(super) struct Problem<'a> {
    surrogate: Surrogate,
    repaired: &'a Repaired,
    /// U'μ
    mean: Vec<f64>,
    radius: f64,
}

/// Weights and their risk.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Minimum {
    pub(super) weights: Vec<f64>,
    pub(super) risk: f64,
}

impl<'a> Problem<'a> {
    pub(super) fn new(surrogate: Surrogate, repaired: &'a Repaired, radius: f64) -> Self {
        let mut mean = repaired.spectrum.inward(&repaired.mean);
        // μ'S⁻¹μ, a little below what is allowed
        let alignment: f64 = mean.iter().zip(&repaired.spectrum.values).map(|(m, value)| m * m / value).sum();
        let most = 0.98 * surrogate.most_alignment();
        if alignment > most {
            let scale = (most / alignment).sqrt();
            for m in &mut mean {
                *m *= scale;
            }
        }
        Self { surrogate, repaired, mean, radius }
    }

    /// (S + κI)⁻¹μ and its length.
    fn direction(&self, kappa: f64) -> (Vec<f64>, f64) {
        let solved: Vec<f64> = self
            .mean
            .iter()
            .zip(&self.repaired.spectrum.values)
            .map(|(m, value)| m / (value + kappa))
            .collect();
        let norm = solved.iter().map(|x| x * x).sum::<f64>().sqrt();
        (solved, norm)
    }

    /// The risk of c·`direction`.
    fn risk_along(&self, direction: &[f64], c: f64) -> f64 {
        let (mut m, mut q) = (0.0, 0.0);
        for ((w, mean), value) in direction.iter().zip(&self.mean).zip(&self.repaired.spectrum.values) {
            m += w * mean;
            q += value * w * w;
        }
        self.surrogate.risk(c * m, c * c * q)
    }

    /// The risk of any weights, given in the coordinates of the covariates.
    pub(super) fn risk(&self, weights: &[f64]) -> f64 {
        self.risk_along(&self.repaired.spectrum.inward(weights), 1.0)
    }

    /// The share of `weights` that has the least risk if they spread margins as far as `spread`, where that is farther than S has it.
    pub(super) fn steadied(&self, mut weights: Vec<f64>, spread: f64) -> Vec<f64> {
        let inner = self.repaired.spectrum.inward(&weights);
        let m: f64 = inner.iter().zip(&self.mean).map(|(w, mean)| w * mean).sum();
        let believed: f64 =
            inner.iter().zip(&self.repaired.spectrum.values).map(|(w, value)| value * w * w).sum();
        if spread > believed {
            let (share, _) = golden(0.0, 1.0, |c| self.surrogate.risk(c * m, c * c * spread));
            for w in &mut weights {
                *w *= share;
            }
        }
        weights
    }

    /// The weights of least risk in the ball.
    pub(super) fn minimum(&self) -> Minimum {
        let (direction, norm) = self.direction(0.0);
        let zero = Minimum { weights: vec![0.0; self.mean.len()], risk: self.surrogate.risk(0.0, 0.0) };
        if norm <= f64::MIN_POSITIVE {
            return zero;
        }
        let most = self.radius / norm;
        let (c, inside) = golden(0.0, most, |c| self.risk_along(&direction, c));
        if c < most * (1.0 - 1e-6) {
            return self.better(zero, &direction, c, inside);
        }
        let on_sphere = |kappa: f64| {
            let (direction, norm) = self.direction(kappa);
            self.risk_along(&direction, self.radius / norm)
        };
        let kappa = self.best_kappa(on_sphere);
        let (direction, norm) = self.direction(kappa);
        self.better(zero, &direction, self.radius / norm, on_sphere(kappa))
    }

    fn better(&self, zero: Minimum, direction: &[f64], c: f64, risk: f64) -> Minimum {
        if risk >= zero.risk {
            return zero;
        }
        let weights = self.repaired.spectrum.outward(direction).into_iter().map(|w| c * w).collect();
        Minimum { weights, risk }
    }

    /// The κ ≥ 0 of least risk: the best of some places, and a golden section around it.
    fn best_kappa(&self, risk: impl Fn(f64) -> f64) -> f64 {
        let largest = self.repaired.spectrum.values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let width = -2.0 * LEAST.ln() / (PLACES - 1) as f64;
        let at = |k: f64| largest * LEAST * (width * k).exp();
        let best = (0..PLACES).map(|k| (risk(at(k as f64)), k)).min_by(|a, b| a.0.total_cmp(&b.0));
        let place = best.map_or(0.0, |(_, k)| k as f64);
        let (k, least) = golden(place - 1.0, place + 1.0, |k| risk(at(k)));
        if risk(0.0) <= least { 0.0 } else { at(k) }
    }
}

/// The least value of a function with one valley between `low` and `high`, and where it is.
fn golden(low: f64, high: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (low, high);
    let (mut a, mut b) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..SECTIONS {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - RATIO * (high - low);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + RATIO * (high - low);
            at_b = f(b);
        }
    }
    if at_a < at_b { (a, at_a) } else { (b, at_b) }
}

#[cfg(test)]
mod tests {
    use super::super::closure::{Closure, MarginLoss};
    use super::super::spectrum::Spectrum;
    use super::*;

    fn repaired() -> Repaired {
        let svec = [0.5, 0.1, 0.3, -0.05, 0.02, 0.15];
        Repaired { mean: vec![0.2, -0.1, 0.15], spectrum: Spectrum::of_svec(3, &svec).unwrap() }
    }

    #[test]
    fn no_other_weights_in_the_ball_have_less_risk() {
        let repaired = repaired();
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge, MarginLoss::Squared] {
            for closure in [Closure::Gauss, Closure::SkewNormal, Closure::Quadratic] {
                for radius in [0.3, 1.0, 20.0] {
                    let problem = Problem::new(Surrogate::new(loss, closure, radius), &repaired, radius);
                    let Minimum { weights, risk } = problem.minimum();
                    let norm = |w: &[f64]| w.iter().map(|x| x * x).sum::<f64>().sqrt();
                    assert!(norm(&weights) <= radius * (1.0 + 1e-9));
                    assert!((problem.risk(&weights) - risk).abs() < 1e-9);
                    for k in 0..400 {
                        // steps of all sizes in all directions, brought back into the ball
                        let t = f64::from(k);
                        let size = 10f64.powf(-(t % 5.0)) * radius;
                        let step = [t.sin(), (2.3 * t).sin(), (3.1 * t).cos()];
                        let mut other: Vec<f64> =
                            weights.iter().zip(step).map(|(w, s)| w + size * s).collect();
                        let length = norm(&other).max(radius);
                        for w in &mut other {
                            *w *= radius / length;
                        }
                        let there = problem.risk(&other);
                        assert!(there > risk - 1e-7, "{loss:?}, {closure:?}, {radius}: {there} below {risk}");
                    }
                }
            }
        }
    }

    #[test]
    fn inside_the_ball_the_squared_loss_is_solved_by_the_normal_equations() {
        let repaired = repaired();
        let problem =
            Problem::new(Surrogate::new(MarginLoss::Squared, Closure::Quadratic, 50.0), &repaired, 50.0);
        let weights = problem.minimum().weights;
        // S·w = μ
        let s = [[0.5, 0.1, -0.05], [0.1, 0.3, 0.02], [-0.05, 0.02, 0.15]];
        let root = std::f64::consts::SQRT_2;
        for (i, mean) in repaired.mean.iter().enumerate() {
            let product: f64 = (0..3).map(|j| s[i][j] / if i == j { 1.0 } else { root } * weights[j]).sum();
            assert!((product - mean).abs() < 1e-6, "{product} for {mean}");
        }
    }

    #[test]
    fn weights_whose_margins_spread_farther_than_believed_become_shorter() {
        let repaired = repaired();
        let surrogate = Surrogate::new(MarginLoss::Squared, Closure::Quadratic, 50.0);
        let problem = Problem::new(surrogate, &repaired, 50.0);
        let weights = problem.minimum().weights;
        // At the minimum w'Sw = w'μ; where the spread is twice that, c·w'μ·2 - c²·2·w'μ is largest at c = 1/2.
        let spread: f64 = weights.iter().zip(&repaired.mean).map(|(w, m)| w * m).sum();
        let half = problem.steadied(weights.clone(), 2.0 * spread);
        assert!(half.iter().zip(&weights).all(|(half, w)| (half - 0.5 * w).abs() < 1e-6));
        assert_eq!(problem.steadied(weights.clone(), 0.9 * spread), weights);
    }

    #[test]
    fn without_a_direction_the_constant_is_best() {
        let repaired = Repaired { mean: vec![0.0; 3], ..repaired() };
        let problem = Problem::new(Surrogate::new(MarginLoss::Logistic, Closure::Gauss, 1.0), &repaired, 1.0);
        assert_eq!(problem.minimum().weights, [0.0; 3]);
    }
}
