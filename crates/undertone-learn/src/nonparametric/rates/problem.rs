//! The problem as the theory sees it, and the rate at which it can be learnt.

use crate::LearnError;
use crate::nonparametric::TrustModel;
use serde::Serialize;
use undertone_privacy::{Epsilon, PrivacyError};

/// What is learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// One of K classes
    Classification,
    /// A bounded number
    Regression,
    /// A number of which only a moment is bounded
    Heavy,
}

impl Task {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Classification, Self::Regression, Self::Heavy];

    /// What people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classification => "classification",
            Self::Regression => "regression",
            Self::Heavy => "heavy",
        }
    }

    /// The task of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.name() == name)
    }
}

/// A learning problem: whom to ask how much about what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// What is learnt
    pub task: Task,
    /// Who is trusted
    pub trust: TrustModel,
    /// N
    pub people: u64,
    /// The promise; without effect where nothing is private
    pub epsilon: Epsilon,
    /// d, of the features
    pub dimension: u32,
    /// β, the Hölder exponent of what is learnt
    pub beta: f64,
    /// γ, the margin exponent: how rarely two classes are nearly alike
    pub gamma: f64,
    /// p, the order of the moment that is bounded; infinite for bounded numbers
    pub moments: f64,
    /// K
    pub classes: u32,
}

/// A private term (N'·ε^a)^(-e).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Term {
    epsilon_power: f64,
    exponent: f64,
    /// Whether it adds to the non-private rate; otherwise the larger of the two counts
    adds: bool,
}

impl Problem {
    /// Two classes, bounded numbers, no margin.
    pub fn new(
        task: Task,
        trust: TrustModel,
        people: u64,
        epsilon: Epsilon,
        dimension: u32,
        beta: f64,
    ) -> Self {
        let moments = if task == Task::Heavy { 2.0 } else { f64::INFINITY };
        Self { task, trust, people, epsilon, dimension, beta, gamma: 0.0, moments, classes: 2 }
    }

    /// Refuses what no theorem is about.
    pub fn check(&self) -> Result<(), LearnError> {
        let refuse = |what, value, expected| Err(LearnError::Parameter { what, value, expected });
        if self.people == 0 {
            return Err(LearnError::NoReports);
        }
        if self.dimension == 0 {
            return refuse("the dimension", 0.0, "at least 1");
        }
        // A function that is smoother than Lipschitz in this sense is constant.
        if !(self.beta > 0.0 && self.beta <= 1.0) {
            return refuse("β", self.beta, "above 0 and at most 1");
        }
        if !(self.gamma >= 0.0 && self.gamma.is_finite()) {
            return refuse("γ", self.gamma, "at least 0 and finite");
        }
        if self.moments.is_nan() || self.moments < 2.0 {
            return refuse("the order of the bounded moment", self.moments, "at least 2");
        }
        if self.task == Task::Heavy && self.moments.is_infinite() {
            return refuse("the order of the bounded moment", self.moments, "finite for heavy tails");
        }
        if self.classes < 2 {
            return Err(PrivacyError::TooFewLabels { labels: self.classes }.into());
        }
        Ok(())
    }

    /// Whether γβ > d: then there is no such distribution with a boundary, and no lower bound says that the rate is the
    /// best possible.
    pub fn is_upper_bound_only(&self) -> bool {
        self.task == Task::Classification && self.gamma * self.beta > f64::from(self.dimension)
    }

    /// N' = N/max(ln K, 1), N for numbers.
    pub(super) fn effective_people(&self) -> f64 {
        let n = self.people as f64;
        match self.task {
            Task::Classification => n / f64::from(self.classes).ln().max(1.0),
            Task::Regression | Task::Heavy => n,
        }
    }

    /// f = (p - 1)/p.
    fn tail(&self) -> f64 {
        if self.task == Task::Heavy { 1.0 - 1.0 / self.moments } else { 1.0 }
    }

    fn term(&self) -> Option<Term> {
        let (b, d, g, f) = (self.beta, f64::from(self.dimension), self.gamma, self.tail());
        let classes = self.task == Task::Classification;
        let (epsilon_power, exponent, adds) = match (self.trust, classes) {
            (TrustModel::None, _) => return None,
            (TrustModel::LabelLocal, true) => (2.0, b * (g + 1.0) / (2.0 * b + d), false),
            (TrustModel::FullLocal, true) => (2.0, b * (g + 1.0) / (2.0 * b + 2.0 * d), false),
            (_, true) => (1.0, b * (g + 1.0) / (b + d), true),
            (TrustModel::LabelLocal, false) => (2.0, 2.0 * b * f / (2.0 * b + d * f), false),
            (TrustModel::FullLocal, false) => (2.0, b * f / (b + d * f), false),
            (_, false) => (1.0, 2.0 * b * f / (b + d * f), true),
        };
        Some(Term { epsilon_power, exponent, adds })
    }

    /// The rate without privacy.
    pub fn non_private_rate(&self) -> f64 {
        let (b, d) = (self.beta, f64::from(self.dimension));
        let power = if self.task == Task::Classification { b * (self.gamma + 1.0) } else { 2.0 * b };
        self.effective_people().powf(-power / (2.0 * b + d))
    }

    /// The rate.
    pub fn rate(&self) -> f64 {
        let alone = self.non_private_rate();
        match self.term() {
            None => alone,
            Some(Term { epsilon_power, exponent, adds }) => {
                let base = self.effective_people() * self.epsilon.get().powf(epsilon_power);
                let private = base.powf(-exponent);
                if adds { alone + private } else { alone.max(private) }
            }
        }
    }

    /// ε above which privacy costs no more than the data themselves do: the private term equals the non-private one.
    pub fn crossover(&self) -> Option<f64> {
        let Term { epsilon_power, exponent, .. } = self.term()?;
        let people = self.non_private_rate().powf(-1.0 / exponent);
        Some((people / self.effective_people()).powf(1.0 / epsilon_power))
    }

    /// The least N with a rate of at most `target`, if a number below 2^60 will do.
    pub fn people_for(&self, target: f64) -> Option<u64> {
        let enough = |people: u64| Self { people, ..*self }.rate() <= target;
        let (mut below, mut above) = (0, 1u64 << 60);
        if !enough(above) {
            return None;
        }
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if enough(middle) { above = middle } else { below = middle }
        }
        Some(above)
    }
}
