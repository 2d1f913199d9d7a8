//! The auditor looks at the very mechanism that the devices ran.

use crate::finding::{Finding, Outcome};
use rand_core::CryptoRng;
use undertone_audit::registry::Mechanism;
use undertone_audit::{Auditor, Settings};
use undertone_privacy::Epsilon;
use undertone_report::Task;

/// How hard the demonstration looks: enough to prove most of the loss within a blink.
const SETTINGS: Settings = Settings { trials: 100_000, confidence: 0.99 };

/// Is the promise kept?
pub(super) fn audit(task: &Task, rng: &mut impl CryptoRng) -> anyhow::Result<Finding> {
    let mechanism = task.mechanism_at(Epsilon::new(task.mechanism.level())?)?;
    let verdict = Auditor::new(SETTINGS, rng).judge(&task.mechanism.kind, &Mechanism::Label(mechanism))?;
    Ok(Finding::from(verdict))
}

/// The audit in a few lines.
pub(super) fn audit_lines(audit: &Finding) -> String {
    let Finding { claimed, exact, lower_bound, confidence, trials, verdict, .. } = audit;
    let sign = if *verdict == Outcome::Kept { "✓" } else { "✗" };
    let exact = exact.map_or(String::new(), |loss| {
        format!("\n    exactly: over all reports and all labels the loss is at most {loss:.12}")
    });
    let percent = 100.0 * confidence;
    format!(
        "{sign} the promise is {verdict}: ε = {claimed}{exact}\n    by samples: {trials} reports under each of two labels \
         prove a loss of at least {lower_bound:.3} ({percent} % confidence)"
    )
}
