//! How central mechanisms are tried: neighbours are histograms between which one label has changed, or people in cells of whom one has
//! another label or is a whole other record.

use crate::{Case, Reports};
use undertone_privacy::central::{
    CellVotes, ExponentialMechanism, FlooredMeans, NoisyHistogram, NoisySum, Placed, TwoSidedSums, Vote,
};
use undertone_privacy::number::{Bounds, GridNumber};
use undertone_privacy::{Guarantee, Randomizer};

/// Two cells are all that a change of a record concerns.
pub(super) const CELLS: u32 = 2;
/// n₀, of means that are floored.
pub(super) const FLOOR: u32 = 2;

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

/// Of a crowd that agrees, one changes their mind, leaves for the other cell, or does both: near a tie and in the shadow of many.
pub(super) fn cell_votes(name: &str, mechanism: &CellVotes) -> Case<CellVotes> {
    let changed = |crowd: usize, record: Vote| {
        let mut votes = vec![(0, 0); crowd];
        votes.extend([(1, 0); 3]);
        let before = votes.clone();
        votes[0] = record;
        (before, votes)
    };
    let records = [(0, 1), (1, 0), (1, 1)];
    let pairs = [1, 2, 9, 1000].iter().flat_map(|&crowd| records.map(|record| changed(crowd, record)));
    let labels = mechanism.labels();
    let all = (0..labels).flat_map(|first| (0..labels).map(move |second| vec![first, second]));
    let few = i64::from(labels) * i64::from(labels) <= MOST;
    let reports = if few { Reports::All(all.collect()) } else { Reports::Sampled };
    Case::new(name, *mechanism, pairs.collect(), reports)
}

/// One number goes from end to end, alone and in company. Beyond both sums, and at them, the likelihood ratio is all it can be.
pub(super) fn cell_sum(name: &str, mechanism: &NoisySum) -> Case<NoisySum> {
    let [low, middle, high] = ends(mechanism.bounds());
    let pairs = vec![(vec![low], vec![high]), (vec![middle, low, high], vec![middle, high, high])];
    let steps = i64::from(mechanism.bounds().steps());
    let reports = vec![-1 << 50, 0, steps / 2, steps, 3 * steps, 1 << 50];
    Case::new(name, *mechanism, pairs, Reports::Representatives(reports))
}

/// A label goes from end to end; a record goes to the other cell, as it is and turned over.
pub(super) fn two_sided_sums(name: &str, mechanism: &TwoSidedSums) -> Case<TwoSidedSums> {
    let [low, middle, high] = ends(mechanism.bounds());
    let changed = |record: Placed| (vec![(0, low), (1, middle)], vec![record, (1, middle)]);
    let pairs = [(0, high), (1, low), (1, high)].map(changed).to_vec();
    let far = [-1 << 50, 0, 1 << 50];
    let pair = |code: usize| [far[code % 3], far[code / 3]];
    let reports = (0..81).map(|code| vec![pair(code % 9), pair(code / 9)]).collect();
    Case::new(name, *mechanism, pairs, Reports::Representatives(reports))
}

/// The worst that can happen to n₀ = 2: a cell of three loses its only dissenter to a cell of two who agree.
pub(super) fn floored_means(name: &str, mechanism: &FlooredMeans) -> Case<FlooredMeans> {
    let [low, _, high] = ends(mechanism.bounds());
    let others = [(0, high), (0, high), (1, high), (1, high)];
    let with = |record: Placed| [&[record][..], &others].concat();
    let pairs = [(0, high), (1, low), (1, high)].map(|record| (with((0, low)), with(record))).to_vec();
    let far = [-1 << 50, 0, 1 << 50];
    let reports = (0..9).map(|code| vec![far[code % 3], far[code / 3]]).collect();
    Case::new(name, *mechanism, pairs, Reports::Representatives(reports))
}

fn ends(bounds: Bounds) -> [GridNumber; 3] {
    [bounds.lowest(), bounds.middle(), bounds.highest()]
}
