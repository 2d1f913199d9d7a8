//! Bernstein grids: how people answer about the loss at a node, and what that costs.

use super::extent::Extent;
use super::row::{Cell, Laboratory, Row, beside};
use super::section::{Section, chart, line};
use crate::commands::reproduce::claim::Claim;
use crate::plot::Stroke;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_learn::bernstein::{Problem, Surrogate, epsilon_of_each};
use undertone_learn::means::{Mean, Means, Tally, worst_answer_variance};
use undertone_learn::moments::MarginLoss;
use undertone_learn::moments::study::{Population, Sample};
use undertone_privacy::number::{Bounds, GridNumber, Laplace, OneBit};
use undertone_privacy::public::{GenProt, RejectionBit};
use undertone_privacy::statistic::{LossAt, PointLoss};
use undertone_privacy::{Epsilon, Unbiased};

const SECTION: &str = "grids";
const SOURCE: &str = "Grids";
const BUDGETS: [f64; 2] = [1.0, 4.0];
const LAPLACE: &str = "Algorithm 2, k = 3, h = 2";
const REJECTION: &str = "Algorithm 3, k = 3, h = 2";
const COARSE: &str = "Algorithm 3, k = 2, h = 1";
const STRINGS: &str = "Algorithm 8, k = 2, h = 2";
const BIT: &str = "one bit, k = 2, h = 2";
const FINE_BIT: &str = "one bit, k = 3, h = 2";
const CONSTANT: &str = "constant";
const METHODS: [&str; 7] = [LAPLACE, REJECTION, COARSE, STRINGS, BIT, FINE_BIT, CONSTANT];
/// Public strings of Algorithm 8.
const STRINGS_EACH: u32 = 8;
/// Algorithm 2 has everybody answer about every node: more answers than that are not drawn.
const MOST_ANSWERS: u64 = 7_000_000;
/// Repetitions have a part of the population each; this one judges.
const JUDGES: u64 = u64::MAX;
/// So many combined standard errors are a difference.
const FAR: f64 = 2.0;

/// p, n, ε, and what an independent simulation found for Algorithm 2, Algorithm 3 (k = 2, h = 1 and k = 3, h = 2), and the one bit
/// (k = 2 and 3), in two to six repetitions.
#[rustfmt::skip]
const EARLIER: [(usize, u64, f64, [f64; 5]); 12] = [
    (2, 10_000, 1.0, [0.0737, 0.0074, 0.0495, 0.0029, 0.0106]),
    (2, 10_000, 4.0, [0.0076, 0.0053, 0.0229, 0.0038, 0.0035]),
    (2, 100_000, 1.0, [0.0125, 0.0052, 0.0083, 0.0053, 0.0035]),
    (2, 100_000, 4.0, [0.0001, 0.0068, 0.0033, 0.0033, 0.0012]),
    (2, 1_000_000, 1.0, [0.0001, 0.0068, 0.0006, 0.0049, 0.0003]),
    (2, 1_000_000, 4.0, [0.0004, 0.0068, 0.0010, 0.0040, 0.0006]),
    (3, 10_000, 1.0, [0.1917, 0.0745, 0.1238, 0.0107, 0.0335]),
    (3, 10_000, 4.0, [0.0864, 0.0372, 0.0684, 0.0042, 0.0035]),
    (3, 100_000, 1.0, [0.0715, 0.0258, 0.0434, 0.0038, 0.0032]),
    (3, 100_000, 4.0, [0.0678, 0.0056, 0.0137, 0.0053, 0.0028]),
    (3, 1_000_000, 1.0, [0.0549, 0.0053, 0.0053, 0.0030, 0.0028]),
    (3, 1_000_000, 4.0, [0.0031, 0.0053, 0.0053, 0.0008, 0.0001]),
];

fn earlier(p: usize, n: u64, epsilon: f64, method: &str) -> Option<f64> {
    let (.., found) = EARLIER.iter().find(|line| (line.0, line.1, line.2) == (p, n, epsilon))?;
    let place = [LAPLACE, COARSE, REJECTION, BIT, FINE_BIT].iter().position(|other| *other == method)?;
    Some(found[place])
}

/// How many settings each repetition has.
pub(super) fn settings(extent: &Extent) -> u64 {
    (extent.grids.0.len() * extent.grids.1.len()) as u64
}

/// Runs the comparison.
pub(super) fn run(laboratory: &Laboratory<'_>) -> anyhow::Result<Section> {
    let (sizes, axes) = laboratory.extent.grids;
    let mut rows = Vec::new();
    for &p in axes {
        let population = Population::new(p, laboratory.seed(&[5, p as u64]))?;
        let test = population.sample(laboratory.extent.judges, JUDGES);
        let risk = |w: &[f64]| test.risk(MarginLoss::Logistic, w);
        let least = risk(&least(p, risk)?);
        for &people in sizes {
            rows.extend(laboratory.repeat(SECTION, "excess risk", |repetition| {
                let train = population.sample(people as usize, people + repetition);
                let mut rng = ChaCha12Rng::seed_from_u64(laboratory.seed(&[6, p as u64, people, repetition]));
                let mut cells = Vec::new();
                let mut tell = |epsilon: Option<f64>, method, w: &[f64]| {
                    let earlier = epsilon.and_then(|epsilon| earlier(p, people, epsilon, method));
                    let (setting, value) = (format!("logistic, p = {p}"), risk(w) - least);
                    cells.push(Cell { setting, people, epsilon, method, value, earlier });
                };
                tell(None, CONSTANT, &vec![0.0; p]);
                for budget in BUDGETS {
                    for (method, w) in weights(&train, Epsilon::new(budget)?, &mut rng)? {
                        tell(Some(budget), method, &w);
                    }
                }
                Ok(cells)
            })?);
        }
    }
    Ok(Section {
        title: "Bernstein grids: excess risk",
        about: "Logistic loss of the same family on [-1, 1]^p; people answer about the loss at one node of a grid of degree k, or with \
Algorithm 2 about all nodes at ε/(k+1)^p each, and the iterated polynomial of order h is minimised."
            .to_owned(),
        claims: claims(&rows),
        pictures: pictures(&rows)?,
        rows,
    })
}

/// Nearly the least risk on the box: a fine polynomial through exact risks.
fn least(p: usize, risk: impl Fn(&[f64]) -> f64) -> anyhow::Result<Vec<f64>> {
    let statistics = statistics(p, 6)?;
    let grid = statistics.grid();
    let mut means = Vec::new();
    for node in 0..grid.nodes() {
        means.push(Some(Mean { value: risk(&grid.node(node)?), variance: 0.0, answers: 1 }));
    }
    Ok(Surrogate::fit(grid.clone(), 4, &Means::new(means))?.minimise().w)
}

fn statistics(p: usize, degree: u32) -> anyhow::Result<LossAt> {
    let (low, high) = (vec![-1.0; p], vec![1.0; p]);
    let problem = Problem { loss: PointLoss::Logistic, low: &low, high: &high, radius: 1.0 };
    Ok(problem.statistics(degree)?)
}

/// The weights of each method.
fn weights(
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

fn claims(rows: &[Row]) -> Vec<Claim> {
    let pairs =
        |method: &'static str, others: &'static [&'static str], holds: &dyn Fn(&Row, &Row) -> bool| {
            let pairs = rows.iter().filter(|row| row.method == method).flat_map(|row| {
                others.iter().filter_map(move |other| Some((row, beside(rows, row, other)?)))
            });
            let tell = |(row, other): (&Row, &Row)| {
                (
                    format!("{}: {} against {} of {}", row.place(), row.words(), other.words(), other.method),
                    holds(row, other),
                )
            };
            pairs.map(tell).collect::<Vec<_>>()
        };
    let below = |row: &Row, other: &Row| row.below(other) > FAR;
    let not_above = |row: &Row, other: &Row| row.below(other) > -FAR;
    vec![
        Claim::of_many(
            SOURCE,
            "one bit is far below the constant predictor",
            &pairs(BIT, &[CONSTANT], &below),
            "",
        ),
        Claim::of_many(
            SOURCE,
            "one bit is no worse than the corrected rejection bit on the same grid",
            &pairs(FINE_BIT, &[REJECTION], &not_above),
            "",
        ),
        Claim::of_many(
            SOURCE,
            "one bit is no worse than an index of public strings on the same grid",
            &pairs(BIT, &[STRINGS], &not_above),
            "",
        ),
        Claim::of_many(
            SOURCE,
            "one bit is no worse than splitting ε among all nodes on the same grid",
            &pairs(FINE_BIT, &[LAPLACE], &not_above),
            "",
        ),
    ]
}

fn pictures(rows: &[Row]) -> anyhow::Result<Vec<(String, String)>> {
    let mut settings: Vec<&str> = rows.iter().map(|row| row.setting.as_str()).collect();
    settings.dedup();
    let mut pictures = Vec::new();
    for setting in settings {
        let bits = || {
            rows.iter().filter(|row| row.method == BIT && row.setting == setting && row.epsilon == Some(1.0))
        };
        let lines = METHODS.map(|method| {
            let at = bits().filter_map(|row| Some((row.people as f64, beside(rows, row, method)?)));
            line(method, at, if method == CONSTANT { Stroke::Limit } else { Stroke::Whole })
        });
        let name = setting.trim_start_matches("logistic, p = ");
        let title = format!("Grids: {setting}, ε = 1");
        pictures.push((format!("grids-p{name}"), chart(title, "people", "excess risk", lines)?));
    }
    Ok(pictures)
}
