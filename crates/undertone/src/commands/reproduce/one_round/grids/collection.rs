//! One collection of each kind.

use super::{BIT, COARSE, FINE_BIT, LAPLACE, REJECTION, STRINGS, statistics};
use rand_chacha::ChaCha12Rng;
use undertone_learn::bernstein::{Surrogate, epsilon_of_each};
use undertone_learn::means::{Tally, worst_answer_variance};
use undertone_learn::moments::study::Sample;
use undertone_privacy::number::{Bounds, GridNumber, Laplace, OneBit};
use undertone_privacy::public::{GenProt, RejectionBit};
use undertone_privacy::statistic::LossAt;
use undertone_privacy::{Epsilon, Unbiased};

/// Public strings of Algorithm 8.
const STRINGS_EACH: u32 = 8;
/// Algorithm 2 has everybody answer about every node: more answers than that are not drawn.
const MOST_ANSWERS: u64 = 7_000_000;

/// The weights of each method.
pub(super) fn weights(
    train: &Sample,
    epsilon: Epsilon,
    rng: &mut ChaCha12Rng,
) -> anyhow::Result<Vec<(&'static str, Vec<f64>)>> {
    let unit = Bounds::new(0.0, 1.0)?;
    let p = train.covariates();
    let [coarse, fine] = [statistics(p, 2)?, statistics(p, 3)?];
    let mut found = Vec::new();
    let nodes = fine.grid().nodes();
    if train.people() as u64 * u64::from(nodes) <= MOST_ANSWERS {
        let each = Laplace::new(unit, epsilon_of_each(epsilon, nodes)?)?;
        found.push((LAPLACE, learn(train, &fine, 2, &each, true, rng)?));
    }
    let rejection = RejectionBit::new(unit, epsilon)?;
    found.push((REJECTION, learn(train, &fine, 2, &rejection, false, rng)?));
    found.push((COARSE, learn(train, &coarse, 1, &rejection, false, rng)?));
    let strings = GenProt::new(unit, STRINGS_EACH, epsilon)?;
    found.push((STRINGS, learn(train, &coarse, 2, &strings, false, rng)?));
    let bit = OneBit::new(unit, epsilon)?;
    found.push((BIT, learn(train, &coarse, 2, &bit, false, rng)?));
    found.push((FINE_BIT, learn(train, &fine, 2, &bit, false, rng)?));
    Ok(found)
}

/// What one collection learns, everybody answering about one node or about `all`.
fn learn(
    train: &Sample,
    statistics: &LossAt,
    order: u32,
    mechanism: &impl Unbiased<Input = GridNumber>,
    all: bool,
    rng: &mut ChaCha12Rng,
) -> anyhow::Result<Vec<f64>> {
    let unit = Bounds::new(0.0, 1.0)?;
    let nodes = statistics.grid().nodes();
    let allocation = statistics.allocation()?;
    let worst = worst_answer_variance(mechanism, unit)?;
    let mut tally = Tally::new(nodes as usize, worst.sqrt())?;
    for (x, y) in train.records() {
        let asked = if all { 0..nodes } else { one(allocation.draw(rng)) };
        for node in asked {
            let share = unit.place(statistics.share(node, x, y)?)?;
            tally.observe_report(node, mechanism, &mechanism.randomize(&share, rng)?)?;
        }
    }
    let mut ranges = Vec::new();
    for node in 0..nodes {
        ranges.push(statistics.range(node)?);
    }
    let means = tally.means_as_spread(worst).on_ranges(|node| ranges[node]);
    Ok(Surrogate::fit(statistics.grid().clone(), order, &means)?.minimise().w)
}

fn one(node: u32) -> std::ops::Range<u32> {
    node..node + 1
}
