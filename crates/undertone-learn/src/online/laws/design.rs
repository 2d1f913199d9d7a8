//! A and the covariance of gradients at the optimum, by closed form or quadrature.
//!
//! With Q = |z|² and w = w(1 + Q), **linear**, σ = 2: with P₀ = 2Φ(c) - 1, m₂ = P₀ - 2c·φ(c), m₄ = 3m₂ - 2c³·φ(c) and
//! v = m₄ + c⁴·(1 - P₀) - κ²,
//!
//! > A = (1/σ)·diag(P₀·E w, P₀·E\[wQ\]/d, …, m₂·E w),   Cov(∇) = diag(κ·E w², κ·E\[w²Q\]/d, …, v·E\[w²\]/4)
//!
//! **Logistic**, with s = 1/(1 + e^-(1 + √d·a)) and a ~ N(0, 1) the part of z along (1, …, 1)/√d,
//!
//! > A = E\[w·s(1-s)·xx'\],   Cov(∇) = E\[w²·s(1-s)·xx'\]
//!
//! where the directions across (1, …, 1) are all alike.

use super::pair::Pair;
use super::polar::Polar;
use super::{Budgets, Law};
use crate::LearnError;
use crate::online::clipped_normal::ClippedNormal;
use undertone_privacy::accounting::mu_for;
use undertone_privacy::gradient::{CentredBall, Huber, Logistic, RecordLoss, RecordModel, Weight, Weighting};
use undertone_privacy::vector::VectorMechanism;
use undertone_privacy::{Guarantee, Mu};

/// What is learnt in a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesignKind {
    /// Huber's regression with its scale
    Linear,
    /// A label 0 or 1
    Logistic,
}

/// A simulation of which everything is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    kind: DesignKind,
    weight: Weight,
    /// d, the constant not counted
    dimension: usize,
    model: RecordModel,
    huber: Huber,
}

impl Design {
    /// σ of the linear design.
    pub const SCALE: f64 = 2.0;
    /// R² of the weights.
    const SQUARED_RADIUS: f64 = 2.0;
    /// No coefficient leaves ± this.
    const BOUND: f64 = 100.0;
    /// The largest d, for which quadrature takes a second.
    const MOST_DIMENSION: usize = 1000;

    /// With d = `dimension` covariates beside the constant. Clipped gradients are biased and have no law here.
    pub fn new(kind: DesignKind, weight: Weight, dimension: usize) -> Result<Self, LearnError> {
        if weight == Weight::Clip {
            return Err(LearnError::Clipped);
        }
        if !(1..=Self::MOST_DIMENSION).contains(&dimension) {
            let (what, expected) = ("the dimension", "from 1 to 1000");
            return Err(LearnError::Parameter { what, value: dimension as f64, expected });
        }
        let huber = Huber::new(Huber::CUT, 0.1, 20.0)?;
        let loss = match kind {
            DesignKind::Linear => RecordLoss::Huber(huber),
            DesignKind::Logistic => RecordLoss::Logistic(Logistic),
        };
        let weighting = Weighting::new(weight, Self::SQUARED_RADIUS.sqrt())?;
        let model = RecordModel::new(loss, weighting, dimension + 1, Self::BOUND)?;
        Ok(Self { kind, weight, dimension, model, huber })
    }

    /// What is learnt.
    pub fn kind(&self) -> DesignKind {
        self.kind
    }

    /// d.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// What a device computes.
    pub fn model(&self) -> RecordModel {
        self.model
    }

    /// θ*.
    pub fn optimum(&self) -> Vec<f64> {
        let mut optimum = vec![1.0; self.model.parameters()];
        if let (DesignKind::Linear, Some(scale)) = (self.kind, optimum.last_mut()) {
            *scale = Self::SCALE;
        }
        optimum
    }

    /// A and S under these budgets, kept with Gaussian noise of Δ/μ on every coordinate, Δ the diameter of all gradients at
    /// every θ, as published.
    pub fn law(&self, budgets: Budgets) -> Law {
        self.law_of_noise(self.model.radius(), budgets)
    }

    /// The ball of all gradients at the optimum, or at any point.
    pub fn ball(&self, at_optimum: bool) -> Result<CentredBall, LearnError> {
        Ok(if at_optimum { self.model.ball_at(&self.optimum())? } else { self.model.ball()? })
    }

    /// The same with noise as devices add it near the optimum, where Δ is that of the gradients at one public θ: less than
    /// [`law`](Self::law) has for the logistic loss with weights R²/|x|².
    pub fn law_at_public_point(&self, budgets: Budgets) -> Result<Law, LearnError> {
        Ok(self.law_of_noise(self.ball(true)?.ball.radius(), budgets))
    }

    /// The μ of Gaussian noise with the variance of what a device does under `promise`: itself under μ, what (ε, δ) allows, and
    /// under a pure promise that of the least noise there is.
    ///
    /// A direction mechanism has no noise of its own: a report is r/m long, as seen from the centre a of the ball, whatever the
    /// record. At the optimum reports have the mean zero, hence the second moment E|report|² = r²/m² - |a|², and what the
    /// scatter of gradients leaves of that is counted as noise, in equal parts for every parameter.
    pub fn gaussian_equivalent(&self, promise: Guarantee, around: &CentredBall) -> Result<Mu, LearnError> {
        match promise {
            Guarantee::Gaussian(mu) => return Ok(mu),
            Guarantee::Approximate(epsilon, delta) => return Ok(mu_for(epsilon, delta)?),
            Guarantee::Concentrated(_) | Guarantee::Pure(_) => {}
        }
        let mechanism = VectorMechanism::best(around.ball, promise)?;
        let centre: f64 = around.centre.iter().map(|a| a * a).sum();
        let norm = (self.law(Budgets::NO_PRIVACY).scatter() + centre).sqrt();
        let noise = mechanism.variance_at_norm(norm) / self.model.parameters() as f64;
        Ok(Mu::new(2.0 * around.ball.radius() / noise.sqrt())?)
    }

    fn law_of_noise(&self, radius: f64, budgets: Budgets) -> Law {
        let law = match self.kind {
            DesignKind::Linear => self.linear(),
            DesignKind::Logistic => self.logistic(),
        };
        let noise = (2.0 * radius).powi(2) * budgets.mean_inverse_square();
        let (a, s) = law.together;
        Law {
            together: (a, Pair { first: s.first + noise, second: s.second + noise, ..s }),
            across: law.across.map(|(a, s)| (a, s + noise)),
            scale: law.scale.map(|(a, s)| (a, s + noise)),
            ..law
        }
    }

    /// w(1 + Q).
    fn weight(&self, q: f64) -> f64 {
        let ratio = (Self::SQUARED_RADIUS / (1.0 + q)).min(1.0);
        if self.weight == Weight::Square { ratio } else { ratio.sqrt() }
    }

    fn polar(&self) -> Polar {
        Polar::new(self.dimension, (Self::SQUARED_RADIUS - 1.0).sqrt())
    }

    fn linear(&self) -> Law {
        let (polar, d, c) = (self.polar(), self.dimension as f64, self.huber.cut());
        let ClippedNormal { inside, second, fourth } = ClippedNormal::new(c);
        let kappa = self.huber.consistency();
        // Var u²
        let spread = fourth + c.powi(4) * (1.0 - inside) - kappa * kappa;
        let (w, wq) = (polar.radial(|q| self.weight(q)), polar.radial(|q| q * self.weight(q)) / d);
        let square = |q: f64| self.weight(q).powi(2);
        let (ww, wwq) = (polar.radial(square), polar.radial(|q| q * square(q)) / d);
        let slope = (inside * wq / Self::SCALE, kappa * wwq);
        Law {
            design: *self,
            dimension: self.dimension,
            together: (
                Pair::diagonal(inside * w / Self::SCALE, slope.0),
                Pair::diagonal(kappa * ww, slope.1),
            ),
            across: (self.dimension > 1).then_some(slope),
            scale: Some((second * w / Self::SCALE, spread * ww / 4.0)),
        }
    }

    fn logistic(&self) -> Law {
        let (polar, d) = (self.polar(), self.dimension as f64);
        let variance = |a: f64| {
            let e = (-(1.0 + d.sqrt() * a).abs()).exp();
            e / ((1.0 + e) * (1.0 + e))
        };
        let moments = |power: i32| {
            let mean = |of: &dyn Fn(f64, f64) -> f64| {
                polar.mean(|q, a| self.weight(q).powi(power) * variance(a) * of(q, a))
            };
            let together =
                Pair { first: mean(&|_, _| 1.0), cross: mean(&|_, a| a), second: mean(&|_, a| a * a) };
            (together, mean(&|q, a| q - a * a) / (d - 1.0))
        };
        let ((a, across_a), (s, across_s)) = (moments(1), moments(2));
        let across = (self.dimension > 1).then_some((across_a, across_s));
        Law { design: *self, dimension: self.dimension, together: (a, s), across, scale: None }
    }
}
