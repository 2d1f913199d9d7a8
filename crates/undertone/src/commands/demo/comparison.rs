//! What the same people's labels would have told under other mechanisms, measured.

use super::{kind_of, true_shares};
use rand_core::CryptoRng;
use serde::Serialize;
use undertone_learn::labels::{LabelShares, Share};
use undertone_privacy::label::{Label, LabelKind, LabelMechanism, LabelRandomizer, ReportColumn};

/// How often the same people are asked anew, in simulation, to measure the error of a mechanism.
pub(super) const REPETITIONS: u32 = 200;

/// The error of a mechanism on the labels at hand.
#[derive(Serialize)]
pub(super) struct Comparison {
    pub(super) kind: &'static str,
    pub(super) set_size: Option<u32>,
    /// √E Σ_k (estimate - truth)², as measured …
    pub(super) error: f64,
    pub(super) error_standard_error: f64,
    /// … and from the exact variance, √(T/n)
    pub(super) exact_error: f64,
}

/// Asks the same people again and again through the mechanism chosen, a device's default, randomized response and the
/// published bits.
pub(super) fn compare(
    mechanism: &LabelMechanism,
    labels: &[Label],
    rng: &mut impl CryptoRng,
) -> anyhow::Result<Vec<Comparison>> {
    let mut rivals = vec![(kind_of(mechanism), mechanism.clone())];
    for kind in [LabelKind::Subset, LabelKind::Rr, LabelKind::BitsPaper] {
        let rival = kind.mechanism(mechanism.labels(), mechanism.epsilon())?;
        // Sets of the same size are the same mechanism; with sets of one it is randomized response.
        if rivals.iter().all(|(_, known)| known.set_size() != rival.set_size()) {
            rivals.push((kind, rival));
        }
    }
    rivals.into_iter().map(|(kind, rival)| measure(kind, &rival, labels, rng)).collect()
}

fn measure(
    kind: LabelKind,
    mechanism: &LabelMechanism,
    labels: &[Label],
    rng: &mut impl CryptoRng,
) -> anyhow::Result<Comparison> {
    let truth = true_shares(labels);
    let (mut sum, mut sum_of_squares) = (0.0, 0.0);
    let mut column = ReportColumn::new();
    for _ in 0..REPETITIONS {
        column.clear();
        mechanism.randomize_column(labels, &mut column, rng)?;
        let mut learner = LabelShares::new(mechanism);
        learner.observe(&column);
        let square = |(share, truth): (Share, &f64)| (share.estimate - truth).powi(2);
        let error: f64 = learner.shares().into_iter().zip(&truth).map(square).sum();
        sum += error;
        sum_of_squares += error * error;
    }
    let count = f64::from(REPETITIONS);
    let mean = sum / count;
    let deviation = ((sum_of_squares / count - mean * mean).max(0.0) / (count - 1.0)).sqrt();
    Ok(Comparison {
        kind: kind.name(),
        set_size: mechanism.set_size(),
        error: mean.sqrt(),
        // The root's slope is 1/(2·√mean)
        error_standard_error: deviation / (2.0 * mean.sqrt()),
        exact_error: (mechanism.covariance().trace() / labels.len() as f64).sqrt(),
    })
}
