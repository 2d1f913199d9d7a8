//! How central mechanisms are tried: neighbours are histograms between which one label has changed.

use crate::{Case, Reports};
use undertone_privacy::central::{ExponentialMechanism, NoisyHistogram};
use undertone_privacy::{Guarantee, Randomizer};

/// Up to so many reports are all listed.
const MOST: i64 = 60_000;

/// One label moves, near a tie and in the shadow of a large count, where the choice tells most.
pub(super) fn exponential(name: &str, mechanism: &ExponentialMechanism) -> Case<ExponentialMechanism> {
    let from_first_to_second = |first: u64| (vec![first, 0, 1], vec![first - 1, 1, 1]);
    let pairs = [1, 2, 3, 5, 9, 20, 1_000_000].map(from_first_to_second).to_vec();
    Case::new(name, *mechanism, pairs, Reports::All(vec![0, 1, 2]))
}

/// Two bins, one label moved; every report of either that is likelier than 10^-16, unless there are too many.
pub(super) fn histogram(name: &str, mechanism: &NoisyHistogram) -> Case<NoisyHistogram> {
    let pairs = vec![(vec![5, 3], vec![4, 4])];
    let Guarantee::Pure(epsilon) = mechanism.guarantee() else {
        return Case::new(name, *mechanism, pairs, Reports::Sampled);
    };
    // P(|z| > r) ≤ e^(-r·ε/2)
    let reach = (2.0 * 38.0 / epsilon.get()).ceil() as i64 + 2;
    if 4 * reach.saturating_mul(reach) > MOST {
        return Case::new(name, *mechanism, pairs, Reports::Sampled);
    }
    let around = |count: i64| count - reach..=count + reach;
    let reports = around(5).flat_map(|first| around(3).map(move |second| vec![first, second])).collect();
    Case::new(name, *mechanism, pairs, Reports::All(reports))
}
