//! How label mechanisms are tried.

use crate::{Case, Reports};
use undertone_privacy::label::{Label, LabelMechanism, LabelRandomizer, LabelSet};

/// Up to so many reports are all listed.
const MOST: u64 = 20_000;

/// Up to so many labels are all tried as the truth.
const ALL_LABELS: u32 = 10;

/// Any two labels are neighbours.
pub(super) fn case(name: &str, mechanism: &LabelMechanism) -> Case<LabelMechanism> {
    let inputs = inputs(mechanism);
    let reports = match whole_alphabet(mechanism) {
        Some(reports) => Reports::All(reports),
        None => Reports::Representatives(representatives(mechanism, &inputs)),
    };
    Case::local(name, mechanism.clone(), inputs.into_iter().map(Label).collect(), reports)
}

/// All labels, or the first, the last, some between, and two on either side of the border of the support.
fn inputs(mechanism: &LabelMechanism) -> Vec<u32> {
    let labels = mechanism.labels();
    if labels <= ALL_LABELS {
        return (0..labels).collect();
    }
    let mut inputs = vec![0, 1, labels / 2, labels - 1];
    if let Some(support) = mechanism.support() {
        inputs.extend(support.first());
        inputs.extend((0..labels).find(|label| !support.contains(label)));
    }
    inputs.sort_unstable();
    inputs.dedup();
    inputs
}

/// Every report, unless there are too many.
fn whole_alphabet(mechanism: &LabelMechanism) -> Option<Vec<LabelSet>> {
    let labels = mechanism.labels();
    if let Some(support) = mechanism.support() {
        return (support.len() as u64 <= MOST)
            .then(|| support.iter().map(|&y| LabelSet::new(vec![y])).collect());
    }
    let count = match mechanism.set_size() {
        Some(size) => binomial(labels.into(), size.into()),
        None => 1u64.checked_shl(labels).unwrap_or(u64::MAX),
    };
    (count <= MOST).then(|| match mechanism.set_size() {
        Some(size) => subsets(labels, size),
        None => (0..=labels).flat_map(|size| subsets(labels, size)).collect(),
    })
}

/// C(n, k), or the largest integer if it is larger than any.
fn binomial(n: u64, k: u64) -> u64 {
    (0..k.min(n - k)).try_fold(1u64, |c, i| Some(c.checked_mul(n - i)? / (i + 1))).unwrap_or(u64::MAX)
}

/// Every set of `size` labels.
fn subsets(labels: u32, size: u32) -> Vec<LabelSet> {
    let mut sets = vec![Vec::new()];
    for chosen in 0..size {
        let extended = sets.iter().flat_map(|set: &Vec<u32>| {
            let first = set.last().map_or(0, |&last| last + 1);
            // Room is left for the members still to come.
            (first..=labels - (size - chosen)).map(move |next| set.iter().copied().chain([next]).collect())
        });
        sets = extended.collect();
    }
    sets.into_iter().map(LabelSet::new).collect()
}

/// Every pattern in which the inputs may be members, filled up with other labels to the sizes a report can have: the
/// likelihood depends on the truth's membership and on the size alone.
fn representatives(mechanism: &LabelMechanism, inputs: &[u32]) -> Vec<LabelSet> {
    let others: Vec<u32> = (0..mechanism.labels()).filter(|label| !inputs.contains(label)).collect();
    let sizes = |members: usize| match mechanism.set_size() {
        Some(size) => (size as usize).checked_sub(members).into_iter().collect(),
        None => vec![0, others.len() / 2, others.len()],
    };
    let mut reports = Vec::new();
    for pattern in 0u32..1 << inputs.len() {
        let chosen = || (0u32..).zip(inputs).filter(move |(bit, _)| pattern >> bit & 1 == 1).map(|(_, &y)| y);
        for fill in sizes(chosen().count()) {
            if fill <= others.len() {
                reports.push(LabelSet::new(chosen().chain(others[..fill].iter().copied()).collect()));
            }
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::{LabelKind, SubsetSelection};

    #[test]
    fn subsets_are_as_many_as_the_binomial_coefficient() {
        for (labels, size, count) in [(5, 0, 1), (5, 2, 10), (5, 5, 1), (10, 3, 120)] {
            let mut sets = subsets(labels, size);
            assert_eq!(sets.len() as u64, count);
            assert_eq!(binomial(labels.into(), size.into()), count);
            sets.dedup();
            assert_eq!(sets.len() as u64, count);
        }
        assert_eq!(binomial(100_000, 27_000), u64::MAX);
    }

    #[test]
    fn representatives_show_every_pattern_of_two_labels() {
        let epsilon = Epsilon::new(1.0).unwrap();
        let subset = SubsetSelection::with_size(100_000, 99_999, epsilon).unwrap();
        for mechanism in [
            LabelKind::Subset.mechanism(1000, epsilon).unwrap(),
            LabelKind::Bits.mechanism(1000, epsilon).unwrap(),
            LabelMechanism::Subset(subset),
        ] {
            let reports = representatives(&mechanism, &inputs(&mechanism));
            let patterns: Vec<_> = reports.iter().map(|set| (set.contains(0), set.contains(1))).collect();
            assert!(patterns.contains(&(true, false)) && patterns.contains(&(false, true)));
            assert!(reports.iter().all(|set| mechanism.ln_probability(set, 0) > f64::NEG_INFINITY));
        }
    }
}
