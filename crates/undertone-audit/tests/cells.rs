//! What a curator releases about cells, judged by the auditor: under the change of a label and under the change of a record.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_audit::{Case, ExactLoss, Reports, exact_loss, suite};
use undertone_privacy::central::{CellVotes, FlooredMeans, NoisySum, Placed, TwoSidedSums, Vote};
use undertone_privacy::number::{Bounds, GridNumber};
use undertone_privacy::{Epsilon, Randomizer};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// All data sets of so many people, and each with its first record replaced.
fn neighbours<T: Copy>(records: &[T], people: u32) -> Vec<(Vec<T>, Vec<T>)> {
    let data = |code: usize| (0..people).map(move |i| code / records.len().pow(i) % records.len());
    let all = (0..records.len().pow(people)).map(|code| data(code).map(|i| records[i]).collect::<Vec<_>>());
    let replaced = |data: Vec<T>| {
        records.iter().map(move |&record| {
            let mut other = data.clone();
            other[0] = record;
            (data.clone(), other)
        })
    };
    all.flat_map(replaced).collect()
}

/// The loss is at most the promise, and more than so much of it.
fn spends<R: Randomizer>(case: &Case<R>, promise: f64, share: f64) {
    let found = exact_loss(case).unwrap();
    let ExactLoss { loss, .. } = found;
    assert!(!found.exceeds(promise), "{}: {loss} of {promise}", case.name);
    assert!(loss > promise * share, "{}: only {loss} of {promise}", case.name);
}

/// Where the choice tells most: one of many like-minded people changes their mind, or leaves and takes another view along.
fn in_the_shadow() -> [(Vec<Vote>, Vec<Vote>); 2] {
    let crowd: Vec<Vote> = (0..400).map(|i| (i % 2, 0)).collect();
    [(0, 1), (1, 1)].map(|record| {
        let mut other = crowd.clone();
        other[0] = record;
        (crowd.clone(), other)
    })
}

#[test]
fn votes_of_cells_obey_every_law_when_a_label_or_a_whole_record_changes() {
    let records: Vec<Vote> = (0..2).flat_map(|cell| (0..3).map(move |label| (cell, label))).collect();
    let reports: Vec<Vec<u32>> = (0..9).map(|report| vec![report / 3, report % 3]).collect();
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    for value in [0.5, 1.0, 3.0] {
        for (name, mechanism, share) in [
            ("votes", CellVotes::new(2, 3, epsilon(value)).unwrap(), 0.99),
            ("votes as published", CellVotes::as_published(2, 3, epsilon(value)).unwrap(), 0.49),
        ] {
            let mut pairs = neighbours(&records, 3);
            pairs.extend(in_the_shadow());
            let mut case = Case::new(name, mechanism, pairs, Reports::All(reports.clone()));
            spends(&case, value, share);
            case.inputs = vec![vec![], vec![(0, 1); 4], vec![(0, 0), (1, 2), (1, 2)]];
            suite::check(&case, 20_000, &mut rng).unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
    // Eq. 31 cannot spend more than half of its promise.
    let published = CellVotes::as_published(2, 3, epsilon(3.0)).unwrap();
    let case = Case::new("as published", published, neighbours(&records, 3), Reports::All(reports));
    assert!(exact_loss(&case).unwrap().loss <= 1.5 + 1e-9);
}

#[test]
fn a_sum_spends_the_promise_when_a_label_goes_from_end_to_end() {
    let bounds = Bounds::new(-5.0, 5.0).unwrap();
    let numbers: Vec<GridNumber> = vec![bounds.lowest(), bounds.middle(), bounds.highest()];
    for value in [0.1, 1.0, 4.0] {
        let sum = NoisySum::new(bounds, epsilon(value)).unwrap();
        // The likelihood ratio of two centres is constant beyond both.
        let reports = Reports::Representatives(vec![-1 << 40, 0, 1 << 19, 1 << 20, 1 << 40]);
        spends(&Case::new("sum", sum, neighbours(&numbers, 2), reports), value, 0.999_999);
    }
}

#[test]
fn sums_and_means_of_all_cells_keep_the_promise_when_a_record_changes() {
    let bounds = Bounds::new(-2.0, 2.0).unwrap();
    let ends = [bounds.lowest(), bounds.highest()];
    let records: Vec<Placed> = (0..2).flat_map(|cell| ends.map(|number| (cell, number))).collect();
    // beyond all means and all sums of a few people
    let both = |far: [i64; 3]| far.iter().flat_map(|&a| far.map(|b| vec![a, b])).collect::<Vec<_>>();
    let (pairs, sums) = (both([-1 << 45, 0, 1 << 45]), both([-1 << 24, 0, 1 << 24]));
    let double = |report: &Vec<i64>| {
        sums.iter().map(move |other| vec![[report[0], report[1]], [other[0], other[1]]]).collect::<Vec<_>>()
    };
    for value in [0.3, 2.0] {
        let two = TwoSidedSums::new(2, bounds, epsilon(value)).unwrap();
        let reports = Reports::Representatives(sums.iter().flat_map(double).collect());
        spends(&Case::new("two sums", two, neighbours(&records, 3), reports), value, 0.999);
        let floored = FlooredMeans::new(2, bounds, 2, epsilon(value)).unwrap();
        let reports = Reports::Representatives(pairs.clone());
        spends(&Case::new("floored means", floored, neighbours(&records, 5), reports), value, 0.999);
        let published = FlooredMeans::as_published(2, bounds, 2, epsilon(value)).unwrap();
        let reports = Reports::Representatives(pairs.clone());
        spends(&Case::new("as published", published, neighbours(&records, 5), reports), value, 0.4);
    }
}
