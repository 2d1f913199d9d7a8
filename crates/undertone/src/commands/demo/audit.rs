//! The place of the auditor. Until it is here, the exact loss of what the devices ran.

use serde::Serialize;
use undertone_privacy::Randomizer;
use undertone_privacy::label::{Label, LabelMechanism, LabelRandomizer, LabelSet};

/// Is the promise kept?
#[derive(Serialize)]
pub(super) struct Audit {
    /// How many different reports were looked at, under every label
    reports: u64,
    claimed: f64,
    exact: f64,
    pub(super) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Kept,
    Broken,
}

/// The exact loss, by going through every set of labels that could be reported and every
/// pair of labels that could be true.
pub(super) fn audit(mechanism: &LabelMechanism, claimed: f64) -> Audit {
    let labels = mechanism.labels();
    let sets =
        (0..1u64 << labels).map(|bits| LabelSet::new((0..labels).filter(|k| bits >> k & 1 == 1).collect()));
    let spread = |set: LabelSet| {
        let likelihood = |truth| mechanism.ln_likelihood(&set, &Label(truth));
        let most = (0..labels).map(likelihood).fold(f64::NEG_INFINITY, f64::max);
        let least = (0..labels).map(likelihood).fold(f64::INFINITY, f64::min);
        // What nobody can report tells nothing.
        (most > f64::NEG_INFINITY).then_some(most - least)
    };
    let spreads: Vec<f64> = sets.filter_map(spread).collect();
    let exact = spreads.iter().copied().fold(0.0, f64::max);
    // Logarithms are rounded; a broken promise is off by more.
    let kept = exact <= claimed * (1.0 + 1e-12) + 1e-14;
    let verdict = if kept { Verdict::Kept } else { Verdict::Broken };
    Audit { reports: spreads.len() as u64, claimed, exact, verdict }
}

/// The audit in a sentence.
pub(super) fn audit_line(audit: &Audit) -> String {
    let Audit { reports, claimed, exact, verdict } = audit;
    let (sign, verdict) = match verdict {
        Verdict::Kept => ("✓", "kept"),
        Verdict::Broken => ("✗", "BROKEN"),
    };
    format!(
        "{sign} the promise is {verdict}: the loss is {exact:.12}, promised was {claimed} (exact, over all {reports} possible reports)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::LabelKind;

    #[test]
    fn the_audit_finds_the_loss_of_every_kind_and_a_broken_promise() {
        for kind in LabelKind::ALL {
            for value in [0.1, 1.0, 4.0] {
                let mechanism = kind.mechanism(5, Epsilon::new(value).unwrap()).unwrap();
                let audit = |claimed| audit(&mechanism, claimed);
                assert_eq!(audit(value).verdict, Verdict::Kept, "{kind:?}");
                assert_eq!(audit(0.999 * value).verdict, Verdict::Broken, "{kind:?}");
                assert!((audit(value).exact - mechanism.realised_epsilon()).abs() < 1e-9, "{kind:?}");
            }
        }
    }
}
