//! What the papers claim about the order of the excess risk, and what was measured.
//!
//! Chua et al., Theorems 1 and 2, with R = L = 1: √max{K·e^ε/(e^ε-1)², 1}/√n, which is √K/(ε√n) up to ε = 1, √(K/e^ε)/√n up to
//! ln K and 1/√n from there on. For randomized response max{K/(e^ε-1), 1}/√n, and for Duchi's vectors √K/(min{1, ε}·√n).

use super::scan::{Axis, LOWER_BOUND, Point, name};
use crate::commands::reproduce::slope::{Slope, fit};
use serde::Serialize;
use undertone_learn::convex::experiment::Method;

/// How far a slope may be from the claimed one, beside two standard errors, to count as reproduced.
const NEAR: f64 = 0.1;

/// What the columns mean.
pub(super) const HOW_TO_READ: &str = "The order is the exponent that the papers state for the regime; claimed is the slope of \
their formula (Theorems 1 and 2, and those of randomized response and of Duchi's vectors) at the very points that were measured; \
predicted is that of the exact bound R·G/√n; measured is a weighted fit. A claim counts as reproduced if the measured slope is \
within 0.1 and two standard errors of the claimed one. The formulas hold up to constants, which may change along a line: where \
predicted and claimed differ, K or ε is not far enough out for the order to show, and the measured slope follows the prediction.";

/// Where a law holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Regime {
    Classes,
    People,
    HighPrivacy,
    MediumPrivacy,
    LowPrivacy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Reproduced,
    NotReproduced,
    /// Fewer than two points that say anything
    NotMeasured,
}

/// One claim about one method.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Law {
    pub(super) regime: Regime,
    pub(super) method: &'static str,
    /// The exponent that is stated for the regime
    pub(super) order: f64,
    /// The slope of the papers' formula at the same points
    pub(super) claimed: Option<f64>,
    /// The slope of R₀·G/√n with the exact second moment
    pub(super) predicted: Option<f64>,
    pub(super) measured: Option<Slope>,
    /// Points that were used
    pub(super) points: usize,
    /// Points left out because n is too small for them
    pub(super) capped: usize,
    pub(super) verdict: Verdict,
}

impl Regime {
    const ALL: [Self; 5] =
        [Self::Classes, Self::People, Self::HighPrivacy, Self::MediumPrivacy, Self::LowPrivacy];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Classes => "against ln K, ε = 1",
            Self::People => "against ln n, ε = 1",
            Self::HighPrivacy => "against ln ε, ε ≤ 1",
            Self::MediumPrivacy => "against ε, 1 ≤ ε ≤ ln K",
            Self::LowPrivacy => "against ε, ε ≥ ln K",
        }
    }

    /// x of the law, if the point belongs to it.
    fn x(self, point: &Point) -> Option<f64> {
        let (epsilon, border) = (point.epsilon, f64::from(point.classes).ln());
        let (axis, x, inside) = match self {
            Self::Classes => (Axis::Classes, f64::from(point.classes).ln(), true),
            Self::People => (Axis::People, (point.n as f64).ln(), true),
            Self::HighPrivacy => (Axis::Epsilon, epsilon.ln(), epsilon <= 1.0),
            Self::MediumPrivacy => (Axis::Epsilon, epsilon, (1.0..=border).contains(&epsilon)),
            Self::LowPrivacy => (Axis::Epsilon, epsilon, epsilon >= border),
        };
        (axis == point.axis && inside).then_some(x)
    }

    /// The order that the papers state; none for a method is that of the lower bound.
    fn order(self, method: Option<Method>) -> f64 {
        let response = method == Some(Method::RandomizedResponse);
        match self {
            Self::Classes => {
                if response {
                    1.0
                } else {
                    0.5
                }
            }
            Self::People => -0.5,
            Self::HighPrivacy => -1.0,
            Self::MediumPrivacy => match method {
                Some(Method::RandomizedResponse) => -1.0,
                Some(Method::Duchi) => 0.0,
                _ => -0.5,
            },
            Self::LowPrivacy => 0.0,
        }
    }
}

/// The papers' formula for the excess risk, without its constant.
fn formula(method: Option<Method>, point: &Point) -> f64 {
    let (k, epsilon) = (f64::from(point.classes), point.epsilon);
    let risk = match method {
        Some(Method::RandomizedResponse) => (k / epsilon.exp_m1()).max(1.0),
        Some(Method::Duchi) => k.sqrt() / epsilon.min(1.0),
        _ => (k * epsilon.exp() / epsilon.exp_m1().powi(2)).max(1.0).sqrt(),
    };
    risk / (point.n as f64).sqrt()
}

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "NOT REPRODUCED",
            Self::NotMeasured => "not measured",
        }
    }
}

impl Law {
    /// The measured slope with its standard error.
    pub(super) fn measured_in_words(&self) -> String {
        let words = |line: Slope| format!("{:.3} ± {:.3}", line.slope, line.standard_error);
        self.measured.map_or_else(|| "–".to_owned(), words)
    }

    /// All laws that `points` speak of.
    pub(super) fn of(points: &[Point]) -> Vec<Self> {
        let methods = || Method::ALL.into_iter().map(Some).chain([None]);
        let all = Regime::ALL.into_iter().flat_map(|regime| methods().map(move |method| (regime, method)));
        all.map(|(regime, method)| Self::new(regime, method, points)).collect()
    }

    fn new(regime: Regime, method: Option<Method>, points: &[Point]) -> Self {
        let who = method.map_or(LOWER_BOUND, name);
        let own: Vec<(f64, &Point)> = points
            .iter()
            .filter(|point| point.method == who)
            .filter_map(|point| Some((regime.x(point)?, point)))
            .collect();
        let used: Vec<(f64, &Point)> = own.iter().filter(|(_, point)| !point.capped).copied().collect();
        let logarithms: Vec<_> =
            used.iter().map(|(x, p)| (*x, p.excess_risk.ln(), p.standard_error / p.excess_risk)).collect();
        let bounds: Vec<_> = used.iter().filter_map(|(x, p)| Some((*x, p.risk_bound?.ln(), 0.0))).collect();
        let formulas: Vec<_> = used.iter().map(|(x, p)| (*x, formula(method, p).ln(), 0.0)).collect();
        let (claimed, measured) = (fit(&formulas).map(|line| line.slope), fit(&logarithms));
        let verdict = match (claimed, measured) {
            (Some(claimed), Some(Slope { slope, standard_error })) => {
                let near = (slope - claimed).abs() <= NEAR + 2.0 * standard_error;
                if near { Verdict::Reproduced } else { Verdict::NotReproduced }
            }
            _ => Verdict::NotMeasured,
        };
        Self {
            regime,
            method: who,
            order: regime.order(method),
            claimed,
            predicted: fit(&bounds).map(|line| line.slope),
            measured,
            points: used.len(),
            capped: own.len() - used.len(),
            verdict,
        }
    }
}
