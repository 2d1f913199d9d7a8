//! From moments to a risk: what E f(y⟨w, x⟩) would be if the margins had a law that their two moments determine.
//!
//! Every closure here sees w through m = w'E\[yx\] and q = w'E\[xx'\]w alone, and is convex in w wherever a population with
//! these moments has that law:
//!
//! | closure | law of the margin | realisable while | used for |
//! |---|---|---|---|
//! | [`Gauss`](Closure::Gauss) | N(m, q - m²) | μ'S⁻¹μ ≤ 1 | nearly all |
//! | [`SkewNormal`](Closure::SkewNormal) | √q·(skew-normal), that of normal x and probit labels | μ'S⁻¹μ ≤ 2/π | logistic, many covariates and people |
//! | [`Quadratic`](Closure::Quadratic) | any, as f is replaced by a parabola on [-R, R] | always | squared loss; small R |
//!
//! The squared loss is a parabola, and its closure is exact.

mod gauss;
mod quadratic;
mod quadrature;
mod skew_normal;
mod sphere;

pub(super) use gauss::risk as normal_risk;
pub(super) use sphere::best_length;

use serde::{Deserialize, Serialize};

/// A loss f(y⟨w, x⟩) of a margin, or the squared loss of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarginLoss {
    /// ln(1 + e^-t)
    Logistic,
    /// max(0, 1/2 - t)
    Hinge,
    /// (y - ⟨w, x⟩)², less E\[y²\], which no w changes
    Squared,
}

impl MarginLoss {
    /// f(t); for the squared loss with y = 1.
    pub fn at(self, t: f64) -> f64 {
        match self {
            Self::Logistic => (-t).max(0.0) + (-t.abs()).exp().ln_1p(),
            Self::Hinge => (0.5 - t).max(0.0),
            Self::Squared => t * t - 2.0 * t,
        }
    }

    /// f'(t), at the kink of the hinge the one to its right.
    pub fn slope(self, t: f64) -> f64 {
        match self {
            Self::Logistic => -1.0 / (1.0 + t.exp()),
            Self::Hinge => -f64::from(u8::from(t < 0.5)),
            Self::Squared => 2.0 * t - 2.0,
        }
    }
}

/// How a risk is made from two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Closure {
    /// Normal margins
    Gauss,
    /// Skew-normal margins
    SkewNormal,
    /// The best parabola in the place of the loss
    Quadratic,
}

/// A loss and its closure on the ball of a radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Surrogate {
    loss: MarginLoss,
    closure: Closure,
    /// a_0 + a_1·t + a_2·t², in the place of f
    parabola: [f64; 3],
}

impl Surrogate {
    pub(super) fn new(loss: MarginLoss, closure: Closure, radius: f64) -> Self {
        Self { loss, closure, parabola: quadratic::parabola(loss, radius) }
    }

    /// The largest μ'S⁻¹μ that its law can have.
    pub(super) fn most_alignment(&self) -> f64 {
        match self.closure {
            Closure::SkewNormal if self.loss != MarginLoss::Squared => std::f64::consts::FRAC_2_PI,
            _ => 1.0,
        }
    }

    /// The risk at m = w'μ, q = w'Sw.
    pub(super) fn risk(&self, m: f64, q: f64) -> f64 {
        match (self.loss, self.closure) {
            (MarginLoss::Squared, _) | (_, Closure::Quadratic) => {
                let [a, b, c] = self.parabola;
                a + b * m + c * q
            }
            (loss, Closure::Gauss) => gauss::risk(loss, m, (q - m * m).max(0.0).sqrt()),
            (loss, Closure::SkewNormal) => skew_normal::risk(loss, m, q),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSSES: [MarginLoss; 3] = [MarginLoss::Logistic, MarginLoss::Hinge, MarginLoss::Squared];

    #[test]
    fn at_zero_every_closure_is_the_loss_of_the_constant() {
        for loss in LOSSES {
            for closure in [Closure::Gauss, Closure::SkewNormal] {
                let risk = Surrogate::new(loss, closure, 1.0).risk(0.0, 0.0);
                assert!((risk - loss.at(0.0)).abs() < 1e-12, "{loss:?}, {closure:?}: {risk}");
            }
        }
    }

    #[test]
    fn slopes_are_those_of_the_losses() {
        for loss in LOSSES {
            for t in [-3.0, -0.4, 0.2, 0.7, 2.0] {
                let slope = (loss.at(t + 1e-6) - loss.at(t - 1e-6)) / 2e-6;
                assert!((slope - loss.slope(t)).abs() < 1e-8, "{loss:?} at {t}");
            }
        }
    }

    #[test]
    fn every_closure_is_convex_along_every_line_where_it_is_realisable() {
        // Two coordinates, S = diag(0.7, 0.3), μ inside what the law allows
        let mu = [0.4, 0.2];
        let moments = |w: [f64; 2]| (w[0] * mu[0] + w[1] * mu[1], 0.7 * w[0] * w[0] + 0.3 * w[1] * w[1]);
        for loss in LOSSES {
            for closure in [Closure::Gauss, Closure::SkewNormal, Closure::Quadratic] {
                let surrogate = Surrogate::new(loss, closure, 4.0);
                let risk = |w| {
                    let (m, q) = moments(w);
                    surrogate.risk(m, q)
                };
                for k in 0..60 {
                    let angle = f64::from(k);
                    let (start, step) =
                        ([angle.sin() * 3.0, (1.7 * angle).cos() * 3.0], [angle.cos(), angle.sin()]);
                    let at = |t: f64| risk([start[0] + t * step[0], start[1] + t * step[1]]);
                    let bend = at(0.5) + at(-0.5) - 2.0 * at(0.0);
                    assert!(bend > -1e-9, "{loss:?}, {closure:?}: {bend}");
                }
            }
        }
    }
}
