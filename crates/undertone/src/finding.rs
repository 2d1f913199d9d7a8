//! A verdict of the auditor as people and machines read it.

use crate::promise::Promise;
use serde::Serialize;
use std::fmt;
use undertone_audit::{Verdict, claimed_loss};

/// What came of an audit, each loss in the currency of the promise.
#[derive(Serialize)]
pub(crate) struct Finding {
    pub(crate) mechanism: String,
    pub(crate) claimed: f64,
    /// None where the reports cannot be listed and no formula is known
    pub(crate) exact: Option<f64>,
    pub(crate) lower_bound: f64,
    pub(crate) verdict: Outcome,
    promise: Promise,
    #[serde(skip)]
    pub(crate) promised: String,
    pub(crate) confidence: f64,
    pub(crate) trials: u64,
    pub(crate) breaches: Vec<String>,
}

/// Whether the promise is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    Kept,
    Broken,
    /// Nothing speaks against the promise, but less than half of it was put to the test: too few trials.
    NotRefuted,
    SimulationOnly,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::Broken => "BROKEN",
            Self::NotRefuted => "not refuted",
            Self::SimulationOnly => "simulation only",
        })
    }
}

impl From<Verdict> for Finding {
    fn from(verdict: Verdict) -> Self {
        let outcome = match (verdict.simulation_only, verdict.kept()) {
            (true, _) => Outcome::SimulationOnly,
            (false, true) if verdict.found < 0.5 => Outcome::NotRefuted,
            (false, true) => Outcome::Kept,
            (false, false) => Outcome::Broken,
        };
        Self {
            claimed: claimed_loss(&verdict.claimed),
            exact: verdict.exact,
            lower_bound: verdict.lower_bound,
            verdict: outcome,
            promise: verdict.claimed.into(),
            promised: verdict.claimed.to_string(),
            confidence: verdict.confidence,
            trials: verdict.trials,
            breaches: verdict.breaches.iter().map(ToString::to_string).collect(),
            mechanism: verdict.mechanism,
        }
    }
}
